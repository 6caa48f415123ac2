package native

import (
	"context"
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/warm"
)

// joinTeam makes w a helper of the leader from an op on.
func (w *worker) joinTeam(ctx context.Context, lead *worker, spent int64) {
	w.budget.Follow(ctx, &lead.budget, spent)
	w.cfg, w.known.Target, w.known.Smallest = lead.cfg, lead.known.Target, lead.known.Smallest
	w.report, w.reportAt = nil, math.MaxInt64
	w.in = lead.in // it is not changed any more
	w.known.Best.Copy(&lead.known.Best)
	w.known.Best.In = &w.in
	w.cur.Ops = 0
	w.memory, w.noted = nil, nil
	w.recall.Forget()
	w.budget.MeetAt = lead.budget.MeetAt
	w.advice.Number, w.news, w.newsAt = 0, false, spent
}

// dismiss lets go of what must not outlive the solve.
func (w *worker) dismiss() {
	w.budget.Release()
	w.team = nil
	w.noted = nil
	w.recall.Release()
	w.in = pack.Instance{}
}

// assist is a helper's whole search: for plans, by the leader's prices, and as soon as there is a relaxation, by what
// that advises.
func (w *worker) assist() {
	w.cur.Reset(&w.in)
	w.reset()
	w.orders.Guide()
	for before := int64(-1); w.assistsOn() && w.budget.Spent() > before; {
		before = w.budget.Spent()
		w.budget.Within(math.MaxInt64, w.assistOnce)
	}
}

// assistsOn reports whether a helper may go on. News that come as it asks end its present phase, as they always do,
// but not its work.
func (w *worker) assistsOn() (on bool) {
	news := w.budget.Within(math.MaxInt64, func() { on = w.budget.Checkpoint() })
	return on || news
}

// assistOnce is one round of a helper's search.
func (w *worker) assistOnce() {
	w.takePrices()
	w.known.Adopt()
	switch {
	case w.noted == nil:
		w.improve(math.MaxInt64)
	case !w.recall.Fitted():
		w.relaxAgain()
		w.dives()
	default:
		w.improve(w.budget.Share(improveShare))
	}
}

// relaxAgain solves the linear relaxation from the columns that the leader has found.
func (w *worker) relaxAgain() {
	w.recall.Reset(warm.Of(w.noted), 0)
	w.subproblem.Begin(&w.cur, w.orders.Jobs)
	w.solveRelaxation(w.budget.Share(helperShare))
	w.subproblem.Begin(&w.cur, w.orders.Jobs)
}

// takePrices takes the leader's advice, if it is news, and makes plans by it.
func (w *worker) takePrices() {
	if !w.news {
		return
	}
	w.news, w.newsAt = false, w.budget.Spent()
	w.orders.Follow(&w.advice)
	w.greedy.FillByRed()
}
