package yarn

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
)

// TestReadEnded: applications that ended while nobody observed are read concurrently. If one cannot be read, the others
// are known, and are not read again.
func TestReadEnded(t *testing.T) {
	s := newStand(t)
	s.nodes[0].memory = 1_000_000
	run := func(names ...string) {
		s.runFor(time.Hour)
		for _, name := range names {
			s.write(name+".yaml", gangText)
			require.NoError(t, s.start(name))
		}
		s.runFor(0)
		wait(t, "all have ended", func() bool {
			live, err := s.rm.live(context.Background(), s.opt.Instance)
			return err == nil && len(live) == 0
		})
	}
	const many = 2 * atOnce
	var names []string
	for i := range many {
		names = append(names, fmt.Sprintf("j%02d", i))
	}
	run(names...)
	var asked atomic.Int64
	var broken atomic.Pointer[string]
	met := []chan struct{}{make(chan struct{}), make(chan struct{})} // closed when one, and then two, are under way
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, one := strings.CutPrefix(r.URL.Path, apps+"/")
		if b := broken.Load(); one && b != nil && *b == id {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		if !one {
			s.serve(w, r)
			return
		}
		if n := asked.Add(1); n <= many {
			if n%atOnce == 0 {
				close(met[n/atOnce-1])
			}
			select {
			case <-met[(n-1)/atOnce]:
			case <-time.After(time.Minute):
				t.Error("one is asked for after another")
			}
		}
		s.serve(w, r)
	}))
	t.Cleanup(front.Close)
	d := s.open(Options{Timeout: 5 * time.Minute})
	d.rm.bases = []string{front.URL}
	_ = s.see(d, "j00")
	assert.EqualValues(t, many, asked.Load())
	for _, e := range d.state.entries {
		assert.True(t, e.rec.Finished, e.name)
	}

	late := s.open(Options{})
	late.rm.bases = []string{front.URL}
	run("a", "b", "c")
	bad := s.apps[len(s.apps)-2].id
	broken.Store(&bad)
	_, err := late.Observe(context.Background(), true)
	require.ErrorIs(t, err, adapters.ErrUnavailable)
	assert.ErrorContains(t, err, bad)
	broken.Store(nil)
	_, err = late.Observe(context.Background(), true)
	require.NoError(t, err)
	assert.True(t, late.state.entries["b"].rec.Finished)

	gone, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, late.readEnded(gone, []*entry{late.state.entries["b"]}), adapters.ErrUnavailable)
}

// TestClose: a driver's connections end with it.
func TestClose(t *testing.T) {
	s := newStand(t)
	var open atomic.Int64
	front := httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	front.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		}
	}
	front.Start()
	t.Cleanup(front.Close)
	for _, own := range []*http.Client{nil, {Transport: &http.Transport{}}} {
		d := s.open(Options{Client: own})
		d.rm.bases = []string{front.URL}
		_ = s.see(d, "a")
		assert.Positive(t, open.Load())
		d.Close()
		if own != nil {
			assert.Positive(t, open.Load(), "its owner closes them")
			own.CloseIdleConnections()
		}
		wait(t, "they have ended", func() bool { return open.Load() == 0 })
	}
}
