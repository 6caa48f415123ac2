package fake

import (
	"context"
	"time"

	"github.com/hedgesched/hedge/adapters"
)

// LeaseFor is how long a fake cluster grants its lease.
const LeaseFor = 15 * time.Second

type lease struct {
	holder *Lease
	epoch  uint64
	until  time.Time
}

// Lease is one instance's access to the cluster's only lease: an [adapters.Lease].
type Lease struct{ c *Cluster }

var _ adapters.Lease = (*Lease)(nil)

// Lease makes another instance's access to the lease.
func (c *Cluster) Lease() *Lease { return &Lease{c} }

// HangLease makes calls of leases hang until their context is done, or makes them work again.
func (c *Cluster) HangLease(hung bool) { c.hung = hung }

// DeleteLease deletes the lease. The next epoch is higher all the same.
func (c *Cluster) DeleteLease() { c.lease = lease{} }

// lost reports whether a call gets no answer.
func (l *Lease) lost(ctx context.Context) bool {
	if l.c.hung {
		<-ctx.Done()
	}
	return l.c.hung || l.c.down
}

// Acquire takes the lease if it is free or has expired.
func (l *Lease) Acquire(ctx context.Context) (adapters.Term, error) {
	held := &l.c.lease
	switch {
	case l.lost(ctx):
		return adapters.Term{}, adapters.ErrUnavailable
	case held.holder != nil && held.holder != l && l.c.Now().Before(held.until):
		return adapters.Term{}, adapters.ErrHeld
	}
	held.epoch = max(held.epoch, l.c.epoch) + 1 // the servers know of epochs from elsewhere, too
	held.holder, held.until = l, l.c.Now().Add(LeaseFor)
	l.c.Elect(held.epoch)
	return adapters.Term{Epoch: held.epoch, For: LeaseFor}, nil
}

// Renew extends the lease.
func (l *Lease) Renew(ctx context.Context, t adapters.Term) (adapters.Term, error) {
	held := &l.c.lease
	switch {
	case l.lost(ctx):
		return t, adapters.ErrUnavailable
	case held.holder != l || held.epoch != t.Epoch:
		return t, adapters.ErrFenced
	}
	held.until = l.c.Now().Add(LeaseFor)
	return t, nil
}

// Release gives the lease back.
func (l *Lease) Release(ctx context.Context, t adapters.Term) error {
	held := &l.c.lease
	switch {
	case l.lost(ctx):
		return adapters.ErrUnavailable
	case held.holder == l && held.epoch == t.Epoch:
		held.holder = nil
	}
	return nil
}
