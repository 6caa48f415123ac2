package nomad

import (
	"bytes"
	"context"
	"fmt"
	"io"
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

// leaders is a server that reports one lease.
type leaders struct {
	*httptest.Server
	reads, epoch, status atomic.Int64
	hold                 func() // called before an answer is sent, if not nil
}

func newLeaders(t *testing.T) *leaders {
	l := &leaders{}
	l.epoch.Store(7)
	l.status.Store(http.StatusOK)
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n, epoch := l.reads.Add(1), l.epoch.Load()
		if n == 1 && l.hold != nil {
			l.hold()
		}
		w.WriteHeader(int(l.status.Load()))
		fmt.Fprintf(w, `{"Path":"hedge/lease","CreateIndex":3,"ModifyIndex":9,"Items":{"epoch":"%d","holder":"a"}}`, epoch)
	}))
	t.Cleanup(l.Close)
	return l
}

func (l *leaders) driver(t *testing.T, o Options) *Driver {
	o.Timeout = time.Minute
	d, err := New(&api.Config{Address: l.URL}, o)
	require.NoError(t, err)
	t.Cleanup(d.Close)
	return d
}

// TestCheckLease: a lease that was read is trusted for the time in the options, by the driver's clock. A refusal or a
// failed read is not.
func TestCheckLease(t *testing.T) {
	s, ctx := newLeaders(t), context.Background()
	now := time.Unix(1000, 0)
	d := s.driver(t, Options{Now: func() time.Time { return now }, CheckLease: 10 * time.Second})
	for _, tt := range []struct {
		after time.Duration
		reads int64
	}{{0, 1}, {9 * time.Second, 1}, {10 * time.Second, 2}} {
		now = time.Unix(1000, 0).Add(tt.after)
		require.NoError(t, d.fence(ctx, 7))
		assert.Equal(t, tt.reads, s.reads.Load(), "%v", tt.after)
	}
	for _, another := range []int64{8, 6} {
		s.epoch.Store(another)
		now = now.Add(10 * time.Second)
		require.ErrorIs(t, d.fence(ctx, 7), adapters.ErrFenced)
	}
	s.epoch.Store(7)
	s.status.Store(http.StatusInternalServerError)
	require.ErrorIs(t, d.fence(ctx, 7), adapters.ErrUnavailable)
	s.status.Store(http.StatusOK)
	require.NoError(t, d.fence(ctx, 7))
	require.NoError(t, d.fence(ctx, 0), "who has no lease is not asked for one")

	every, before := s.driver(t, Options{}), s.reads.Load()
	for range 3 {
		require.NoError(t, every.fence(ctx, 7))
	}
	assert.Equal(t, before+3, s.reads.Load(), "without time of belief each reads it")
}

// TestFenceAsksAnew: an action that begins after another instance leads gets no answer to an earlier question.
func TestFenceAsksAnew(t *testing.T) {
	s := newLeaders(t)
	asked, goOn := make(chan struct{}), make(chan struct{})
	s.hold = func() {
		close(asked)
		<-goOn
	}
	d := s.driver(t, Options{})
	before, after := make(chan error, 1), make(chan error, 1)
	go func() { before <- d.fence(context.Background(), 7) }()
	<-asked
	s.epoch.Store(8)
	go func() { after <- d.fence(context.Background(), 7) }()
	time.Sleep(50 * time.Millisecond) // lets it begin to wait, though nothing here depends on that
	close(goOn)
	require.NoError(t, <-before)
	require.ErrorIs(t, <-after, adapters.ErrFenced)
}

// TestLeaseDeleted: once the lease's variable is deleted, the old leader does nothing more, and does not recreate it.
// The next leader's epoch is higher.
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

	again := *s.at["hedge/lease"]
	s.remove("hedge/lease")
	again.CreateIndex, again.ModifyIndex = 500, 500
	s.at["hedge/lease"] = &again
	require.ErrorIs(t, d.fence(ctx, second.Epoch), adapters.ErrFenced, "it is another, made of a copy")
}

// TestLeaseForbidden: a lease that may not be read does not count as missing.
func TestLeaseForbidden(t *testing.T) {
	d := answering(t, http.StatusForbidden, "Permission denied")
	err := d.fence(context.Background(), 7)
	require.ErrorIs(t, err, adapters.ErrRefused)
	require.NotErrorIs(t, err, adapters.ErrFenced)
}

// late makes one change hang until its caller gives up, and arrive just before the next one.
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

// TestLateRenewal: a renewal that got no answer arrives during the next renewal or the release. It takes the lease from
// nobody.
func TestLateRenewal(t *testing.T) {
	for _, released := range []bool{false, true} {
		s := newVariables(t)
		ctx := context.Background()
		open := func(calls http.RoundTripper) *Lease {
			l, err := NewLease(&api.Config{Address: s.URL, HttpClient: &http.Client{Transport: calls}},
				Options{Timeout: time.Minute}, time.Hour)
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
