package slearn

import (
	"time"

	"github.com/hedgesched/hedge/sched/agent"
)

// Kind is the type of a [Message].
type Kind uint8

// The kinds of messages.
const (
	// Run tells a worker to run a task in a free slot.
	Run Kind = iota
	// Finished tells the central scheduler that a task has ended.
	Finished

	kinds
)

// Message is what the parts of a [System] send each other.
type Message struct {
	Kind Kind
	Ref  int32 // the job's number at the central scheduler
	Task agent.Task
	Ran  time.Duration // how long a finished task ran
}

// version is the version of the binary form.
const version = 1

// Codec is the binary form of messages.
type Codec struct{}

// Append implements [agent.Codec].
func (Codec) Append(b []byte, m *Message) []byte {
	return agent.AppendNumbers(append(b, version, byte(m.Kind)), int64(m.Ref), int64(m.Task.Job), int64(m.Task.Index),
		int64(m.Ran))
}

// Read implements [agent.Codec].
func (Codec) Read(b []byte) (Message, error) {
	w := agent.NewWire(b, version)
	m := Message{Kind: Kind(w.Byte(byte(kinds) - 1)), Ref: w.Int32()}
	m.Task.Job, m.Task.Index, m.Ran = w.Int32(), w.Int32(), w.Duration()
	return m, w.End()
}
