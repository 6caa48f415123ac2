// Package nativetest is what tests of the native engine's rooms begin with: a problem that has been read, with what
// plans and relaxations are made of it. It is for tests alone.
package nativetest

import (
	"context"
	"math"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/plan"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
	"github.com/hedgesched/hedge/solver/native/internal/search"
)

// Bench is a problem with the parts up to the relaxation. What they do is said with each.
type Bench struct {
	In         pack.Instance
	Cur        pack.State
	Budget     search.Budget
	Random     search.Random
	Known      search.Incumbent
	Dual       relax.Dual
	Decided    relax.Decisions
	Master     relax.Master
	Orders     plan.Orders
	Greedy     plan.Greedy
	Ejection   plan.Ejection
	Ascent     relax.Ascent
	Relaxation relax.Relaxation
}

// Ready is a bench that has read p, which must be valid, and not begun to solve it.
func Ready(p *solver.Problem, opts solver.Options) *Bench {
	w := &Bench{}
	in, cur, b, n, d, m := &w.In, &w.Cur, &w.Budget, &w.Known, &w.Dual, &w.Master
	n.Watch(&d.Bound)
	b.Aim(n)
	b.Count(&cur.Ops, &d.Ops, &m.Ops)
	d.Late, d.Decided = b.Late, &w.Decided
	w.Orders = plan.NewOrders(in, b, d, cur)
	w.Greedy = plan.NewGreedy(in, b, n, cur, &w.Orders)
	w.Ejection = plan.NewEjection(in, b, &w.Random, cur)
	w.Ascent = relax.NewAscent(d)
	w.Relaxation = relax.NewRelaxation(in, b, n, d, m)

	n.Target = opts.TargetGap()
	w.Random.Seed(opts.Seed, 0)
	b.Begin(context.Background(), opts, search.DefaultWork)
	in.Load(p, opts.Splits)
	in.Round()
	cur.Reset(in)
	n.Best.Copy(cur)
	b.Restart()
	b.MeetAt = math.MaxInt64
	n.Reset(cur.Order)
	w.Orders.Reset()
	w.Decided.Reset(in)
	d.Reset(in)
	w.Ascent.Reset()
	if w.Relaxation.Exists() {
		m.Reset(in)
	}
	w.Ejection.Reset()
	return w
}

// Prepared is a bench about to solve p's relaxation, with far more work than it needs: there are plans, and prices of
// a hundred steps.
func Prepared(p *solver.Problem) *Bench {
	w := Ready(p, solver.Options{Work: 1 << 40, Gap: -1})
	w.Greedy.Starts()
	for range 100 {
		w.Ascent.Step(w.Known.Best.Value)
	}
	w.Orders.Guide()
	w.Greedy.FillByRed()
	return w
}

// Relax solves the relaxation until that many ops are spent, and reports whether it is solved.
func (w *Bench) Relax(until int64) bool {
	w.Cur.Empty()
	w.Relaxation.Begin()
	return w.Relaxation.Solve(until, 5e-5, nil)
}
