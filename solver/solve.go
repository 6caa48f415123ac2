package solver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/hedgesched/hedge/solver/internal/gap"
)

// Grace is how long after the deadline Solve waits for an engine to return. Then it continues with the best plan
// reported so far.
const Grace = 50 * time.Millisecond

// DefaultGap is the gap that Options.Gap == 0 means.
const DefaultGap = gap.Default

// TargetGap is the gap at which an engine may stop: o.Gap, or its default.
func (o Options) TargetGap() float64 { return gap.Target(o.Gap) }

// Solve validates p, runs engine within the limits of opts and ctx, and verifies the result.
//
// The deadline holds even if the engine overruns it. Grace after opts.Time, or after ctx ends, Solve returns the best
// plan that the engine has reported, or the empty plan if there is none, with [StopTime] or [StopCanceled]. Neither is
// an error. The engine's call is then abandoned: its goroutine, with p, goes on until the engine notices that its ctx
// is done, which Solve cannot force. A later Solve of the same engine value waits for it for at most a second or a
// quarter of its own time, and then fails with ErrEngine. So an engine that hangs costs one goroutine, or as many as
// there were concurrent solves. Engines of a type that cannot be compared, such as a func, cannot be told apart and are
// not refused.
//
// The returned plan has been checked with [Verify]. Solve itself computes its objective and gap. Its Choice and Preempt
// are not nil. Errors are [ErrInvalid] and [ErrOptions] (the caller's problem and options), [ErrInfeasible] (the
// engine's plan breaks a rule) and [ErrEngine] (it failed, panicked or contradicted itself). With the latter two, the
// solution is not nil if an earlier plan of the engine was verified. That solution has Stop [StopError] and may be
// used.
//
// p must not be modified until Solve returns, or until an abandoned engine ends.
func Solve(ctx context.Context, engine Solver, p *Problem, opts Options) (*Solution, error) {
	if engine == nil {
		return nil, fmt.Errorf("%w: no engine given", ErrEngine)
	}
	if err := Validate(p); err != nil {
		return nil, err
	}
	if err := opts.validate(); err != nil {
		return nil, err
	}
	if opts.Start != nil {
		start := clone(opts.Start)
		ordered, err := verify(p, start, opts.Splits)
		if err != nil {
			return nil, fmt.Errorf("%w: Start: %w", ErrOptions, err)
		}
		start.Preempt, start.Objective, start.Bound = ordered, Objective(p, start), nil
		opts.Start = start
	}
	if ctx == nil {
		ctx = context.Background()
	}
	return guard(ctx, engine, p, opts, Grace, nil)
}

// incumbents keeps the best verified plan an engine has reported.
type incumbents struct {
	p      *Problem
	splits SplitRule
	pass   func(*Solution)

	mu   sync.Mutex
	best *Solution
	bad  error
}

// report verifies and keeps a copy of sol if it is better than what is kept.
func (k *incumbents) report(sol *Solution) {
	if sol == nil {
		return
	}
	c := clone(sol)
	ordered, err := verify(k.p, c, k.splits)
	if err == nil {
		c.Preempt = ordered
		c.Objective = Objective(k.p, c)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case err != nil && k.bad == nil:
		k.bad = fmt.Errorf("reported plan: %w", err)
	case err == nil && (k.best == nil || c.Objective > k.best.Objective):
		if k.best != nil {
			c.Bound = tighter(c.Bound, k.best.Bound)
		}
		k.best = c
		if k.pass != nil {
			k.pass(c)
		}
	}
}

func (k *incumbents) get() (*Solution, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.best == nil {
		return nil, k.bad
	}
	return clone(k.best), k.bad
}

func tighter(a, b *float64) *float64 {
	if a == nil || (b != nil && *b < *a) {
		return b
	}
	return a
}

func clone(s *Solution) *Solution {
	c := *s
	c.Choice = make(map[string]Choice, len(s.Choice))
	for id, ch := range s.Choice {
		c.Choice[id] = Choice{Option: ch.Option, Split: append([]Split(nil), ch.Split...)}
	}
	c.Preempt = append([]string{}, s.Preempt...)
	if s.Bound != nil {
		b := *s.Bound
		c.Bound = &b
	}
	return &c
}

// settle verifies an answer and combines it with the best reported plan.
func settle(p *Problem, opts Options, a answer, kept *incumbents) (*Solution, error) {
	best, bad := kept.get()
	err := a.err
	if err == nil && a.sol == nil {
		err = fmt.Errorf("%w: it returned no solution", ErrEngine)
	}
	var sol *Solution
	if err == nil {
		sol = clone(a.sol)
		sol.Preempt, err = verify(p, sol, opts.Splits)
	}
	if err == nil {
		sol.Objective = Objective(p, sol)
		if best != nil && best.Objective > sol.Objective {
			if sol.Stop == StopOptimal && best.Objective > sol.Objective+slack(sol.Objective) {
				bad = errors.Join(bad, fmt.Errorf("%w: it calls %v optimal and has reported %v", ErrEngine, sol.Objective,
					best.Objective))
			}
			best.Stop, best.Bound = sol.Stop, tighter(sol.Bound, best.Bound)
			best.Rungs, best.proved = sol.Rungs, sol.proved
			best.Work = max(best.Work, sol.Work)
			sol = best
		}
		err = contradiction(sol, opts)
	} else if !errors.Is(err, ErrInfeasible) && !errors.Is(err, ErrEngine) && !errors.Is(err, ErrInvalid) {
		err = fmt.Errorf("%w: %w", ErrEngine, err)
	}
	if err == nil {
		err = bad
	}
	if err == nil {
		return sol, nil
	}
	if best == nil {
		return nil, err
	}
	best.Stop, best.Bound = StopError, nil
	return best, err
}

// contradiction is an error if stop, objective and bound contradict one another.
func contradiction(s *Solution, opts Options) error {
	switch s.Stop {
	case StopOptimal, StopGap, StopTime, StopWork, StopCanceled:
	default:
		return fmt.Errorf("%w: it stopped for %q", ErrEngine, string(s.Stop))
	}
	if s.Bound == nil {
		if s.Stop == StopGap {
			return fmt.Errorf("%w: it stopped for its gap but gave no bound", ErrEngine)
		}
		return nil
	}
	if math.IsNaN(*s.Bound) || *s.Bound < s.Objective-slack(s.Objective) {
		return fmt.Errorf("%w: its bound %v is below its plan's objective %v", ErrEngine, *s.Bound, s.Objective)
	}
	limit := Tolerance
	if s.Stop == StopGap {
		limit += opts.TargetGap()
	}
	if g := gap.Of(*s.Bound, s.Objective); (s.Stop == StopOptimal || s.Stop == StopGap) && g > limit {
		return fmt.Errorf("%w: it says %q with a gap of %g", ErrEngine, string(s.Stop), g)
	}
	return nil
}

// slack is how far rounding may separate bounds and objectives.
func slack(objective float64) float64 { return float64(Tolerance * math.Max(1, math.Abs(objective))) }

// finish sets the fields that Solve itself determines.
func finish(s *Solution, engine Solver, wall time.Duration) {
	if s.Engine == "" {
		s.Engine = engine.Name()
	}
	s.WallMS = float64(wall) / float64(time.Millisecond)
	s.Gap = nil
	if s.Bound != nil && math.IsInf(*s.Bound, 0) {
		s.Bound = nil
	}
	if s.Bound != nil {
		*s.Bound = math.Max(*s.Bound, s.Objective)
		g := gap.Of(*s.Bound, s.Objective)
		s.Gap = &g
	}
}
