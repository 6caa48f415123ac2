// Package kairos is Kairos (Delgado et al., SoCC 2018) made of messages, as package agent has it: a scheduler without
// estimates of runtimes. Each worker serves the tasks that have attained the least service first, by preemption and
// time slices; a central scheduler gives each worker equally many tasks, and tasks of the most different age.
package kairos

import (
	"errors"
	"fmt"
	"time"

	"github.com/hedgesched/hedge/sched/agent"
)

// ErrConfig is wrapped by errors about parameters.
var ErrConfig = errors.New("bad parameters")

// Choice is how the central scheduler chooses among the workers with the fewest tasks.
type Choice uint8

// The choices.
const (
	// Variance takes the worker whose tasks' attained service varies least: Kairos.
	Variance Choice = iota
	// Sum takes the one whose tasks have attained least together.
	Sum
	// Random takes any.
	Random
)

// Config is what a [System] is told.
type Config struct {
	// Workers is from 1 to 10,000,000, each with Slots cores, from 1 to 1,000,000; 0 slots mean one.
	Workers, Slots int
	// Queue is how many tasks more than it has cores a worker may hold: from 0, which is a plain queue without any
	// preemption, as YARN's, to 1,000. The paper's testbed has 4, its simulations 2.
	Queue int
	// Quantum is the time slice, above 0: the paper's W.
	Quantum time.Duration
	// Interval is that of the central scheduler and of heartbeats, above 0: the paper's ∆.
	Interval time.Duration
	// Guard, to 1,000, is how often a task is preempted before it runs for GuardQuanta quanta undisturbed; 0 of either
	// means never.
	Guard, GuardQuanta int
	// GuardWaits has Guard count the quanta that a task has waited without a break, as section 3.2 says it, in place of
	// its preemptions.
	GuardWaits bool
	Choice     Choice
	// Seed is of the random draws.
	Seed uint64
}

const (
	maxWorkers = 10_000_000
	maxSlots   = 1_000_000
	maxQueue   = 1_000
)

// System is Kairos's parts; it is an [agent.System]. The address after the workers' is the central scheduler's.
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
	if err := c.check(); err != nil {
		return nil, err
	}
	return &System{Config: c, workers: make([]worker, c.Workers), central: newCentral(&c)}, nil
}

func (c *Config) check() error {
	wrong := func(what string, found any, expected string) error {
		return fmt.Errorf("%w: %s is %v, expected %s", ErrConfig, what, found, expected)
	}
	switch {
	case c.Workers < 1 || c.Workers > maxWorkers:
		return wrong("the number of workers", c.Workers, "1 to 10000000")
	case c.Slots < 1 || c.Slots > maxSlots:
		return wrong("the number of slots", c.Slots, "1 to 1000000")
	case c.Queue < 0 || c.Queue > maxQueue:
		return wrong("the queue", c.Queue, "0 to 1000")
	case c.Quantum <= 0:
		return wrong("the quantum", c.Quantum, "more than 0")
	case c.Interval <= 0:
		return wrong("the interval", c.Interval, "more than 0")
	case c.Guard < 0 || c.Guard > maxQueue || c.GuardQuanta < 0 || c.GuardQuanta > maxQueue:
		return wrong("the guard", fmt.Sprintf("%d preemptions, %d quanta", c.Guard, c.GuardQuanta), "0 to 1000 of both")
	case c.Choice > Random:
		return wrong("the choice", c.Choice, "one of the three")
	}
	return nil
}

// Workers is that of [agent.System].
func (s *System) Workers() int { return s.Config.Workers }

// Parts is that of [agent.System].
func (s *System) Parts() int { return s.Config.Workers + 1 }

// Entry is that of [agent.System].
func (s *System) Entry(*agent.Job) agent.Addr { return agent.Addr(s.Config.Workers) }

// Step is that of [agent.System].
func (s *System) Step(at agent.Addr, now time.Duration, in *agent.Input[Message], out *agent.Output[Message]) {
	if int(at) == s.Config.Workers {
		s.central.step(now, in, out)
		return
	}
	w := stepped{Config: &s.Config, worker: &s.workers[at], now: now, out: out}
	w.step(in)
}

// Held is that of [agent.System].
func (s *System) Held(at agent.Addr) int {
	if int(at) == s.Config.Workers {
		return s.central.held()
	}
	return len(s.workers[at].tasks) + len(s.workers[at].ended)
}
