package live

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hedgesched/hedge/sched/agent"
)

// The sentinels of this package's errors.
var (
	// ErrConfig is wrapped by errors about parameters.
	ErrConfig = errors.New("live: bad parameters")
	// ErrSystem is wrapped by errors about a system that breaks the rules of package agent.
	ErrSystem = errors.New("live: the system is wrong")
	// ErrFleet is wrapped by errors about a process or a folder of another fleet.
	ErrFleet = errors.New("live: another fleet")
	// ErrJob is wrapped by errors about a job that cannot be submitted or does not exist.
	ErrJob = errors.New("live: bad job")
)

// System is a system of agents whose messages are encoded as bytes. Each dispatch and each agent needs a System of its
// own.
type System struct {
	name  string
	read  func([]byte) error
	parts agent.System[[]byte]
	mu    sync.Mutex // guards parts; steps are short
}

// NewSystem prepares a system of agents to be run. The name should identify the system and all its parameters:
// processes with different names refuse to talk to each other.
func NewSystem[M any](name string, s agent.System[M], c agent.Codec[M]) *System {
	read := func(b []byte) error {
		_, err := c.Read(b)
		return err
	}
	return &System{name: name, read: read, parts: &binary[M]{System: s, codec: c}}
}

// Workers is the number of workers, the parts with addresses from 0.
func (s *System) Workers() int { return s.parts.Workers() }

// Parts is the number of parts, workers included.
func (s *System) Parts() int { return s.parts.Parts() }

func (s *System) step(at agent.Addr, now time.Duration, in *agent.Input[[]byte], out *agent.Output[[]byte]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts.Step(at, now, in, out)
}

// binary encodes the messages of a system. Every message that it gets was checked with the codec before.
type binary[M any] struct {
	agent.System[M]
	codec agent.Codec[M]
	out   agent.Output[M]
}

// Step implements [agent.System].
func (b *binary[M]) Step(at agent.Addr, now time.Duration, in *agent.Input[[]byte], out *agent.Output[[]byte]) {
	inner := agent.Input[M]{Kind: in.Kind, Job: in.Job, From: in.From, Timer: in.Timer, Task: in.Task}
	if in.Kind == agent.Received {
		m, err := b.codec.Read(in.Msg)
		if err != nil {
			return // not reached: host.receive has read it before
		}
		inner.Msg = m
	}
	b.out.Reset()
	if in.Kind == agent.Received {
		b.received(at, now, &inner)
	} else {
		b.System.Step(at, now, &inner, &b.out)
	}
	for i := range b.out.Actions {
		a := &b.out.Actions[i]
		plain := agent.Action[[]byte]{Do: a.Do, Delay: a.Delay, To: a.To, Timer: a.Timer, Task: a.Task, After: a.After}
		if a.Do == agent.Send {
			plain.Msg = b.codec.Append(nil, &a.Msg)
		}
		out.Actions = append(out.Actions, plain)
	}
}

// received gives a part a message. A codec cannot tell all that a system never sends, such as the number of a task that
// a job does not have. A message that the part cannot take, or that would have it write to a part that is not there,
// causes nothing; it may still have changed what the part knows.
func (b *binary[M]) received(at agent.Addr, now time.Duration, in *agent.Input[M]) {
	defer func() {
		if recover() != nil {
			b.out.Reset()
		}
	}()
	b.System.Step(at, now, in, &b.out)
	for i := range b.out.Actions {
		if a := &b.out.Actions[i]; a.Do == agent.Send && (a.To < 0 || int(a.To) >= b.Parts()) {
			b.out.Reset()
			return
		}
	}
}

// checkPart returns an error unless the address is that of a part or of the registrar.
func (s *System) checkPart(at agent.Addr) error {
	if at != registrarAt && (at < 0 || int(at) >= s.Parts()) {
		return fmt.Errorf("%w: found part %d, expected 0 to %d", ErrSystem, at, s.Parts()-1)
	}
	return nil
}
