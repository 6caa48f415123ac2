package native

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
)

// reducedCosts takes out of a subproblem's program what no plan that is looked for can have, by the prices at which
// its bound has been found (reduced-cost fixing): options whose reduced value is so far below that of their job's best
// one that the bound would not be enough if they were taken, and tasks where they would cost too much. Jobs and
// running jobs that can be decided one way only are.
type reducedCosts struct {
	*progress
	subproblem *subproblem
	master     *relax.Master
	red        []float64 // scratch: options' reduced values
	order      []int     // scratch: an option's places, the cheapest first
}

// exact says whether the programs' tolerance is nothing beside what the best plan is worth. It is not where a plan is
// worth the small difference of large values and costs: bounds that are wide for rounding errors alone would be taken
// for room.
func (r *reducedCosts) exact() bool { return r.master.Tol <= 1e-6*math.Abs(r.top()) }

// run reduces the program whose bound at prices dual.Lam is b. What is worth no more than the best plan is taken out,
// and not what is worth hardly more than the best plan: no node's bound would speak of that any more, and the tree's
// bound has to hold for it.
func (r *reducedCosts) run(b float64) {
	room := b - r.top() + float64(inexact*math.Abs(b))
	if math.IsInf(b, 0) || room < 0 || !r.exact() {
		return
	}
	n := len(r.in.P.Jobs)
	r.red, r.order = pack.Resize(r.red, len(r.in.Opts)), pack.Resize(r.order, r.in.MaxParts)
	for set := range r.master.Sets() {
		if r.late() {
			return
		}
		if set < n {
			r.job(set, room)
			continue
		}
		k := set - n
		if r.subproblem.decided.Fix[k] != 0 {
			continue
		}
		switch gain := r.dual.ReleaseGain(k); {
		case gain > room:
			r.subproblem.settleRun(k, true)
		case -gain > room:
			r.subproblem.settleRun(k, false)
		}
	}
}

// job reduces job j, by which the bound may fall by room.
func (r *reducedCosts) job(j int, room float64) {
	d, in, decided := &r.dual, &r.in, &r.subproblem.decided
	best := 0.0
	if decided.Must[j] {
		best = math.Inf(-1)
	}
	for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
		if !decided.Dead[o] {
			r.red[o] = in.Opts[o].Value - d.Price(&in.Opts[o], d.Unit)
			best = max(best, r.red[o])
		}
	}
	if math.IsInf(best, -1) {
		return
	}
	for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
		switch opt := &in.Opts[o]; {
		case decided.Dead[o]:
		case r.red[o] < best-room:
			r.subproblem.forbid(o)
		case opt.Whole && opt.P1-opt.P0 > 1:
			d.Price(opt, d.Unit)
			r.split(o, room-(best-r.red[o]))
		}
	}
	if best > room {
		r.subproblem.oblige(j)
	}
}

// split bounds option o's tasks in each of its partitions by what they cost: the cheapest split is in dual.Split, a
// task's costs are in dual.Unit, and a split may cost more than that by room.
func (r *reducedCosts) split(o int, room float64) {
	d, q, opt := &r.dual, &r.subproblem.decided, &r.in.Opts[o]
	n := opt.P1 - opt.P0
	upper, lower := q.Upper[opt.P0:opt.P1], q.Lower[opt.P0:opt.P1]
	unit, split := d.Unit[:n], d.Split[:n]
	order := r.order[:n]
	for i := range order {
		order[i] = i
	}
	sortIndices(order, unit, 1)
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
			changed = q.Bound(o, opt.P0+i, v, false) || changed
		}
		if v := math.Ceil(fewest - splitFuzz); v <= upper[i] {
			changed = q.Bound(o, opt.P0+i, v, true) || changed
		}
	}
	d.Ops += int64(2 * n * n)
	if changed {
		r.subproblem.penalize(o)
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
