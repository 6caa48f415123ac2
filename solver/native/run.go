package native

import (
	"math"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native/internal/plan"
)

// run is the whole search: plans that need no exact prices, the relaxation, and then bounds and plans in turns, those
// first of which more can be hoped. Where bounds come first there is one dive, with all that is known; more of them
// find less than ruin and recreate does.
func (w *worker) run() {
	if !w.firstPlans() {
		return
	}
	if w.cfg.Relaxation {
		w.subproblem.Begin(&w.cur, w.orders.Jobs)
		if w.relaxation.Exists() {
			w.solveRelaxation(math.MaxInt64)
		}
		return
	}
	advised := w.relaxation.Affordable() && w.solveRoot()
	switch {
	case !advised:
		w.improve(math.MaxInt64)
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
		w.known.Keep(&w.cur)
		w.cur.Empty()
	}
	w.budget.Hurry(plan.EarlyOps)
	w.recall.Replay(&w.cur)
	w.greedy.Starts()
	if !w.budget.Checkpoint() {
		return false
	}
	if w.recall.Remind() {
		w.polish()
		if !w.budget.Checkpoint() {
			return false
		}
	}
	w.ascend()
	w.greedy.ByPrices()
	return w.budget.Checkpoint()
}

// forBounds is how many times over what the relaxation took must be left for bounds to come before plans.
const forBounds = 4

// boundsFirst says whether bounds come before plans: where the relaxation was cheap, unless the last one says that it
// is plans that are missing.
func (w *worker) boundsFirst() bool {
	left := (w.budget.Share(1) - w.budget.Spent()) / max(w.relaxation.Took, 1)
	return left > forBounds && !w.recall.Easy()
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
func (w *worker) content() bool { return w.known.Gap() <= solver.DefaultGap }

// plans follows the relaxation's advice for one part-th of what is left, and betters the plan.
func (w *worker) plans(part int64) {
	w.budget.Within(w.budget.Share(part), func() { w.dive.Run(-1) })
	w.improve(w.budget.Share(afterDiveShare))
}

// cutRoot adds cuts to the relaxation, if what it took to solve leaves the time.
func (w *worker) cutRoot() {
	end := w.budget.Share(cutShare)
	if w.cfg.NoExact || w.relaxation.Took >= mostPerCuts*(end-w.budget.Spent()) {
		return
	}
	w.dual.Cuts = &w.pool
	w.budget.Within(end, func() { w.tightenTo(end) })
}

// tightenTo adds cuts until a number of ops is spent.
func (w *worker) tightenTo(end int64) {
	w.cutting.Tighten(end)
	w.orders.Guide()
}

// growFor searches for a proof for one n-th of what is left.
func (w *worker) growFor(n int64) {
	if !w.cfg.NoExact {
		w.budget.Within(w.budget.Share(n), w.tree.Grow)
	}
}

// improve searches by ruin and recreate until the ops spent reach until, or the limits are reached. A helper looks for
// news of prices between two cycles.
func (w *worker) improve(until int64) {
	w.budget.Within(until, func() {
		if !w.local.Begin() {
			return
		}
		for w.local.Cycle() {
			w.takePrices()
			w.local.Again()
		}
	})
}

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
	for before := int64(-1); w.budget.Checkpoint() && w.budget.Spent() > before; {
		before = w.budget.Spent()
		w.known.Adopt()
		w.growFor(w.proofs())
		w.improve(w.budget.Share(improveShare))
	}
}

// dives makes plans by following the relaxation's advice all the way down,
// then with one early piece of advice turned around.
func (w *worker) dives() {
	more, misses := true, 0
	for against := -1; more && misses < maxMisses && against < maxDives; against++ {
		before := w.known.Best.Value
		part := int64(againstDiveShare)
		if against < 0 {
			part = adviceDiveShare
		}
		w.budget.Within(w.budget.Share(part), func() { more = w.dive.Run(against) })
		if misses++; w.known.Best.Value > before {
			misses = 0
		}
		if against < 0 {
			w.improve(w.budget.Share(improveShare))
		}
	}
}

// solveRoot solves the linear relaxation, or most of it, and makes plans from its prices. It reports whether the
// relaxation's solution is worth following.
func (w *worker) solveRoot() bool {
	w.subproblem.Begin(&w.cur, w.orders.Jobs)
	spent := w.budget.Spent()
	ok := w.solveRelaxation(spent + relaxationPercent*(w.budget.Share(1)-spent)/100)
	if w.relaxation.Large() {
		w.master.Drop(unlikely)
	}
	if w.memory != nil || w.team != nil {
		w.noted = w.recall.Note(&w.master, w.relaxation.Took)
	}
	w.greedy.ByPrices()
	w.subproblem.Begin(&w.cur, w.orders.Jobs)
	return w.budget.Checkpoint() && (ok || w.master.Objective() > w.known.Top())
}

// solveRelaxation solves the linear relaxation from the memory's columns, if there are some, until the ops spent reach
// until.
func (w *worker) solveRelaxation(until int64) bool {
	w.relaxation.Begin()
	w.recall.Resume(&w.master)
	var tighter func()
	if w.cfg.Relaxation {
		tighter = func() { w.report(w.solution(solver.StopNone)) }
	}
	return w.relaxation.Solve(until, w.cfg.loose(), tighter)
}

// unlikely is how much of its value a column is short of paying that is not kept for the search, whose programs take
// the longer the more there are.
const unlikely = 0.2

// polish makes plans by the memory's prices, and searches around the best one for as long as, at the rate of the last
// slice, that can be expected to meet the target before the relaxation would.
func (w *worker) polish() {
	w.greedy.ByPrices()
	left := w.recall.Work()
	for slice := left / polishSlices; slice > 0 && left > 0 && w.budget.Checkpoint(); left -= slice {
		before := w.known.Gap()
		w.improve(w.budget.Spent() + slice)
		if float64(left-slice)*(before-w.known.Gap()) < float64(slice)*(w.known.Gap()-w.known.Target) {
			return
		}
	}
}

// polishSlices is how many slices there are of the work that the last relaxation took.
const polishSlices = 16
