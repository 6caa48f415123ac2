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
	// ErrSystem is wrapped by errors about a system that broke the rules of package agent.
	ErrSystem = errors.New("live: the system is wrong")
	// ErrFleet is wrapped by errors about a process or a folder that belongs to another fleet.
	ErrFleet = errors.New("live: another fleet")
	// ErrJob is wrapped by errors about a job that cannot be submitted, or is not there.
	ErrJob = errors.New("live: bad job")
)

// System is a system of agents whose messages are in their binary form. A process has one of its own, made new.
type System struct {
	name  string
	read  func([]byte) error
	parts agent.System[[]byte]
	mu    sync.Mutex // of parts: steps are short
}

// NewSystem makes a system of agents ready to be run. The name should say what it is and all its parameters: processes
// with different names do not talk to each other.
func NewSystem[M any](name string, s agent.System[M], c agent.Codec[M]) *System {
	read := func(b []byte) error {
		_, err := c.Read(b)
		return err
	}
	return &System{name: name, read: read, parts: &binary[M]{System: s, codec: c}}
}

// Workers is the number of parts that are workers.
func (s *System) Workers() int { return s.parts.Workers() }

// Parts is the number of parts.
func (s *System) Parts() int { return s.parts.Parts() }

func (s *System) step(at agent.Addr, now time.Duration, in *agent.Input[[]byte], out *agent.Output[[]byte]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts.Step(at, now, in, out)
}

// binary is a system whose messages are bytes. It is given only what its codec reads.
type binary[M any] struct {
	agent.System[M]
	codec agent.Codec[M]
	out   agent.Output[M]
}

// Step is that of [agent.System].
func (b *binary[M]) Step(at agent.Addr, now time.Duration, in *agent.Input[[]byte], out *agent.Output[[]byte]) {
	inner := agent.Input[M]{Kind: in.Kind, Job: in.Job, From: in.From, Timer: in.Timer, Task: in.Task}
	if in.Kind == agent.Received {
		m, err := b.codec.Read(in.Msg)
		if err != nil {
			return // host.receive has read it before
		}
		inner.Msg = m
	}
	b.out.Reset()
	b.System.Step(at, now, &inner, &b.out)
	for i := range b.out.Actions {
		a := &b.out.Actions[i]
		plain := agent.Action[[]byte]{Do: a.Do, Delay: a.Delay, To: a.To, Timer: a.Timer, Task: a.Task, After: a.After}
		if a.Do == agent.Send {
			plain.Msg = b.codec.Append(nil, &a.Msg)
		}
		out.Actions = append(out.Actions, plain)
	}
}

// checkPart refuses the address of a part that is not there.
func (s *System) checkPart(at agent.Addr) error {
	if at != registrarAt && (at < 0 || int(at) >= s.Parts()) {
		return fmt.Errorf("%w: found part %d, expected 0 to %d", ErrSystem, at, s.Parts()-1)
	}
	return nil
}
