package kairos

import "github.com/hedgesched/hedge/sched/agent"

// Kind is what a [Message] says.
type Kind uint8

// The kinds of messages.
const (
	// Assign puts a task on a worker.
	Assign Kind = iota
	// Finished tells the central scheduler that it has ended; it goes with the next heartbeat.
	Finished
	// Beat is a heartbeat.
	Beat

	kinds
)

// Message is what the parts of a [System] send each other. Which fields mean something depends on the kind.
type Message struct {
	Kind           Kind
	Job, Ref, Task int32 // the job's ID, its number at the central scheduler, the task's index
	// Number counts a worker's heartbeats, Got the tasks it ever got.
	Number, Got int32
	Load        Load
}

// version is of the binary form.
const version = 1

// Codec is the binary form of messages.
type Codec struct{}

// Append is that of [agent.Codec].
func (Codec) Append(b []byte, m *Message) []byte {
	b = append(b, version, byte(m.Kind))
	b = agent.AppendNumbers(b, int64(m.Job), int64(m.Ref), int64(m.Task), int64(m.Number), int64(m.Got))
	l := &m.Load
	return agent.AppendNumbers(b, int64(l.Tasks), int64(l.Running), int64(l.At), agent.FloatBits(l.Sum),
		agent.FloatBits(l.Squares), agent.FloatBits(l.SumRunning))
}

// Read is that of [agent.Codec]. A message of another version is an [agent.ErrMessage].
func (Codec) Read(b []byte) (Message, error) {
	w := agent.NewWire(b, version)
	m := Message{Kind: Kind(w.Byte(byte(kinds) - 1))}
	m.Job, m.Ref, m.Task, m.Number, m.Got = w.Int32(), w.Int32(), w.Int32(), w.Int32(), w.Int32()
	m.Load = Load{Tasks: w.Int32(), Running: w.Int32(), At: w.Duration(), Sum: w.Float(), Squares: w.Float(),
		SumRunning: w.Float()}
	return m, w.End()
}
