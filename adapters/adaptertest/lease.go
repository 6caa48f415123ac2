package adaptertest

import (
	"context"
	"errors"
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
}

// RunLease checks a lease: that one instance at a time has it, whatever the others do, that epochs grow, and that it can be had when it was given
// back and when it has run out. Each case is a subtest with an office of its own.
func RunLease(t *testing.T, make func(t testing.TB) Office) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(testing.TB, *Office)
	}{
		{"one at a time", oneAtATime}, {"given back", givenBack}, {"run out", runOut},
		{"given back when it is another's", notTheirs},
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

func oneAtATime(t testing.TB, o *Office) {
	a, b := o.Open(t), o.Open(t)
	term := acquire(t, a)
	held(t, b)
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
