package adapters

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Leader is who leads, as a lease says when it is read.
type Leader struct {
	// Epoch is the lease's.
	Epoch uint64
	// ID tells leases, and holders, of the same epoch apart: of a lease that was deleted, or restored from a backup, an
	// epoch may come a second time. It is empty where the cluster has nothing by which to tell.
	ID string
}

// Fence refuses actions of an instance that leads no more, for drivers of clusters that hold no epoch themselves:
// before an action it asks who leads. Its methods are safe for concurrent use; those who ask at the same time share an
// answer.
type Fence struct {
	read    func(context.Context) (Leader, error)
	believe time.Duration
	now     func() time.Time

	turn sync.Mutex // of the one whose question is under way
	mu   sync.Mutex
	next *question // that is still to be asked for
	last finding   // that was well
	// asked is how many questions were put, and bad the number of the last that was answered by a refusal.
	asked, bad uint64
	// passed are the ids with which epochs were let through first, by epoch: one a term.
	passed map[uint64]string
}

// finding is who led, when that was asked, and which question it was, from 1.
type finding struct {
	Leader
	at time.Time
	no uint64
}

// question is one to which several wait for the answer.
type question struct {
	done    chan struct{} // closed when it is there
	finding finding
	err     error
}

// NewFence makes a fence of what reads the lease from the cluster: as it is when it is called, within bounded time,
// with an error that wraps [ErrFenced] where there is no lease, and [ErrUnavailable] where it is not known. Believe is
// for how long [Fence.Check] believes an answer; 0, or less, is not at all. It must be much less than the margin within
// which a leader that cannot renew its lease gives up, see [LeadOptions]. Now is the clock; nil is the system's.
func NewFence(read func(context.Context) (Leader, error), believe time.Duration, now func() time.Time) *Fence {
	if now == nil {
		now = time.Now
	}
	return &Fence{read: read, believe: believe, now: now, passed: map[uint64]string{}}
}

// Check is nil if the epoch leads, or did when that was asked last, if that is not too long ago. Otherwise it is as
// [Fence.Ask].
func (f *Fence) Check(ctx context.Context, epoch uint64) error {
	if f.believes(epoch) {
		return nil
	}
	return f.Ask(ctx, epoch)
}

// Ask is nil if the epoch leads, by an answer to a question that was put after Ask was called. It is an error that
// wraps [ErrFenced] if another epoch does, or another lease or holder of the same epoch than at first, and what reading
// the lease has failed with, or an [ErrUnavailable] once the context is done, otherwise. A refusal has what was
// believed forgotten.
func (f *Fence) Ask(ctx context.Context, epoch uint64) error {
	now, err := f.ask(ctx)
	switch {
	case err != nil:
	case now.Epoch != epoch:
		err = fmt.Errorf("%w: an action of epoch %d, the lease is at %d", ErrFenced, epoch, now.Epoch)
	case !f.first(now.Leader):
		err = fmt.Errorf("%w: the lease of epoch %d is not the one it was, or another's: it is now %q", ErrFenced, epoch,
			now.ID)
	}
	f.learn(now, err)
	return err
}

// first tells whether it is the leader that was seen first of all with its epoch.
func (f *Fence) first(now Leader) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	id, known := f.passed[now.Epoch]
	if !known {
		f.passed[now.Epoch] = now.ID
	}
	return !known || id == now.ID
}

// learn keeps an answer that was well. A refusal has what was believed forgotten, and whatever was asked before it, in
// whichever order the answers are taken in.
func (f *Fence) learn(now finding, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case errors.Is(err, ErrFenced):
		f.last, f.bad = finding{}, max(f.bad, now.no)
	case err == nil && now.no > max(f.bad, f.last.no):
		f.last = now
	}
}

// believes tells whether it was asked so recently who leads, and it was that epoch.
func (f *Fence) believes(epoch uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last.no == 0 || f.last.Epoch != epoch {
		return false
	}
	now := f.now()
	return within(f.believe, now.Sub(f.last.at), now.Round(0).Sub(f.last.at.Round(0)))
}

// within tells whether neither the steady clock nor the time of day says that it was longer ago, or is still to come. A
// machine that was suspended meanwhile knows it by the time of day alone.
func within(most, steady, day time.Duration) bool {
	return min(steady, day) >= 0 && max(steady, day) < most
}

// ask has each an answer to a question that was put after it began to ask.
func (f *Fence) ask(ctx context.Context) (finding, error) {
	f.mu.Lock()
	mine, first := f.next, f.next == nil
	if first {
		mine = &question{done: make(chan struct{})}
		f.next = mine
	}
	f.mu.Unlock()
	if !first {
		select {
		case <-mine.done:
			return mine.finding, mine.err
		case <-ctx.Done():
			return finding{}, fmt.Errorf("%w: lease: %w", ErrUnavailable, ctx.Err())
		}
	}
	f.turn.Lock()
	defer f.turn.Unlock()
	f.mu.Lock()
	f.next = nil // who asks from now on needs another
	f.asked++
	mine.finding.at, mine.finding.no = f.now(), f.asked
	f.mu.Unlock()
	mine.finding.Leader, mine.err = f.read(ctx)
	close(mine.done)
	return mine.finding, mine.err
}
