package threesigma

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
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
	job        *sched.Job
	prediction predict.Prediction
	parts      *sched.Partitioning
	cycle      uint64
	runtimes   runtimes
	value      valuation
	demand     []float64
	choices    []choice
	absent     sched.ReasonCode
}

// same tells whether a job is still forecast the same. Distributions are immutable, so equal values
// say equal things; types that cannot be compared are taken to be new.
func same(a, b predict.Prediction) bool {
	if a.Point != b.Point || a.Dist == nil || b.Dist == nil {
		return a.Point == b.Point && a.Dist == nil && b.Dist == nil
	}
	t := reflect.TypeOf(a.Dist)
	return t == reflect.TypeOf(b.Dist) && t.Comparable() && a.Dist == b.Dist
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
	if err := ctx.Err(); err != nil {
		return nil, err
	}
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
		// An engine that failed may still have left a verified plan.
		if sol, err = solver.Solve(ctx, p.cfg.Solver, &b.problem, p.cfg.Options); err != nil && sol == nil {
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
func (b *builder) known(w *sched.Pending) (*known, error) {
	k := b.jobs[w.Job.ID]
	if k == nil || k.job != w.Job || !same(k.prediction, w.Prediction) {
		k = &known{job: w.Job, prediction: w.Prediction}
		var err error
		if k.runtimes, err = b.cfg.forecast(w.Job, w.Prediction); err != nil {
			return nil, err
		}
		if k.value, err = b.cfg.value(w.Job, k.runtimes); err != nil {
			return nil, err
		}
		b.jobs[w.Job.ID] = k
	}
	if k.parts != b.parts {
		b.choices(k)
		k.parts = b.parts
	}
	k.cycle = b.cycle
	return k, nil
}

// choices lists the equivalence sets on which the gang could ever fit.
func (b *builder) choices(k *known) {
	var err error
	k.choices, k.absent = k.choices[:0], ""
	if k.demand, err = b.snap.Nodes.Demand(k.job.Demand); err != nil {
		// No node offers the resource; one may come.
		k.absent = sched.ReasonNoFeasibleSet
		return
	}
	if k.job.Utility == nil {
		k.absent = sched.ReasonNoUtility
		return
	}
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
	own := worthOf(r.Job)
	worth := own.At(began + elapsed)
	if rest, err := dist.Condition(d, elapsed); err == nil && d.CDF(elapsed) < 1 {
		worth = utility.Expected(own, rest, began)
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
