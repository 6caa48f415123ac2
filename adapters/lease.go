package adapters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// ErrHeld is the error of a lease that another instance holds.
var ErrHeld = errors.New("adapters: another instance holds the lease")

// HeldError is an [ErrHeld] that names the holder.
type HeldError struct {
	// Holder is the name of the other instance. It is empty if another instance took the lease just now; the next try will
	// name it.
	Holder string
}

// Error names the holder.
func (e *HeldError) Error() string {
	if e.Holder == "" {
		return ErrHeld.Error() + ": it was taken just now"
	}
	return ErrHeld.Error() + ": " + e.Holder
}

// Unwrap is [ErrHeld].
func (e *HeldError) Unwrap() error { return ErrHeld }

// Term is a granted lease.
type Term struct {
	// Epoch is higher than the epoch of every earlier holder.
	Epoch uint64
	// For is how long the lease is granted. The holder counts from before its request, by its own clock.
	For time.Duration
}

// Lease is held by one instance at a time. Its methods must return soon after the context is done, with ErrUnavailable.
// [Lead] ensures that the context of each call is done in time.
//
// A lease never returns ErrStale. A method may find that the record was written or deleted between its read and its
// write. Then Acquire returns a [HeldError] without a holder, and Release returns nil. Renew returns ErrUnavailable,
// unless it has read that another instance holds the lease: the other write may be its own last renewal, which it
// believed lost.
//
// An error that wraps none of ErrHeld, ErrFenced, ErrRestored and ErrUnavailable ends Lead. It is for failures that do
// not go away, such as a missing right.
type Lease interface {
	// Acquire takes the lease if nobody holds it. Otherwise the error wraps ErrHeld; it is a [HeldError] if the holder is
	// known. From then on, actions of lower epochs are refused, if the cluster or the driver can do so. The new leader's
	// first view must contain every action of the earlier ones.
	Acquire(ctx context.Context) (Term, error)
	// Renew extends the lease with the same epoch. ErrFenced says that the lease was read and is another instance's, or no
	// longer exists.
	Renew(ctx context.Context, t Term) (Term, error)
	// Release gives the lease back, so that a standby need not wait until it expires. It does nothing if another instance
	// holds the lease.
	Release(ctx context.Context, t Term) error
}

// LeadOptions are the options of [Lead]. The zero value suits leases of about 15 s. Negative durations are refused.
// Options that leave no time to renew the lease are refused once the length of the lease is known.
type LeadOptions struct {
	// Clock measures the lease. Nil is the system's clock.
	Clock sched.Clock
	// Retry is how often a standby tries to take the lease, and how soon a failed renewal is tried again; default 1 s.
	Retry time.Duration
	// Timeout limits one call that takes or renews the lease. The default is 10 s for taking it. For renewing it, the
	// default is a sixth of the time for which it is granted, so that one hanging renewal does not lose the lease.
	Timeout time.Duration
	// Renew is how often the lease is renewed. The default is a third of the time for which it is granted. Renew and
	// Margin together must be less than that time.
	Renew time.Duration
	// Margin is how long before the lease's end the work is stopped if the lease could not be renewed. The default is a
	// quarter of the time for which it is granted. The work and all its calls must end within Margin. Giving the lease
	// back may take as long again.
	Margin time.Duration
	// OnError, if not nil, is called with failures and with the reasons for which leases were lost. Once the context is
	// done, it is also called with the work's last error, for example if a history could not be saved. It runs in the
	// goroutine of Lead.
	OnError func(error)
	// OnStandby, if not nil, is called when this instance begins to stand by for another, and again whenever the holder
	// changes. Its argument is the error of Acquire: a [HeldError] that names the holder, or another error that wraps
	// ErrHeld. Different texts of the latter count as different holders. It runs in the goroutine of Lead.
	OnStandby func(error)
	// Contact, if not nil, is kept up to date for health checks.
	Contact *Contact
}

// systemClock is the machine's own.
type systemClock struct{}

func (systemClock) Now() time.Time                         { return time.Now() }
func (systemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// errExpired is the error of a lease that could not be renewed in time.
var errExpired = errors.New("adapters: the lease could not be renewed in time")

// Lead runs work while it holds the lease. It waits for the lease, runs work with its term, renews the lease meanwhile,
// and cancels the context of work before the lease expires. If the lease is lost, or if work returns an error that
// wraps [ErrFenced], [ErrRestored] or [ErrUnavailable], Lead waits for the lease again. Each run of work begins anew,
// as after a crash: it makes a new [Cluster] with the term's epoch, and a new loop.
//
// Lead returns
//
//   - nil once the context is done; if work then fails with an error that does not wrap the context's, Lead first
//     passes that error to OnError,
//   - what work returned otherwise,
//   - an error of the lease that wraps none of ErrHeld, ErrFenced, ErrRestored and ErrUnavailable, or
//   - ErrOptions.
//
// When Lead returns, work has returned and the lease is given back.
func Lead(ctx context.Context, lease Lease, work func(ctx context.Context, t Term) error, o LeadOptions) error {
	if o.Clock == nil {
		o.Clock = systemClock{}
	}
	if o.Retry < 0 || o.Timeout < 0 || o.Renew < 0 || o.Margin < 0 {
		return fmt.Errorf("%w: Retry of %v, Timeout of %v, Renew of %v, Margin of %v", ErrOptions, o.Retry, o.Timeout,
			o.Renew, o.Margin)
	}
	if o.Retry == 0 {
		o.Retry = time.Second
	}
	for held := ""; ctx.Err() == nil; {
		l := &leader{LeadOptions: o, lease: lease}
		err := l.acquire(ctx)
		if err == nil {
			held = ""
			if err = l.fits(); err == nil && ctx.Err() == nil {
				err = l.hold(ctx, work)
			}
			l.release(ctx)
			if err == nil {
				return nil
			}
			o.last(ctx, err)
		}
		if ctx.Err() != nil {
			return nil
		}
		if !passes(err) {
			return err
		}
		held = o.tell(err, held)
		select {
		case <-ctx.Done():
		case <-o.Clock.After(o.Retry):
		}
	}
	return nil
}

// last reports the error of work that was told to end: something that it was to save may not be saved.
func (o *LeadOptions) last(ctx context.Context, err error) {
	if ctx.Err() != nil && !errors.Is(err, ctx.Err()) && o.OnError != nil {
		o.OnError(err)
	}
}

// passes reports whether Lead waits for the lease again after that error.
func passes(err error) bool {
	return slices.ContainsFunc([]error{ErrHeld, ErrFenced, ErrRestored, ErrUnavailable, errExpired}, func(e error) bool {
		return errors.Is(err, e)
	})
}

// tell reports why this instance does not hold the lease. It returns the name of the holder that was reported last, so
// that the next call does not report it again.
func (o *LeadOptions) tell(err error, before string) string {
	if !errors.Is(err, ErrHeld) {
		if o.OnError != nil {
			o.OnError(err)
		}
		return before
	}
	holder := err.Error()
	if held := (*HeldError)(nil); errors.As(err, &held) {
		holder = held.Holder
	}
	if holder == "" || holder == before {
		return before
	}
	if o.OnStandby != nil {
		o.OnStandby(err)
	}
	return holder
}

// leader is this instance, in one term.
type leader struct {
	LeadOptions
	lease Lease
	term  Term
	stop  time.Time // when the work must have ended if the lease is not renewed
	again bool      // the last renewal failed
	// answers is the channel of a pending renewal.
	answers chan answer
}

// answer is the result of taking or renewing the lease.
type answer struct {
	term Term
	err  error
}

func (l *leader) acquire(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	limit := cmp.Or(l.Timeout, 10*time.Second)
	asked, answers := l.Clock.Now(), make(chan answer, 1)
	go func() {
		t, err := l.lease.Acquire(ctx)
		answers <- answer{t, err}
	}()
	var a answer
	select {
	case a = <-answers:
	case <-l.Clock.After(limit):
		cancel()
		if a = <-answers; a.err != nil && !errors.Is(a.err, ErrHeld) {
			a.err = fmt.Errorf("%w: no answer within %v: %w", ErrUnavailable, limit, a.err)
		}
	}
	l.Contact.took(l.Clock.Now(), a.err)
	if a.err == nil {
		l.granted(asked, a.term)
	}
	return a.err
}

func (l *leader) granted(asked time.Time, t Term) {
	l.term, l.again = t, false
	l.stop = asked.Add(t.For - l.margin())
}

// margin is how long before the lease's end everything must have ended.
func (l *leader) margin() time.Duration { return cmp.Or(l.Margin, l.term.For/4) }

// every is how often the lease is renewed.
func (l *leader) every() time.Duration { return cmp.Or(l.Renew, l.term.For/3) }

// fits returns an error if the options leave no time to renew the lease.
func (l *leader) fits() error {
	if l.every()+l.margin() < l.term.For {
		return nil
	}
	return fmt.Errorf("%w: Renew of %v and Margin of %v for a lease of %v", ErrOptions, l.every(), l.margin(), l.term.For)
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
		every := l.every()
		if l.again {
			every = min(every, l.Retry)
		}
		var err error
		select {
		case err = <-done:
			l.Contact.worked(err)
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

// await waits for a renewal that was cancelled.
func (l *leader) await() {
	if l.answers != nil {
		<-l.answers
		l.answers = nil
	}
}

// renew renews the lease, unless the work returns or the lease expires first. If over is true, the work has returned.
func (l *leader) renew(ctx context.Context, end <-chan time.Time, done <-chan error) (over bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	asked, term, answers := l.Clock.Now(), l.term, make(chan answer, 1)
	go func() {
		t, err := l.lease.Renew(ctx, term)
		answers <- answer{t, err}
	}()
	l.answers = answers
	for late := l.Clock.After(cmp.Or(l.Timeout, term.For/6)); ; {
		select {
		case err := <-done:
			l.Contact.worked(err)
			return true, err
		case <-end:
			return false, errExpired // the work must not go on while the renewal ends
		case <-late:
			late = nil
			cancel() // the answer comes soon
		case a := <-answers:
			l.answers = nil
			return false, l.renewed(asked, a)
		}
	}
}

// renewed handles the answer to a renewal. It returns an error if another instance holds the lease.
func (l *leader) renewed(asked time.Time, a answer) error {
	l.Contact.renewed(l.Clock.Now(), a.err)
	switch {
	case a.err == nil:
		l.granted(asked, a.term)
		return nil
	case errors.Is(a.err, ErrFenced):
		return fmt.Errorf("adapters: lease: %w", a.err)
	case l.OnError != nil:
		l.OnError(fmt.Errorf("adapters: lease: %w", a.err)) // there is time to try again
	}
	l.again = true
	return nil
}

// release gives the lease back within the margin.
func (l *leader) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.margin())
	defer cancel()
	if err := l.lease.Release(ctx, l.term); err != nil && l.OnError != nil {
		l.OnError(fmt.Errorf("adapters: lease: %w", err))
	}
}

// Unavailable is a handler for [sched.WithErrorHandler]. If the cluster does not answer, the loop tries again in the
// next cycle. Every other error ends the loop.
func Unavailable(err error) error {
	if errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrFenced) && !errors.Is(err, ErrRestored) {
		return nil
	}
	return err
}
