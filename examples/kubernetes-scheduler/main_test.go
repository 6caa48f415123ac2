package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/fake"
	"github.com/hedgesched/hedge/adapters/kubernetes"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/utility"
)

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	require.NoError(t, os.WriteFile(path, []byte("namespace: team\ncycle: 500ms\nwindow: 60s\nslot: 5s\nlease: {namespace: a, name: b}\n"), 0o600))
	c, err := load(path)
	require.NoError(t, err)
	assert.Equal(t, "team", c.Namespace)
	assert.Equal(t, duration(500*time.Millisecond), c.Cycle)
	assert.Equal(t, duration(time.Minute), c.Window)
	assert.Equal(t, duration(5*time.Second), c.Slot)
	assert.Equal(t, "b", c.Lease.Name)
	for _, text := range []string{"cicle: 5s", "cycle: soon", "cycle: -1s", "cycle: 0s", "parallel: 0", "nodeSelector: a in (", "{window: 1s, slot: 1h}"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := load(path)
		require.ErrorContains(t, err, path, text)
	}
}

// TestReady: a scheduler is ready while the lease answers and, if it leads, its last cycle was well.
func TestReady(t *testing.T) {
	var away atomic.Bool
	away.Store(true)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if away.Load() {
			http.Error(w, "no leader far and wide", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, err := fmt.Fprint(w, `{"kind": "Lease", "apiVersion": "coordination.k8s.io/v1", "metadata": {"name": "hedge", "resourceVersion": "5"},
			"spec": {"holderIdentity": "another", "leaseDurationSeconds": 3600, "leaseTransitions": 3}}`)
		assert.NoError(t, err)
	}))
	defer server.Close()
	c, err := load("")
	require.NoError(t, err)
	s, err := newScheduler(c, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	client, err := kubernetes.Client(&rest.Config{Host: server.URL})
	require.NoError(t, err)
	ready := func() (string, int) {
		w := httptest.NewRecorder()
		s.handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", http.NoBody))
		return w.Body.String(), w.Code
	}
	_, code := ready()
	require.Equal(t, http.StatusServiceUnavailable, code, "nothing was heard of the lease yet")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.stand(ctx, client) }()
	require.Eventually(t, func() bool {
		text, code := ready()
		return code == http.StatusServiceUnavailable && strings.Contains(text, "far and wide")
	}, 5*time.Minute, 10*time.Millisecond, "it tells what is wrong")
	away.Store(false)
	require.Eventually(t, func() bool { _, code := ready(); return code == http.StatusOK }, 5*time.Minute, 10*time.Millisecond, "another has the lease")
	s.metrics.Fail(adapters.ErrUnavailable)
	_, code = ready()
	assert.Equal(t, http.StatusServiceUnavailable, code)
	cancel()
	require.NoError(t, <-done)
}

// TestLead: a job of a fake cluster is started, what was learnt is kept, and the end of the context is no error.
func TestLead(t *testing.T) {
	cluster := fake.New(fake.Options{Begin: time.Now()})
	require.NoError(t, cluster.AddNode(sched.Node{Name: "n"}))
	worth, err := utility.LinearDecay(5, 24*time.Hour)
	require.NoError(t, err)
	require.NoError(t, cluster.Submit(fake.Job{Spec: sched.Job{ID: "a", Tasks: 1, Utility: worth}, Runtime: time.Second}))
	c, err := load("")
	require.NoError(t, err)
	c.Cycle, c.History = duration(200*time.Millisecond), filepath.Join(t.TempDir(), "history")
	s, err := newScheduler(c, slog.New(slog.NewTextHandler(t.Output(), nil)))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	d := &stepped{Driver: cluster.Connect(nil), cluster: cluster, done: cancel}
	require.NoError(t, s.lead(ctx, d, adapters.Term{Epoch: 1}))
	assert.False(t, cluster.Finished("a").IsZero())
	h, err := predict.NewHistory(nil)
	require.NoError(t, err)
	_, err = adapters.HistoryFile(c.History).Load(h)
	require.NoError(t, err)
}

// TestTell: what has failed is logged as such, and a job that its user took away or described otherwise is not.
func TestTell(t *testing.T) {
	var text strings.Builder
	s := &scheduler{log: slog.New(slog.NewTextHandler(&text, nil))}
	s.tell(&sched.Cycle{Failed: []sched.Event{{ID: "a", Err: adapters.ErrRefused}, {ID: "b", Err: adapters.ErrProblem}, {ID: "c", Err: adapters.ErrCancelled}}})
	assert.Contains(t, text.String(), "job=a")
	assert.Equal(t, 1, strings.Count(text.String(), "msg=failed"))
}

// stepped lets a fake cluster's time pass with every look at it, and ends the work once its job has finished and was told of.
type stepped struct {
	adapters.Driver
	cluster *fake.Cluster
	done    func()
	looks   int
}

func (s *stepped) Observe(ctx context.Context, relist bool) (*adapters.View, error) {
	s.cluster.Advance(time.Second)
	if !s.cluster.Finished("a").IsZero() {
		if s.looks++; s.looks > 3 {
			s.done()
		}
	}
	return s.Driver.Observe(ctx, relist)
}
