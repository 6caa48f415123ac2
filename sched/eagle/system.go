package eagle

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
	// Switches are the mechanisms; see [Named].
	Switches Switches
	// Workers is from 1 to 10,000,000, each with Slots slots, from 1 on; 0 slots mean one, as in the paper.
	Workers, Slots int
	// Schedulers is the number of distributed schedulers, 1 to 1,000,000; jobs go to them in turn. 0 means 10.
	Schedulers int
	// ShortShare is the percentage of workers that take short tasks only, from 0 to below 100, rounded down to whole
	// workers: the lowest addresses. With Share it must be one at least: the others may all hold long tasks.
	ShortShare float64
	// MinProbes is the least number of probes of a job, where the switches have one: from 0 to 1,000,000. Workers are
	// drawn with replacement.
	MinProbes int
	// Heartbeat is how often workers tell of their queues, where the switches have that; it must be above 0.
	Heartbeat time.Duration
	// Seed is of the random draws.
	Seed uint64
}

const (
	probesPerTask     = 2
	bypassFactor      = 5
	stealAttempts     = 10
	lootLimit         = 10_000
	lifeline          = math.MaxUint8 // the round of a probe that sticks
	defaultSchedulers = 10
	maxWorkers        = 10_000_000
	maxOther          = 1_000_000
)

// System is a scheduler of this family as parts that send messages; it is an [agent.System]. Addresses are the
// workers', then that of the central scheduler, then those of the distributed ones.
type System struct {
	Config
	general    int // the first worker of the general partition
	workers    []worker
	central    central
	schedulers []scheduler
}

// New is a system at its beginning, or an [ErrConfig].
func New(c Config) (*System, error) {
	if c.Slots == 0 {
		c.Slots = 1
	}
	if c.Schedulers == 0 {
		c.Schedulers = defaultSchedulers
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &System{Config: c, general: c.shortWorkers()}
	s.workers = make([]worker, c.Workers)
	for i := range s.workers {
		if c.Switches.Steal {
			s.workers[i].random = agent.NewRandom(c.Seed, agent.Addr(i))
		}
	}
	s.central = newCentral(s)
	s.schedulers = make([]scheduler, c.Schedulers)
	for i := range s.schedulers {
		s.schedulers[i] = newScheduler(s, s.scheduler(i))
	}
	return s, nil
}

func (c *Config) check() error {
	wrong := func(what string, found any, expected string) error {
		return fmt.Errorf("%w: %s is %v, expected %s", ErrConfig, what, found, expected)
	}
	v := &c.Switches
	switch short := c.shortWorkers(); {
	case c.Workers < 1 || c.Workers > maxWorkers:
		return wrong("the number of workers", c.Workers, "1 to 10000000")
	case c.Slots < 1 || c.Slots > maxOther:
		return wrong("the number of slots", c.Slots, "1 to 1000000")
	case c.Schedulers < 1 || c.Schedulers > maxOther:
		return wrong("the number of schedulers", c.Schedulers, "1 to 1000000")
	case !(c.ShortShare >= 0 && c.ShortShare < 100):
		return wrong("the short share", c.ShortShare, "0 to below 100")
	case short >= c.Workers:
		return wrong("the short share", c.ShortShare, fmt.Sprintf("a worker of %d left to long tasks", c.Workers))
	case v.Share && short == 0:
		return wrong("the short share", c.ShortShare, fmt.Sprintf("a worker at least of %d, and a partition", c.Workers))
	case c.MinProbes < 0 || c.MinProbes > maxOther:
		return wrong("the least number of probes", c.MinProbes, "0 to 1000000")
	case v.Stale && c.Heartbeat <= 0:
		return wrong("the heartbeat", c.Heartbeat, "more than 0")
	}
	return nil
}

// shortWorkers is the size of the short partition.
func (c *Config) shortWorkers() int {
	if !c.Switches.Partition || math.IsNaN(c.ShortShare) {
		return 0
	}
	return int(c.ShortShare * float64(c.Workers) / 100)
}

// Workers is that of [agent.System].
func (s *System) Workers() int { return s.Config.Workers }

// Parts is that of [agent.System].
func (s *System) Parts() int { return s.Config.Workers + 1 + s.Config.Schedulers }

// atCentral is the address of the central scheduler.
func (s *System) atCentral() agent.Addr { return agent.Addr(s.Config.Workers) }

// scheduler is the address of a distributed scheduler.
func (s *System) scheduler(i int) agent.Addr { return agent.Addr(s.Config.Workers + 1 + i) }

// Entry is that of [agent.System]: the central scheduler has the long jobs, and the short ones where all are placed
// with perfect knowledge; the others go to the distributed schedulers in turn.
func (s *System) Entry(j *agent.Job) agent.Addr {
	v := &s.Switches
	if v.Central && !v.Stale && (j.Long || v.CentralShort) {
		return s.atCentral()
	}
	return s.scheduler(int(j.ID) % s.Schedulers)
}

// Step is that of [agent.System].
func (s *System) Step(at agent.Addr, now time.Duration, in *agent.Input[Message], out *agent.Output[Message]) {
	switch central := s.atCentral(); {
	case at < central:
		w := stepped{System: s, worker: &s.workers[at], at: at, now: now, out: out}
		w.step(in)
	case at == central:
		s.central.step(now, in, out)
	default:
		s.schedulers[at-central-1].step(now, in, out)
	}
}

// Held is that of [agent.System].
func (s *System) Held(at agent.Addr) int {
	switch central := s.atCentral(); {
	case at < central:
		w := &s.workers[at]
		return len(w.queue) + len(w.running) + int(w.asking)
	case at == central:
		return s.central.held()
	default:
		return s.schedulers[at-central-1].jobs.Len()
	}
}
