package nomad_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/adaptertest"
	"github.com/hedgesched/hedge/adapters/nomad"
)

var offices atomic.Int64

// TestLease counts by a clock of its own, so that no lease runs out because the machine is slow.
func TestLease(t *testing.T) {
	r := theRig(t)
	adaptertest.RunLease(t, func(testing.TB) adaptertest.Office {
		now := time.Unix(1e9, 0)
		o := nomad.Options{LeasePath: fmt.Sprint("hedge/office-", offices.Add(1)), Now: func() time.Time { return now }, Timeout: time.Minute}
		return adaptertest.Office{
			Open: func(t testing.TB) adapters.Lease {
				l, err := nomad.NewLease(&api.Config{Address: r.URL()}, o, 10*time.Minute)
				require.NoError(t, err)
				return l
			},
			Pass:     func(testing.TB) { now = now.Add(time.Minute) },
			Patience: 30,
			Missing: map[adaptertest.Ability]string{
				adaptertest.HangLease:   "the agent answers others, too",
				adaptertest.DeleteLease: "the epoch stands nowhere but in the variable",
			},
		}
	})
}

// TestLeaseUnavailable: a lease that nobody answers for is neither granted nor lost.
func TestLeaseUnavailable(t *testing.T) {
	l, err := nomad.NewLease(&api.Config{Address: "http://127.0.0.1:1"}, nomad.Options{}, 0)
	require.NoError(t, err)
	_, err = l.Acquire(context.Background())
	require.ErrorIs(t, err, adapters.ErrUnavailable)
	_, err = l.Renew(context.Background(), adapters.Term{Epoch: 1})
	require.ErrorIs(t, err, adapters.ErrUnavailable)
	assert.False(t, errors.Is(err, adapters.ErrFenced))
}

// TestEpochsGrow: epochs grow though the variable is deleted, by Nomad's own count of changes.
func TestEpochsGrow(t *testing.T) {
	r := theRig(t)
	ctx := context.Background()
	o := nomad.Options{LeasePath: fmt.Sprint("hedge/office-", offices.Add(1)), Timeout: time.Minute}
	config := &api.Config{Address: r.URL()}
	last := uint64(0)
	for range 3 {
		l, err := nomad.NewLease(config, o, time.Hour)
		require.NoError(t, err)
		for range 5 {
			term, err := l.Acquire(ctx)
			require.NoError(t, err)
			require.Greater(t, term.Epoch, last)
			require.NoError(t, l.Release(ctx, term))
			last = term.Epoch
		}
		_, err = r.client.Variables().Delete(o.LeasePath, nil)
		require.NoError(t, err)
	}
}
