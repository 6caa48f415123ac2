package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/fake"
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
