package solver

import (
	"context"
	"errors"
	"fmt"
	"io"
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
// proven. Stop and Bound are its own, and Fallback lists those above with why
// they did not answer. Engine names the rung whose plan it is: the one that
// answered, unless one above reported a better plan before it failed, which is
// then in Fallback too. What a failed rung said of bounds is forgotten. If no
// rung answers, the error wraps all their errors, and the best verified plan, if
// any, goes to report.
//
// With a time limit or a deadline, every rung has a time limit: the last what is
// left, and each of the others what leaves a tenth of it to those below, even if
// it has to be abandoned for that. [Share] gives a rung less. The ladder is an
// [io.Closer] that closes the rungs that are.
func Ladder(engines ...Solver) Solver {
	l := &ladder{}
	for _, e := range engines {
		r := rung{Solver: e, share: 1}
		if s, ok := e.(*shared); ok {
			r = rung{Solver: s.Solver, share: s.share}
		}
		l.rungs = append(l.rungs, r)
	}
	return l
}

// Share is engine as a rung of a [Ladder] that has at most this share of the ladder's whole time, more than 0 and at
// most 1. It is engine everywhere else.
func Share(engine Solver, share float64) Solver { return &shared{Solver: engine, share: share} }

type shared struct {
	Solver
	share float64
}

type rung struct {
	Solver
	share float64
}

type ladder struct{ rungs []rung }

// Close closes the rungs that can be closed.
func (l *ladder) Close() error {
	var errs []error
	for _, r := range l.rungs {
		if c, ok := r.Solver.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// Wait waits for every rung; see the function Wait.
func (l *ladder) Wait(ctx context.Context) error {
	for _, r := range l.rungs {
		if err := Wait(ctx, r.Solver); err != nil {
			return err
		}
	}
	return nil
}

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
	if opts.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, opts.Time)
		defer cancel()
	}
	var above []Rung
	var last *Solution
	whole := time.Duration(0)
	if deadline, ok := ctx.Deadline(); ok {
		whole = time.Until(deadline)
	}
	for i, r := range l.rungs {
		e := r.Solver
		sol, err := guard(ctx, e, p, l.share(ctx, opts, i, whole), rungGrace, forward(e, report))
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
	return nil, fmt.Errorf("%w: no rung answered: %w", ErrEngine, failures(above))
}

// rungGrace is a rung's part of Grace, so that a ladder with a late engine is not late itself.
const rungGrace = Grace / 2

// forward hands engine e's plans on, without their bounds: if e fails later, they
// are no longer proven, and if it does not, its answer has them.
func forward(e Solver, report func(*Solution)) func(*Solution) {
	return func(sol *Solution) {
		if report == nil {
			return
		}
		c := *sol
		c.Bound = nil
		if c.Engine == "" {
			c.Engine = e.Name()
		}
		report(&c)
	}
}

// failures is why no rung answered, on one line.
type failures []Rung

func (f failures) Error() string {
	text := make([]string, len(f))
	for i, r := range f {
		text[i] = r.Err.Error()
	}
	return strings.Join(text, "; ")
}

func (f failures) Unwrap() []error {
	errs := make([]error, len(f))
	for i, r := range f {
		errs[i] = r.Err
	}
	return errs
}

// share is opts with rung i's part of the time that is left of the whole.
func (l *ladder) share(ctx context.Context, opts Options, i int, whole time.Duration) Options {
	deadline, ok := ctx.Deadline()
	if !ok {
		return opts
	}
	left := time.Until(deadline)
	if opts.Time = left; i < len(l.rungs)-1 {
		opts.Time = max(left-left/10-Grace, left/2)
	}
	if share := l.rungs[i].share; share > 0 && share < 1 {
		opts.Time = min(opts.Time, time.Duration(share*float64(whole)))
	}
	opts.Time = max(opts.Time, 1)
	return opts
}
