package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hedgesched/hedge/adapters"
)

// fence refuses what an instance wants that leads no more: it asks the server for the lease, once for all that ask at the same time.
func (d *Driver) fence(ctx context.Context, epoch uint64) error {
	if d.opt.Lease.Name == "" {
		return nil
	}
	now, err := d.asking.ask(ctx, d.leader)
	switch {
	case err != nil:
	case now.epoch != epoch:
		err = fmt.Errorf("%w: an action of epoch %d, the lease is at %d", adapters.ErrFenced, epoch, now.epoch)
	case !d.sameLeader(now.leader):
		err = fmt.Errorf("%w: the lease of epoch %d is not the one it was, or another's: it is held by %q", adapters.ErrFenced, epoch, now.holder)
	}
	d.asking.believe(now, err)
	return err
}

// leader is who leads, as the lease says.
type leader struct {
	epoch  uint64
	lease  types.UID
	holder string
}

// sameLeader tells whether it is the leader that was seen first of all with its epoch. Another with the same epoch is one of a lease that was deleted and made anew.
func (d *Driver) sameLeader(now leader) bool {
	d.first.Lock()
	defer d.first.Unlock()
	if now.epoch != d.first.epoch {
		d.first.leader = now
	}
	return now == d.first.leader
}

// leader reads the lease.
func (d *Driver) leader(ctx context.Context) (leader, error) {
	ctx, cancel := context.WithTimeout(ctx, d.opt.Timeout)
	defer cancel()
	l, err := d.client.CoordinationV1().Leases(d.opt.Lease.Namespace).Get(ctx, d.opt.Lease.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return leader{}, fmt.Errorf("%w: lease %s is no more", adapters.ErrFenced, d.opt.Lease.Name)
	}
	if err != nil {
		return leader{}, failed("lease "+d.opt.Lease.Name, err)
	}
	out := leader{epoch: transitions(l), lease: l.UID}
	if l.Spec.HolderIdentity != nil {
		out.holder = *l.Spec.HolderIdentity
	}
	return out, nil
}

// asking shares answers among those who ask: each has one to a question that was put after it began to ask.
type asking struct {
	turn sync.Mutex // of the one whose question is under way
	mu   sync.Mutex
	next *answer // that is still to be asked for
	last seen    // that was well
	// asked is how many questions were put, and bad the number of the last that was answered by a refusal.
	asked, bad uint64
}

// seen is who led, when that was asked, and which question it was, from 1.
type seen struct {
	leader
	at time.Time
	no uint64
}

type answer struct {
	done chan struct{} // closed when it is there
	seen seen
	err  error
}

// believe keeps an answer that was well. A refusal has what was believed forgotten, and whatever was asked before it, in whichever order the answers are taken in.
func (a *asking) believe(s seen, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case errors.Is(err, adapters.ErrFenced):
		a.last, a.bad = seen{}, max(a.bad, s.no)
	case err == nil && s.no > max(a.bad, a.last.no):
		a.last = s
	}
}

// believed tells whether it was asked so recently who leads, and it was that epoch. A machine that was suspended meanwhile knows it by the time of day alone.
func (a *asking) believed(epoch uint64, most time.Duration, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	steady, day := now.Sub(a.last.at), now.Round(0).Sub(a.last.at.Round(0))
	return a.last.epoch == epoch && !a.last.at.IsZero() && min(steady, day) >= 0 && max(steady, day) < most
}

func (a *asking) ask(ctx context.Context, read func(context.Context) (leader, error)) (seen, error) {
	a.mu.Lock()
	mine, first := a.next, a.next == nil
	if first {
		mine = &answer{done: make(chan struct{})}
		a.next = mine
	}
	a.mu.Unlock()
	if !first {
		select {
		case <-mine.done:
			return mine.seen, mine.err
		case <-ctx.Done():
			return seen{}, failed("lease", ctx.Err())
		}
	}
	a.turn.Lock()
	defer a.turn.Unlock()
	a.mu.Lock()
	a.next = nil // who asks from now on needs another
	a.asked++
	mine.seen.at, mine.seen.no = time.Now(), a.asked
	a.mu.Unlock()
	mine.seen.leader, mine.err = read(ctx)
	close(mine.done)
	return mine.seen, mine.err
}
