package bigc

import "github.com/hedgesched/hedge/sched/agent"

// Kind is what a [Message] says.
type Kind uint8

// The kinds of messages.
const (
	// Run has a worker run a task in a free slot.
	Run Kind = iota
	// Swap has it stop the victim, if that still runs, and run a task in its place.
	Swap
	// Resume has it go on with a task that was stopped.
	Resume
	// Began tells that a task runs, again or for the first time.
	Began
	// Swapped tells the same of a task that was swapped in: its victim is stopped, or has ended.
	Swapped
	// Finished tells that it has ended.
	Finished

	kinds
)

// Message is what the parts of a [System] send each other. Which fields mean something depends on the kind.
type Message struct {
	Kind         Kind
	Ref          int32 // the job's number at the central scheduler
	Task, Victim agent.Task
}

// version is of the binary form.
const version = 1

// Codec is the binary form of messages.
type Codec struct{}

// Append is that of [agent.Codec].
func (Codec) Append(b []byte, m *Message) []byte {
	return agent.AppendNumbers(append(b, version, byte(m.Kind)), int64(m.Ref), int64(m.Task.Job), int64(m.Task.Index),
		int64(m.Victim.Job), int64(m.Victim.Index))
}

// Read is that of [agent.Codec]. A message of another version is an [agent.ErrMessage].
func (Codec) Read(b []byte) (Message, error) {
	w := agent.NewWire(b, version)
	m := Message{Kind: Kind(w.Byte(byte(kinds) - 1)), Ref: w.Int32()}
	m.Task.Job, m.Task.Index, m.Victim.Job, m.Victim.Index = w.Int32(), w.Int32(), w.Int32(), w.Int32()
	return m, w.End()
}
