package chronus

import (
	"math"
	"slices"

	"github.com/hedgesched/hedge/sched"
)

// turn is one cycle.
type turn struct {
	*Policy
	snap  *sched.Snapshot
	plan  *sched.Plan
	stops []sched.Decision
	begun map[int]bool
	// open are the running jobs without leases, as indexes into snap.Running, the last to be started first.
	open []int
}

// admit looks up the pending jobs, and accepts those that are new if it can.
func (t *turn) admit() []wait {
	t.begun = map[int]bool{}
	var out []wait
	for i := range t.snap.Pending {
		q := &t.snap.Pending[i]
		w := wait{index: i, job: q.Job, left: math.Inf(1)}
		var err error
		if w.demand, err = t.snap.Nodes.Demand(q.Job.Demand); err == nil {
			w.site = t.snap.Nodes.Site(q.Job.Required, w.demand)
		}
		if err != nil || w.site.Holds < q.Job.Tasks {
			t.plan.Decisions = append(t.plan.Decisions, sched.Decision{Job: q.Job.ID, Reason: sched.Reason{
				Code: sched.ReasonNoFeasibleSet, Set: q.Job.Required.String(),
				Obstacle: t.snap.Nodes.Obstacle(q.Job, q.Job.Required), Probability: sched.UnknownProbability}})
			continue
		}
		w.length = max(0, q.Prediction.Point) * sched.Stretch(q.Job.Speeds.Least())
		w.work = w.length * float64(q.Job.Tasks)
		if q.Job.Deadline > 0 {
			w.left = (q.Job.Deadline - t.snap.Now.Sub(q.Job.Submitted)).Seconds()
		}
		if w.known = t.known[q.Job.ID]; w.known == nil {
			w.known = &known{share: float64(q.Job.Tasks) / float64(t.snap.Nodes.Holds(w.demand, t.snap.Nodes.All()))}
			t.known[q.Job.ID] = w.known
			if q.Job.Deadline > 0 {
				t.accept(&w)
			}
		}
		w.known.seen = t.cycle
		out = append(out, w)
	}
	return out
}

// victims lists the running jobs that may be stopped.
func (t *turn) victims() {
	for i := len(t.snap.Running) - 1; i >= 0; i-- {
		if k := t.known[t.snap.Running[i].Job.ID]; k == nil || !k.accepted {
			t.open = append(t.open, i)
		}
	}
}

// start starts a job where there is room, and tells whether there is.
func (t *turn) start(w *wait) bool {
	nodes, ok := t.placer.Place(w.demand, w.site.Nodes, w.job.Tasks)
	if !ok {
		return false
	}
	t.begun[w.index] = true
	t.plan.Decisions = append(t.plan.Decisions, sched.Decision{Job: w.job.ID, Kind: sched.Start, Nodes: nodes,
		Reason: sched.Reason{Code: sched.ReasonPlaced, Set: w.site.Set.String(), Probability: sched.UnknownProbability}})
	return true
}

// take starts a job, and stops jobs without leases for it if need be: one after the other until there is room, those of
// lower priority alone. If all of them do not make room, none is stopped.
func (t *turn) take(w *wait) {
	if t.start(w) {
		return
	}
	may := func(i int) bool { return t.snap.Running[i].Job.Priority < w.job.Priority }
	var gone []int
	for _, i := range t.open {
		if !may(i) {
			continue
		}
		t.placer.Release(&t.snap.Running[i])
		gone = append(gone, i)
		if t.placer.FitsAtLeast(w.demand, w.site.Nodes, w.job.Tasks) {
			break
		}
	}
	if !t.placer.FitsAtLeast(w.demand, w.site.Nodes, w.job.Tasks) {
		for _, i := range gone {
			t.placer.Keep(&t.snap.Running[i])
		}
		return
	}
	for _, i := range gone {
		t.stops = append(t.stops, sched.Decision{Job: t.snap.Running[i].Job.ID, Kind: sched.Preempt, Reason: sched.Reason{
			Code: sched.ReasonPreempted, For: w.job.ID, Probability: sched.UnknownProbability}})
	}
	t.open = slices.DeleteFunc(t.open, func(i int) bool { return slices.Contains(gone, i) })
	t.start(w)
}
