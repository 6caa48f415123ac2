package siding

import (
	"time"

	"github.com/hedgesched/hedge/sched/agent"
)

// Kind is what a [Message] says.
type Kind uint8

// The kinds of messages.
const (
	// Share hands a master, from a distributor, tasks of a short job.
	Share Kind = iota
	// Overflow hands the yard, from a master, short tasks that found no idle slot in the group.
	Overflow
	// Grant hands a master, from the yard, tasks of a job of either class.
	Grant
	// Run has a worker run Task, in place of Victim if that still runs. Resume has it go on with Task.
	Run
	Resume
	// Finished tells the master that Task has ended.
	Finished
	// Over tells the owner of a job that Count tasks of it have ended.
	Over
	// Tell tells the yard how much room a group has.
	Tell

	kinds
)

// Message is what the parts of a [System] send each other. Which fields mean something depends on the kind.
type Message struct {
	Kind Kind
	Long bool
	// Job is a job's ID, Ref its number at the master or, with Over, at the yard.
	Job, Ref int32
	// Task is a task's index. Where a message hands over tasks, they are Task, Task + Step, …, Count of them.
	Task, Step, Count int32
	// Owner is the part that is told when the tasks have ended.
	Owner agent.Addr
	// Estimate is of one task.
	Estimate time.Duration
	// Number counts a master's orders to a worker, or what it has told the yard.
	Number int32
	// Victim is the task that Run has paused; its Job is -1 if there is none.
	Victim agent.Task
	// Room is of Tell.
	Room Room
}

// Room is the room of a group, and what the master has got from the yard so far.
type Room struct {
	// Free and Reserved are idle slots for both classes and for short tasks only, Pausable long tasks that may be
	// paused.
	Free, Reserved, Pausable int32
	// Long and Short are the tasks that the yard has ever handed over and that have come.
	Long, Short int32
}

// after is the room when more tasks are in it.
func (r Room) after(long, short int32) Room {
	r.Free -= long
	n := min(short, max(r.Free, 0))
	r.Free -= n
	short -= n
	n = min(short, r.Reserved)
	r.Reserved -= n
	r.Pausable = max(0, r.Pausable+long-(short-n))
	return r
}

// version is of the binary form.
const version = 1

// Codec is the binary form of messages.
type Codec struct{}

// Append is that of [agent.Codec].
func (Codec) Append(b []byte, m *Message) []byte {
	long := byte(0)
	if m.Long {
		long = 1
	}
	b = append(b, version, byte(m.Kind), long)
	b = agent.AppendNumbers(b, int64(m.Job), int64(m.Ref), int64(m.Task), int64(m.Step), int64(m.Count), int64(m.Owner),
		int64(m.Estimate), int64(m.Number), int64(m.Victim.Job), int64(m.Victim.Index))
	r := &m.Room
	return agent.AppendNumbers(b, int64(r.Free), int64(r.Reserved), int64(r.Pausable), int64(r.Long), int64(r.Short))
}

// Read is that of [agent.Codec]. A message of another version is an [agent.ErrMessage].
func (Codec) Read(b []byte) (Message, error) {
	w := agent.NewWire(b, version)
	m := Message{Kind: Kind(w.Byte(byte(kinds) - 1)), Long: w.Byte(1) == 1}
	m.Job, m.Ref, m.Task, m.Step, m.Count = w.Int32(), w.Int32(), w.Int32(), w.Int32(), w.Int32()
	m.Owner, m.Estimate, m.Number = agent.Addr(w.Int32()), w.Duration(), w.Int32()
	m.Victim = agent.Task{Job: w.Int32(), Index: w.Int32()}
	m.Room = Room{Free: w.Int32(), Reserved: w.Int32(), Pausable: w.Int32(), Long: w.Int32(), Short: w.Int32()}
	return m, w.End()
}
