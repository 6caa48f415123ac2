package native

import (
	"math"

	"github.com/hedgesched/hedge/solver"
)

// run is the whole search: plans that need no exact prices, the relaxation, and then bounds and plans in turns, those
// first of which more can be hoped. Where bounds come first there is one dive, with all that is known; more of them
// find less than ruin and recreate does.
func (w *worker) run() {
	if !w.firstPlans() {
		return
	}
	if w.cfg.Relaxation {
		w.subproblem.wholeProblem()
		if w.relaxation.exists() {
			w.relaxation.solve(math.MaxInt64)
		}
		return
	}
	advised := w.relaxation.affordable() && w.solveRoot()
	switch {
	case !advised:
		w.local.improve(math.MaxInt64)
	case w.boundsFirst():
		w.bounds()
		w.plans(firstDiveShare)
		w.rounds()
	default:
		w.plans(earlyDiveShare)
		w.bounds()
		w.dives()
		w.rounds()
	}
}

// firstPlans makes the plans that need no exact prices, and reports whether the search is to go on.
func (w *worker) firstPlans() bool {
	if w.start != nil {
		w.cur.Load(w.start)
		w.greedy.keep()
		w.greedy.emptyPlan()
	}
	w.greedy.starts()
	if !w.checkpoint() {
		return false
	}
	if w.recall.warm = w.recall.remind(); w.recall.warm {
		w.polish()
		if !w.checkpoint() {
			return false
		}
	}
	w.ascent.run()
	w.greedy.planByPrices()
	return w.checkpoint()
}

// forBounds is how many times over what the relaxation took must be left for bounds to come before plans.
const forBounds = 4

// boundsFirst says whether bounds come before plans: where the relaxation was cheap, unless the last one says that it
// is plans that are missing.
func (w *worker) boundsFirst() bool {
	left := (w.Share(1) - w.Spent()) / max(w.relaxation.took, 1)
	return left > forBounds && !w.recall.easy()
}

// bounds adds cuts to the relaxation and begins the search for a proof, which gets all that is left once there is
// hardly anything to gain by better plans.
func (w *worker) bounds() {
	w.cutRoot()
	w.growFor(firstProofShare)
	if w.content() {
		w.growFor(1)
	}
}

// content says whether the gap is one that callers get who ask for none: a better plan could gain hardly anything, so
// that all work goes to the proof.
func (w *worker) content() bool { return w.gap() <= solver.DefaultGap }

// plans follows the relaxation's advice for one part-th of what is left, and betters the plan.
func (w *worker) plans(part int64) {
	w.Within(w.Share(part), func() { w.dive.run(-1) })
	w.local.improve(w.Share(afterDiveShare))
}

// cutRoot adds cuts to the relaxation, if what it took to solve leaves the time.
func (w *worker) cutRoot() {
	end := w.Share(cutShare)
	if w.cfg.NoExact || w.relaxation.took >= mostPerCuts*(end-w.Spent()) {
		return
	}
	w.dual.Cuts = &w.pool
	w.Within(end, func() { w.cutting.tighten(end) })
}

// growFor searches for a proof for one n-th of what is left.
func (w *worker) growFor(n int64) { w.Within(w.Share(n), w.tree.grow) }

// proofs is which part of what is left a round gives to the proof: all of it where others look for plans, or where
// these could gain hardly anything.
func (w *worker) proofs() int64 {
	if w.team != nil || w.content() {
		return 1
	}
	return proofShare
}

// rounds search wider and wider around what is known until the limits are reached. A round
// that finds nothing to spend work on, or only a remainder too small to share out, is the last.
func (w *worker) rounds() {
	for before := int64(-1); w.checkpoint() && w.Spent() > before; {
		before = w.Spent()
		w.adopt()
		w.growFor(w.proofs())
		w.local.improve(w.Share(improveShare))
	}
}

// dives makes plans by following the relaxation's advice all the way down,
// then with one early piece of advice turned around.
func (w *worker) dives() {
	more, misses := true, 0
	for against := -1; more && misses < maxMisses && against < maxDives; against++ {
		before := w.best.Value
		part := int64(againstDiveShare)
		if against < 0 {
			part = adviceDiveShare
		}
		w.Within(w.Share(part), func() { more = w.dive.run(against) })
		if misses++; w.best.Value > before {
			misses = 0
		}
		if against < 0 {
			w.local.improve(w.Share(improveShare))
		}
	}
}

// solveRoot solves the linear relaxation, or most of it, and makes plans from its prices. It reports whether the
// relaxation's solution is worth following.
func (w *worker) solveRoot() bool {
	w.subproblem.wholeProblem()
	spent := w.Spent()
	ok := w.relaxation.solve(spent + relaxationPercent*(w.Share(1)-spent)/100)
	if w.relaxation.large() {
		w.master.Drop(unlikely)
	}
	if w.memory != nil || w.team != nil {
		w.noted = w.relaxation.note()
	}
	w.greedy.planByPrices()
	w.subproblem.wholeProblem()
	return w.checkpoint() && (ok || w.master.Objective() > w.top())
}

// unlikely is how much of its value a column is short of paying that is not kept for the search, whose programs take
// the longer the more there are.
const unlikely = 0.2

// polish makes plans by the memory's prices, and searches around the best one for as long as, at the rate of the last
// slice, that can be expected to meet the target before the relaxation would.
func (w *worker) polish() {
	w.greedy.planByPrices()
	left := w.recall.past.work
	for slice := left / polishSlices; slice > 0 && left > 0 && w.checkpoint(); left -= slice {
		before := w.gap()
		w.local.improve(w.Spent() + slice)
		if float64(left-slice)*(before-w.gap()) < float64(slice)*(w.gap()-w.target) {
			return
		}
	}
}

// polishSlices is how many slices there are of the work that the last relaxation took.
const polishSlices = 16
