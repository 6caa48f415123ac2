package adaptertest

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
)

// Office is where the suite for leases gets them.
type Office struct {
	// Open gives another instance its way to the one lease of this office.
	Open func(t testing.TB) adapters.Lease
	// Pass lets some time pass, much less than the lease is granted for. Without it, the suite sleeps a little.
	Pass func(t testing.TB)
	// Patience is how often Pass is called until the lease must have run out; 0 is 10,000 times.
	Patience int
	// Hang has no call be answered until the function that it returns is called. Delete deletes the lease where it stands,
	// as an operator might, so that the next instance makes another.
	Hang   func(t testing.TB) (resume func())
	Delete func(t testing.TB)
	// Missing says of [HangLease] and [DeleteLease] why Hang or Delete is nil.
	Missing map[Ability]string
}

// The abilities of an [Office], without which its cases are skipped.
const (
	HangLease   Ability = "have calls of the lease hang"
	DeleteLease Ability = "delete the lease"
)

// RunLease checks a lease: that one instance at a time has it, whatever the others do, on which host if it tells who,
// that epochs grow, that it can be had when it was given back and when it has run out, and that a call returns when its
// context is done. Each case is a subtest with an office of its own.
func RunLease(t *testing.T, make func(t testing.TB) Office) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(testing.TB, *Office)
	}{
		{"one at a time", oneAtATime}, {"given back", givenBack}, {"run out", runOut},
		{"taken again by its holder", takenAgain},
		{"given back when it is another's", notTheirs}, {"a call hangs", callHangs}, {"the lease is deleted", deleted},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := make(t)
			if o.Pass == nil {
				o.Pass = func(testing.TB) { time.Sleep(20 * time.Millisecond) }
			}
			if o.Patience == 0 {
				o.Patience = 10_000
			}
			c.run(t, &o)
		})
	}
}

func acquire(t testing.TB, l adapters.Lease) adapters.Term {
	t.Helper()
	term, err := l.Acquire(context.Background())
	require.NoError(t, err)
	require.Positive(t, term.For)
	return term
}

func held(t testing.TB, l adapters.Lease) {
	t.Helper()
	_, err := l.Acquire(context.Background())
	require.ErrorIs(t, err, adapters.ErrHeld)
}

// named checks that an instance without the lease is told on which host the other is, where it is told who that is.
func named(t testing.TB, l adapters.Lease) {
	t.Helper()
	_, err := l.Acquire(context.Background())
	var other *adapters.HeldError
	if !errors.As(err, &other) || other.Holder == "" {
		return // who has it is not known
	}
	host, err := os.Hostname()
	require.NoError(t, err)
	assert.Contains(t, other.Holder, host, "of this process, as all in this test")
}

func oneAtATime(t testing.TB, o *Office) {
	a, b := o.Open(t), o.Open(t)
	term := acquire(t, a)
	held(t, b)
	named(t, b)
	for range 3 {
		again, err := a.Renew(context.Background(), term)
		require.NoError(t, err)
		assert.Equal(t, term.Epoch, again.Epoch, "renewed, not taken anew")
		assert.Positive(t, again.For)
		held(t, b)
		term = again
	}
	_, err := b.Renew(context.Background(), term)
	require.ErrorIs(t, err, adapters.ErrFenced, "what it never had")
}

func givenBack(t testing.TB, o *Office) {
	ctx := context.Background()
	a, b := o.Open(t), o.Open(t)
	first := acquire(t, a)
	require.NoError(t, a.Release(ctx, first))
	second := acquire(t, b)
	assert.Greater(t, second.Epoch, first.Epoch)
	_, err := a.Renew(ctx, first)
	require.ErrorIs(t, err, adapters.ErrFenced)
	require.NoError(t, b.Release(ctx, second))
	assert.Greater(t, acquire(t, a).Epoch, second.Epoch)
}

func runOut(t testing.TB, o *Office) {
	a, b := o.Open(t), o.Open(t)
	first := acquire(t, a)
	for range o.Patience {
		second, err := b.Acquire(context.Background())
		if err == nil {
			assert.Greater(t, second.Epoch, first.Epoch)
			_, err = a.Renew(context.Background(), first)
			require.ErrorIs(t, err, adapters.ErrFenced)
			held(t, a)
			return
		}
		require.True(t, errors.Is(err, adapters.ErrHeld) || errors.Is(err, adapters.ErrUnavailable), "%v", err)
		o.Pass(t)
	}
	require.Fail(t, "the lease does not run out")
}

// takenAgain is of an instance that gave up as it could not renew, and is back before the lease has run out: nobody
// else can have it yet, and it need not wait for itself.
func takenAgain(t testing.TB, o *Office) {
	a, b := o.Open(t), o.Open(t)
	first := acquire(t, a)
	held(t, b)
	second := acquire(t, a)
	assert.Greater(t, second.Epoch, first.Epoch, "what the term before has under way is refused")
	_, err := a.Renew(context.Background(), first)
	require.ErrorIs(t, err, adapters.ErrFenced)
	held(t, b)
}

func notTheirs(t testing.TB, o *Office) {
	ctx := context.Background()
	a, b := o.Open(t), o.Open(t)
	first := acquire(t, a)
	require.NoError(t, a.Release(ctx, first))
	second := acquire(t, b)
	require.NoError(t, a.Release(ctx, first), "it does nothing")
	_, err := b.Renew(ctx, second)
	require.NoError(t, err)
	held(t, a)
}

// lacks skips a case if the office cannot do what it needs, and fails it if no reason is given.
func (o *Office) lacks(t testing.TB, a Ability, missing bool) {
	t.Helper()
	if !missing {
		return
	}
	require.NotEmpty(t, o.Missing[a], "an office that cannot %s says why", a)
	t.Skipf("it cannot %s: %s", a, o.Missing[a])
}

// callHangs has calls of both instances end with their contexts: they say nothing of who has the lease, and change
// nothing.
func callHangs(t testing.TB, o *Office) {
	o.lacks(t, HangLease, o.Hang == nil)
	a, b := o.Open(t), o.Open(t)
	term := acquire(t, a)
	held(t, b)
	resume := o.Hang(t)
	for i, call := range []func(context.Context) error{
		func(ctx context.Context) error { _, err := a.Renew(ctx, term); return err },
		func(ctx context.Context) error { _, err := b.Acquire(ctx); return err },
	} {
		what := []string{"renew", "acquire"}[i]
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		ended := make(chan error, 1)
		go func() { ended <- call(ctx) }()
		select {
		case err := <-ended:
			assert.ErrorIs(t, err, adapters.ErrUnavailable, what)
			assert.NotErrorIs(t, err, adapters.ErrFenced, what)
		case <-time.After(5 * time.Minute):
			require.Fail(t, "a call hangs after its context is done", what)
		}
		cancel()
	}
	resume()
	again, err := a.Renew(context.Background(), term)
	require.NoError(t, err, "it has the lease as before")
	assert.Equal(t, term.Epoch, again.Epoch)
	held(t, b)
}

// deleted has the lease vanish while it is held. Epochs grow all the same.
func deleted(t testing.TB, o *Office) {
	o.lacks(t, DeleteLease, o.Delete == nil)
	ctx := context.Background()
	a, b := o.Open(t), o.Open(t)
	first := acquire(t, a)
	o.Delete(t)
	_, err := a.Renew(ctx, first)
	require.ErrorIs(t, err, adapters.ErrFenced, "it is no more")
	require.NoError(t, a.Release(ctx, first), "there is nothing to give back")
	second := acquire(t, b)
	assert.Greater(t, second.Epoch, first.Epoch)
	_, err = a.Renew(ctx, first)
	require.ErrorIs(t, err, adapters.ErrFenced)
	held(t, a)
	require.NoError(t, b.Release(ctx, second))
	o.Delete(t)
	assert.Greater(t, acquire(t, a).Epoch, second.Epoch, "nobody had it")
}
