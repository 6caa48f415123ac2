// Package native is the pure-Go engine made for placement problems: it looks for the most valuable plan, and proves
// how much more any other could be worth. It needs no C compiler and no other program. It starts a goroutine only
// where it may use several threads, and none outlives the solve; it reads the clock only where a time limit is set.
//
// # By example
//
// Four nodes are free. Job A wants three of them and is worth 10, B wants two and is worth 5, C wants two and is
// worth 4. The best plan is to run A alone: 10, where B and C together are worth 9.
//
// How can one be sure without trying every plan? Let a node cost 2.5. Then A gains 10 - 3·2.5 = 2.5, B gains 5 -
// 2·2.5 = 0, and C, at 4 - 5, had better not run. No job can gain more, and no more than four nodes can be sold, for
// 10 in all: so no plan at all is worth more than 2.5 + 0 + 0 + 10 = 12.5. This holds at any price, if with another
// number: prices give bounds (Lagrangian duality; Fisher, Management Science 27, 1981). And they tell which jobs are
// worth their room: A before B, and C not at all.
//
// The best prices' bound is what the nodes would be worth if gangs could run in part: all of A and half of B, 12.5.
// It is called the relaxation. The rest of the gap is from gangs being whole. Beside A is one node left, in which
// nothing fits, so the bound is 10 with A; without A it is 9. To divide the problem like this until no part can have
// a better plan is branch and bound, and A alone is then proven to be best.
//
// Real problems have a price for each row, which is a partition, resource and slot; an option takes some of many
// rows, its tasks go where they cost the least, and running jobs sell room at the cost of their preemption.
//
// # The steps
//
//  1. Round. Where all demands on a row are multiples of one amount, its capacity is rounded down to one, which
//     makes the relaxation tighter for nothing.
//  2. First plans, greedy by value for room, and last cycle's plan as far as it fits (the hint).
//  3. Rough prices, by a few steps of subgradient ascent (Polyak; the volume algorithm of Barahona and Anbil,
//     2000), or last cycle's, if there is a [solver.Memory]. Plans are made by these prices, and bettered by ruin
//     and recreate: some jobs are taken out and put in again another way, and what is better stays (Schrimpf and
//     others, 2000). For a gang that fits in all but not as others are split, tasks of theirs move
//     (ejection chains).
//  4. Exact prices, if there is work left for them: the relaxation as a linear program, of which only the
//     columns (an option with one way to split its tasks) that may matter are made (column generation; Dantzig and
//     Wolfe, 1960). Prices are averaged with the best ones (Wentges, 1997), as those of an unfinished program jump
//     about, and with fifty jobs or more held in a box round them at first (Marsten, Hogan and Blankenship, 1975).
//     Its simplex method has a basis with a row for each price, not for each job too (generalised upper bounds;
//     Dantzig and Van Slyke, 1967), kept as a sparse factorisation (Markowitz, 1957; Forrest and Tomlin, 1972).
//  5. Cuts: inequalities that hold for every plan but not for the relaxation, since tasks and gangs are whole
//     (mixed-integer rounding with variable bounds; Marchand and Wolsey, 2001), of one row or of rows added up.
//     They lower the bound, and hold wherever the search goes.
//  6. Branch and price (Barnhart and others, 1998): the problem is divided by when a job starts, whether a
//     running job is preempted, or how many tasks a partition takes, whichever has moved the bound the most
//     (pseudo-costs; Bénichou and others, 1971). The part with the highest bound comes first, and goes from its
//     parent's basis. What is decided against has a penalty in the program. What the prices show to be of no use is
//     taken out (reduced-cost fixing).
//  7. Better plans, in turns with 6 until the end: dives, which fix what the relaxation is sure of and solve it
//     anew until there is a plan, with tasks of others moved as in 3; and ruin and recreate.
//
// Where the relaxation was cheap, proofs come first, and plans where it was not. A generic solver for integer
// programs has a variable for each option and partition instead, and starts without prices.
//
// # What holds
//
// A bound is never taken from the simplex method's word: it is computed from prices, whichever they are. A plan
// counts as optimal if no other is worth more by 3e-7 of its value. With a work limit and no time limit the result
// depends on the problem and the options alone, with the seed, the number of threads and the memory in them.
//
// # Where is what
//
// This package says what comes when (run.go), how much of the work each part gets (settings.go), and how threads work
// together (team.go, helper.go). The parts are in packages below it, which doc.go of the root lists: each is given the
// problem, a budget of work and time, and the best plan so far. Type worker has one of each.
package native

import (
	"context"
	"sync"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/search"
)

// Config tunes the engine. The zero value, and nil, mean defaults.
type Config struct {
	// DefaultWork is the work, in units, of a solve limited by neither work nor time; 200,000 if it is not positive.
	DefaultWork int64
	// NoExact switches the search for a proof off; plans are still looked for.
	NoExact bool
	// Relaxation ends a solve when the linear relaxation is solved to a millionth, with neither cuts nor branching:
	// the bound is then the relaxation's value, and the plan the best that was found on the way. Solve's report is
	// told of every tighter bound too. It is for measuring.
	Relaxation bool
}

// loose is how exactly the root's linear relaxation is solved, relatively.
func (c *Config) loose() float64 {
	if c.Relaxation {
		return 5e-7
	}
	return 5e-5
}

// defaultWork is the work of a solve limited by neither work nor time.
func (c *Config) defaultWork() int64 {
	if c.DefaultWork > 0 {
		return c.DefaultWork
	}
	return search.DefaultWork
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
//   - [solver.StopOptimal] when the plan is proven: no other is worth more by a part of 3e-7, and none is worth more
//     than the bound,
//   - [solver.StopGap] when bound and plan are within Options.Gap,
//   - [solver.StopWork] when the work is used up,
//   - [solver.StopTime] or [solver.StopCanceled] when ctx ends.
//
// Options.Threads workers search together, up to 64, and Options.Work limits each of them. report is called from the
// goroutine that has called Solve. If a worker panics, that goroutine does, with an error that has the worker's
// stack. Solves at the same time run side by side.
func (e *Engine) Solve(
	ctx context.Context, p *solver.Problem, opts solver.Options, report func(*solver.Solution),
) (*solver.Solution, error) {
	w, ok := e.pool.Get().(*worker)
	if !ok {
		w = newWorker()
	}
	defer func() {
		w.release()
		e.pool.Put(w)
	}()
	w.begin(ctx, p, opts, e.cfg, report)
	spent := w.solve()
	sol := w.solution(w.stop())
	sol.Work = spent / pack.OpsPerUnit
	if opts.Memory != nil {
		sol.Memory = opts.Memory.With(name, w.recall.NewMemory(w.noted))
	}
	return sol, nil
}
