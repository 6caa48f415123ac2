package adapters

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Leader is who leads, as read from a lease.
type Leader struct {
	// Epoch is the lease's epoch.
	Epoch uint64
	// ID distinguishes leases, or holders, of the same epoch: if a lease is deleted or restored from a backup, its epochs
	// may be granted a second time. It is empty if the cluster has no such id.
	ID string
}

// Fence refuses actions of an instance that no longer leads. It is for drivers of clusters that do not store epochs:
// before an action, it asks who leads. Its methods are safe for concurrent use. Concurrent callers share an answer.
type Fence struct {
	read    func(context.Context) (Leader, error)
	believe time.Duration
	now     func() time.Time

	turn sync.Mutex // held while a question is being asked
	mu   sync.Mutex
	next *question // not yet asked
	last finding   // the last good answer
	// asked is the number of questions that were asked. bad is the number of the last question that led to a refusal.
	asked, bad uint64
	// passed maps each epoch to the id with which it was first let through. It has one entry per term.
	passed map[uint64]string
}

// finding is who led, when that was asked, and the number of the question, from 1.
type finding struct {
	Leader
	at time.Time
	no uint64
}

// question is a question whose answer several callers may wait for.
type question struct {
	done    chan struct{} // closed once the answer is there
	finding finding
	err     error
}

// NewFence makes a fence from a function that reads the lease from the cluster. The function must read the current
// state and return within bounded time. Its error wraps [ErrFenced] if there is no lease, and [ErrUnavailable] if that
// is not known. Believe is for how long [Fence.Check] trusts an answer; with 0 or less it trusts none. It must be much
// shorter than [LeadOptions].Margin, within which a leader that cannot renew its lease gives up. Now is the clock; nil
// is the system's.
func NewFence(read func(context.Context) (Leader, error), believe time.Duration, now func() time.Time) *Fence {
	if now == nil {
		now = time.Now
	}
	return &Fence{read: read, believe: believe, now: now, passed: map[uint64]string{}}
}

// Check is nil if a recent answer says that the epoch leads. Otherwise it is the result of [Fence.Ask].
func (f *Fence) Check(ctx context.Context, epoch uint64) error {
	if f.believes(epoch) {
		return nil
	}
	return f.Ask(ctx, epoch)
}

// Ask is nil if the epoch leads, according to a question that was asked after Ask was called. The error wraps
// [ErrFenced] if another epoch leads, or if the lease or its holder is not the one first seen with this epoch.
// Otherwise it is the error of reading the lease, or an [ErrUnavailable] once the context is done. After a refusal no
// earlier answer is trusted.
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

// first reports whether this leader was the first one seen with its epoch.
func (f *Fence) first(now Leader) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	id, known := f.passed[now.Epoch]
	if !known {
		f.passed[now.Epoch] = now.ID
	}
	return !known || id == now.ID
}

// learn keeps a good answer. A refusal discards it, and also discards every answer to an earlier question, whenever
// that answer comes in.
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

// believes reports whether a recent enough answer says that the epoch leads.
func (f *Fence) believes(epoch uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last.no == 0 || f.last.Epoch != epoch {
		return false
	}
	now := f.now()
	return within(f.believe, now.Sub(f.last.at), now.Round(0).Sub(f.last.at.Round(0)))
}

// within reports whether the time since the answer is at least 0 and below the limit, by the steady clock and by the
// time of day. Only the time of day shows that the machine was suspended.
func within(most, steady, day time.Duration) bool {
	return min(steady, day) >= 0 && max(steady, day) < most
}

// ask returns an answer to a question that was asked after ask was called.
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
	f.next = nil // whoever asks from now on needs another question
	f.asked++
	mine.finding.at, mine.finding.no = f.now(), f.asked
	f.mu.Unlock()
	mine.finding.Leader, mine.err = f.read(ctx)
	close(mine.done)
	return mine.finding, mine.err
}
