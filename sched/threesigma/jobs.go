package threesigma

import (
	"cmp"
	"fmt"
	"time"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
)

// known is what the policy keeps about a pending job from cycle to cycle.
type known struct {
	job        *sched.Job
	prediction predict.Prediction
	cycle      uint64
	// slot and window are those with which the rest was worked out.
	slot, window time.Duration
	levels       []sched.Speed
	runtimes     runtimes // by level
	// rest is what is left of the whole job after this stage, nil if nothing is. whole is the time from the stage's start
	// to the end of the whole job: of runtimes and rest.
	rest  *dist.Histogram
	whole runtimes
	// width is how much of its room the whole job holds after this stage.
	width float64
	value valuation
	// fault says why the job cannot be planned; nil if it can.
	fault error

	// choices are the sets of these nodes that could hold the gang if they were empty. If there are none, absent and
	// obstacle say why.
	nodes    *sched.NodeSet
	choices  []choice
	absent   sched.ReasonCode
	obstacle *sched.Obstacle

	// planned is the later start that the last cycle planned, if any.
	planned planned
	// stuck tells that the solver last started the job, and no single nodes had room for it. This happens because the
	// solver counts resources per partition. To start it again in every cycle would reserve capacity in vain. So its
	// options begin in the slot in which nodes are expected to have room.
	stuck bool
	// worth is what the options are worth in this cycle.
	worth worth
	// misbehaved is how the utility failed in this cycle; nil if it did not. The job then has no options.
	misbehaved error
}

// worth tells whether a job's options are worth something.
type worth uint8

const (
	// worthNothing: no option has any value.
	worthNothing worth = iota
	// worthOdd: no option has any value, and that of one is no number.
	worthOdd
	// worthSome: an option has a value.
	worthSome
)

// planned is a start later than now.
type planned struct {
	start time.Time // zero if there is none
	level int
}

// choice is an equivalence set the job may run on.
type choice struct {
	*sched.Site
	level int
	usage []float64
	// earliest is the first slot in which nodes are expected to have room for the gang. It is worked out only for
	// stuck jobs and is 0 for all others.
	earliest int
}

// known returns what is kept about a pending job. It is worked out when the job is first seen and when its forecast
// changes. The choices are also worked out when the nodes change.
func (p *Policy) known(w *sched.Pending, nodes *sched.NodeSet) *known {
	k := p.jobs[w.Job.ID]
	rest, err := p.rests.After(w.Job.ID)
	if k == nil || k.rest != rest || k.job != w.Job || k.slot != p.cfg.Slot || k.window != p.cfg.Window ||
		!same(k.prediction, w.Prediction) {
		last := k
		k = &known{job: w.Job, prediction: w.Prediction, slot: p.cfg.Slot, window: p.cfg.Window, rest: rest, fault: err}
		if last != nil { // the decisions so far remain, whatever the forecast
			k.planned, k.stuck = last.planned, last.stuck
		}
		k.fault = cmp.Or(k.fault, p.assess(k))
		p.jobs[w.Job.ID] = k
	}
	if k.nodes != nodes {
		p.choose(k, nodes)
		k.nodes = nodes
	}
	k.cycle = p.cycle
	return k
}

// ReasonInvalid says that the job cannot be planned: the job, its forecast or its utility is invalid. Fault of
// [sched.Reason] has the error.
const ReasonInvalid sched.ReasonCode = "invalid"

// assess works out how long the job runs and what it is worth.
func (p *Policy) assess(k *known) error {
	err := k.job.Validate()
	if err != nil {
		return err
	}
	k.levels = k.job.Levels()
	if k.runtimes, err = p.cfg.runtimes(k.job, k.prediction, k.levels); err != nil {
		return err
	}
	if k.whole, err = k.runtimes.before(k.rest); err != nil {
		return fmt.Errorf("job %s: %w", k.job.ID, err)
	}
	k.width = p.width(k.job, k.rest)
	if k.value, err = p.cfg.value(k.job, k.whole); err != nil {
		return err
	}
	return k.value.guard.take(k.job)
}

// choose lists the equivalence sets that could hold the gang if their nodes were empty.
func (p *Policy) choose(k *known, nodes *sched.NodeSet) {
	j := k.job
	k.choices, k.absent, k.obstacle = nil, "", nil
	if k.fault != nil {
		k.absent = ReasonInvalid
		return
	}
	demand, err := nodes.Demand(j.Demand)
	if err != nil { // no node offers the resource, but one may come
		k.absent, k.obstacle = sched.ReasonNoFeasibleSet, nodes.Obstacle(j, j.Required)
		return
	}
	levels := k.levels
	if p.cfg.Without&SoftPreferences != 0 {
		levels = levels[:1]
	}
	for l := range levels {
		if at := nodes.Site(levels[l].On, demand); at.Holds >= j.Tasks {
			k.choices = append(k.choices, choice{Site: at, level: l, usage: p.usage(k, l)})
		}
	}
	if len(k.choices) == 0 {
		k.absent, k.obstacle = sched.ReasonNoFeasibleSet, nodes.Obstacle(j, levels[len(levels)-1].On)
	}
}

// width is how much of a stage's room the rest of its whole job holds on average: the tasks that run at a time over
// those of the stage, at most 1. What the rest holds beyond the room of the stage is not planned.
func (p *Policy) width(j *sched.Job, rest *dist.Histogram) float64 {
	if rest == nil {
		return 0
	}
	mean := rest.Mean()
	if !(mean > 0) {
		return 0
	}
	return min(1, p.rests.Work(j.ID)/(mean*float64(j.Tasks)))
}

// usage is the probability that a job still runs, by slots since its start. In the first slot it is 1. Of a stage it
// is the share of its room that the whole job is expected to hold, as later stages need room, too.
func (p *Policy) usage(k *known, level int) []float64 {
	u := make([]float64, p.cfg.slots())
	dist.Survivals(u, k.runtimes[level], 0, p.cfg.Slot.Seconds())
	fall(u)
	if k.width > 0 {
		whole := make([]float64, len(u))
		dist.Survivals(whole, k.whole[level], 0, p.cfg.Slot.Seconds())
		fall(whole)
		for t := range u {
			u[t] += float64(k.width * max(0, whole[t]-u[t]))
		}
	}
	if p.cfg.Without&Pruning == 0 {
		return trim(u)
	}
	for t := range u {
		u[t] = max(u[t], Negligible)
	}
	return u
}

// fall makes sure that probabilities of survival start at 1 and never rise, even if the distribution is faulty. A NaN
// becomes the probability before it.
func fall(usage []float64) {
	last := 1.0
	usage[0] = last
	for t, u := range usage {
		if u <= last {
			last = max(0, u)
		}
		usage[t] = last
	}
}

// trim cuts off the slots at the end in which nothing is used.
func trim(usage []float64) []float64 {
	n := len(usage)
	for n > 0 && !(usage[n-1] > 0) {
		n--
	}
	return usage[:n]
}

// same tells whether two forecasts are equal. Distributions are immutable, so equal values remain equal. A distribution
// that Go cannot compare, such as a [dist.Mixture] or what is derived from one, counts as new.
func same(a, b predict.Prediction) (equal bool) {
	// Go panics on such a comparison. To ask beforehand, by reflection, would allocate for every job in every cycle.
	defer func() {
		if recover() != nil {
			equal = false
		}
	}()
	return a.Point == b.Point && a.Dist == b.Dist
}

// forget drops what is kept about jobs that are gone.
func (p *Policy) forget() {
	for id, k := range p.jobs {
		if k.cycle != p.cycle {
			delete(p.jobs, id)
		}
	}
	if len(p.jobs) == 0 {
		return // the running jobs were not looked up in this cycle
	}
	for id, h := range p.held {
		if h.cycle != p.cycle {
			delete(p.held, id)
		}
	}
}
