package nomad_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
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

// TestLease uses a clock of its own, so that no lease expires because the machine is slow. stoppable makes calls unless
// it is stopped: then they hang.
func TestLease(t *testing.T) {
	r := theRig(t)
	adaptertest.RunLease(t, func(testing.TB) adaptertest.Office {
		now := time.Unix(1e9, 0)
		o := nomad.Options{LeasePath: fmt.Sprint("hedge/office-", offices.Add(1)), Now: func() time.Time {
			return now
		}, Timeout: time.Minute}
		calls := &stoppable{}
		return adaptertest.Office{
			Open: func(t testing.TB) adapters.Lease {
				l, err := nomad.NewLease(&api.Config{Address: r.URL(), HttpClient: &http.Client{Transport: calls}}, o,
					10*time.Minute)
				require.NoError(t, err)
				return l
			},
			Pass:     func(testing.TB) { now = now.Add(time.Minute) },
			Patience: 30,
			Hang:     func(testing.TB) func() { return calls.stop() },
			Delete: func(t testing.TB) {
				_, err := r.client.Variables().Delete(o.LeasePath, nil)
				require.NoError(t, err)
			},
		}
	})
}

// stoppable makes calls, unless they are stopped: then they hang.
type stoppable struct{ stopped atomic.Pointer[chan struct{}] }

func (s *stoppable) stop() (resume func()) {
	on := make(chan struct{})
	s.stopped.Store(&on)
	return func() {
		s.stopped.Store(nil)
		close(on)
	}
}

// RoundTrip makes a call.
func (s *stoppable) RoundTrip(r *http.Request) (*http.Response, error) {
	if on := s.stopped.Load(); on != nil {
		select {
		case <-*on:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestLeaseUnavailable: a lease whose server does not answer is neither granted nor lost.
func TestLeaseUnavailable(t *testing.T) {
	l, err := nomad.NewLease(&api.Config{Address: "http://127.0.0.1:1"}, nomad.Options{}, 0)
	require.NoError(t, err)
	_, err = l.Acquire(context.Background())
	require.ErrorIs(t, err, adapters.ErrUnavailable)
	_, err = l.Renew(context.Background(), adapters.Term{Epoch: 1})
	require.ErrorIs(t, err, adapters.ErrUnavailable)
	assert.False(t, errors.Is(err, adapters.ErrFenced))
}
