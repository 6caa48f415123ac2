package eagle

import (
	"encoding/binary"
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
	// Round is how often a probe has been sent, from 1.
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
	for _, n := range [...]int64{int64(m.Job), int64(m.Ref), int64(m.Owner), int64(m.Task), int64(m.Left),
		int64(m.Version), int64(m.Estimate), int64(m.At)} {
		b = binary.AppendVarint(b, n)
	}
	if m.Seen != nil {
		b = m.Seen.Append(b)
	}
	return b
}

// Read is that of [agent.Codec]. A message of another version is an [agent.ErrMessage].
func (Codec) Read(b []byte) (Message, error) {
	const head = 4
	switch {
	case len(b) < head:
		return Message{}, fmt.Errorf("%w: found %d bytes, expected at least %d", agent.ErrMessage, len(b), head)
	case b[0] != version:
		return Message{}, fmt.Errorf("%w: found version %d, expected %d", agent.ErrMessage, b[0], version)
	case b[1] >= byte(kinds) || b[3] > 3:
		return Message{}, fmt.Errorf("%w: found kind %d with flags %d", agent.ErrMessage, b[1], b[3])
	}
	m := Message{Kind: Kind(b[1]), Round: b[2], Long: b[3]&1 != 0}
	seen := b[3]&2 != 0
	b = b[head:]
	for _, to := range [...]*int32{&m.Job, &m.Ref, (*int32)(&m.Owner), &m.Task, &m.Left, &m.Version} {
		n, size := binary.Varint(b)
		if size <= 0 || n < math.MinInt32 || n > math.MaxInt32 {
			return Message{}, fmt.Errorf("%w: found no number where one is expected", agent.ErrMessage)
		}
		*to, b = int32(n), b[size:]
	}
	for _, to := range [...]*time.Duration{&m.Estimate, &m.At} {
		n, size := binary.Varint(b)
		if size <= 0 {
			return Message{}, fmt.Errorf("%w: found no time where one is expected", agent.ErrMessage)
		}
		*to, b = time.Duration(n), b[size:]
	}
	if !seen && len(b) > 0 {
		return Message{}, fmt.Errorf("%w: found %d bytes after the end", agent.ErrMessage, len(b))
	}
	if seen {
		var err error
		if m.Seen, err = longset.Read(b); err != nil {
			return Message{}, fmt.Errorf("%w: %w", agent.ErrMessage, err)
		}
	}
	return m, nil
}
