// Package siding is a scheduler of hedge's own, made of messages as package agent has it. A siding is where a slow
// train waits on a single track while a fast one passes: here long tasks are paused on their workers while short ones
// run.
//
// Workers are divided into groups, each with a master that knows its workers (Pigeon). Distributors spread short jobs
// over the masters, without probing. Masters tell a yard, in a few numbers, how much room their groups have (Eagle's
// succinct shared state). Short tasks that find no idle slot in their group wait in the yard for one anywhere. When
// one has waited for a part of its estimate, a group pauses a long task for it (Kairos): the one that is predicted to
// have the most time left. Long tasks wait in the yard, jobs with less work first, and are bound late, to the first
// slot that no short task wants. A paused task stays on its worker and goes on as soon as the slot is idle. For how
// long a task may be kept waiting so is bounded by its estimate (Eagle's bypass bound).
//
// It makes no estimates of jobs, and never moves a task that has begun to another worker.
package siding

import (
	"errors"
	"fmt"
	"time"

	"github.com/hedgesched/hedge/sched/agent"
)

// ErrConfig is wrapped by errors about parameters.
var ErrConfig = errors.New("bad parameters")

// Config is what a [System] is told.
type Config struct {
	// Workers is from 1 to 10,000,000, each with Slots slots, from 1 to 1,000,000; 0 slots mean one.
	Workers, Slots int
	// Group is the number of workers of a group, at least 1; 0 means 100. The last group may be smaller.
	Group int
	// Reserved is the number of workers of each group that take short tasks only: from 0 to below Group. A smaller
	// group has one at least that takes long tasks.
	Reserved int
	// Bound is how long a long task may be kept waiting for short ones, by their estimates and in units of its own
	// estimate: 0, which is no pauses at all, to 1,000. The short task that reaches the bound may go beyond it.
	Bound float64
	// Patience is how long a short task waits for an idle slot before it pauses a long one, in units of its estimate:
	// from 0 to 1,000.
	Patience float64
	// Bypass has short tasks with smaller estimates go first in the yard. A task waits as if it had come later by Bypass
	// times its estimate: 0, which is in order of arrival, to 1,000.
	Bypass float64
	// Local has short tasks stay in their group, whatever room others have. They pause long tasks at once.
	Local bool
	// Weight is how many short tasks the yard hands out before a long one that waits too, at least 1; 0 means 100,000.
	Weight int
	// Lean has jobs with less work go first in the yard. A job waits as if it had come later by Lean times its work, by
	// estimates, over all slots: 0, which is in order of arrival, to 1,000.
	Lean float64
	// Distributors is from 1 to 1,000,000; short jobs go to them in turn. 0 means 10.
	Distributors int
	// Seed is of the random draws.
	Seed uint64
}

const (
	maxWorkers          = 10_000_000
	maxOther            = 1_000_000
	maxFactor           = 1000
	defaultGroup        = 100
	defaultWeight       = 100_000
	defaultDistributors = 10
)

// System is the scheduler's parts; it is an [agent.System]. Addresses are the workers', then the masters', then the
// yard's, then the distributors'.
type System struct {
	Config
	workers      []worker
	masters      []master
	yard         yard
	distributors []distributor
}

// New is a system at its beginning, or an [ErrConfig].
func New(c Config) (*System, error) {
	for _, d := range []struct {
		of    *int
		usual int
	}{{&c.Slots, 1}, {&c.Group, defaultGroup}, {&c.Weight, defaultWeight}, {&c.Distributors, defaultDistributors}} {
		if *d.of == 0 {
			*d.of = d.usual
		}
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &System{Config: c, workers: make([]worker, c.Workers), masters: make([]master, c.groups())}
	for i := range s.masters {
		s.masters[i] = newMaster(&s.Config, i)
	}
	s.yard = newYard(&s.Config, s.masters)
	s.distributors = make([]distributor, c.Distributors)
	for i := range s.distributors {
		random := agent.NewRandom(c.Seed, c.atYard()+1+agent.Addr(i))
		s.distributors[i] = distributor{jobs: make(map[int32]int32), random: random}
	}
	return s, nil
}

func (c *Config) check() error {
	wrong := func(what string, found any, expected string) error {
		return fmt.Errorf("%w: %s is %v, expected %s", ErrConfig, what, found, expected)
	}
	switch {
	case c.Workers < 1 || c.Workers > maxWorkers:
		return wrong("the number of workers", c.Workers, "1 to 10000000")
	case c.Slots < 1 || c.Slots > maxOther:
		return wrong("the number of slots", c.Slots, "1 to 1000000")
	case c.Group < 1:
		return wrong("the size of a group", c.Group, "at least 1")
	case c.Reserved < 0 || c.Reserved >= c.Group:
		return wrong("the number of reserved workers", c.Reserved, fmt.Sprintf("0 to below %d, the size of a group", c.Group))
	case !(c.Bound >= 0 && c.Bound <= maxFactor):
		return wrong("the bound of pauses", c.Bound, "0 to 1000")
	case !(c.Patience >= 0 && c.Patience <= maxFactor):
		return wrong("the patience", c.Patience, "0 to 1000")
	case !(c.Bypass >= 0 && c.Bypass <= maxFactor):
		return wrong("the bypass", c.Bypass, "0 to 1000")
	case c.Weight < 1:
		return wrong("the weight", c.Weight, "at least 1")
	case !(c.Lean >= 0 && c.Lean <= maxFactor):
		return wrong("the lean", c.Lean, "0 to 1000")
	case c.Distributors < 1 || c.Distributors > maxOther:
		return wrong("the number of distributors", c.Distributors, "1 to 1000000")
	}
	return nil
}

// Workers is that of [agent.System].
func (s *System) Workers() int { return s.Config.Workers }

// Parts is that of [agent.System].
func (s *System) Parts() int { return int(s.atYard()) + 1 + s.Config.Distributors }

// groups is their number.
func (c *Config) groups() int { return (c.Workers-1)/c.Group + 1 }

// atMaster is the address of a group's master.
func (c *Config) atMaster(group int) agent.Addr { return agent.Addr(c.Workers + group) }

// atYard is the address of the yard.
func (c *Config) atYard() agent.Addr { return agent.Addr(c.Workers + c.groups()) }

// Entry is that of [agent.System].
func (s *System) Entry(j *agent.Job) agent.Addr {
	if j.Long {
		return s.atYard()
	}
	return s.atYard() + 1 + agent.Addr(int(j.ID)%s.Config.Distributors)
}

// Step is that of [agent.System].
func (s *System) Step(at agent.Addr, now time.Duration, in *agent.Input[Message], out *agent.Output[Message]) {
	switch yard := s.atYard(); {
	case int(at) < s.Config.Workers:
		s.workers[at].step(s.atMaster(int(at)/s.Group), in, out)
	case at < yard:
		s.masters[int(at)-s.Config.Workers].step(now, in, out)
	case at == yard:
		s.yard.step(now, in, out)
	default:
		s.distributors[at-yard-1].step(&s.Config, in, out)
	}
}

// Held is that of [agent.System].
func (s *System) Held(at agent.Addr) int {
	switch yard := s.atYard(); {
	case int(at) < s.Config.Workers:
		return s.workers[at].held()
	case at < yard:
		return s.masters[int(at)-s.Config.Workers].held()
	case at == yard:
		return s.yard.held()
	default:
		return len(s.distributors[at-yard-1].jobs)
	}
}

// distributor spreads short jobs over the masters, and counts the tasks that have not ended.
type distributor struct {
	jobs   map[int32]int32
	random agent.Random
}

func (d *distributor) step(c *Config, in *agent.Input[Message], out *agent.Output[Message]) {
	switch in.Kind {
	case agent.Submitted:
		d.spread(c, in.Job, out)
	case agent.Received:
		job := in.Msg.Job
		if d.jobs[job] -= in.Msg.Count; d.jobs[job] == 0 {
			delete(d.jobs, job)
			out.Done(job)
		}
	}
}

// spread gives each master its share in one message. The first is random, so that what is over is spread too.
func (d *distributor) spread(c *Config, j *agent.Job, out *agent.Output[Message]) {
	groups := c.groups()
	shares := min(int(j.Tasks), groups)
	d.jobs[j.ID] = j.Tasks
	first := d.random.Below(groups)
	owner := c.atYard() + 1 + agent.Addr(int(j.ID)%c.Distributors)
	for i := range shares {
		m := Message{Kind: Share, Job: j.ID, Owner: owner, Estimate: j.Estimate, Task: int32(i), Step: int32(shares),
			Count: (j.Tasks - int32(i) + int32(shares) - 1) / int32(shares)}
		out.Send(c.atMaster((first+i)%groups), &m)
	}
}
