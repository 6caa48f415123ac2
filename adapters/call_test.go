package adapters_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// crowd is a cluster of n nodes and n waiting jobs. Several goroutines make its calls.
type crowd struct {
	*script
	do  func(id string) error
	now atomic.Int64 // calls under way
}

func newCrowd(t *testing.T, n, parallel int, do func(id string) error) (*crowd, *adapters.Cluster, *sched.Plan) {
	c := &crowd{script: &script{}, do: do}
	p := &sched.Plan{}
	view := &adapters.View{Version: 1, Full: true}
	for i := range n {
		id, node := fmt.Sprint("j", i), fmt.Sprint("n", i)
		view.Jobs = append(view.Jobs, job(id, 1, 1))
		view.Nodes = append(view.Nodes, all(1, []string{node}).Nodes...)
		p.Decisions = append(p.Decisions, start(id, node))
	}
	c.views = []*adapters.View{view}
	cluster, err := adapters.New(c, adapters.Options{Epoch: 3, Parallel: parallel})
	require.NoError(t, err)
	told(t, cluster)
	c.views = []*adapters.View{view}
	return c, cluster, p
}

func (c *crowd) Start(_ context.Context, s *adapters.Start) error {
	c.now.Add(1)
	defer c.now.Add(-1)
	return c.do(s.Job.Spec.ID)
}

func (c *crowd) Stop(context.Context, *adapters.Stop) error    { return nil }
func (c *crowd) Explain(context.Context, *adapters.Note) error { return nil }

// wait waits for what other goroutines do, but not for ever.
func wait(t *testing.T, others <-chan struct{}) {
	select {
	case <-others:
	case <-time.After(5 * time.Minute):
		t.Error("the other calls do not come")
	}
}

// TestCallsAtATime makes calls wait for one another in fours: exactly four run concurrently.
func TestCallsAtATime(t *testing.T) {
	var mu sync.Mutex
	in, next := 0, make(chan struct{})
	var most int64
	var c *crowd
	c, cluster, p := newCrowd(t, 12, 4, func(string) error {
		mu.Lock()
		most = max(most, c.now.Load())
		mine := next
		if in++; in%4 == 0 {
			close(next)
			next = make(chan struct{})
		}
		mu.Unlock()
		wait(t, mine)
		return nil
	})
	require.NoError(t, cluster.Apply(background, p))
	assert.Equal(t, 12, in)
	assert.EqualValues(t, 4, most)
	assert.Zero(t, c.now.Load(), "nothing is under way any more")
}

// TestAnswersAreTakenInOrder answers the last call first.
func TestAnswersAreTakenInOrder(t *testing.T) {
	const n = 9
	answered := map[string]chan struct{}{}
	for i := range n + 1 {
		answered[fmt.Sprint("j", i)] = make(chan struct{})
	}
	close(answered[fmt.Sprint("j", n)])
	var mu sync.Mutex
	var order []string
	_, cluster, p := newCrowd(t, n, n, func(id string) error {
		var i int
		if _, err := fmt.Sscanf(id, "j%d", &i); err != nil {
			return err
		}
		wait(t, answered[fmt.Sprint("j", i+1)])
		mu.Lock()
		order = append(order, id)
		mu.Unlock()
		close(answered[id])
		return fmt.Errorf("%w: %s", adapters.ErrRefused, id)
	})
	require.NoError(t, cluster.Apply(background, p))
	events, err := cluster.Events(background)
	require.NoError(t, err)
	var failed []string
	for _, e := range events {
		require.Equal(t, sched.StartFailed, e.Kind)
		require.ErrorContains(t, e.Err, e.ID)
		failed = append(failed, e.ID)
	}
	slices.Reverse(order)
	assert.Equal(t, order, failed)
}

// TestFencedAmongOthers: one call says that another instance leads. The calls after it are not made, and the loop is
// told the first error in the order of the plan.
func TestFencedAmongOthers(t *testing.T) {
	both := make(chan struct{})
	var made atomic.Int64
	_, cluster, p := newCrowd(t, 8, 2, func(id string) error {
		if made.Add(1) == 2 {
			close(both)
		}
		wait(t, both)
		return fmt.Errorf("%w: by %s", adapters.ErrFenced, id)
	})
	require.NoError(t, cluster.Apply(background, p))
	assert.EqualValues(t, 2, made.Load())
	_, err := cluster.Events(background)
	require.ErrorIs(t, err, adapters.ErrFenced)
	assert.ErrorContains(t, err, "by j0")
}

// TestOneAtATime tests the default: calls come in order, and none after one that says that another instance leads.
func TestOneAtATime(t *testing.T) {
	var order []string
	c, cluster, p := newCrowd(t, 5, 0, nil)
	c.do = func(id string) error {
		order = append(order, id)
		assert.EqualValues(t, 1, c.now.Load())
		if id == "j2" {
			return adapters.ErrFenced
		}
		return nil
	}
	require.NoError(t, cluster.Apply(background, p))
	assert.Equal(t, []string{"j0", "j1", "j2"}, order)
	_, err := adapters.New(c, adapters.Options{Parallel: -1})
	require.ErrorIs(t, err, adapters.ErrOptions)
	assert.ErrorContains(t, err, "Parallel of -1")
}

// TestNothingOutlivesItsCycle ends a cycle's context while its calls run: the cycle waits for them.
func TestNothingOutlivesItsCycle(t *testing.T) {
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	var c *crowd
	var made atomic.Int64
	c, cluster, p := newCrowd(t, 6, 3, func(string) error {
		if made.Add(1) == 3 {
			cancel()
		}
		wait(t, ctx.Done())
		return ctx.Err()
	})
	require.NoError(t, cluster.Apply(ctx, p))
	assert.Zero(t, c.now.Load())
	events, err := cluster.Events(background)
	require.NoError(t, err)
	for _, e := range events {
		assert.False(t, errors.Is(e.Err, adapters.ErrRefused), "what became of it is not known")
	}
	assert.Contains(t, c.relists, true)
}
