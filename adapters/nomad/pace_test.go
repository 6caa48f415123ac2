package nomad

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
)

// TestNoStream: without an event stream, everything is listed from time to time, and after a while the error says what
// is wrong. With a stream again, nothing is listed.
func TestNoStream(t *testing.T) {
	var lists atomic.Int64
	var up atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/event/stream":
			if !up.Load() {
				http.Error(w, "no streams here", http.StatusNotImplemented)
				return
			}
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "/v1/jobs":
			lists.Add(1)
			fallthrough
		default:
			fmt.Fprint(w, "[]")
		}
	}))
	defer s.Close()
	now := time.Unix(1000, 0)
	d, err := New(&api.Config{Address: s.URL}, Options{Timeout: time.Minute, Now: func() time.Time { return now }})
	require.NoError(t, err)
	defer d.Close()
	ctx := context.Background()
	observe := func(step time.Duration, times int) (listed int64, errs []error) {
		before := lists.Load()
		for range times {
			now = now.Add(step)
			if _, err := d.Observe(ctx, false); err != nil {
				errs = append(errs, err)
			}
		}
		return lists.Load() - before, errs
	}
	n, errs := observe(0, 100)
	assert.EqualValues(t, 1, n)
	assert.Empty(t, errs)
	n, errs = observe(100*time.Millisecond, 100)
	assert.EqualValues(t, 10, n, "once in a second")
	assert.Empty(t, errs)
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, _, err := d.watch.take(); err != nil {
			break
		}
		require.True(t, time.Now().Before(end), "the stream has not been tried")
	}
	observe(time.Second, 60)
	n, errs = observe(time.Second, 30)
	assert.EqualValues(t, 3, n)
	require.Len(t, errs, 27, "all calls but those that list")
	require.ErrorIs(t, errs[0], adapters.ErrUnavailable)
	require.ErrorContains(t, errs[0], "no streams here")
	_, err = d.Observe(ctx, true)
	require.NoError(t, err, "all that is asked for is listed")

	up.Store(true)
	for end := time.Now().Add(time.Minute); d.seen == 0; time.Sleep(time.Millisecond) {
		observe(rarely, 1)
		require.True(t, time.Now().Before(end), "the stream does not come")
	}
	n, errs = observe(time.Second, 100)
	assert.Zero(t, n)
	assert.Empty(t, errs)
}

// TestListShare: without a stream, the longer a listing takes, the less often it is made.
func TestListShare(t *testing.T) {
	p := pace{began: time.Unix(1000, 0), took: 3 * time.Second}
	for at, want := range map[int64]bool{1001: false, 1029: false, 1030: true} {
		due, err := p.without(time.Unix(at, 0), false, nil)
		require.NoError(t, err)
		assert.Equal(t, want, due, "%d", at)
	}
}

// TestReadsRefused: a refused read does not end a scheduler, since it may be allowed later.
func TestReadsRefused(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound,
		http.StatusInternalServerError} {
		d := answering(t, status, "Permission denied")
		_, err := d.Observe(context.Background(), true)
		require.ErrorIs(t, err, adapters.ErrUnavailable, "%d", status)
		require.NotErrorIs(t, err, adapters.ErrRefused, "%d", status)
		require.ErrorContains(t, err, "Permission denied")
	}
}
