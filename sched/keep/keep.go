// Package keep is a policy of our own that throws little work away. It plans as 3Sigma does (package threesigma) and
// adds a price that the paper does not have: the price of the work that a preemption loses. 3Sigma charges for a
// preemption the utility that the victim is expected to earn. That is the same for a job on one node and for a job on a
// thousand, and it at most doubles from a job's beginning to its end. So 3Sigma may stop a wide job that has run for
// days where stopping a narrow new one, or waiting, would do.
//
// # The knob
//
// One number makes lost work and met deadlines comparable, [Config.MachineHours]: the machine-hours of work that one
// more met deadline is worth. A preemption then costs, in addition to the utility of the victim,
//
//	machine-hours that the victim has run · worth of a deadline / MachineHours
//
// If MachineHours is not set, it is derived from the jobs: it is [Config.Jobs] times the mean size, in machine-hours,
// of the jobs with deadlines seen so far. docs/keep.md has the frontier of deadline misses against lost work.
//
// # Deadlines are believed
//
// A user who asks for a job within two hours knows that it can be done in two hours. So the forecast of a job with a
// deadline is that of jobs as long as the deadline at most: longer ones are taken out of the history that it was made
// of. A job with a near deadline then counts as short, which it is, and gets its turn. A forecast of nothing but longer
// runtimes stays, as history and the user disagree. [Config.Doubt] leaves all forecasts as they are. Only histograms
// change, which are what history gives.
//
// # Checkpoints
//
// A job that keeps its work when it is stopped ([sched.Job.Checkpoint]) has no such surcharge.
//
// The package preempts only what 3Sigma's plan preempts: for a start of higher priority that is verified and happens at
// once. It reads no clock and uses no randomness.
package keep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/threesigma"
)

// ErrConfig is wrapped by errors about a [Config].
var ErrConfig = errors.New("keep: invalid configuration")

// Config of a policy. The zero value is ready for use.
type Config struct {
	// MachineHours is the work, in machine-hours, that one met deadline is worth; finite and above 0. 0 derives it from
	// Jobs.
	MachineHours float64
	// Jobs is the work that may be lost for one met deadline, as a multiple of the mean size of a job with a deadline;
	// finite and above 0. 0 means [DefaultJobs]. It is not used if MachineHours is set.
	Jobs float64
	// Doubt has forecasts stand as they are. Otherwise a job with a deadline is taken to be one that can meet it: see the
	// package comment.
	Doubt bool
	// Plan configures 3Sigma. Its Surcharge must be nil. An empty Name becomes "keep".
	Plan threesigma.Config
}

// DefaultJobs is the default of [Config.Jobs].
const DefaultJobs = 10

// Policy is a [sched.Policy]. It is for one goroutine at a time.
type Policy struct {
	plan *threesigma.Policy
	cfg  Config
	// known has what is believed of the jobs with deadlines that wait or run in this cycle, by ID; knew of the last
	// cycle's.
	known, knew map[string]belief
	// snap is the snapshot as it is believed.
	snap sched.Snapshot
	// jobs counts the jobs with deadlines so far. hours is the sum of their machine-hours, worth the sum of what they are
	// worth at their deadlines.
	jobs, hours, worth float64
	// nodes are those that machine was derived from.
	nodes *sched.NodeSet
	// machine is, by resource, the fraction of a mean machine that one unit of it is.
	machine map[string]float64
}

// New returns a policy. Its error wraps [ErrConfig] or is 3Sigma's.
func New(cfg Config) (*Policy, error) {
	for _, f := range [...]struct {
		name string
		v    float64
	}{{"MachineHours", cfg.MachineHours}, {"Jobs", cfg.Jobs}} {
		if !(f.v >= 0) || math.IsInf(f.v, 0) {
			return nil, fmt.Errorf("%w: %s = %g, want a positive number", ErrConfig, f.name, f.v)
		}
	}
	if cfg.Plan.Surcharge != nil {
		return nil, fmt.Errorf("%w: Plan.Surcharge is set, want nil", ErrConfig)
	}
	if cfg.Jobs == 0 {
		cfg.Jobs = DefaultJobs
	}
	if cfg.Plan.Name == "" {
		cfg.Plan.Name = "keep"
	}
	p := &Policy{cfg: cfg, known: map[string]belief{}, knew: map[string]belief{}}
	plan := cfg.Plan
	plan.Surcharge = p.surcharge
	var err error
	p.plan, err = threesigma.New(plan)
	return p, err
}

// Name implements [sched.Policy].
func (p *Policy) Name() string { return p.plan.Name() }

// Plan implements [sched.Policy]; see [threesigma.Policy.Plan].
func (p *Policy) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	if err := sched.CheckSnapshot(s); err != nil {
		return nil, err
	}
	p.measure(s.Nodes)
	p.meet(s)
	if p.cfg.Doubt {
		return p.plan.Plan(ctx, s)
	}
	return p.plan.Plan(ctx, p.believe(s))
}

// belief is a forecast, and what is believed of it.
type belief struct{ from, to *dist.Histogram }

// believe has the forecast of every job with a deadline be one of jobs that take no longer than that. The same forecast
// gives the same belief from cycle to cycle.
func (p *Policy) believe(s *sched.Snapshot) *sched.Snapshot {
	pending, running := p.snap.Pending, p.snap.Running
	p.snap = *s
	p.snap.Pending = append(pending[:0], s.Pending...)
	p.snap.Running = append(running[:0], s.Running...)
	for i := range p.snap.Pending {
		q := &p.snap.Pending[i]
		p.within(q.Job, &q.Prediction)
	}
	for i := range p.snap.Running {
		r := &p.snap.Running[i]
		p.within(r.Job, &r.Prediction)
	}
	return &p.snap
}

// within changes a forecast to what is believed.
func (p *Policy) within(j *sched.Job, of *predict.Prediction) {
	h, ok := of.Dist.(*dist.Histogram)
	if !ok || j.Deadline <= 0 {
		return
	}
	b := p.known[j.ID]
	if b.from != h {
		b = belief{from: h, to: h.AtMost(j.Deadline.Seconds())}
		p.known[j.ID] = b
	}
	of.Dist = b.to
}

// surcharge is the price of the work that preempting r would lose.
func (p *Policy) surcharge(r *sched.Running, ran time.Duration) float64 {
	if p.jobs == 0 {
		return 0 // no job has had a deadline, so none is preempted for
	}
	budget := p.cfg.MachineHours
	if budget == 0 {
		budget = p.cfg.Jobs * p.hours / p.jobs
	}
	return p.machines(r.Job) * ran.Hours() / budget * p.worth / p.jobs
}

// meet counts the jobs with deadlines that are new in this cycle.
func (p *Policy) meet(s *sched.Snapshot) {
	p.known, p.knew = p.knew, p.known
	clear(p.known)
	for i := range s.Pending {
		q := &s.Pending[i]
		if q.Job.Deadline <= 0 {
			continue
		}
		b, met := p.knew[q.Job.ID]
		p.known[q.Job.ID] = b
		if met {
			continue
		}
		runtime := q.Prediction.Point
		if q.Prediction.Dist != nil {
			runtime = q.Prediction.Dist.Mean()
		}
		worth := q.Job.Worth().At(q.Job.Deadline.Seconds())
		if hours := p.machines(q.Job) * runtime / 3600; hours > 0 && hours < math.MaxFloat32 && worth > 0 {
			p.jobs++
			p.hours += hours
			p.worth += worth
		}
	}
	for i := range s.Running {
		if j := s.Running[i].Job; j.Deadline > 0 {
			p.known[j.ID] = p.knew[j.ID] // so that it does not count again when it is preempted
		}
	}
}

// measure computes the mean machine.
func (p *Policy) measure(nodes *sched.NodeSet) {
	if nodes == p.nodes {
		return
	}
	p.nodes, p.machine = nodes, make(map[string]float64, len(nodes.Resources()))
	capacity, names := nodes.Capacity(), nodes.Resources()
	for r, name := range names {
		sum := 0.0
		for at := r; at < len(capacity); at += len(names) {
			sum += capacity[at]
		}
		if sum > 0 {
			p.machine[name] = float64(nodes.Len()) / sum
		}
	}
}

// machines is the number of machines that a job holds, by its dominant resource.
func (p *Policy) machines(j *sched.Job) float64 {
	if len(j.Demand) == 0 {
		return float64(j.Tasks) * p.machine[sched.WholeNode]
	}
	most := 0.0
	for name, amount := range j.Demand { // the largest is the same in any order
		most = max(most, amount*p.machine[name])
	}
	return float64(j.Tasks) * most
}
