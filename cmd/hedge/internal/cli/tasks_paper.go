package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/adapters/sim/published"
	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/bigc"
	"github.com/hedgesched/hedge/sched/eagle"
	"github.com/hedgesched/hedge/sched/kairos"
	"github.com/hedgesched/hedge/sched/pigeon"
	"github.com/hedgesched/hedge/sched/siding"
	"github.com/hedgesched/hedge/sched/slearn"
	"github.com/hedgesched/hedge/sched/systems"
)

// repair is how long a worker that crashed is away.
const repair = time.Minute

// paperFlags are the flags of --rules paper alone.
type paperFlags struct {
	cores   int
	delay   time.Duration
	crashes float64
	// pause and resume are what a slot loses when a task is paused and when it goes on.
	pause, resume time.Duration
	pigeon        pigeon.Config
	kairos        kairos.Config
	bigC          bigc.Config
	// agents is what the registry has of the system.
	agents any
}

func (p *paperFlags) add(fs *pflag.FlagSet) {
	fs.IntVar(&p.cores, "cores", 1, "tasks that a node runs at once (--workload tasks, --rules paper)")
	fs.DurationVar(&p.delay, "delay", 500*time.Microsecond, "what a message takes (--workload tasks, --rules paper)")
	fs.DurationVar(&p.pause, "pause-cost", 0,
		"time that a core loses when a task is paused (--workload tasks, --rules paper)")
	fs.DurationVar(&p.resume, "resume-cost", 0,
		"time that a core loses when a paused task goes on (--workload tasks, --rules paper)")
	fs.IntVar(&p.pigeon.Group, "group-size", 100, "nodes of a group: pigeon, siding (--workload tasks)")
	fs.IntVar(&p.pigeon.Reserved, "reserved", 2,
		"nodes of such a group that take short tasks only: pigeon, siding-nopause (--workload tasks)")
	fs.IntVar(&p.pigeon.Weight, "weight", 100_000,
		"short tasks before a long one that waits: pigeon, siding (--workload tasks)")
	k := &p.kairos
	fs.DurationVar(&k.Quantum, "quantum", 50*time.Second, "kairos's time slice (--workload tasks)")
	fs.IntVar(&k.Queue, "queue", 4, "tasks that a node of kairos's holds beside those that run (--workload tasks)")
	fs.DurationVar(&k.Interval, "interval", time.Second, "how often kairos assigns, and nodes report (--workload tasks)")
	fs.IntVar(&k.Guard, "guard", 3, "preemptions of kairos's before a task is guarded; 0: never (--workload tasks)")
	fs.IntVar(&k.GuardQuanta, "guard-quanta", 2, "time slices for which it is (--workload tasks)")
	fs.BoolVar(&k.GuardWaits, "guard-waits", false, "--guard counts time slices of waiting (--workload tasks)")
	fs.Float64Var(&p.bigC.ShortShare, "short-nodes", 95, "percent of slots that are short jobs': big-c (--workload tasks)")
	fs.Float64Var(&p.crashes, "fail", 0, "nodes that crash an hour, each for a minute (--workload tasks, --rules paper)")
}

func paperFlagNames() []string {
	return []string{"cores", "delay", "fail", "pause-cost", "resume-cost", "group-size", "reserved", "weight",
		"quantum", "queue", "interval", "guard", "guard-quanta", "guard-waits", "short-nodes"}
}

// knows tells whether a system can be simulated by its paper's rules.
func (p *paperFlags) knows(agents any) bool {
	switch agents.(type) {
	case eagle.Switches, pigeon.Config, siding.Config, bigc.Config, kairos.Choice, kairos.Config, slearn.Scheme:
		return true
	}
	return false
}

// checkPaper refuses what the flags cannot mean.
func (t *taskFlags) checkPaper(fs *pflag.FlagSet) error {
	if t.rules == "published" {
		for _, name := range slices.Concat(paperFlagNames(), gsFlagNames(), []string{"load", "train"}) {
			if fs.Changed(name) {
				return fmt.Errorf("--%s: found with --rules published, expected --rules paper", name)
			}
		}
		return nil
	}
	switch p, seconds := &t.paper, t.config.Cutoff; {
	case p.cores < 1 || p.cores > 1_000_000:
		return fmt.Errorf("--cores: found %d, expected 1 to 1000000", p.cores)
	case !(seconds >= 0 && seconds <= 1e9):
		return fmt.Errorf("--cutoff: found %v, expected 0 to 1000000000 seconds", seconds)
	case t.heartbeat <= 0:
		return fmt.Errorf("--heartbeat: found %v, expected more than 0", t.heartbeat)
	case p.pigeon.Group < 1:
		return fmt.Errorf("--group-size: found %d, expected 1 or more", p.pigeon.Group)
	case p.pigeon.Weight < 1:
		return fmt.Errorf("--weight: found %d, expected 1 or more", p.pigeon.Weight)
	case p.kairos.Quantum <= 0:
		return fmt.Errorf("--quantum: found %v, expected more than 0", p.kairos.Quantum)
	case p.kairos.Interval <= 0:
		return fmt.Errorf("--interval: found %v, expected more than 0", p.kairos.Interval)
	case !(p.crashes >= 0 && p.crashes <= 1e6):
		return fmt.Errorf("--fail: found %v, expected 0 to 1000000", p.crashes)
	case !(p.bigC.ShortShare >= 0 && p.bigC.ShortShare <= 100):
		return fmt.Errorf("--short-nodes: found %v, expected 0 to 100", p.bigC.ShortShare)
	}
	return t.paper.checkRanges()
}

// checkRanges refuses flags that are out of ranges with two ends.
func (p *paperFlags) checkRanges() error {
	for _, d := range []struct {
		flag string
		time time.Duration
	}{{"delay", p.delay}, {"pause-cost", p.pause}, {"resume-cost", p.resume}} {
		if d.time < 0 || d.time > time.Hour {
			return fmt.Errorf("--%s: found %v, expected 0s to 1h", d.flag, d.time)
		}
	}
	for _, n := range []struct {
		flag   string
		number int
	}{{"queue", p.kairos.Queue}, {"guard", p.kairos.Guard}, {"guard-quanta", p.kairos.GuardQuanta}} {
		if n.number < 0 || n.number > 1000 {
			return fmt.Errorf("--%s: found %d, expected 0 to 1000", n.flag, n.number)
		}
	}
	return nil
}

// checkReserved refuses more reserved nodes than a group of the system has.
func (p *paperFlags) checkReserved(s *systems.System) error {
	if p.pigeon.Reserved >= 0 && p.pigeon.Reserved < p.pigeon.Group || plans(s) || !heeds("reserved", s) {
		return nil
	}
	return fmt.Errorf("--reserved: found %d with %s, expected 0 to below %d, the --group-size", p.pigeon.Reserved, s.Name,
		p.pigeon.Group)
}

// runPaper simulates the system as its paper has it: parts that send messages. It has figures of GS, if it is that.
func (t *taskFlags) runPaper(ctx context.Context, work *taskWork) (*published.Result, *GSFigures, error) {
	if t.planner.of != nil {
		found, err := t.runCentral(ctx, work)
		if err != nil {
			return nil, nil, err
		}
		return publish(found), nil, nil
	}
	scheme, isGS := t.paper.agents.(slearn.Scheme)
	if isGS {
		return t.runGS(ctx, work, scheme)
	}
	found, err := t.runOther(ctx, &work.Workload)
	if err != nil {
		return nil, nil, err
	}
	return publish(found), nil, nil
}

// runOther simulates a system that is told no more of jobs than what package agent has.
func (t *taskFlags) runOther(ctx context.Context, work *agents.Workload) (*agents.Result, error) {
	p := &t.paper
	nodes, seed := t.config.Nodes, uint64(t.config.Seed)
	switch of := p.agents.(type) {
	case pigeon.Config:
		c := p.pigeon
		c.Workers, c.Slots, c.Seed = nodes, p.cores, seed
		return runAgents(ctx, t, work, c, pigeon.New)
	case siding.Config:
		of.Workers, of.Slots, of.Seed, of.Group, of.Weight = nodes, p.cores, seed, p.pigeon.Group, p.pigeon.Weight
		if of.Reserved > 0 {
			of.Reserved = p.pigeon.Reserved
		}
		return runAgents(ctx, t, work, of, siding.New)
	case bigc.Config:
		c := p.bigC
		c.Workers, c.Slots = nodes, p.cores
		return runAgents(ctx, t, work, c, bigc.New)
	case kairos.Choice:
		c := p.kairos
		c.Workers, c.Slots, c.Seed, c.Choice = nodes, p.cores, seed, of
		return runAgents(ctx, t, work, c, kairos.New)
	case kairos.Config: // a plain queue
		of.Workers, of.Slots, of.Quantum, of.Interval = nodes, p.cores, p.kairos.Quantum, p.kairos.Interval
		return runAgents(ctx, t, work, of, kairos.New)
	}
	c := &t.config
	return runAgents(ctx, t, work, eagle.Config{Switches: c.Variant, Workers: c.Nodes, Slots: t.paper.cores,
		ShortShare: c.ShortShare, MinProbes: c.MinProbes, Heartbeat: t.heartbeat, Seed: uint64(c.Seed)}, eagle.New)
}

// runAgents simulates a system that is made of its configuration.
func runAgents[C, M any, S agent.System[M]](ctx context.Context, t *taskFlags, work *agents.Workload, of C,
	made func(C) (S, error)) (*agents.Result, error) {
	c := &t.config
	system, err := made(of)
	if err != nil {
		return nil, err
	}
	found, err := agents.Run[M](work, system, agents.Config{Slots: t.paper.cores, Delay: t.paper.delay,
		Cutoff: time.Duration(math.Round(c.Cutoff * 1e9)), Low: c.Low, High: c.High,
		PauseCost: t.paper.pause, ResumeCost: t.paper.resume, Crashes: t.paper.crashes, Repair: t.paper.delay + repair,
		Seed: uint64(c.Seed), Observer: t.observer, Interrupted: ctx.Err})
	switch {
	case errors.Is(err, agents.ErrSystem):
		return nil, failed(err)
	case errors.Is(err, agents.ErrCrashes):
		return nil, fmt.Errorf("--fail: %w", err)
	}
	return found, err
}

// publish is a result in the shape that the published simulator's has.
func publish(found *agents.Result) *published.Result {
	r := &published.Result{Busy: found.Busy, Makespan: found.Makespan.Seconds(), Events: found.Events,
		Messages: found.Messages}
	for _, j := range found.Jobs {
		r.Jobs = append(r.Jobs, published.JobResult{Submit: j.Submit.Seconds(), End: j.End.Seconds(), Long: j.Long})
	}
	return r
}
