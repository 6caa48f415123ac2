package adapters

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// Contact reports to health checks whether the lease answers [Lead]. A standby has no cycles, so its program needs this
// to learn that the cluster is out of reach. The zero value has had no answer yet. Its methods are safe for concurrent
// use.
type Contact struct {
	mu    sync.Mutex
	heard time.Time // time of the last answer
	lease error     // the last failure since then, nil if none
	work  error     // why the last term ended; nil once the lease was renewed or somebody else holds it
}

// Err is nil if the lease has answered within the limit, by the clock of [LeadOptions]. An answer is that the lease was
// taken or renewed, or that another instance holds it. If the work of a term has failed, Err is not nil until the lease
// is renewed or another instance holds it. Errors wrap [ErrUnavailable] and the failure. A good limit is the time for
// which the lease is granted: with a healthy cluster, neither a leader nor a standby goes without an answer for that
// long.
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

// took records the outcome of a call to take the lease. Success does not clear the error of work that has failed.
func (c *Contact) took(now time.Time, err error) {
	if err == nil && c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.heard, c.lease = now, nil
		return
	}
	c.renewed(now, err)
}

// renewed records the outcome of a call to renew the lease.
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

// worked records the error with which the work of a term has ended by itself. Errors of work that was told to end,
// since the lease was lost, are not recorded.
func (c *Contact) worked(err error) {
	if c == nil || err == nil || errors.Is(err, ErrFenced) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.work = err
}
