// Package pigeon is Pigeon (Wang et al., SoCC 2019) made of messages, as package agent has it. Workers are divided into
// groups, each with a master. Distributors spread a job's tasks evenly over all masters, without probing. A master
// knows its workers and queues what finds none idle: short tasks go before long ones, but for a weight, and some
// workers take short ones only.
package pigeon

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
	// Workers is from 1 to 10,000,000, each with Slots slots, from 1 on; 0 slots mean one, as in the paper.
	Workers, Slots int
	// Group is the number of workers of a group, at least 1; 0 means 100. The last group may be smaller.
	Group int
	// Reserved is the number of workers of each group that take short tasks only: from 0 to below Group. A smaller
	// group has one at least that takes long tasks.
	Reserved int
	// Weight is how many short tasks go before a long one that waits too, at least 1; 0 means 100,000, as in the
	// public simulator, which is nearly never.
	Weight int
	// Distributors is from 1 to 1,000,000; jobs go to them in turn. 0 means 10.
	Distributors int
	// Seed is of the random draws.
	Seed uint64
}

const (
	maxWorkers          = 10_000_000
	maxOther            = 1_000_000
	defaultGroup        = 100
	defaultWeight       = 100_000
	defaultDistributors = 10
)

// System is Pigeon's parts; it is an [agent.System]. Addresses are the workers', then the masters', then the
// distributors'.
type System struct {
	Config
	workers      []worker
	masters      []master
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
	s := &System{Config: c, workers: make([]worker, c.Workers)}
	groups := (c.Workers + c.Group - 1) / c.Group
	s.masters = make([]master, groups)
	for i := range s.masters {
		s.masters[i] = newMaster(&s.Config, i)
	}
	s.distributors = make([]distributor, c.Distributors)
	for i := range s.distributors {
		random := agent.NewRandom(c.Seed, agent.Addr(c.Workers+groups+i))
		s.distributors[i] = distributor{jobs: make(map[int32]int32), random: random}
	}
	return s, nil
}

func (c *Config) check() error {
	wrong := func(what string, found int, expected string) error {
		return fmt.Errorf("%w: %s is %d, expected %s", ErrConfig, what, found, expected)
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
	case c.Weight < 1:
		return wrong("the weight", c.Weight, "at least 1")
	case c.Distributors < 1 || c.Distributors > maxOther:
		return wrong("the number of distributors", c.Distributors, "1 to 1000000")
	}
	return nil
}

// Workers is that of [agent.System].
func (s *System) Workers() int { return s.Config.Workers }

// Parts is that of [agent.System].
func (s *System) Parts() int { return s.Config.Workers + len(s.masters) + s.Config.Distributors }

// Entry is that of [agent.System].
func (s *System) Entry(j *agent.Job) agent.Addr {
	return agent.Addr(s.Config.Workers + len(s.masters) + int(j.ID)%s.Config.Distributors)
}

// Step is that of [agent.System].
func (s *System) Step(at agent.Addr, _ time.Duration, in *agent.Input[Message], out *agent.Output[Message]) {
	switch master := int(at) - s.Config.Workers; {
	case master < 0:
		s.workers[at].step(s.masterOf(at), in, out)
	case master < len(s.masters):
		s.masters[master].step(in, out)
	default:
		s.distributors[master-len(s.masters)].step(s, in, out)
	}
}

// masterOf is the address of a worker's master.
func (s *System) masterOf(worker agent.Addr) agent.Addr {
	return agent.Addr(s.Config.Workers + int(worker)/s.Group)
}

// Held is that of [agent.System].
func (s *System) Held(at agent.Addr) int {
	switch master := int(at) - s.Config.Workers; {
	case master < 0:
		return len(s.workers[at].running)
	case master < len(s.masters):
		return s.masters[master].held()
	default:
		return len(s.distributors[master-len(s.masters)].jobs)
	}
}

// worker runs what its master tells it to.
type worker struct{ running []held }

// held is a task that runs, and its job's number at the master.
type held struct {
	task agent.Task
	ref  int32
	long bool
}

func (w *worker) step(master agent.Addr, in *agent.Input[Message], out *agent.Output[Message]) {
	switch in.Kind {
	case agent.Received:
		t := agent.Task{Job: in.Msg.Job, Index: in.Msg.Task}
		w.running = append(w.running, held{task: t, ref: in.Msg.Ref})
		out.Launch(t)
	case agent.Ended:
		for i, r := range w.running {
			if r.task == in.Task {
				w.running[i] = w.running[len(w.running)-1]
				w.running = w.running[:len(w.running)-1]
				out.Send(master, &Message{Kind: Finished, Job: r.task.Job, Ref: r.ref, Task: r.task.Index})
				break
			}
		}
	case agent.Restarted:
		w.running = w.running[:0]
	}
}

// distributor spreads jobs over the masters, and counts the masters that have not ended their shares.
type distributor struct {
	jobs   map[int32]int32
	random agent.Random
}

func (d *distributor) step(s *System, in *agent.Input[Message], out *agent.Output[Message]) {
	switch in.Kind {
	case agent.Submitted:
		d.spread(s, in.Job, out)
	case agent.Received:
		job := in.Msg.Job
		if d.jobs[job]--; d.jobs[job] == 0 {
			delete(d.jobs, job)
			out.Done(job)
		}
	}
}

// spread gives each master its share in one message. The first is random, so that what is over is spread too.
func (d *distributor) spread(s *System, j *agent.Job, out *agent.Output[Message]) {
	groups := len(s.masters)
	shares := min(int(j.Tasks), groups)
	d.jobs[j.ID] = int32(shares)
	first := d.random.Below(groups)
	for i := range shares {
		m := Message{Kind: Share, Long: j.Long, Job: j.ID, Task: int32(i), Step: int32(shares),
			Count: (j.Tasks - int32(i) + int32(shares) - 1) / int32(shares)}
		out.Send(agent.Addr(s.Config.Workers+(first+i)%groups), &m)
	}
}
