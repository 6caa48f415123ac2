// Package baseline holds the policies that the papers compare with: first in
// first out, earliest deadline first, shortest job first, strict priority with preemption, and for jobs with stages
// critical path first and earliest deadline first by shares.
//
// All of them place whole gangs, on the job's preferred nodes when the whole
// gang fits there now and otherwise on any nodes that it may use, and never plan ahead.
// They look at the clock of the snapshot only.
package baseline

import (
	"context"
	"slices"
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/paths"
	"github.com/hedgesched/hedge/sched/place"
)

// queue is a policy that goes through the pending jobs in an order and
// starts those that fit.
type queue struct {
	name string
	// strict goes by submission and stops at the first job that does not fit.
	strict bool
	// preempts lets jobs take the place of running ones of lower priority.
	preempts bool

	// rests is what is left of jobs with stages, at the time now; nil where the order does not go by it.
	rests *paths.Rests
	now   time.Time

	cache  cache
	placer place.Placer
	order  order
	evict  evictor
	head   []string // the job that all others wait for, in a slice that plans share

	holders place.Holders
	waits   []waiting // of the plan being made
	mark    sched.Mark
	last    sched.Plan       // the last one that did nothing
	kept    []sched.Decision // last's
}

// waiting is the reason of a job that waits, to which those are added that hold the room it needs.
type waiting struct {
	decision int // in turn.decisions, or -1 for the plan's rest
	site     *site
	demand   []float64
}

// NewFIFO is first in, first out: jobs start strictly in order of submission
// and the first one that does not fit blocks all behind it (no backfill). A gang that even the empty
// cluster could not hold is passed over.
func NewFIFO() sched.Policy {
	q := ranked("fifo", func(*sched.Pending) rank { return rank{} }) // by submission alone
	q.strict = true
	return q
}

// NewEDF is earliest deadline first: jobs with a deadline by the time it
// falls on, then best-effort jobs by submission. Jobs that do not fit are passed over, so that
// narrower ones behind them start (greedy backfill without reservation).
func NewEDF() sched.Policy {
	return ranked("edf", func(p *sched.Pending) rank {
		if p.Job.Deadline <= 0 {
			return rank{class: 1}
		}
		return rank{at: p.Job.Submitted.Add(p.Job.Deadline)}
	})
}

// NewSJF is shortest job first, by the mean of the predicted runtime. Jobs
// that do not fit are passed over, as in [NewEDF].
func NewSJF() sched.Policy {
	return ranked("sjf", func(p *sched.Pending) rank {
		if p.Prediction.Dist != nil {
			return rank{key: p.Prediction.Dist.Mean()}
		}
		return rank{key: p.Prediction.Point}
	})
}

// NewPrio is strict priority as Borg does it (the papers' Prio): jobs by priority,
// highest first, then by submission. A gang that does not fit preempts running jobs of lower
// priority: lowest first, among these the latest started, and no more than it needs. Jobs that cannot be
// made to fit are passed over.
func NewPrio() sched.Policy {
	q := ranked("prio", func(p *sched.Pending) rank {
		return rank{key: -float64(p.Job.Priority)}
	})
	q.preempts = true
	return q
}

// ranked is a queue whose order is by rank; lower first, ties by submission, then id.
func ranked(name string, by func(*sched.Pending) rank) *queue {
	return &queue{name: name, order: order{rank: by}}
}

// Name is fifo, edf, sjf, prio, critical-path or edf-share.
func (q *queue) Name() string { return q.name }

// TakesRanges says that it is a [sched.RangePolicy].
func (q *queue) TakesRanges() {}

// Steady says whether it is a [sched.SteadyPolicy]: all are but those that go by what is left of jobs with stages.
func (q *queue) Steady() bool { return q.rests == nil }

// Plan starts what fits, in order.
func (q *queue) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := sched.CheckSnapshot(s); err != nil {
		return nil, err
	}
	news := q.mark.See(s)
	if news.Nothing && q.cache.idle && q.rests == nil {
		again := q.last
		again.Decisions = slices.Clone(again.Decisions)
		return &again, nil
	}
	if forgot := q.cache.renew(s, &news); forgot {
		q.order.forget()
	}
	var sheet struct { // one allocation for most plans
		plan      sched.Plan
		decisions [1]sched.Decision
	}
	q.waits = q.waits[:0]
	t := turn{queue: q, snap: s, plan: &sheet.plan, decisions: sheet.decisions[:0]}
	if q.preempts {
		q.evict.reset(s)
	}
	if q.rests != nil {
		q.rests.Update(s)
		q.now = s.Now
		news.Listed = false // all ranks may change
	}
	q.order.update(s, &q.cache, &news)
	t.inOrder()
	t.explain()
	if len(t.preemptions)+len(t.decisions) > 0 {
		t.plan.Decisions = t.decisions
	}
	if len(t.preemptions) > 0 {
		t.plan.Decisions = append(t.preemptions, t.decisions...)
	}
	if q.cache.idle {
		clear(q.kept)
		q.last, q.kept = *t.plan, append(q.kept[:0], t.plan.Decisions...)
		if len(q.kept) > 0 {
			q.last.Decisions = q.kept
		}
	}
	return t.plan, nil
}

// turn is a plan being made.
type turn struct {
	*queue
	snap                   *sched.Snapshot
	plan                   *sched.Plan
	packs                  bool  // the placer is of this cycle
	blocked                bool  // a strict queue's head waits
	rest                   *site // what plan.Rest is about
	started                []*sched.Job
	startedAt              []int // in decisions
	preemptions, decisions []sched.Decision
}

// inOrder takes every job in the queue's order.
func (t *turn) inOrder() {
	for _, b := range t.order.sorted.of {
		if t.passes(b) {
			if t.blocked && t.order.sorted.odd == 0 {
				break // so do all behind
			}
			continue
		}
		for i := range b.entries {
			t.decide(b.entries[i].job, b.entries[i].want)
		}
	}
}

// passes tells that none of a block's jobs can start now, and that it is said so: all of them wait as others do.
func (t *turn) passes(b *block) bool {
	w := b.want
	switch {
	case b.odd > 0:
		return false
	case t.blocked:
		t.queueUp()
		return true
	case t.strict || t.preempts || w == nil,
		slices.ContainsFunc(w.sites, func(s *site) bool { return s.bound >= b.least }),
		t.plan.Rest.Code != "" && t.rest != w.required:
		return false
	}
	t.wait(b.entries[0].job, w)
	t.plan.Stats.Options += len(b.entries)
	return true
}

// queueUp lets a job wait behind the head of a strict queue.
func (t *turn) queueUp() {
	if t.plan.Rest.Code == "" {
		t.plan.Rest = sched.Reason{Code: sched.ReasonWaiting, Ahead: t.head, Probability: sched.UnknownProbability}
	}
}

// decide says what becomes of a job. In a strict queue all that could start wait for the first that has to wait.
func (t *turn) decide(job *sched.Job, w *want) {
	switch {
	case w.err != nil:
		t.refuse(job, w, sched.ReasonNoFeasibleSet)
	case w.required.Holds < job.Tasks:
		t.refuse(job, w, sched.ReasonTooLarge)
	case t.blocked:
		t.queueUp()
		return
	case t.start(job, w), t.preempts && t.preempt(job, w) && t.start(job, w):
	default:
		t.wait(job, w)
		if t.blocked = t.strict; t.blocked && (len(t.head) == 0 || t.head[0] != job.ID) {
			t.head = []string{job.ID}
		}
	}
	t.plan.Stats.Options++
}

// preempt makes room for the gang, if that can be done.
func (t *turn) preempt(job *sched.Job, w *want) bool {
	if w.required.evicted <= job.Tasks {
		return false // nor could it be for as many tasks of higher or equal priority
	}
	victims := t.evict.makeRoom(t.pack(), job, w)
	if len(victims) == 0 {
		w.required.evicted = job.Tasks
		return false
	}
	t.cache.forgetBounds()
	t.cache.idle = false
	for _, v := range victims {
		t.preemptions = append(t.preemptions, sched.Decision{Job: v, Kind: sched.Preempt, Reason: sched.Reason{
			Code: sched.ReasonPreempted, For: job.ID, Probability: sched.UnknownProbability,
		}})
	}
	return true
}

// wait lets the job wait. Greedy queues say it once for all jobs that wait for the same room as the first.
func (t *turn) wait(job *sched.Job, w *want) {
	reason := sched.Reason{Code: sched.ReasonWaiting, Set: w.required.Set.String(), Probability: sched.UnknownProbability}
	switch rest := &t.plan.Rest; {
	case !t.strict && rest.Code == "":
		*rest, t.rest = reason, w.required
		t.waits = append(t.waits, waiting{-1, w.required, w.demand})
	case t.strict || t.rest != w.required:
		t.waits = append(t.waits, waiting{len(t.decisions), w.required, w.demand})
		t.decisions = append(t.decisions, sched.Decision{Job: job.ID, Reason: reason})
	}
}

// refuse decides that the job stays pending, as the nodes cannot hold it.
func (t *turn) refuse(job *sched.Job, w *want, why sched.ReasonCode) {
	if w.obstacle == nil || w.obstacle.Tasks != job.Tasks {
		w.obstacle = t.snap.Nodes.Obstacle(job, job.Required)
	}
	t.decisions = append(t.decisions, sched.Decision{Job: job.ID, Reason: sched.Reason{
		Code: why, Set: w.required.Set.String(), Obstacle: w.obstacle, Probability: sched.UnknownProbability,
	}})
}

// explain names those that hold the room that jobs wait for. It is worked out once for each set and demand.
func (t *turn) explain() {
	if len(t.waits) == 0 {
		return
	}
	t.holders.Reset(t.snap, t.pack(), t.preemptions)
	for i := range t.started {
		if d := &t.decisions[t.startedAt[i]]; len(d.Ranges) > 0 {
			t.holders.StartRanges(t.started[i], d.Ranges)
		} else {
			t.holders.Start(t.started[i], d.Nodes)
		}
	}
	found := make(map[*site]sched.Reason, 1)
	for _, w := range t.waits {
		r, known := found[w.site]
		if !known {
			r.Ahead, r.More = t.holders.Of(w.demand, w.site.Nodes)
			found[w.site] = r
		}
		to := &t.plan.Rest
		if w.decision >= 0 {
			to = &t.decisions[w.decision].Reason
		}
		to.Ahead, to.More = r.Ahead, r.More
	}
}

// pack is the placer, which is brought up to date when first it is needed.
func (t *turn) pack() *place.Placer {
	if !t.packs {
		t.packs = true
		t.placer.Reset(t.snap)
	}
	return &t.placer
}

// start places the gang on its fastest nodes, or else on slower ones.
func (t *turn) start(job *sched.Job, w *want) bool {
	for _, p := range w.sites {
		if p.bound < job.Tasks {
			continue
		}
		on, ok := t.place(job, w, p)
		if !ok {
			// Free resources only shrink until something is preempted, so what
			// fits now bounds what fits for the jobs to come.
			p.bound = t.placer.Short()
			continue
		}
		t.cache.idle = false
		t.started, t.startedAt = append(t.started, job), append(t.startedAt, len(t.decisions))
		on.Job, on.Kind, on.Reason = job.ID, sched.Start, sched.Reason{
			Code: sched.ReasonPlaced, Set: p.Set.String(), Probability: sched.UnknownProbability,
		}
		t.decisions = append(t.decisions, on)
		return true
	}
	return false
}

// place packs the gang on nodes of a site, by name or, where that is asked for, by ranges.
func (t *turn) place(job *sched.Job, w *want, p *site) (on sched.Decision, ok bool) {
	if t.snap.Ranges {
		on.Ranges, ok = t.pack().PlaceRanges(w.demand, p.Nodes, job.Tasks)
	} else {
		on.Nodes, ok = t.pack().Place(w.demand, p.Nodes, job.Tasks)
	}
	return on, ok
}
