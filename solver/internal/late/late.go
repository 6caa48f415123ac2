// Package late runs calls of code that may not return when it should, and leaves them behind. It counts
// what was left behind, so that what hangs is not called again and again.
package late

import (
	"context"
	"reflect"
	"sync"
	"time"
)

// Register counts abandoned calls by whose they are. Its zero value is empty and ready; it is safe for
// concurrent use. Owners of a type that cannot be compared cannot be told apart and are not counted.
type Register struct {
	mu    sync.Mutex
	calls map[any]int
}

// Busy reports whether an abandoned call of owner's goes on.
func (r *Register) Busy(owner any) bool {
	if !reflect.ValueOf(owner).Comparable() {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls[owner] > 0
}

// Call runs f in a goroutine of its own and waits for what it returns, but no longer than grace after ctx has
// ended. Then it reports false, and the call is owner's that r counts until it does return. f must not panic.
func Call[T any](ctx context.Context, r *Register, owner any, grace time.Duration, f func() T) (T, bool) {
	c := &call[T]{owner: owner, done: make(chan T, 1)}
	go func() { c.end(r, f()) }()
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
	var none T
	return none, false
}

// call is a call; ended and left are guarded by its register's mu.
type call[T any] struct {
	owner any
	done  chan T // has room for what is returned
	ended bool
	left  bool
}

// leave abandons c, and reports false if it has just ended.
func (c *call[T]) leave(r *Register) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.ended {
		return false
	}
	if reflect.ValueOf(c.owner).Comparable() {
		if r.calls == nil {
			r.calls = map[any]int{}
		}
		c.left = true
		r.calls[c.owner]++
	}
	return true
}

// end takes down the end of c, and gives v to who still waits for it.
func (c *call[T]) end(r *Register, v T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.ended = true
	if c.left {
		if r.calls[c.owner]--; r.calls[c.owner] == 0 {
			delete(r.calls, c.owner)
		}
	}
	c.done <- v
}
