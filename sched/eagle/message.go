package eagle

import (
	"fmt"
	"math"
	"time"

	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/eagle/longset"
)

// Kind is what a [Message] says.
type Kind uint8

// The kinds of messages.
const (
	// Probe offers a worker a job's tasks. Task is the probe's number, Left and Version what the job has left.
	Probe Kind = iota
	// Reject sends a probe back, with the newest snapshot that the worker has.
	Reject
	// Ask wants a task of a job.
	Ask
	// Give answers with Task.
	Give
	// None answers that there is none left.
	None
	// Left tells a worker with probes or tasks of a job how many of its tasks have not started.
	Left
	// Place puts a task into a worker's queue. A long one of Eagle brings a snapshot of the nodes with long tasks.
	Place
	// Began tells the scheduler that placed a task that it runs.
	Began
	// Finished tells the scheduler of a task that it has ended.
	Finished
	// Beat tells how long a worker's queue is: Estimate waits, and what runs should end At.
	Beat
	// Steal asks a worker for probes, number Version.
	Steal
	// Loot is a probe that is given to a thief.
	Loot
	// Empty refuses a thief.
	Empty
	// State tells a scheduler at once which nodes hold long tasks.
	State

	kinds
)

// Message is what the parts of a [System] send each other. Which fields mean something depends on the kind.
type Message struct {
	Kind Kind
	// Round is how often a probe has been sent, from 1; 255 is a job's lifeline, which sticks in any variant.
	Round uint8
	Long  bool
	// Job is the job's ID, Owner the scheduler that has it, Ref its number there.
	Job, Ref     int32
	Owner        agent.Addr
	Task, Left   int32
	Version      int32
	Estimate, At time.Duration
	Seen         *longset.Snapshot
}

// version is of the binary form.
const version = 1

// Codec is the binary form of messages: the version, the kind, numbers as varints, then the snapshot, if any.
type Codec struct{}

// Append is that of [agent.Codec].
func (Codec) Append(b []byte, m *Message) []byte {
	flags := byte(0)
	if m.Long {
		flags |= 1
	}
	if m.Seen != nil {
		flags |= 2
	}
	b = append(b, version, byte(m.Kind), m.Round, flags)
	b = agent.AppendNumbers(b, int64(m.Job), int64(m.Ref), int64(m.Owner), int64(m.Task), int64(m.Left),
		int64(m.Version), int64(m.Estimate), int64(m.At))
	if m.Seen != nil {
		b = m.Seen.Append(b)
	}
	return b
}

// Read is that of [agent.Codec]. A message of another version is an [agent.ErrMessage].
func (Codec) Read(b []byte) (Message, error) {
	w := agent.NewWire(b, version)
	m := Message{Kind: Kind(w.Byte(byte(kinds) - 1)), Round: w.Byte(math.MaxUint8)}
	flags := w.Byte(3)
	m.Long = flags&1 != 0
	m.Job, m.Ref, m.Owner, m.Task = w.Int32(), w.Int32(), agent.Addr(w.Int32()), w.Int32()
	m.Left, m.Version, m.Estimate, m.At = w.Int32(), w.Int32(), w.Duration(), w.Duration()
	if flags&2 == 0 || w.Err() != nil {
		return m, w.End()
	}
	var err error
	if m.Seen, err = longset.Read(w.Rest()); err != nil {
		return Message{}, fmt.Errorf("%w: %w", agent.ErrMessage, err)
	}
	return m, nil
}
