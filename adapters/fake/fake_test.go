package fake_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/adaptertest"
	"github.com/hedgesched/hedge/adapters/fake"
	"github.com/hedgesched/hedge/sched"
)

func TestLease(t *testing.T) {
	adaptertest.RunLease(t, func(testing.TB) adaptertest.Office {
		c := fake.New(fake.Options{})
		return adaptertest.Office{
			Open: func(testing.TB) adapters.Lease { return c.Lease() },
			Pass: func(testing.TB) { c.Advance(time.Second) }, Patience: 100,
			Hang: func(testing.TB) func() {
				c.HangLease(true)
				return func() { c.HangLease(false) }
			},
			Delete: func(testing.TB) { c.DeleteLease() },
		}
	})
}

func TestLeaseOfServersThatAreDown(t *testing.T) {
	c := fake.New(fake.Options{})
	l := c.Lease()
	term, err := l.Acquire(context.Background())
	require.NoError(t, err)
	c.SetDown(true)
	_, err = l.Acquire(context.Background())
	require.ErrorIs(t, err, adapters.ErrUnavailable)
	_, err = l.Renew(context.Background(), term)
	require.ErrorIs(t, err, adapters.ErrUnavailable)
	require.ErrorIs(t, l.Release(context.Background(), term), adapters.ErrUnavailable)
}

// TestSameSeedSameRun runs storms twice: the records are the same to the nanosecond.
func TestSameSeedSameRun(t *testing.T) {
	for seed := range uint64(20) {
		var runs [2][]fake.Record
		for i := range runs {
			var w *world
			adaptertest.Storm(t, func(t testing.TB, s adaptertest.Shape) adaptertest.World {
				w = newWorld(t, s, weather(seed))
				return w
			}, seed)
			runs[i] = w.Cluster.Records()
			require.NotEmpty(t, runs[i])
		}
		require.Equal(t, runs[0], runs[1], "seed %d", seed)
	}
}

func TestWhatUsersAndOperatorsCannotDo(t *testing.T) {
	c := fake.New(fake.Options{})
	require.NoError(t, c.AddNode(sched.Node{Name: "n0"}))
	require.ErrorIs(t, c.AddNode(sched.Node{Name: "n0"}), fake.ErrExists)
	require.NoError(t, c.Submit(fake.Job{Spec: sched.Job{ID: "a", Tasks: 1}}))
	require.ErrorIs(t, c.Submit(fake.Job{Spec: sched.Job{ID: "a", Tasks: 1}}), fake.ErrExists)
	for name, err := range map[string]error{
		"withdraw": c.Withdraw("b"), "cordon": c.Cordon("n1", true), "drain": c.Drain("n1"), "kill": c.Kill("n1"),
		"revive":  c.Revive("n1"),
		"relabel": c.Relabel("n1", nil), "occupy": c.Occupy("n1", nil),
	} {
		require.ErrorIs(t, err, fake.ErrUnknown, name)
	}
	known, over := c.Has("a")
	assert.Equal(t, []bool{true, false}, []bool{known, over})
	require.NoError(t, c.Withdraw("a"))
	known, _ = c.Has("a")
	assert.False(t, known, "nothing of it ran")
	require.NoError(t, c.Kill("n0"))
	require.NoError(t, c.Kill("n0"), "it is dead already, but not known to be")
	wait, some := c.Next()
	assert.True(t, some)
	c.Advance(wait)
	require.ErrorIs(t, c.Cordon("n0", true), fake.ErrUnknown, "now it is")
	require.NoError(t, c.Revive("n0"))
	require.NoError(t, c.Revive("n0"))
	require.NoError(t, c.Cordon("n0", true))
}
