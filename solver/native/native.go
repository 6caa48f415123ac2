// Package native is the pure-Go engine made for placement problems: it looks for the most valuable plan and
// proves how much better any other could be. It starts a goroutine only where it may use several threads, and none outlives the
// solve; it reads the clock only where a time limit is set, and trusts none of its floating-point shortcuts with a bound.
//
// # The problem, and prices
//
// Jobs compete for rows, the capacity of a partition, resource and slot. If every row had a price, each job could be
// decided alone: by the option whose value exceeds the price of its cheapest split the most. Whatever the prices, what all jobs
// gain then, plus the price of all capacity, is at least what any plan is worth: a bound (Lagrangian duality; see Fisher,
// Management Science 27, 1981). Good prices make it tight, and tell plans which jobs pay for their room.
//
// # The steps
//
//   - Capacities are rounded to what whole tasks can use where all amounts are multiples of one.
//   - First plans come from last cycle's hint and from greedy fills; prices from a few steps of subgradient ascent (Polyak;
//     later the volume algorithm of Barahona and Anbil, 2000), which are cheap and rough.
//   - With a [solver.Memory], the last root relaxation's prices take the ascent's place, unless its first steps better them by much, its columns
//     are there when the relaxation begins, and the hinted plan's gangs are split as they were. Jobs are known again by their ids, options by set, start
//     (moved by the slots that have passed) and count, partitions by name. Plans are made and bettered by those prices before the relaxation, for
//     as long as that promises to reach the gap asked for sooner; if the last relaxation's bound was within that gap of the plan found then, plans come before cuts.
//   - Where the work allows, exact prices come from the linear relaxation by column generation (Dantzig and Wolfe,
//     1960): a column is an option with a split, and the sweep that computes the bound finds the columns that
//     are missing. The master is solved by the primal simplex method with
//     generalised upper bounds (Dantzig and Van Slyke, 1967): jobs take at most one option each, so that the basis has a row per price, not
//     per job. A column has entries in few rows, so that the basis is kept as a sparse factorisation: pivots are taken in an order that
//     leaves few new entries (Markowitz, 1957), and a column that is exchanged, or a job's key, changes it by a row transformation (Forrest and
//     Tomlin, 1972). Prices are averaged with the best ones (Wentges, 1997), as those of an unfinished master jump about.
//   - Gangs are indivisible, which the relaxation does not know: mixed-integer rounding cuts of capacity, in a partition and added up over
//     all or those that an option goes to, cut its solution off as long as that lowers the bound. Whole numbers in them are tasks, gangs, the tasks
//     that a gang cannot but have there, and those short of the most it can have (variable bounds; Marchand and Wolsey, 2001), jobs being
//     complemented where the solution has them. A cut makes tasks dearer at some places, so that pricing stays as it was. They hold in the whole search.
//   - Branch and price (Barnhart and others, 1998), best bound first, proves the best plan or lowers the bound. A node divides
//     a job's options by start, says whether a running job is preempted, or how many tasks a partition takes, by
//     pseudo-costs (Bénichou and others, 1971). What is decided against gets a penalty in the master, whose basis stays
//     feasible: any node can follow any other.
//   - Where a node's program has decided all options but not their splits, an exact search fills one partition after the
//     other. If there is no split, the few choices that this depends on are a conflict, which the whole search avoids.
//   - Plans come from plunges, which follow the relaxation's advice down to a plan, from ruin and recreate guided by
//     prices (Schrimpf and others, 2000), which at times fills partitions in another order than that of their prices, and from small cores of
//     jobs solved through their own relaxations.
//
// The steps share what work there is: proofs first where the relaxation was cheap, plans first where it was not, and all
// in turns till the end. A generic MILP solver sees a variable per option and partition instead, ten times as
// many rows, and no prices to start from.
//
// With Options.Threads above one, as many workers search, each within the whole work limit. The first goes the way above, with all that its rounds
// have for the proof; the others look for plans by its latest prices, and as soon as its relaxation is solved take over
// the columns and plunge into it themselves. They meet at fixed amounts of work, at first every 500 units, later every tenth of what has been done but at most
// 20,000 units, wait for one another, and exchange prices, bound and best plan, in an order that depends on nobody's being first.
// A plan of others proves and prunes at once, but a worker builds on it only between its own searches: two that
// went on from the same plan would find the same. A solve that ends before the first meeting has one worker. Where there is no
// work limit nobody waits at meetings, and there are no more workers than GOMAXPROCS.
//
// With a work limit and no time limit the result depends only on the problem and the options, with the seed, the threads and the memory in them.
package native

import (
	"context"
	"sync"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
)

// DefaultWork is the work of a solve limited by neither work nor time, about a
// fifth of a second.
const DefaultWork = 200_000

const opsPerUnit = pack.OpsPerUnit

// Config tunes the engine. The zero value, and nil, mean defaults.
type Config struct {
	// DefaultWork replaces the package's DefaultWork if positive.
	DefaultWork int64
	// NoExact switches the search for a proof off; plans are still looked for.
	NoExact bool
	// Relaxation ends a solve when the linear relaxation is solved to a millionth, with neither cuts nor branching: the bound is then
	// the relaxation's value, and the plan the best that was found on the way. Solve's report is told of every lower bound too.
	// It is for measuring.
	Relaxation bool
}

// loose is how exactly the root's linear relaxation is solved, relatively.
func (c *Config) loose() float64 {
	if c.Relaxation {
		return 5e-7
	}
	return 5e-5
}

// Engine is the native engine; it implements [solver.Solver]. It keeps scratch
// memory between solves and is safe for concurrent use.
type Engine struct {
	cfg  Config
	pool sync.Pool
}

// New returns a native engine; cfg may be nil.
func New(cfg *Config) *Engine {
	e := &Engine{}
	if cfg != nil {
		e.cfg = *cfg
	}
	return e
}

// Name is "native".
func (e *Engine) Name() string { return name }

const name = "native"

// Solve implements [solver.Solver]. It stops with
//   - [solver.StopOptimal] when the plan is proven,
//   - [solver.StopGap] when bound and plan are within Options.Gap,
//   - [solver.StopIterations] when the work is used up,
//   - [solver.StopTime] or [solver.StopCanceled] when ctx ends.
//
// Options.Threads workers search together, up to 64, and Options.Work limits each of them. report is called from the
// goroutine that has called Solve. If a worker panics, that goroutine does, with an error that has the worker's stack. Solves at the
// same time run side by side.
func (e *Engine) Solve(ctx context.Context, p *solver.Problem, opts solver.Options, report func(*solver.Solution)) (*solver.Solution, error) {
	w, ok := e.pool.Get().(*workspace)
	if !ok {
		w = &workspace{}
	}
	defer func() {
		w.release()
		e.pool.Put(w)
	}()
	w.begin(ctx, p, opts, e.cfg, report)
	spent := w.solve()
	sol := w.solution(name, w.stop())
	sol.Work = spent / opsPerUnit
	if opts.Memory != nil {
		sol.Memory = opts.Memory.With(name, w.remember())
	}
	return sol, nil
}

// solve is the whole search, with what helpers there are. It returns the ops that the worker has spent that has spent the most.
func (w *workspace) solve() (spent int64) {
	if w.team == nil {
		w.run()
		return w.spent()
	}
	defer w.team.disband(true)
	w.run()
	return w.finish()
}

// stop says why the search has ended.
func (w *workspace) stop() solver.Stop {
	switch {
	case w.proven || w.gap() <= 1e-9:
		return solver.StopOptimal
	case w.gap() <= w.target:
		return solver.StopGap
	case w.ctxErr == nil:
		return solver.StopIterations
	default:
		return solver.StopOf(w.ctxErr)
	}
}
