// Package native is the pure-Go engine made for placement problems. Prices of
// every (partition, resource, slot) decouple the jobs. They come from a quick
// subgradient ascent first, then, where the work allows, from the exact linear
// relaxation by column generation: a simplex method whose basis has a row per
// price only. Any prices prove an upper bound, computed apart from the simplex.
//
// Plans come from last cycle's hint and greedy fills by price, from plunges that
// follow the relaxation's advice down to a plan, from ruin-and-recreate search,
// and from small cores of jobs solved through their own relaxations. Branch and
// price proves small problems optimal.
//
// With a work limit and no time limit its result depends only on the problem,
// the options and the seed.
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
func (e *Engine) Name() string { return "native" }

// Solve implements [solver.Solver]. It stops with
//   - [solver.StopOptimal] when the plan is proven,
//   - [solver.StopGap] when bound and plan are within Options.Gap,
//   - [solver.StopIterations] when the work is used up,
//   - [solver.StopTime] or [solver.StopCanceled] when ctx ends.
//
// Options.Threads is accepted and not used: one solve is one thread. Solves at the
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
	w.run()
	return w.solution(e.Name(), w.stop()), nil
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
