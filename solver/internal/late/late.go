// Package late runs calls of code that may not return in time, and abandons them. It counts abandoned calls, so that
// code that hangs is not called again and again.
package late

import (
	"context"
	"reflect"
	"sync"
	"time"
)

// Register counts abandoned calls by owner. Its zero value is empty and ready. It is safe for concurrent use. Owners of
// a type that cannot be compared cannot be told apart and are not counted.
type Register struct {
	mu    sync.Mutex
	calls map[any]*abandoned
}

// abandoned are an owner's abandoned calls that are still running.
type abandoned struct {
	calls int
	ended chan struct{} // closed when none is left
}

// Busy reports whether an abandoned call of owner is running.
func (r *Register) Busy(owner any) bool { return r.left(owner) != nil }

// Wait waits until no abandoned call of owner is running. It reports false if ctx ends first.
func (r *Register) Wait(ctx context.Context, owner any) bool {
	for {
		a := r.left(owner)
		if a == nil {
			return true
		}
		select {
		case <-a.ended:
		case <-ctx.Done():
			return false
		}
	}
}

// WaitShare is like Wait, but waits at most a quarter of the time that owner's next call has, and at most most. That
// time is given by limit (0 for none) and ctx's deadline. So an owner that is a little late, on a busy machine, is not
// refused, and an owner that hangs does not take all the time.
func (r *Register) WaitShare(ctx context.Context, owner any, limit, most time.Duration) bool {
	if limit > 0 {
		most = min(most, limit/4)
	}
	if deadline, ok := ctx.Deadline(); ok {
		most = min(most, time.Until(deadline)/4)
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	return r.Wait(ctx, owner)
}

func (r *Register) left(owner any) *abandoned {
	if !reflect.ValueOf(owner).Comparable() {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls[owner]
}

// Call runs f in a goroutine of its own and returns its result. It waits no longer than grace after ctx has ended. Then
// it reports false, and r counts the call as owner's until it returns. f must not panic. If f ends its goroutine
// instead of returning, the result is vanished.
func Call[T any](ctx context.Context, r *Register, owner any, grace time.Duration, vanished T, f func() T) (T, bool) {
	c := &call[T]{owner: owner, done: make(chan T, 1)}
	go func() {
		v := vanished
		defer func() { c.end(r, v) }()
		v = f()
	}()
	select {
	case v := <-c.done:
		return v, true
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case v := <-c.done:
		return v, true
	case <-timer.C:
	}
	if !c.leave(r) {
		return <-c.done, true
	}
	return vanished, false
}

// call is a call. The register's mu guards ended and left.
type call[T any] struct {
	owner any
	done  chan T // buffered, for the result
	ended bool
	left  bool
}

// leave abandons c. It reports false if c has just ended.
func (c *call[T]) leave(r *Register) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.ended {
		return false
	}
	if reflect.ValueOf(c.owner).Comparable() {
		if r.calls == nil {
			r.calls = map[any]*abandoned{}
		}
		if r.calls[c.owner] == nil {
			r.calls[c.owner] = &abandoned{ended: make(chan struct{})}
		}
		c.left = true
		r.calls[c.owner].calls++
	}
	return true
}

// end records the end of c, and passes v to whoever still waits for it.
func (c *call[T]) end(r *Register, v T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.ended = true
	if c.left {
		a := r.calls[c.owner]
		if a.calls--; a.calls == 0 {
			delete(r.calls, c.owner)
			close(a.ended)
		}
	}
	c.done <- v
}
