package nomad

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
)

// TestOneAsksForAll: of many calls at a time one reads the lease, and all have its answer; once it was read, it is believed for a while.
func TestOneAsksForAll(t *testing.T) {
	var reads, epoch, status atomic.Int64
	epoch.Store(7)
	status.Store(http.StatusOK)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reads.Add(1)
		w.WriteHeader(int(status.Load()))
		fmt.Fprintf(w, `{"Path":"hedge/lease","Items":{"epoch":"%d"}}`, epoch.Load())
	}))
	defer s.Close()
	var now atomic.Int64
	d, err := New(&api.Config{Address: s.URL}, Options{Now: func() time.Time { return time.Unix(now.Load(), 0) }, CheckLease: 10 * time.Second, Timeout: time.Minute})
	require.NoError(t, err)
	defer d.Close()
	asks := func() []error {
		var all sync.WaitGroup
		errs := make([]error, 16)
		for i := range errs {
			all.Go(func() { errs[i] = d.fence(context.Background(), 7) })
		}
		all.Wait()
		return errs
	}
	for _, err := range asks() {
		require.NoError(t, err)
	}
	assert.EqualValues(t, 1, reads.Load(), "the others have its answer, or believe it")
	now.Add(9)
	require.NoError(t, d.fence(context.Background(), 7))
	assert.EqualValues(t, 1, reads.Load(), "it is believed")
	now.Add(1)
	require.NoError(t, d.fence(context.Background(), 7))
	assert.EqualValues(t, 2, reads.Load(), "for so long")

	epoch.Store(8)
	now.Add(10)
	for _, err := range asks() {
		require.ErrorIs(t, err, adapters.ErrFenced)
	}
	epoch.Store(7)
	status.Store(http.StatusInternalServerError)
	for _, err := range asks() {
		require.ErrorIs(t, err, adapters.ErrUnavailable)
	}
	status.Store(http.StatusOK)
	require.NoError(t, d.fence(context.Background(), 7), "what failed is not believed")
}
