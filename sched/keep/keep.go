// Package keep is a policy of our own that throws little work away. It plans as 3Sigma does (package threesigma), and
// gives it what the paper lacks: a price of the work that a preemption throws away. 3Sigma's price of a preemption is
// the utility that the victim is expected to earn. That is the same for a job that holds one node and for one that
// holds a thousand, and at most doubles between a job that has just begun and one that is nearly done. So 3Sigma stops
// wide jobs that have run for days where a narrow one that has just begun would do, or where waiting would.
//
// # The knob
//
// Lost work and met deadlines become commensurable by one number, [Config.MachineHours]: how many machine-hours of work
// may be thrown away so that one more deadline is met. A preemption then costs, beside the utility of the victim,
//
//	machine-hours that the victim has run · worth of a deadline / MachineHours
//
// Where a user has no number in mind, it follows from the jobs: [Config.Jobs] times the mean size, in machine-hours, of
// the jobs with deadlines that have come so far. The frontier of misses against lost work is on the page docs/keep.md.
//
// A job that keeps its work when it is stopped ([sched.Job.Checkpoint]) costs no more than 3Sigma says.
//
// The package never preempts on its own. 3Sigma's plan does, for a start of higher priority that is verified and
// happens at once. It reads no clock and uses no randomness.
package keep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/threesigma"
)

// ErrConfig is wrapped by errors about a [Config].
var ErrConfig = errors.New("keep: invalid configuration")

// Config of a policy. The zero value is ready for use.
type Config struct {
	// MachineHours is how many machine-hours of work a met deadline is worth, above 0; 0 lets it follow from Jobs.
	MachineHours float64
	// Jobs is how many times the size of a mean job with a deadline may be thrown away for one deadline that is met,
	// above 0; 0 means [DefaultJobs]. It is not used if MachineHours is set.
	Jobs float64
	// Plan is how 3Sigma plans. Its Surcharge must be nil. Its Name is "keep" if it is empty.
	Plan threesigma.Config
}

// DefaultJobs is [Config.Jobs] where nothing is set.
const DefaultJobs = 10

// Policy is a [sched.Policy]. It is for one goroutine at a time.
type Policy struct {
	plan *threesigma.Policy
	cfg  Config
	// known are the jobs with deadlines that wait or run, and were there in the last cycle.
	known, knew map[string]struct{}
	// jobs, hours and worth are of the jobs with deadlines so far: their number, their machine-hours, what they are worth
	// in time.
	jobs, hours, worth float64
	nodes              *sched.NodeSet
	// machine is the part of a machine that an amount of each resource is.
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
	p := &Policy{cfg: cfg, known: map[string]struct{}{}, knew: map[string]struct{}{}}
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
	return p.plan.Plan(ctx, s)
}

// surcharge is what the work is worth that a preemption throws away.
func (p *Policy) surcharge(r *sched.Running, ran time.Duration) float64 {
	if p.jobs == 0 {
		return 0 // nobody preempts for a deadline where there is none
	}
	budget := p.cfg.MachineHours
	if budget == 0 {
		budget = p.cfg.Jobs * p.hours / p.jobs
	}
	return p.machines(r.Job) * ran.Hours() / budget * p.worth / p.jobs
}

// meet counts the jobs with deadlines that it has not seen yet.
func (p *Policy) meet(s *sched.Snapshot) {
	p.known, p.knew = p.knew, p.known
	clear(p.known)
	for i := range s.Pending {
		q := &s.Pending[i]
		if q.Job.Deadline <= 0 {
			continue
		}
		p.known[q.Job.ID] = struct{}{}
		if _, ok := p.knew[q.Job.ID]; ok {
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
			p.known[j.ID] = struct{}{} // or it would count again when it is preempted
		}
	}
}

// measure learns how large a machine is, the mean over the nodes.
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

// machines is how many machines a job holds, by the resource of which it holds most.
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
