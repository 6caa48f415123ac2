package solver

import (
	"context"
	"fmt"
	"reflect"
	"runtime/debug"
	"sync"
	"time"
)

type answer struct {
	sol *Solution
	err error
}

// guard runs engine in a goroutine of its own, waits no longer than the
// deadline and grace, and settles what it has answered.
func guard(parent context.Context, engine Solver, p *Problem, opts Options, grace time.Duration, pass func(*Solution)) (*Solution, error) {
	began := time.Now()
	if abandoned.has(engine) {
		return nil, fmt.Errorf("engine %s: %w: still busy with an earlier problem, past its deadline", engine.Name(), ErrEngine)
	}
	var ctx context.Context
	var cancel context.CancelFunc
	if opts.Time > 0 {
		ctx, cancel = context.WithTimeout(parent, opts.Time)
	} else {
		ctx, cancel = context.WithCancel(parent)
	}
	defer cancel()
	kept := &incumbents{p: p, splits: opts.Splits, pass: pass}
	call := &call{engine: engine, done: make(chan answer, 1)}
	go func() {
		var a answer
		defer func() {
			if r := recover(); r != nil {
				a = answer{err: fmt.Errorf("%w: %w", ErrEngine, &PanicError{Value: r, Stack: debug.Stack()})}
			}
			abandoned.end(call, a)
		}()
		a.sol, a.err = engine.Solve(ctx, p, opts, kept.report)
	}()
	var a answer
	select {
	case a = <-call.done:
	case <-ctx.Done():
		a = call.await(parent, grace)
	}
	sol, err := settle(p, opts, a, kept)
	if sol != nil {
		finish(sol, engine, time.Since(began))
	}
	if err != nil {
		err = fmt.Errorf("engine %s: %w", engine.Name(), err)
	}
	return sol, err
}

// call is a call of an engine.
type call struct {
	engine Solver
	done   chan answer // has room for the answer
	ended  bool        // these two are guarded by abandoned.mu
	left   bool
}

// await gives a late engine its grace, then the answer of an abandoned one.
func (c *call) await(parent context.Context, grace time.Duration) answer {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case a := <-c.done:
		return a
	case <-timer.C:
	}
	if !abandoned.leave(c) {
		return <-c.done
	}
	return answer{sol: &Solution{Stop: StopOf(parent.Err()), Choice: map[string]Choice{}}}
}

// abandoned is all that outlives a Solve: goroutines are the process's, and so is the count
// of those left behind. It is empty unless an engine hangs.
var abandoned = register{calls: map[Solver]int{}}

// register counts engines' abandoned calls.
type register struct {
	mu    sync.Mutex
	calls map[Solver]int
}

func (r *register) has(engine Solver) bool {
	if !reflect.ValueOf(engine).Comparable() {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls[engine] > 0
}

// leave abandons c, and reports false if it has just ended.
func (r *register) leave(c *call) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.ended {
		return false
	}
	if reflect.ValueOf(c.engine).Comparable() {
		c.left = true
		r.calls[c.engine]++
	}
	return true
}

// end takes down the end of c, and gives its answer to who still waits for it.
func (r *register) end(c *call, a answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.ended = true
	if c.left {
		if r.calls[c.engine]--; r.calls[c.engine] == 0 {
			delete(r.calls, c.engine)
		}
	}
	c.done <- a
}
