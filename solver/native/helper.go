package native

import (
	"context"
	"math"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
)

// priceList is how the leader's prices judge options, places and running jobs, for plans to go by.
type priceList struct {
	number          int64 // 0 is none
	lam             []float64
	red, cost, rank []float64
	fresh           bool  // not taken yet
	at              int64 // in ops; when the last one was taken
}

// copy makes a equal to b.
func (a *priceList) copy(b *priceList) {
	a.number = b.number
	a.lam, a.red = append(a.lam[:0], b.lam...), append(a.red[:0], b.red...)
	a.cost, a.rank = append(a.cost[:0], b.cost...), append(a.rank[:0], b.rank...)
}

// joinTeam makes w a helper of the leader from an op on.
func (w *worker) joinTeam(ctx context.Context, lead *worker, spent int64) {
	w.Follow(ctx, &lead.Budget, spent)
	w.cfg, w.target, w.smallest = lead.cfg, lead.target, lead.smallest
	w.report, w.reportAt = nil, math.MaxInt64
	w.in = lead.in // it is not changed any more
	w.best.Copy(&lead.best)
	w.best.In = &w.in
	w.cur.Ops = 0
	w.memory, w.noted, w.recall.warm, w.recall.past = nil, nil, false, nil
	w.meetAt = lead.meetAt
	w.greedy.leader.number, w.greedy.leader.fresh, w.greedy.leader.at = 0, false, spent
}

// dismiss lets go of what must not outlive the solve.
func (w *worker) dismiss() {
	w.Release()
	w.team = nil
	w.noted, w.recall.past, w.recall.last = nil, nil, nil
	w.in = pack.Instance{}
}

// assist is a helper's whole search: for plans, by the leader's prices, and as soon as there is a relaxation, by what
// that advises.
func (w *worker) assist() {
	w.cur.Reset(&w.in)
	w.reset()
	w.greedy.guide()
	for before := int64(-1); w.assistsOn() && w.Spent() > before; {
		before = w.Spent()
		w.Within(math.MaxInt64, w.assistOnce)
	}
}

// assistsOn reports whether a helper may go on. News that come as it asks end its present phase, as they always do,
// but not its work.
func (w *worker) assistsOn() (on bool) {
	news := w.Within(math.MaxInt64, func() { on = w.checkpoint() })
	return on || news
}

// assistOnce is one round of a helper's search.
func (w *worker) assistOnce() {
	w.greedy.takePrices()
	w.adopt()
	switch {
	case w.noted == nil:
		w.local.improve(math.MaxInt64)
	case w.recall.past == nil:
		w.relaxAgain()
		w.dives()
	default:
		w.local.improve(w.Share(improveShare))
	}
}

// relaxAgain solves the linear relaxation from the columns that the leader has found.
func (w *worker) relaxAgain() {
	w.recall.reset(&w.in, new(solver.Memory).With(name, &memory{root: w.noted}))
	w.subproblem.wholeProblem()
	w.relaxation.solve(w.Share(helperShare))
	w.subproblem.wholeProblem()
}
