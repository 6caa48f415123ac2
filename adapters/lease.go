package adapters

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// ErrHeld is a lease that another instance holds.
var ErrHeld = errors.New("adapters: another instance holds the lease")

// Term is a lease as it was granted.
type Term struct {
	// Epoch is higher than that of every holder before.
	Epoch uint64
	// For is how long it is granted. Its holder counts from before it asked, by its own clock.
	For time.Duration
}

// Lease is what one instance at a time holds. Its methods may take as long as the cluster does and must return soon after the
// context is done.
type Lease interface {
	// Acquire takes the lease if nobody has it, with ErrHeld if somebody does. From then on actions of lower epochs are refused, where the
	// cluster or the driver can: what the new leader is told first must be all that the others did.
	Acquire(ctx context.Context) (Term, error)
	// Renew holds on to it, with the same epoch; ErrFenced says that it is another's.
	Renew(ctx context.Context, t Term) (Term, error)
	// Release gives it back, so that a standby need not wait for its end. It does nothing if it is another's.
	Release(ctx context.Context, t Term) error
}

// LeadOptions are how [Lead] goes about it. The zero value suits leases of some 15 s.
type LeadOptions struct {
	// Clock is what leases are counted by; nil is the system's.
	Clock sched.Clock
	// Retry is how often a standby tries to take the lease, default 1 s.
	Retry time.Duration
	// Renew is how often the lease is renewed, default a third of what it is granted for.
	Renew time.Duration
	// Margin is how long before its end the work is stopped if it could not be renewed, default a quarter of what it is granted for. The
	// work, and every call it has made, must be over within it.
	Margin time.Duration
	// Told, if not nil, is told of what fails and of lost leases, in the goroutine of Lead.
	Told func(error)
}

// systemClock is the machine's own.
type systemClock struct{}

func (systemClock) Now() time.Time                         { return time.Now() }
func (systemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// errExpired is a lease that could not be renewed in time.
var errExpired = errors.New("adapters: the lease could not be renewed in time")

// Lead does the work while it holds the lease: it waits for the lease, runs work with its term, renews the lease meanwhile, and cancels the
// work's context before the lease runs out. When the lease was lost, or work returns an error that wraps [ErrFenced] or
// [ErrUnavailable], it waits for the lease again. Work begins anew each time, as after a crash: it makes a new [Cluster] with the term's
// epoch and a new loop.
//
// Lead returns when the context is done, with nil, or with what work returned otherwise, or with an error of the lease that is none of
// ErrHeld, ErrFenced and ErrUnavailable. Work has then returned, and the lease is given back.
func Lead(ctx context.Context, lease Lease, work func(ctx context.Context, t Term) error, o LeadOptions) error {
	if o.Clock == nil {
		o.Clock = systemClock{}
	}
	if o.Retry <= 0 {
		o.Retry = time.Second
	}
	for ctx.Err() == nil {
		asked := o.Clock.Now()
		term, err := lease.Acquire(ctx)
		if err == nil {
			l := &leader{LeadOptions: o, lease: lease, term: term}
			l.granted(asked, term)
			err = l.hold(ctx, work)
			l.release(ctx)
			if err == nil {
				return nil
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		if !errors.Is(err, ErrHeld) && !errors.Is(err, ErrFenced) && !errors.Is(err, ErrUnavailable) && !errors.Is(err, errExpired) {
			return err
		}
		if o.Told != nil && !errors.Is(err, ErrHeld) {
			o.Told(err)
		}
		select {
		case <-ctx.Done():
		case <-o.Clock.After(o.Retry):
		}
	}
	return nil
}

// leader holds a lease.
type leader struct {
	LeadOptions
	lease Lease
	term  Term
	stop  time.Time // when the work is to be over, should the lease not be renewed
	// answers is a renewal's that is under way.
	answers chan answer
}

// answer is what became of a renewal.
type answer struct {
	term Term
	err  error
}

func (l *leader) granted(asked time.Time, t Term) {
	margin := l.Margin
	if margin <= 0 {
		margin = t.For / 4
	}
	l.term, l.stop = t, asked.Add(t.For-margin)
}

// hold runs the work until it returns or the lease is lost.
func (l *leader) hold(ctx context.Context, work func(context.Context, Term) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer l.await()
	defer cancel()
	term, done := l.term, make(chan error, 1)
	go func() { done <- work(ctx, term) }()
	for {
		end := l.Clock.After(l.stop.Sub(l.Clock.Now()))
		every := l.Renew
		if every <= 0 {
			every = l.term.For / 3
		}
		var err error
		select {
		case err = <-done:
			return err
		case <-end:
			err = errExpired
		case <-l.Clock.After(every):
			var over bool
			if over, err = l.renew(ctx, end, done); over {
				return err
			}
		}
		if err != nil {
			cancel()
			if ended := <-done; ended != nil && !errors.Is(ended, context.Canceled) {
				return ended
			}
			return err
		}
	}
}

// await waits for a renewal that was told to end.
func (l *leader) await() {
	if l.answers != nil {
		<-l.answers
		l.answers = nil
	}
}

// renew renews the lease, unless the work or the lease is over before there is an answer; over says that the work has returned.
func (l *leader) renew(ctx context.Context, end <-chan time.Time, done <-chan error) (over bool, err error) {
	asked, term, answers := l.Clock.Now(), l.term, make(chan answer, 1)
	go func() {
		t, err := l.lease.Renew(ctx, term)
		answers <- answer{t, err}
	}()
	l.answers = answers
	select {
	case err := <-done:
		return true, err
	case <-end:
		return false, errExpired // the work must not go on while the renewal takes its time to end
	case a := <-answers:
		l.answers = nil
		switch {
		case a.err == nil:
			l.granted(asked, a.term)
		case errors.Is(a.err, ErrFenced):
			return false, fmt.Errorf("adapters: lease: %w", a.err)
		case l.Told != nil:
			l.Told(fmt.Errorf("adapters: lease: %w", a.err)) // there is time to try again
		}
	}
	return false, nil
}

// release gives the lease back, within the margin.
func (l *leader) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(l.Margin, l.term.For/4))
	defer cancel()
	if err := l.lease.Release(ctx, l.term); err != nil && l.Told != nil {
		l.Told(fmt.Errorf("adapters: lease: %w", err))
	}
}

// Unavailable is a handler for [sched.WithErrorHandler]: a cluster that does not answer is asked again in the next cycle, and every other
// error ends the loop.
func Unavailable(err error) error {
	if errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrFenced) {
		return nil
	}
	return err
}
