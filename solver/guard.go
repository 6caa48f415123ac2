package solver

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/hedgesched/hedge/solver/internal/late"
)

type answer struct {
	sol *Solution
	err error
}

// abandoned counts the goroutines that outlive a Solve. It is global because goroutines belong to the process. It is
// empty unless an engine hangs.
var abandoned late.Register

// longestWait limits how long a solve waits for an engine that is late with an earlier problem. So an engine that hangs
// does not use up the time of the rungs below it.
const longestWait = time.Second

// Wait waits until no abandoned call of engine is running. It returns ctx's error if ctx ends first. It is for callers
// whose next problem comes at once, as in a simulation; on a cluster, the next cycle comes later anyway. If an engine
// can be busy in ways of its own, it has a method Wait(ctx) error, which is called, too.
func Wait(ctx context.Context, engine Solver) error {
	if !abandoned.Wait(ctx, engine) {
		return ctx.Err()
	}
	if w, ok := engine.(interface {
		Wait(ctx context.Context) error
	}); ok {
		return w.Wait(ctx)
	}
	return nil
}

// startOf is the verified plan that a solve starts with, nil if there is none. An answer is no worse than this plan.
func startOf(opts Options) *Solution {
	if opts.Start == nil {
		return nil
	}
	start := clone(opts.Start)
	start.Bound, start.Rungs, start.Memory, start.Work = nil, nil, nil, 0
	return start
}

// guard runs engine in a goroutine of its own. It waits until the deadline plus grace, and checks the answer.
func guard(parent context.Context, engine Solver, p *Problem, opts Options, grace time.Duration,
	pass func(*Solution)) (*Solution, error) {
	began := time.Now()
	if abandoned.Busy(engine) {
		if !abandoned.WaitShare(parent, engine, opts.Time, longestWait) {
			return nil, fmt.Errorf("engine %s: %w: %w", engine.Name(), ErrEngine, ErrBusy)
		}
		if opts.Time > 0 {
			opts.Time = max(1, opts.Time-time.Since(began))
		}
	}
	var ctx context.Context
	var cancel context.CancelFunc
	if opts.Time > 0 {
		ctx, cancel = context.WithTimeout(parent, opts.Time)
	} else {
		ctx, cancel = context.WithCancel(parent)
	}
	defer cancel()
	vanished := answer{err: fmt.Errorf("%w: it ended its goroutine without an answer", ErrEngine)}
	kept := &incumbents{p: p, splits: opts.Splits, pass: pass, best: startOf(opts)}
	a, ok := late.Call(ctx, &abandoned, engine, grace, vanished, func() (a answer) {
		defer func() {
			if r := recover(); r != nil {
				a = answer{err: fmt.Errorf("%w: %w", ErrEngine, &PanicError{Value: r, Stack: debug.Stack()})}
			}
		}()
		a.sol, a.err = engine.Solve(ctx, p, opts, kept.report)
		return a
	})
	if !ok {
		a = answer{sol: &Solution{Stop: StopOf(parent.Err()), Choice: map[string]Choice{}}}
	}
	sol, err := settle(p, opts, a, kept)
	if sol != nil {
		finish(sol, engine, time.Since(began))
		sol.Memory = remembered(opts, a.sol, err)
	}
	if err != nil {
		err = fmt.Errorf("engine %s: %w", engine.Name(), err)
	}
	return sol, err
}
