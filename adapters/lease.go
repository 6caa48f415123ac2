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

// ErrHeld is a lease that another instance holds.
var ErrHeld = errors.New("adapters: another instance holds the lease")

// HeldError is an [ErrHeld] that knows who the other is.
type HeldError struct {
	// Holder names the instance. It is empty where another was quicker, and who that is will be known with the next try.
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

// Term is a lease as it was granted.
type Term struct {
	// Epoch is higher than that of every holder before.
	Epoch uint64
	// For is how long it is granted. Its holder counts from before it asked, by its own clock.
	For time.Duration
}

// Lease is what one instance at a time holds. Its methods must return soon after the context is done, with
// ErrUnavailable; [Lead] sees to it that the context of each call is done in time.
//
// ErrStale is never a lease's answer. Where another write came first, or the record was deleted, between a method's
// read and its write, Acquire answers with a [HeldError] without a holder, Renew with ErrUnavailable unless it has read
// that the lease is another's, as what came first may be its own last renewal, which it took for lost, and Release with
// nil. Errors that are none of ErrHeld, ErrFenced and ErrUnavailable end Lead: they are of what does not mend itself,
// such as a right that is missing.
type Lease interface {
	// Acquire takes the lease if nobody has it, with ErrHeld if somebody does, as a [HeldError] where it can be told who.
	// From then on actions of lower epochs are refused, where the cluster or the driver can: what the new leader is told
	// first must be all that the others did.
	Acquire(ctx context.Context) (Term, error)
	// Renew holds on to it, with the same epoch; ErrFenced says that it was read and is another's, or is no more.
	Renew(ctx context.Context, t Term) (Term, error)
	// Release gives it back, so that a standby need not wait for its end. It does nothing if it is another's.
	Release(ctx context.Context, t Term) error
}

// LeadOptions are how [Lead] goes about it. The zero value suits leases of some 15 s. Negative durations are refused,
// and so are, once it is known for how long the lease is granted, those that leave no time to renew it.
type LeadOptions struct {
	// Clock is what leases are counted by; nil is the system's.
	Clock sched.Clock
	// Retry is how often a standby tries to take the lease, and after how long a renewal that failed is tried again,
	// default 1 s.
	Retry time.Duration
	// Timeout is how long a call may take that takes or renews the lease, default 10 s to take it, and a sixth of what it
	// is granted for to renew it: one renewal that hangs does not lose the lease.
	Timeout time.Duration
	// Renew is how often the lease is renewed, default a third of what it is granted for. Together with Margin it is less
	// than that.
	Renew time.Duration
	// Margin is how long before its end the work is stopped if it could not be renewed, default a quarter of what it is
	// granted for. The work, and every call it has made, must be over within it. Giving the lease back may take as long.
	Margin time.Duration
	// Told, if not nil, is told of what fails and of lost leases, in the goroutine of Lead; of the work's last error, too,
	// such as of a history that could not be saved, once the context is done.
	Told func(error)
	// StandsBy, if not nil, is told in the same goroutine when this instance begins to stand by for another, and again for
	// whoever else holds the lease then: with what Acquire returned, a [HeldError] that names the holder, or another error
	// that wraps ErrHeld, of which every text is another holder.
	StandsBy func(error)
	// Contact, if not nil, is kept up to date, for health checks.
	Contact *Contact
}

// systemClock is the machine's own.
type systemClock struct{}

func (systemClock) Now() time.Time                         { return time.Now() }
func (systemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// errExpired is a lease that could not be renewed in time.
var errExpired = errors.New("adapters: the lease could not be renewed in time")

// Lead does the work while it holds the lease: it waits for the lease, runs work with its term, renews the lease
// meanwhile, and cancels the work's context before the lease runs out. When the lease was lost, or work returns an
// error that wraps [ErrFenced], [ErrRestored] or [ErrUnavailable], it waits for the lease again. Work begins anew each
// time, as after a crash: it makes a new [Cluster] with the term's epoch and a new loop.
//
// Lead returns when the context is done, with nil, having told Told of what the work failed with then, unless that
// wraps the context's error; or with what work returned otherwise, or with an error of the lease that is none of
// ErrHeld, ErrFenced, ErrRestored and ErrUnavailable, or with ErrOptions. Work has then returned, and the lease is
// given back.
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

// last passes on what the work failed with as it was told to end: what it was to keep may not be kept.
func (o *LeadOptions) last(ctx context.Context, err error) {
	if ctx.Err() != nil && !errors.Is(err, ctx.Err()) && o.Told != nil {
		o.Told(err)
	}
}

// passes tells whether the lease is waited for after that error.
func passes(err error) bool {
	return slices.ContainsFunc([]error{ErrHeld, ErrFenced, ErrRestored, ErrUnavailable, errExpired}, func(e error) bool {
		return errors.Is(err, e)
	})
}

// tell passes on why the lease is not this instance's. It returns the holder that was told of, if another has it, so as
// not to tell of it again.
func (o *LeadOptions) tell(err error, before string) string {
	if !errors.Is(err, ErrHeld) {
		if o.Told != nil {
			o.Told(err)
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
	if o.StandsBy != nil {
		o.StandsBy(err)
	}
	return holder
}

// leader holds a lease.
type leader struct {
	LeadOptions
	lease Lease
	term  Term
	stop  time.Time // when the work is to be over, should the lease not be renewed
	again bool      // the last renewal has failed
	// answers is a renewal's that is under way.
	answers chan answer
}

// answer is what became of a renewal.
type answer struct {
	term Term
	err  error
}

// acquire takes the lease.
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

// margin is how long before the lease's end all must be over.
func (l *leader) margin() time.Duration { return cmp.Or(l.Margin, l.term.For/4) }

// every is how often the lease is renewed.
func (l *leader) every() time.Duration { return cmp.Or(l.Renew, l.term.For/3) }

// fits refuses options that leave no time to renew the lease.
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

// await waits for a renewal that was told to end.
func (l *leader) await() {
	if l.answers != nil {
		<-l.answers
		l.answers = nil
	}
}

// renew renews the lease, unless the work or the lease is over before there is an answer; over says that the work has
// returned.
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
			return false, errExpired // the work must not go on while the renewal takes its time to end
		case <-late:
			late = nil
			cancel() // the answer comes soon
		case a := <-answers:
			l.answers = nil
			return false, l.renewed(asked, a)
		}
	}
}

// renewed takes in the answer to a renewal. Its error says that the lease is another's.
func (l *leader) renewed(asked time.Time, a answer) error {
	l.Contact.renewed(l.Clock.Now(), a.err)
	switch {
	case a.err == nil:
		l.granted(asked, a.term)
		return nil
	case errors.Is(a.err, ErrFenced):
		return fmt.Errorf("adapters: lease: %w", a.err)
	case l.Told != nil:
		l.Told(fmt.Errorf("adapters: lease: %w", a.err)) // there is time to try again
	}
	l.again = true
	return nil
}

// release gives the lease back, within the margin.
func (l *leader) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.margin())
	defer cancel()
	if err := l.lease.Release(ctx, l.term); err != nil && l.Told != nil {
		l.Told(fmt.Errorf("adapters: lease: %w", err))
	}
}

// Unavailable is a handler for [sched.WithErrorHandler]: a cluster that does not answer is asked again in the next
// cycle, and every other error ends the loop.
func Unavailable(err error) error {
	if errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrFenced) && !errors.Is(err, ErrRestored) {
		return nil
	}
	return err
}
