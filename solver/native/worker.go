package native

import (
	"context"
	"math"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native/internal/cuts"
	"github.com/hedgesched/hedge/solver/native/internal/lp"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
)

// worker is one search of the problem, by parts that share its progress:
//
//	progress     problem, plan in hand, best plan, prices with their bound (dual), budget of work and time
//	greedy       plans from nothing, by value or by prices
//	ascent       rough prices, by steps
//	local        ruin and recreate round the best plan
//	master       the master program over the columns known: columns, and a basis of them
//	primal       the primal simplex method on it
//	relaxation   the linear relaxation by column generation
//	subproblem   the same with some jobs decided: where the search is
//	rounding     plans from a subproblem's solution
//	ejection     gangs that fit if others are split another way (ejection chains)
//	reducedCosts what no better plan can have, by prices, taken out of a subproblem (reduced-cost fixing)
//	dive         decisions by the solution until there is a plan
//	cutting      cuts, which are kept in pool
//	branching    what to divide a node by
//	tree         branch and price, for the proof
//	recall       what the last cycle's solve has left
//
// The worker itself says what comes when. Engines pool workers, whose parts keep their scratch memory.
type worker struct {
	progress
	greedy       greedy
	ascent       ascent
	local        local
	master       relax.Master
	primal       lp.Primal
	relaxation   relaxation
	subproblem   subproblem
	rounding     rounding
	ejection     ejection
	reducedCosts reducedCosts
	dive         dive
	pool         relax.Cuts
	cutting      cutting
	branching    branching
	tree         tree
	recall       recall

	memory *solver.Memory   // what the caller has handed on; nil asks for none
	start  *solver.Solution // the caller's plan to start from; nil if there is none
	noted  *root            // what this solve leaves to the next of its relaxation

	team   *team     // nil for a worker that works alone
	crew   []*worker // the helpers of the last team, kept for the next
	number int       // in the team; the leader is 0
}

// newWorker joins the parts together.
func newWorker() *worker {
	w := &worker{}
	p, m, rel, n, r := &w.progress, &w.master, &w.relaxation, &w.subproblem, &w.rounding
	w.greedy = greedy{progress: p, recall: &w.recall}
	w.ascent = ascent{progress: p, greedy: &w.greedy, recall: &w.recall, relaxation: rel, master: m}
	w.ejection = ejection{progress: p}
	w.local = local{progress: p, greedy: &w.greedy, ejection: &w.ejection}
	w.primal = lp.NewPrimal(&m.Program)
	w.relaxation = relaxation{progress: p, recall: &w.recall, master: m, primal: &w.primal}
	w.subproblem = subproblem{progress: p, greedy: &w.greedy, relaxation: rel, master: m}
	w.rounding = rounding{progress: p, greedy: &w.greedy, ejection: &w.ejection, subproblem: n, master: m}
	w.reducedCosts = reducedCosts{progress: p, subproblem: n, master: m}
	w.dive = dive{progress: p, subproblem: n, rounding: r, reducedCosts: &w.reducedCosts, master: m}
	w.cutting = cutting{
		progress: p, greedy: &w.greedy, relaxation: rel, subproblem: n, rounding: r, master: m, pool: &w.pool,
		separator: cuts.New(&w.in, &w.pool, &w.Budget, w.late),
	}
	w.branching = branching{progress: p, subproblem: n, rounding: r, master: m}
	w.tree = tree{progress: p, subproblem: n, rounding: r, reducedCosts: &w.reducedCosts, branching: &w.branching}
	w.recall = recall{progress: p}
	w.Count(&w.cur.Ops, &w.dual.Ops, &w.master.Ops)
	w.dual.Late, w.greedy.pre.Late = w.late, w.late
	w.dual.Decided = &w.subproblem.decided
	w.meet = w.meetTeam
	return w
}

func (w *worker) begin(
	ctx context.Context, p *solver.Problem, opts solver.Options, cfg Config, report func(*solver.Solution),
) {
	w.report, w.cfg, w.target = report, cfg, opts.TargetGap()
	w.Seed(opts.Seed, 0)
	w.Begin(ctx, opts, cfg.defaultWork())
	w.reportAt, w.reported = 0, 0
	w.in.Look = w.ReadClock
	whole := w.in.Load(p, opts.Splits)
	w.in.Round()
	w.in.Look = nil
	w.cur.Ops = 0
	w.cur.Reset(&w.in)
	w.best.Copy(&w.cur)
	w.reset()
	if !whole {
		w.dual.Bound = math.Inf(1) // what has not been read may be worth anything
	}
	w.memory, w.noted, w.recall.warm = opts.Memory, nil, false
	w.recall.reset(&w.in, opts.Memory)
	w.start = opts.Start
	w.team, w.number, w.meetAt = nil, 0, math.MaxInt64
	if n := w.workers(opts.Threads); n > 1 && !cfg.Relaxation {
		w.makeTeam(n, opts.Seed)
	}
}

// reset forgets all but the problem, the present plan and the best one.
func (w *worker) reset() {
	w.progress.reset()
	w.master.Ops = 0
	w.greedy.reset()
	w.subproblem.decided.Reset(&w.in)
	w.dual.Reset(&w.in)
	w.ascent.reset()
	w.pool.Reset()
	if w.relaxation.exists() {
		w.master.Reset(&w.in)
		w.subproblem.reset()
		w.rounding.reset()
	}
	w.ejection.reset()
	w.branching.costs.reset(len(w.in.P.Jobs) + len(w.in.P.Running))
	w.tree.reset()
}

// release drops what must not outlive the solve.
func (w *worker) release() {
	w.Release()
	w.report = nil
	w.memory, w.noted, w.recall.past, w.recall.last = nil, nil, nil, nil
	w.in.Release()
	w.team = nil
	for _, h := range w.crew {
		h.dismiss()
	}
}

// solve is the whole search, with what helpers there are. It returns the largest ops of any worker.
func (w *worker) solve() (spent int64) {
	if w.team == nil {
		w.run()
		return w.Spent()
	}
	defer w.team.disband(true)
	w.run()
	return w.finish()
}

// stop says why the search has ended.
func (w *worker) stop() solver.Stop {
	switch gap := w.gap(); {
	case math.Abs(gap) <= inexact || w.proven && gap > 0:
		return solver.StopOptimal
	case gap <= w.target:
		return solver.StopGap
	case w.Err() == nil:
		return solver.StopWork
	default:
		return solver.StopOf(w.Err())
	}
}
