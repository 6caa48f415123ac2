package why

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/place"
)

// held finds the jobs that hold the room which the job lacks.
func (e *Explainer) held(x *Explanation, j *waiting) {
	for h := range e.holders.Each(j.demand, j.nodes) {
		if h.Running == nil {
			j.starts = append(j.starts, h.Job.ID)
			continue
		}
		span, _ := ending(h.Running, e.snap.Now)
		j.ends = append(j.ends, held{h.Running, h.Tasks, span})
	}
	slices.SortStableFunc(j.ends, sooner)
	inside := make([]bool, e.snap.Nodes.Len())
	for _, n := range j.nodes {
		inside[n] = true
	}
	for i := range j.ends {
		r := j.ends[i].run
		span, overdue := ending(r, e.snap.Now)
		x.Holders = append(x.Holders, Holder{
			Job: r.Job.ID, Nodes: len(r.Nodes), Frees: e.frees(r, inside), Tasks: j.ends[i].tasks, Ends: span, Overdue: overdue,
		})
	}
}

// sooner compares running jobs by expected end.
func sooner(a, b held) int {
	return cmp.Or(cmp.Compare(a.span.P50, b.span.P50), strings.Compare(a.run.Job.ID, b.run.Job.ID))
}

// frees returns the resources that a running job holds on the nodes that are inside.
func (e *Explainer) frees(r *sched.Running, inside []bool) sched.Resources {
	tasks := 0
	_, on := e.snap.Nodes.Held(r)
	for i, n := range on {
		if n >= 0 && inside[n] {
			tasks += r.Nodes[i].Tasks
		}
	}
	out := sched.Resources{}
	for name, amount := range r.Job.DemandOrNode() {
		if _, known := slices.BinarySearch(e.snap.Nodes.Resources(), name); known && amount > 0 {
			out[name] = amount * float64(tasks)
		}
	}
	return out
}

// ending returns the time until a running job is expected to end, given how long it has run. Overdue reports that it
// has run longer than its forecast allows; the span is then 0.
func ending(r *sched.Running, now time.Time) (s Span, overdue bool) {
	d := r.Prediction.Dist
	if d == nil {
		point, err := dist.NewPoint(r.Prediction.Point)
		if err != nil {
			return s, true
		}
		d = point
	}
	if s := sched.Stretch(r.Speed); s > 1 {
		if slow, err := dist.Scale(d, s); err == nil {
			d = slow
		}
	}
	elapsed := max(0, now.Sub(r.Started).Seconds())
	rest, err := dist.Condition(d, elapsed)
	if _, hi := d.Bounds(); err != nil || elapsed >= hi || d.CDF(elapsed) >= 1 {
		return s, true
	}
	at := func(p float64) float64 { return min(max(0, rest.Quantile(p)-elapsed), math.MaxFloat64) }
	return Span{at(0.1), at(0.5), at(0.9)}, false
}

// ahead lists the jobs that get room first.
func (e *Explainer) ahead(x *Explanation, j *waiting, r *sched.Reason) {
	x.Ahead = append(x.Ahead, j.starts...)
	for _, id := range r.Ahead {
		if _, waits := e.pending[id]; waits && id != x.Job && !slices.Contains(x.Ahead, id) {
			x.Ahead = append(x.Ahead, id)
		}
	}
}

// short lists what there is too little of: the resources that keep one more task off a node that could hold one.
func (e *Explainer) short(x *Explanation, j *waiting) []Shortage {
	out := []Shortage{}
	set, tasks := x.Set, float64(x.Tasks)
	switch o := x.Obstacle; {
	case o != nil && o.Missing != "":
		return append(out, Shortage{Label: o.Missing, Set: set, Need: tasks})
	case j.demand == nil && o != nil:
		return append(out, Shortage{Resource: o.Resource, Set: set, Need: o.Wanted * tasks})
	case j.fits >= x.Tasks:
		return out
	}
	binds := e.binding(j)
	for r, d := range j.demand {
		if !binds[r] {
			continue
		}
		idle := 0.0
		for _, n := range j.nodes {
			idle += max(0, e.left.Free[int(n)*len(j.demand)+r])
		}
		out = append(out, Shortage{Resource: e.snap.Nodes.Resources()[r], Set: set, Need: d * tasks,
			Free: d * float64(j.fits), Idle: idle})
	}
	return out
}

// binding reports for each resource whether some node lacks it for one task more than fits there. It looks at nodes
// that could hold more tasks if they were empty. If none of those lacks anything, it looks at all nodes.
func (e *Explainer) binding(j *waiting) []bool {
	placer := place.NewPlacer(e.left)
	width := len(j.demand)
	binds := make([]bool, width)
	look := func(all bool) {
		for i, n := range j.nodes {
			one := j.nodes[i : i+1]
			fit := placer.Fits(j.demand, one)
			if !all && fit >= e.snap.Nodes.Holds(j.demand, one) {
				continue
			}
			for r, d := range j.demand {
				binds[r] = binds[r] || d > 0 && e.left.Free[int(n)*width+r] < d*float64(fit+1)*(1-rounding)
			}
		}
	}
	if look(false); !slices.Contains(binds, true) {
		look(true)
	}
	return binds
}

// rounding is the relative error allowed in sums of free amounts.
const rounding = 1e-9
