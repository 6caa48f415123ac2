package threesigma

import (
	"context"
	"fmt"
	"time"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/utility"
)

// Policy is 3Sigma's scheduler, 3σSched. It implements [sched.Policy] and keeps, between
// cycles, the last plan, the running jobs' overruns and what it worked out of pending jobs.
type Policy struct {
	cfg      Config
	refiner  sched.Refiner
	placer   *sched.Placer
	cycle    uint64
	jobs     map[string]*known
	planned  map[string]planned
	overruns map[string]overrun
}

// planned is what the last cycle decided of a job that it did not start.
type planned struct {
	start  time.Time
	slowed bool
}

// known is what stays the same of a pending job from cycle to cycle.
type known struct {
	job      *sched.Job
	parts    *sched.Partitioning
	cycle    uint64
	runtimes runtimes
	value    valuation
	demand   []float64
	choices  []choice
	absent   sched.ReasonCode
}

// choice is an equivalence set the job may run on.
type choice struct {
	name       string
	slowed     bool
	partitions []int
	usage      []float64
}

// New returns a policy, or an error that wraps [ErrConfig].
func New(cfg Config) (*Policy, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Policy{
		cfg:      cfg,
		jobs:     map[string]*known{},
		planned:  map[string]planned{},
		overruns: map[string]overrun{},
	}, nil
}

// Name is the configured name.
func (p *Policy) Name() string { return p.cfg.Name }

// Plan decides one cycle. It fails only on a snapshot that contradicts itself, or when the
// solver engine does.
func (p *Policy) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	p.cycle++
	begin := p.cfg.Stopwatch()
	b, err := p.build(s)
	if err != nil {
		return nil, fmt.Errorf("3sigma: %w", err)
	}
	built := p.cfg.Stopwatch()
	plan := &sched.Plan{Stats: sched.Stats{Options: b.values, ValueTime: (built - begin).Seconds()}}
	var sol *solver.Solution
	if len(b.problem.Jobs) > 0 {
		if sol, err = solver.Solve(ctx, p.cfg.Solver, &b.problem, p.cfg.Options); err != nil {
			return nil, fmt.Errorf("3sigma: %w", err)
		}
		plan.Stats.Engine, plan.Stats.Stop, plan.Stats.Value = sol.Engine, string(sol.Stop), sol.Objective
		if sol.Gap != nil {
			plan.Stats.Gap = *sol.Gap
		}
		plan.Stats.SolveTime = (p.cfg.Stopwatch() - built).Seconds()
	}
	b.extract(plan, sol)
	p.forget()
	return plan, nil
}

// known returns what is kept of a pending job, working it out the first time and whenever the
// partitions have changed.
func (p *builder) known(w *sched.Pending) (*known, error) {
	k := p.jobs[w.Job.ID]
	if k == nil || k.job != w.Job {
		k = &known{job: w.Job}
		var err error
		if k.runtimes, err = p.cfg.forecast(w.Job, w.Prediction); err != nil {
			return nil, err
		}
		if k.value, err = p.cfg.value(w.Job, k.runtimes); err != nil {
			return nil, err
		}
		p.jobs[w.Job.ID] = k
	}
	if k.parts != p.parts {
		if err := p.choices(k); err != nil {
			return nil, err
		}
		k.parts = p.parts
	}
	k.cycle = p.cycle
	return k, nil
}

// choices lists the equivalence sets on which the gang could ever fit.
func (b *builder) choices(k *known) error {
	var err error
	if k.demand, err = b.snap.Nodes.Demand(k.job.Demand); err != nil {
		return fmt.Errorf("job %s: %w", k.job.ID, err)
	}
	k.choices, k.absent = k.choices[:0], ""
	add := func(set sched.EquivalenceSet, slowed bool) {
		members := b.parts.Members(set)
		if b.snap.Nodes.Holds(k.demand, b.snap.Nodes.NodesOf(set)) < k.job.Tasks {
			return
		}
		usage := make([]float64, b.problem.Slots)
		dist.Survivals(usage, k.runtimes.on(slowed), 0, b.problem.SlotSeconds)
		usage[0] = 1
		k.choices = append(k.choices, choice{name: set.String(), slowed: slowed, partitions: members, usage: trim(usage)})
	}
	if k.job.Preferred.IsAny() || k.job.Slowdown <= 1 {
		add(k.job.Required, false)
	} else {
		add(k.job.Required.And(k.job.Preferred), false)
		if b.cfg.Without&SoftPreferences == 0 {
			add(k.job.Required, true)
		}
	}
	if len(k.choices) == 0 {
		k.absent = sched.ReasonNoFeasibleSet
	}
	return nil
}

// tasksOn is how many tasks of the demand a node of that capacity holds.
func tasksOn(capacity, demand []float64) int {
	n := maxTasks
	for r, d := range demand {
		if d > 0 {
			n = min(n, int(capacity[r]/d+1e-9))
		}
	}
	return n
}

const maxTasks = 1 << 30

// price is what preempting the running job costs: the utility it is expected to earn if it goes on.
func (b *builder) price(r *sched.Running, u *runningUse) float64 {
	d := u.dist.on(r.Slowed)
	elapsed := b.snap.Now.Sub(r.Started).Seconds()
	began := r.Started.Sub(r.Job.Submitted).Seconds()
	worth := r.Job.Utility.At(began + elapsed)
	if rest, err := dist.Condition(d, elapsed); err == nil && d.CDF(elapsed) < 1 {
		worth = utility.Expected(r.Job.Utility, rest, began)
	}
	return b.cfg.PreemptWeight * max(worth, minPrice)
}

// minPrice keeps the solver from preempting a job just because it no longer earns anything.
const minPrice = 1e-3

// forget drops what is kept of jobs that are gone.
func (p *Policy) forget() {
	for id, k := range p.jobs {
		if k.cycle != p.cycle {
			delete(p.jobs, id)
			delete(p.planned, id)
		}
	}
	for id, o := range p.overruns {
		if o.cycle != p.cycle {
			delete(p.overruns, id)
		}
	}
}
