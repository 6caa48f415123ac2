// Package bigc is a baseline of Kairos (SoCC 2018), after Big-C (Chen et al., ATC 2017), made of messages as package
// agent has it: a central scheduler with a queue of short jobs and one of long jobs. Each class has a share of the
// slots and borrows what the other leaves idle. A short task stops a long one where long tasks have more than their
// share; that goes on later, on the same worker. Nothing stops a short task.
package bigc

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hedgesched/hedge/sched/agent"
)

// ErrConfig is wrapped by errors about parameters.
var ErrConfig = errors.New("bad parameters")

// Config is what a [System] is told.
type Config struct {
	// Workers is from 1 to 10,000,000, each with Slots slots, from 1 to 1,000,000; 0 slots mean one.
	Workers, Slots int
	// ShortShare is the percentage of all slots that is the short jobs', from 0 to 100; Kairos's paper has 95.
	ShortShare float64
}

const (
	maxWorkers = 10_000_000
	maxSlots   = 1_000_000
)

// System is the scheduler's parts; it is an [agent.System]. The address after the workers' is the central scheduler's.
type System struct {
	Config
	workers []worker
	central central
}

// New is a system at its beginning, or an [ErrConfig].
func New(c Config) (*System, error) {
	if c.Slots == 0 {
		c.Slots = 1
	}
	switch {
	case c.Workers < 1 || c.Workers > maxWorkers:
		return nil, fmt.Errorf("%w: the number of workers is %d, expected 1 to 10000000", ErrConfig, c.Workers)
	case c.Slots < 1 || c.Slots > maxSlots:
		return nil, fmt.Errorf("%w: the number of slots is %d, expected 1 to 1000000", ErrConfig, c.Slots)
	case !(c.ShortShare >= 0 && c.ShortShare <= 100):
		return nil, fmt.Errorf("%w: the share of short jobs is %v, expected 0 to 100", ErrConfig, c.ShortShare)
	}
	s := &System{Config: c, workers: make([]worker, c.Workers)}
	s.central = central{slots: c.Slots, nodes: make([]node, c.Workers)}
	s.central.share = int(math.Round((100 - c.ShortShare) / 100 * float64(c.Workers) * float64(c.Slots)))
	for i := c.Workers - 1; i >= 0; i-- {
		for range c.Slots {
			s.central.free = append(s.central.free, int32(i))
		}
	}
	return s, nil
}

// Workers is that of [agent.System].
func (s *System) Workers() int { return s.Config.Workers }

// Parts is that of [agent.System].
func (s *System) Parts() int { return s.Config.Workers + 1 }

// Entry is that of [agent.System].
func (s *System) Entry(*agent.Job) agent.Addr { return agent.Addr(s.Config.Workers) }

// Step is that of [agent.System].
func (s *System) Step(at agent.Addr, _ time.Duration, in *agent.Input[Message], out *agent.Output[Message]) {
	if central := agent.Addr(s.Config.Workers); at < central {
		s.workers[at].step(central, in, out)
	} else {
		s.central.step(in, out)
	}
}

// Held is that of [agent.System].
func (s *System) Held(at agent.Addr) int {
	if int(at) == s.Config.Workers {
		return s.central.held()
	}
	return len(s.workers[at].tasks)
}

// worker does what it is told.
type worker struct{ tasks []own }

// own is a task on a worker.
type own struct {
	task agent.Task
	ref  int32
}

func (w *worker) step(central agent.Addr, in *agent.Input[Message], out *agent.Output[Message]) {
	switch in.Kind {
	case agent.Restarted:
		w.tasks = w.tasks[:0]
	case agent.Ended:
		i := w.find(in.Task)
		out.Send(central, &Message{Kind: Finished, Ref: w.tasks[i].ref, Task: in.Task})
		w.tasks = append(w.tasks[:i], w.tasks[i+1:]...)
	case agent.Received:
		w.told(central, &in.Msg, out)
	}
}

// told does what the central scheduler says. A victim, or a task to go on with, may have ended before.
func (w *worker) told(central agent.Addr, m *Message, out *agent.Output[Message]) {
	answer := Message{Kind: Began, Ref: m.Ref, Task: m.Task, Victim: m.Victim}
	if m.Kind == Swap {
		answer.Kind = Swapped
		if w.find(m.Victim) >= 0 {
			out.Pause(m.Victim)
		}
	}
	switch {
	case m.Kind != Resume:
		w.tasks = append(w.tasks, own{m.Task, m.Ref})
		out.Launch(m.Task)
	case w.find(m.Task) >= 0:
		out.Resume(m.Task)
	default:
		return
	}
	out.Send(central, &answer)
}

func (w *worker) find(t agent.Task) int {
	for i := range w.tasks {
		if w.tasks[i].task == t {
			return i
		}
	}
	return -1
}
