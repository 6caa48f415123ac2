// Package baseline holds the policies that the papers compare with: first in
// first out, earliest deadline first, shortest job first, and strict priority with preemption.
//
// All of them place whole gangs, on the job's preferred nodes when the whole
// gang fits there now and otherwise on any nodes that it may use, and never plan ahead.
// They look at the clock of the snapshot only.
package baseline

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// queue is a policy that goes through the pending jobs in an order and
// starts those that fit.
type queue struct {
	name string
	// rank gives a pending job's place; lower first, ties by submission, then id.
	rank func(*sched.Pending) rank
	// strict stops at the first job that does not fit.
	strict bool
	// preempts lets jobs take the place of running ones of lower priority.
	preempts bool

	cache  cache
	placer sched.Placer
	order  []entry
	evict  evictor
}

// rank orders jobs by class, then by key, then by time.
type rank struct {
	class int
	key   float64
	at    time.Time
}

type entry struct {
	rank rank
	job  *sched.Job
}

// NewFIFO is first in, first out: jobs start strictly in order of submission
// and the first one that does not fit blocks all behind it (no backfill). A gang that even the empty
// cluster could not hold is passed over.
func NewFIFO() sched.Policy {
	return &queue{name: "fifo", strict: true, rank: func(*sched.Pending) rank { return rank{} }}
}

// NewEDF is earliest deadline first: jobs with a deadline by the time it
// falls on, then best-effort jobs by submission. Jobs that do not fit are passed over, so that
// narrower ones behind them start (greedy backfill without reservation).
func NewEDF() sched.Policy {
	return &queue{name: "edf", rank: func(p *sched.Pending) rank {
		if p.Job.Deadline <= 0 {
			return rank{class: 1}
		}
		return rank{at: p.Job.Submitted.Add(p.Job.Deadline)}
	}}
}

// NewSJF is shortest job first, by the mean of the predicted runtime. Jobs
// that do not fit are passed over, as in [NewEDF].
func NewSJF() sched.Policy {
	return &queue{name: "sjf", rank: func(p *sched.Pending) rank {
		if p.Prediction.Dist != nil {
			return rank{key: p.Prediction.Dist.Mean()}
		}
		return rank{key: p.Prediction.Point}
	}}
}

// NewPrio is strict priority as Borg does it (the papers' Prio): jobs by priority,
// highest first, then by submission. A gang that does not fit preempts running jobs of lower
// priority: lowest first, among these the latest started, and no more than it needs. Jobs that cannot be
// made to fit are passed over.
func NewPrio() sched.Policy {
	return &queue{name: "prio", preempts: true, rank: func(p *sched.Pending) rank {
		return rank{key: -float64(p.Job.Priority)}
	}}
}

// Name is fifo, edf, sjf or prio.
func (q *queue) Name() string { return q.name }

// Plan starts what fits, in order.
func (q *queue) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	q.cache.renew(s)
	q.placer.Reset(s)
	q.sort(s)
	if q.preempts {
		q.evict.reset(s)
	}
	starts := make([]sched.Decision, 0, len(q.order))
	var plan sched.Plan
	var blocker []string // one slice that every job behind it shares
	for i := range q.order {
		job := q.order[i].job
		d := sched.Decision{Job: job.ID, Reason: sched.Reason{Probability: sched.UnknownProbability}}
		switch {
		case blocker != nil:
			d.Reason.Code = sched.ReasonWaiting
			d.Reason.Ahead = blocker
		default:
			plan.Stats.Options++
			plan.Decisions = q.decide(job, &d, plan.Decisions)
			if q.strict && d.Reason.Code == sched.ReasonWaiting {
				blocker = []string{job.ID}
			}
		}
		starts = append(starts, d)
	}
	plan.Decisions = append(plan.Decisions, starts...)
	return &plan, nil
}

// sort puts the pending jobs in the policy's order.
func (q *queue) sort(s *sched.Snapshot) {
	q.order = q.order[:0]
	for i := range s.Pending {
		p := &s.Pending[i]
		q.order = append(q.order, entry{rank: q.rank(p), job: p.Job})
	}
	// Pending jobs come in order of submission, which is FIFO's own.
	if !slices.IsSortedFunc(q.order, compareEntries) {
		slices.SortFunc(q.order, compareEntries)
	}
}

func compareEntries(a, b entry) int {
	if c := cmp.Compare(a.rank.class, b.rank.class); c != 0 {
		return c
	}
	if c := cmp.Compare(a.rank.key, b.rank.key); c != 0 {
		return c
	}
	if c := a.rank.at.Compare(b.rank.at); c != 0 {
		return c
	}
	if c := a.job.Submitted.Compare(b.job.Submitted); c != 0 {
		return c
	}
	return strings.Compare(a.job.ID, b.job.ID)
}

// decide fills in what becomes of the job and adds the preemptions it takes.
func (q *queue) decide(job *sched.Job, d *sched.Decision, preemptions []sched.Decision) []sched.Decision {
	w := q.cache.want(job)
	if w.err != nil {
		d.Reason.Code = sched.ReasonNoFeasibleSet
		d.Reason.Set = w.required.name
		return preemptions
	}
	if q.start(job, w, d) {
		return preemptions
	}
	if q.preempts {
		if victims := q.evict.makeRoom(&q.placer, job, w); len(victims) > 0 {
			q.cache.forgetBounds()
			for _, v := range victims {
				preemptions = append(preemptions, sched.Decision{Job: v, Kind: sched.Preempt, Reason: sched.Reason{
					Code: sched.ReasonPreempted, For: job.ID, Probability: sched.UnknownProbability,
				}})
			}
			if q.start(job, w, d) {
				return preemptions
			}
		}
	}
	d.Reason.Code, d.Reason.Set = sched.ReasonWaiting, w.required.name
	if !q.cache.canHold(w, job.Tasks) {
		d.Reason.Code = sched.ReasonTooLarge
	}
	return preemptions
}

// start places the gang on preferred nodes, or else on any it may use.
func (q *queue) start(job *sched.Job, w *want, d *sched.Decision) bool {
	for _, p := range [...]*place{w.preferred, w.required} {
		if p == nil || p.bound < job.Tasks {
			continue
		}
		nodes, ok := q.placer.Place(w.demand, p.nodes, job.Tasks)
		if !ok {
			// Free resources only shrink until something is preempted, so what
			// fits now bounds what fits for the jobs to come.
			p.bound = q.placer.Fits(w.demand, p.nodes)
			continue
		}
		d.Kind, d.Nodes = sched.Start, nodes
		d.Reason.Code, d.Reason.Set = sched.ReasonPlaced, p.name
		return true
	}
	return false
}
