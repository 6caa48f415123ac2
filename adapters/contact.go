package adapters

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// Contact is whether the lease answers [Lead], for health checks: an instance that stands by has no cycles by which its
// program knows that the cluster is out of reach. The zero value has had no answer. Its methods are safe for concurrent
// use.
type Contact struct {
	mu    sync.Mutex
	heard time.Time // when the lease answered last
	lease error     // what of it has failed since, nil if nothing has
	work  error     // with what the last term ended, nil once a lease was renewed or another's
}

// Err is nil while the lease answers: it was taken, renewed, or another has it, and that was not longer ago than the
// limit, by the clock of [LeadOptions]. It is an error, too, once the work of a term has failed, until the lease is
// renewed or another's. Errors wrap [ErrUnavailable] and what has failed. A limit of what the lease is granted for is
// longer than a standby, or a leader, is without an answer from a cluster that is well.
func (c *Contact) Err(now time.Time, limit time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	what, err := "", c.lease
	switch age := now.Sub(c.heard); {
	case c.work != nil:
		what, err = "the last term ended with an error", c.work
	case c.heard.IsZero():
		what = "the lease has not answered yet"
	case age > limit:
		what = fmt.Sprintf("the lease has not answered for %v", age.Round(time.Millisecond))
	default:
		return nil
	}
	if err == nil {
		return fmt.Errorf("%w: %s", ErrUnavailable, what)
	}
	return fmt.Errorf("%w: %s: %w", ErrUnavailable, what, err)
}

// took notes what became of a call that was to take the lease. That it was taken does not say that the work, if that
// has failed, is well now.
func (c *Contact) took(now time.Time, err error) {
	if err == nil && c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.heard, c.lease = now, nil
		return
	}
	c.renewed(now, err)
}

// renewed notes what became of a call that was to renew the lease.
func (c *Contact) renewed(now time.Time, err error) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil || errors.Is(err, ErrHeld) || errors.Is(err, ErrFenced) {
		c.heard, c.lease, c.work = now, nil, nil
		return
	}
	c.lease = err
}

// worked notes with what the work of a term has ended by itself. What it says once it was told to end, as the lease was
// lost, is not its fault.
func (c *Contact) worked(err error) {
	if c == nil || err == nil || errors.Is(err, ErrFenced) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.work = err
}
