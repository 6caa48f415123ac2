package nomad

import (
	"bytes"
	"context"
	"fmt"
	"io"
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
		fmt.Fprintf(w, `{"Path":"hedge/lease","ModifyIndex":9,"Items":{"epoch":"%d"}}`, epoch.Load())
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

	for _, another := range []int64{8, 6} {
		epoch.Store(another)
		now.Add(10)
		for _, err := range asks() {
			require.ErrorIs(t, err, adapters.ErrFenced)
		}
	}
	epoch.Store(7)
	status.Store(http.StatusInternalServerError)
	for _, err := range asks() {
		require.ErrorIs(t, err, adapters.ErrUnavailable)
	}
	status.Store(http.StatusOK)
	require.NoError(t, d.fence(context.Background(), 7), "what failed is not believed")
}

// TestLeaseDeleted: once the lease's variable is deleted, who led does nothing any more, and puts nothing in its place; the next leader's epoch is a higher one.
func TestLeaseDeleted(t *testing.T) {
	s := newVariables(t)
	ctx := context.Background()
	config, o := &api.Config{Address: s.URL}, Options{Timeout: time.Minute}
	d, err := New(config, o)
	require.NoError(t, err)
	defer d.Close()
	open := func() *Lease {
		l, err := NewLease(config, o, time.Hour)
		require.NoError(t, err)
		return l
	}
	a, b := open(), open()
	first, err := a.Acquire(ctx)
	require.NoError(t, err)
	require.NoError(t, d.fence(ctx, first.Epoch))
	_, err = b.Acquire(ctx)
	require.Equal(t, &adapters.HeldError{Holder: a.holder}, err)

	s.remove("hedge/lease")
	require.ErrorIs(t, d.fence(ctx, first.Epoch), adapters.ErrFenced)
	assert.Equal(t, []string{"PUT hedge/lease"}, s.made(), "a fence only reads")
	_, err = a.Renew(ctx, first)
	require.ErrorIs(t, err, adapters.ErrFenced)
	second, err := b.Acquire(ctx)
	require.NoError(t, err)
	assert.Greater(t, second.Epoch, first.Epoch)
	require.ErrorIs(t, d.fence(ctx, first.Epoch), adapters.ErrFenced)
	require.NoError(t, d.fence(ctx, second.Epoch))
	require.ErrorIs(t, d.fence(ctx, second.Epoch+1), adapters.ErrFenced, "nobody was granted that")
	require.NoError(t, a.Release(ctx, first))
	_, err = b.Renew(ctx, second)
	require.NoError(t, err, "it is still theirs")
}

// TestLeaseForbidden: a lease that may not be read is not taken for one that is not there.
func TestLeaseForbidden(t *testing.T) {
	d := answering(t, http.StatusForbidden, "Permission denied")
	err := d.fence(context.Background(), 7)
	require.ErrorIs(t, err, adapters.ErrRefused)
	require.NotErrorIs(t, err, adapters.ErrFenced)
}

// late has one change hang until its caller gives up, and arrive just before the next one.
type late struct {
	t    *testing.T
	held *http.Request
	body []byte
	done bool
}

// RoundTrip makes a call.
func (l *late) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPut || l.done {
		return http.DefaultTransport.RoundTrip(r)
	}
	if l.held == nil {
		var err error
		l.body, err = io.ReadAll(r.Body)
		require.NoError(l.t, err)
		l.held = r.Clone(context.Background())
		return nil, context.DeadlineExceeded
	}
	l.done = true
	l.held.Body = io.NopCloser(bytes.NewReader(l.body))
	resp, err := http.DefaultTransport.RoundTrip(l.held)
	require.NoError(l.t, err)
	require.Equal(l.t, http.StatusOK, resp.StatusCode)
	require.NoError(l.t, resp.Body.Close())
	return http.DefaultTransport.RoundTrip(r)
}

// TestLateRenewal: a renewal that had no answer, and arrives while the next one, or the release, is under way, takes the lease from nobody.
func TestLateRenewal(t *testing.T) {
	for _, released := range []bool{false, true} {
		s := newVariables(t)
		ctx := context.Background()
		open := func(calls http.RoundTripper) *Lease {
			l, err := NewLease(&api.Config{Address: s.URL, HttpClient: &http.Client{Transport: calls}}, Options{Timeout: time.Minute}, time.Hour)
			require.NoError(t, err)
			return l
		}
		calls := &late{t: t, done: true}
		a, b := open(calls), open(http.DefaultTransport)
		term, err := a.Acquire(ctx)
		require.NoError(t, err)
		calls.done = false
		_, err = a.Renew(ctx, term)
		require.ErrorIs(t, err, adapters.ErrUnavailable)
		if !released {
			_, err = a.Renew(ctx, term)
			require.NoError(t, err, "nobody else has it")
			_, err = b.Acquire(ctx)
			require.ErrorIs(t, err, adapters.ErrHeld)
			continue
		}
		require.NoError(t, a.Release(ctx, term))
		next, err := b.Acquire(ctx)
		require.NoError(t, err, "it was given back")
		assert.Greater(t, next.Epoch, term.Epoch)
	}
}
