package native

import (
	"context"
	"math"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/plan"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
	"github.com/hedgesched/hedge/solver/native/internal/search"
	"github.com/hedgesched/hedge/solver/native/internal/tree"
	"github.com/hedgesched/hedge/solver/native/internal/warm"
)

// worker is one search of the problem. What it has:
//
//	in, cur      the problem, and the plan in hand, in which plans are made
//	budget       work and time
//	random       random numbers
//	known        the best plan and the bound
//	dual         prices with their bound
//	master       the master program over the columns known: columns, and a basis of them
//	pool         cuts
//
// and the parts that it gives them to, each of which says what it does:
//
//	orders       what prices say of options, places and running jobs
//	greedy       plans from nothing, by value or by prices
//	local        ruin and recreate round the best plan
//	ejection     gangs that fit if others are split another way (ejection chains)
//	ascent       rough prices, by steps
//	relaxation   the linear relaxation by column generation
//	subproblem   the same with some jobs decided: where the search is
//	rounding     plans from a subproblem's solution
//	dive         decisions by the solution until there is a plan
//	cutting      cuts
//	tree         branch and price, for the proof
//	recall       what the last cycle's solve has left
//
// The worker says what comes when. Engines pool workers, whose parts keep their scratch memory.
type worker struct {
	in     pack.Instance
	cur    pack.State
	budget search.Budget
	random search.Random
	known  search.Incumbent
	dual   relax.Dual
	master relax.Master
	pool   relax.Cuts

	orders     plan.Orders
	greedy     plan.Greedy
	local      plan.Local
	ejection   plan.Ejection
	ascent     relax.Ascent
	relaxation relax.Relaxation
	subproblem *tree.Subproblem
	rounding   *tree.Rounding
	dive       *tree.Dive
	cutting    *tree.Cutting
	tree       *tree.Tree
	recall     warm.Recall

	cfg      Config
	report   func(*solver.Solution)
	reportAt int64
	reported float64
	memory   *solver.Memory   // what the caller has handed on; nil asks for none
	start    *solver.Solution // the caller's plan to start from; nil if there is none
	noted    *warm.Root       // what this solve leaves to the next of its relaxation

	team   *team       // nil for a worker that works alone
	crew   []*worker   // the helpers of the last team, kept for the next
	number int         // in the team; the leader is 0
	advice plan.Advice // a helper's, from the leader
	news   bool        // it has not been taken yet
	newsAt int64       // in ops; when it was taken last
}

// newWorker gives the parts what they work on.
func newWorker() *worker {
	w := &worker{}
	in, cur, b, r, n, d, m := &w.in, &w.cur, &w.budget, &w.random, &w.known, &w.dual, &w.master
	n.Watch(&d.Bound)
	b.Aim(n)
	b.Count(&cur.Ops, &d.Ops, &m.Ops)
	b.Meet, b.Looked = w.meetTeam, w.tell
	d.Late = b.Late
	w.orders = plan.NewOrders(in, b, d, cur)
	w.greedy = plan.NewGreedy(in, b, n, cur, &w.orders)
	w.ejection = plan.NewEjection(in, b, r, cur)
	w.local = plan.NewLocal(in, b, r, n, cur, &w.orders, &w.ejection)
	w.ascent = relax.NewAscent(d)
	w.relaxation = relax.NewRelaxation(in, b, n, d, m)
	w.subproblem = tree.NewSubproblem(in, b, n, d, m, &w.relaxation)
	w.rounding = tree.NewRounding(cur, &w.orders, &w.ejection, w.subproblem)
	w.dive = tree.NewDive(w.subproblem, w.rounding)
	w.cutting = tree.NewCutting(&w.pool, w.subproblem, w.rounding)
	w.tree = tree.New(w.subproblem, w.rounding)
	w.recall = warm.NewRecall(in, b, n, d)
	return w
}

func (w *worker) begin(
	ctx context.Context, p *solver.Problem, opts solver.Options, cfg Config, report func(*solver.Solution),
) {
	w.report, w.cfg, w.known.Target = report, cfg, opts.TargetGap()
	w.random.Seed(opts.Seed, 0)
	w.budget.Begin(ctx, opts, cfg.defaultWork())
	w.reportAt, w.reported = 0, 0
	w.in.Look = w.budget.ReadClock
	whole := w.in.Load(p, opts.Splits)
	w.in.Round()
	w.in.Look = nil
	w.cur.Ops = 0
	w.cur.Reset(&w.in)
	w.known.Best.Copy(&w.cur)
	w.reset()
	if !whole {
		w.dual.Bound = math.Inf(1) // what has not been read may be worth anything
	}
	w.memory, w.noted, w.start = opts.Memory, nil, opts.Start
	kept, age := opts.Memory.Note(name)
	past, _ := kept.(*warm.Memory)
	w.recall.Reset(past, age)
	w.team, w.number, w.budget.MeetAt = nil, 0, math.MaxInt64
	if n := w.workers(opts.Threads); n > 1 && !cfg.Relaxation {
		w.makeTeam(n, opts.Seed)
	}
}

// reset forgets all but the problem, the present plan and the best one.
func (w *worker) reset() {
	w.budget.Restart()
	w.known.Reset(w.cur.Order)
	w.master.Ops = 0
	w.orders.Reset()
	w.subproblem.Decided.Reset(&w.in)
	w.dual.Reset(&w.in)
	w.ascent.Reset()
	w.pool.Reset()
	if w.relaxation.Exists() {
		w.master.Reset(&w.in)
		w.subproblem.Reset()
		w.rounding.Reset()
	}
	w.ejection.Reset()
	w.tree.Reset()
}

// release drops what must not outlive the solve.
func (w *worker) release() {
	w.budget.Release()
	w.recall.Release()
	w.report, w.memory, w.noted, w.team = nil, nil, nil, nil
	w.in.Release()
	for _, h := range w.crew {
		h.dismiss()
	}
}

// solve is the whole search, with what helpers there are. It returns the largest ops of any worker.
func (w *worker) solve() (spent int64) {
	if w.team == nil {
		w.run()
		return w.budget.Spent()
	}
	defer w.team.disband(true)
	w.run()
	return w.finish()
}

// reportOps is how many ops there are between two reports of better plans, about 20 milliseconds.
const reportOps = 20_000 * pack.OpsPerUnit

// tell reports a better plan, every now and then.
func (w *worker) tell(spent int64) {
	if w.reportAt <= spent && w.known.Top() > w.reported {
		w.reportAt, w.reported = spent+reportOps, w.known.Top()
		w.report(w.solution(solver.StopNone))
	}
}

// solution is the best plan with the bound proven so far, which an abandoned solve keeps too.
func (w *worker) solution(stop solver.Stop) *solver.Solution {
	best := &w.known.Best
	if w.known.Team.Value > best.Value {
		best = &w.known.Team
	}
	sol := best.Solution(name, stop)
	sol.Work = w.budget.Spent() / pack.OpsPerUnit
	if bound := w.known.Bound(); !math.IsInf(bound, 0) {
		if v := sol.Objective; bound < v && bound >= v-float64(search.Inexact*math.Abs(v)) {
			bound = v
		}
		sol.Bound = &bound
	}
	return sol
}

// stop says why the search has ended.
func (w *worker) stop() solver.Stop {
	switch gap := w.known.Gap(); {
	case math.Abs(gap) <= search.Inexact || w.known.Proven && gap > 0:
		return solver.StopOptimal
	case gap <= w.known.Target:
		return solver.StopGap
	case w.budget.Err() == nil:
		return solver.StopWork
	default:
		return solver.StopOf(w.budget.Err())
	}
}
