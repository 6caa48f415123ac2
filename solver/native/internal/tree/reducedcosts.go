package tree

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/search"
)

// exact says whether the program's tolerance is nothing beside what the best plan is worth. It is not where a plan is
// worth the small difference of large values and costs: bounds that are wide for rounding errors alone would be taken
// for room.
func (q *Subproblem) exact() bool { return q.master.Tol <= 1e-6*math.Abs(q.known.Top()) }

// reduce takes out of the program what no plan that is looked for can have, by the prices at which its bound has been
// found last (reduced-cost fixing): options whose reduced value is so far below that of their job's best one that the
// bound would not be enough if they were taken, and tasks where they would cost too much. Jobs and running jobs that
// can be decided one way only are. What is worth no more than the best plan is taken out, and not what is worth hardly
// more than the best plan: no node's bound would speak of that any more, and the tree's bound has to hold for it.
func (q *Subproblem) reduce() {
	b := q.at
	room := b - q.known.Top() + float64(search.Inexact*math.Abs(b))
	if math.IsInf(b, 0) || room < 0 || !q.exact() {
		return
	}
	n := len(q.in.P.Jobs)
	q.red, q.places = pack.Resize(q.red, len(q.in.Opts)), pack.Resize(q.places, q.in.MaxParts)
	for set := range q.master.Sets() {
		if q.budget.Late() {
			return
		}
		if set < n {
			q.reduceJob(set, room)
			continue
		}
		k := set - n
		if q.Decided.Fix[k] != 0 {
			continue
		}
		switch gain := q.dual.ReleaseGain(k); {
		case gain > room:
			q.settleRun(k, true)
		case -gain > room:
			q.settleRun(k, false)
		}
	}
}

// reduceJob reduces job j, by which the bound may fall by room.
func (q *Subproblem) reduceJob(j int, room float64) {
	d, in, decided := q.dual, q.in, &q.Decided
	best := 0.0
	if decided.Must[j] {
		best = math.Inf(-1)
	}
	for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
		if !decided.Dead[o] {
			q.red[o] = in.Opts[o].Value - d.Price(&in.Opts[o], d.Unit)
			best = max(best, q.red[o])
		}
	}
	if math.IsInf(best, -1) {
		return
	}
	for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
		switch opt := &in.Opts[o]; {
		case decided.Dead[o]:
		case q.red[o] < best-room:
			q.forbid(o)
		case opt.Whole && opt.P1-opt.P0 > 1:
			d.Price(opt, d.Unit)
			q.reduceSplit(o, room-(best-q.red[o]))
		}
	}
	if best > room {
		q.oblige(j)
	}
}

// reduceSplit bounds option o's tasks in each of its partitions by what they cost: the cheapest split is in dual.Split,
// a task's costs are in dual.Unit, and a split may cost more than that by room.
func (q *Subproblem) reduceSplit(o int, room float64) {
	d, decided, opt := q.dual, &q.Decided, &q.in.Opts[o]
	n := opt.P1 - opt.P0
	upper, lower := decided.Upper[opt.P0:opt.P1], decided.Lower[opt.P0:opt.P1]
	unit, split := d.Unit[:n], d.Split[:n]
	order := q.places[:n]
	for i := range order {
		order[i] = i
	}
	pack.SortBy(order, unit, 1)
	changed := false
	for i := range unit {
		// Tasks that are added come from the dearest places, those taken away go to the cheapest with room.
		more, less, most, fewest := room, room, split[i], split[i]
		for at := range n {
			if k := order[n-1-at]; k != i {
				most += affordedMoves(&more, unit[i]-unit[k], split[k]-lower[k])
			}
			if k := order[at]; k != i {
				fewest -= affordedMoves(&less, unit[k]-unit[i], upper[k]-split[k])
			}
		}
		if v := math.Floor(most + splitFuzz); v >= lower[i] {
			changed = decided.Bound(o, opt.P0+i, v, false) || changed
		}
		if v := math.Ceil(fewest - splitFuzz); v <= upper[i] {
			changed = decided.Bound(o, opt.P0+i, v, true) || changed
		}
	}
	d.Ops += int64(2 * n * n)
	if changed {
		q.penalize(o)
	}
}

// splitFuzz is how far numbers of tasks may be off.
const splitFuzz = 1e-6

// affordedMoves is how many of n tasks can be moved for room if each move costs that much, and takes it off room.
func affordedMoves(room *float64, each, n float64) float64 {
	if n <= 0 {
		return 0
	}
	if each > 0 && float64(n*each) > *room {
		n = *room / each
	}
	*room -= float64(max(0, each) * n)
	return n
}
