package solver

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Rung says why an engine of a [Ladder] did not answer.
type Rung struct {
	// Engine is the engine's name.
	Engine string
	// Err is what was wrong with it; never nil.
	Err error
}

// Ladder is an engine that asks the given ones in order until one answers: one
// that returns, without error, a plan that verifies and is either not empty or
// proven. The solution's Engine is the rung that answered, its Fallback lists
// those above with why they did not. If no rung answers, the error joins all
// their errors, and the best verified plan, if any, goes to report.
//
// With a time limit, each rung but the last leaves a tenth of what remains to
// those below it, even if it has to be abandoned for that.
func Ladder(engines ...Solver) Solver { return &ladder{rungs: append([]Solver(nil), engines...)} }

type ladder struct{ rungs []Solver }

// Name is the rungs' names, joined by commas.
func (l *ladder) Name() string {
	names := make([]string, len(l.rungs))
	for i, e := range l.rungs {
		names[i] = e.Name()
	}
	return strings.Join(names, ",")
}

// Solve implements [Solver].
func (l *ladder) Solve(ctx context.Context, p *Problem, opts Options, report func(*Solution)) (*Solution, error) {
	if report == nil {
		report = func(*Solution) {}
	}
	var above []Rung
	var last *Solution
	for i, e := range l.rungs {
		sol, err := guard(ctx, e, p, l.share(ctx, opts, i), report)
		if err == nil && (len(sol.Choice) > 0 || len(p.Jobs) == 0 || sol.Stop == StopOptimal || sol.Stop == StopGap) {
			sol.Fallback = append(above, sol.Fallback...)
			return sol, nil
		}
		if err == nil {
			last = sol
			err = fmt.Errorf("%w: engine %s: no plan when it stopped (%s)", ErrEngine, e.Name(), sol.Stop)
		}
		above = append(above, Rung{Engine: e.Name(), Err: err})
	}
	if last != nil {
		last.Fallback = above
		return last, nil
	}
	if len(above) == 0 {
		return nil, fmt.Errorf("%w: the ladder has no rungs", ErrEngine)
	}
	errs := make([]string, len(above))
	for i, r := range above {
		errs[i] = r.Err.Error()
	}
	return nil, fmt.Errorf("%w: no rung answered: %s", ErrEngine, strings.Join(errs, "; "))
}

// share is opts with rung i's part of the time that is left.
func (l *ladder) share(ctx context.Context, opts Options, i int) Options {
	deadline, ok := ctx.Deadline()
	if !ok || i == len(l.rungs)-1 {
		opts.Time = 0
		return opts
	}
	left := time.Until(deadline)
	opts.Time = max(left-left/10-Grace, left/2, 1)
	return opts
}
