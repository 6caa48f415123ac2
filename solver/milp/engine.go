package milp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/gap"
)

// Config are options of [New]. The zero value is ready.
type Config struct {
	// Relax makes splits in the model continuous; see [Relax].
	Relax Relax
	// Log receives the backend's own log, line by line.
	Log func(line string)
}

// Engine solves placement problems with a [Backend]: it compiles them to models and converts points to plans. It
// implements [solver.Solver], and is safe for concurrent use if its backend is.
type Engine struct {
	backend Backend
	cfg     Config
}

// New returns an engine for b. cfg may be nil.
func New(b Backend, cfg *Config) *Engine {
	e := &Engine{backend: b}
	if cfg != nil {
		e.cfg = *cfg
	}
	return e
}

// Name is "milp+" and the backend's name.
func (e *Engine) Name() string { return "milp+" + e.backend.Name() }

// Caps says what the engine can do with its backend.
func (e *Engine) Caps() solver.Caps {
	can := e.backend.Caps()
	return solver.Caps{Exact: can.Integer && e.cfg.Relax == RelaxNone, Bound: true}
}

// Timed says that the engine counts no work: only time limits it.
func (e *Engine) Timed() bool { return true }

// Close closes the backend, if it can be closed.
func (e *Engine) Close() error {
	if c, ok := e.backend.(interface{ Close() error }); ok {
		return c.Close()
	}
	return nil
}

// Wait waits until no abandoned call of the backend is running; see [solver.Wait].
func (e *Engine) Wait(ctx context.Context) error {
	if !running.Wait(ctx, e.backend) {
		return ctx.Err()
	}
	return nil
}

// reserve is the part of a time limit that is reserved for converting a point to a plan.
const reserve = solver.Grace / 5

// Solve implements [solver.Solver]. Generic solvers do not count units of work. So Options.Work is a time limit here,
// of a microsecond per unit, and results depend on the machine. Options.Seed and Options.Threads are passed to the
// backend. The start is Options.Start if there is one, and otherwise the problem's hint; its plan is the best one until
// there is a better one. It stops with [solver.StopWork] if a heuristic backend has finished, or if a plan is worth
// less than the model's optimum because splits were relaxed.
func (e *Engine) Solve(ctx context.Context, p *solver.Problem, opts solver.Options,
	report func(*solver.Solution)) (*solver.Solution, error) {
	c, err := Compile(p, opts.Splits, e.cfg.Relax)
	if err != nil {
		return nil, err
	}
	var best *solver.Solution
	keep := func(x []float64, bound float64) {
		sol := c.Plan(x)
		sol.Engine = e.Name()
		sol.Bound = c.proof(bound, sol)
		if best != nil && sol.Objective <= best.Objective {
			return
		}
		best = sol
		if report != nil {
			report(sol)
		}
	}
	start := c.Start()
	if opts.Start != nil {
		start = c.StartFrom(opts.Start)
	}
	if start != nil {
		keep(start, math.Inf(1))
	}
	res, err := Solve(ctx, e.backend, c.Model, Options{
		Time: e.limit(ctx, opts), Gap: opts.Gap, Threads: opts.Threads, Seed: opts.Seed, Start: start, Log: e.cfg.Log,
		Incumbent: func(pt Point) { keep(pt.X, pt.Bound) },
	})
	if res != nil && res.X != nil {
		keep(res.X, res.Bound)
	}
	if err != nil {
		if errors.Is(err, ErrInvalid) {
			err = fmt.Errorf("%w: %w", solver.ErrEngine, err)
		}
		return nil, err
	}
	if best == nil {
		best = &solver.Solution{Engine: e.Name(), Choice: map[string]solver.Choice{}}
	}
	return e.finish(ctx, c, best, res, opts)
}

// limit is the time for the backend: what is left, less the time for converting the point.
func (e *Engine) limit(ctx context.Context, opts solver.Options) time.Duration {
	limit := opts.Time
	if work := time.Duration(opts.Work) * time.Microsecond; work > 0 && (limit == 0 || work < limit) {
		limit = work
	}
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		left -= min(reserve, left/4)
		if limit == 0 || left < limit {
			limit = max(left, 1)
		}
	}
	return limit
}

// proof converts a bound of the model to one of plans, nil for none. A bound that is below sol by no more than rounding
// is raised to it. solver.Solve refuses one that is below it by more.
func (c *Placement) proof(bound float64, sol *solver.Solution) *float64 {
	if math.IsInf(bound, 0) {
		return nil
	}
	bound = c.Bound(bound)
	if short := sol.Objective - bound; short > 0 &&
		short <= float64(solver.Tolerance*math.Max(1, math.Abs(sol.Objective))) {
		bound = sol.Objective
	}
	return &bound
}

// finish sets why the engine stopped and what is proven.
func (e *Engine) finish(ctx context.Context, c *Placement, sol *solver.Solution, res *Result,
	opts solver.Options) (*solver.Solution, error) {
	sol.Bound = c.proof(res.Bound, sol)
	switch res.Stop {
	case StopOptimal, StopNodes, StopOther:
		sol.Stop = solver.StopWork
	case StopTime:
		sol.Stop = solver.StopTime
	case StopCanceled:
		sol.Stop = solver.StopOf(ctx.Err())
		if ctx.Err() == nil {
			sol.Stop = solver.StopCanceled
		}
	default:
		return nil, fmt.Errorf("%w: backend %s calls a model %s that has the empty plan and whose plans are all bounded (%s)",
			solver.ErrEngine, e.backend.Name(), res.Stop, res.Raw)
	}
	if sol.Bound != nil {
		switch away := gap.Of(*sol.Bound, sol.Objective); {
		case away <= solver.Tolerance:
			sol.Stop = solver.StopOptimal
		case away <= opts.TargetGap():
			sol.Stop = solver.StopGap
		}
	}
	return sol, nil
}
