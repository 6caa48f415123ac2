package solver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Rung is the outcome of one engine of a [Ladder].
type Rung struct {
	// Engine is the engine's name.
	Engine string
	// Stop says why it stopped; empty if it failed or was not run.
	Stop Stop
	// Objective is the value of the best plan when the rung had ended: its own, or one handed to it.
	Objective float64
	// Err is nil if the rung ended with a plan. It is [ErrSkipped] with the reason if the rung was not run, and otherwise
	// the engine's failure.
	Err error
}

// Ladder is an engine that runs the given engines in order and returns the best of their plans.
//
// A rung gets the best plan so far as its Options.Start, and everything that earlier rungs have learned as its Memory.
// The ladder ends after the first rung with which the best plan is proven within Options.Gap, when time is up, or after
// its last rung. So its plan is never worth less than the first rung's within that rung's share.
//
// The bound is the lowest that any rung has proven. Bounds of a failed rung are dropped. A bound below a plan of a
// later rung is dropped, too, and its rung counts as failed. But a verified plan that a rung reported before it failed
// counts like any other.
//
// Engine names the rung that found the plan: of several rungs with equal plans, the first one that did not fail, if
// there is one. Stop is [StopOptimal] or [StopGap] if the plan is proven, and otherwise the reason why that rung
// stopped. Work is the sum over all rungs. Rungs lists all rungs in order, with the reasons why rungs were not run. If
// every rung fails, the error wraps all their errors, and the best verified plan, if any, goes to report.
//
// With a time limit or a deadline, every rung has a time limit. The last rung has what is left. Each other rung leaves
// a tenth of it to the rungs below, even if it has to be abandoned. Options.Work is divided in the same way: what is
// left is the limit less what earlier rungs have spent. An engine that does not count its work has spent its whole
// limit, and a failed one has spent nothing. So with a limit of work alone, a ladder of deterministic engines is
// deterministic. Without a limit of work, every rung has its default. [Share] gives a rung less of both.
//
// The ladder is an [io.Closer]. It closes every rung that is an io.Closer.
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

// Share is engine as a rung of a [Ladder] with at most this share of the ladder's whole time and work, above 0 and at
// most 1. Outside of a ladder it behaves exactly like engine, also in Close, [Wait] and [Timed].
func Share(engine Solver, share float64) Solver { return &shared{Solver: engine, share: share} }

type shared struct {
	Solver
	share float64
}

// Close closes the engine if it can be closed.
func (s *shared) Close() error { return closeEngine(s.Solver) }

// Timed is the engine's own answer; see the function Timed.
func (s *shared) Timed() bool { return Timed(s.Solver) }

// Wait waits for the engine; see the function Wait.
func (s *shared) Wait(ctx context.Context) error { return Wait(ctx, s.Solver) }

// Timed reports whether engine counts no work, so that only a time limit limits it. Such an engine has a method Timed()
// bool that returns true.
func Timed(engine Solver) bool {
	t, ok := engine.(interface{ Timed() bool })
	return ok && t.Timed()
}

// closeEngine closes an engine if it can be closed.
func closeEngine(engine Solver) error {
	if c, ok := engine.(io.Closer); ok {
		return c.Close()
	}
	return nil
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
		errs = append(errs, closeEngine(r.Solver))
	}
	return errors.Join(errs...)
}

// Timed reports whether some rung counts no work, so that only a time limit limits the ladder.
func (l *ladder) Timed() bool {
	for _, r := range l.rungs {
		if Timed(r.Solver) {
			return true
		}
	}
	return false
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
	if len(l.rungs) == 0 {
		return nil, fmt.Errorf("%w: the ladder has no rungs", ErrEngine)
	}
	if opts.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, opts.Time)
		defer cancel()
	}
	c := newClimb(p, opts)
	if deadline, ok := ctx.Deadline(); ok {
		c.time = time.Until(deadline)
	}
	for i, r := range l.rungs {
		if why := c.over(ctx); why != "" {
			c.rungs = append(c.rungs, Rung{Engine: r.Name(), Err: fmt.Errorf("%w: %s", ErrSkipped, why)})
			continue
		}
		last := i == len(l.rungs)-1
		limited := c.limits(ctx, r.share, last)
		sol, err := guard(ctx, r.Solver, p, limited, rungGrace, forward(r.Solver, report))
		c.take(r.Solver, sol, err, limited.Work)
	}
	return c.answer()
}

// rungGrace is a rung's part of Grace, so that a late engine does not make the ladder late.
const rungGrace = Grace / 2

// forward passes on e's plans without their bounds: if e fails later, the bounds are not proven, and otherwise its
// answer has them.
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

// failures are the reasons why no rung answered, on one line.
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
