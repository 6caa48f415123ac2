package pigeon

import "github.com/hedgesched/hedge/sched/agent"

// Kind is what a [Message] says.
type Kind uint8

// The kinds of messages.
const (
	// Share hands a master its share of a job: the tasks Task, Task + Step, …, Count of them.
	Share Kind = iota
	// Run has a worker run Task.
	Run
	// Finished tells the master that it has ended.
	Finished
	// Shared tells the distributor that a master's share of a job has ended.
	Shared

	kinds
)

// Message is what the parts of a [System] send each other. Which fields mean something depends on the kind.
type Message struct {
	Kind              Kind
	Long              bool
	Job, Ref          int32 // the job's ID, and its number at the master
	Task, Step, Count int32
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
	return agent.AppendNumbers(b, int64(m.Job), int64(m.Ref), int64(m.Task), int64(m.Step), int64(m.Count))
}

// Read is that of [agent.Codec]. A message of another version is an [agent.ErrMessage].
func (Codec) Read(b []byte) (Message, error) {
	w := agent.NewWire(b, version)
	m := Message{Kind: Kind(w.Byte(byte(kinds) - 1)), Long: w.Byte(1) == 1}
	m.Job, m.Ref, m.Task, m.Step, m.Count = w.Int32(), w.Int32(), w.Int32(), w.Int32(), w.Int32()
	return m, w.End()
}
