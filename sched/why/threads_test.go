package why_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/whatif"
	"github.com/hedgesched/hedge/sched/why"
)

// Explanations are the same with any number of threads, also where the tries are used up on the way.
func TestThreadsChangeNothing(t *testing.T) {
	waits, remedies := 0, 0
	for seed := range uint64(6) {
		s, err := schedtest.Random(rand.New(rand.NewPCG(seed, 78)))
		require.NoError(t, err)
		planner := whatif.Fresh(policies["prio"])
		plan, err := planner(background, s)
		require.NoError(t, err)
		for _, tries := range []int{1, 3, 6, 11, 300} {
			one, err := why.New(s, plan, why.Options{Plan: planner, Tries: tries})
			require.NoError(t, err)
			for _, threads := range []int{2, 99} {
				many, err := why.New(s, plan, why.Options{Plan: planner, Tries: tries, Threads: threads})
				require.NoError(t, err)
				for i := range s.Pending {
					job := s.Pending[i].Job.ID
					want, err := one.Explain(background, job)
					require.NoError(t, err)
					got, err := many.Explain(background, job)
					require.NoError(t, err)
					require.Equal(t, want, got, "seed %d, job %s, %d tries, %d threads", seed, job, tries, threads)
					if want.State == why.Pending {
						waits, remedies = waits+1, remedies+len(want.Remedies)
					}
				}
			}
		}
	}
	assert.Greater(t, waits, 50)
	assert.Greater(t, remedies, 50)
}

// The error of a planner is the explanation's with any number of threads, and so is that of a context that ends.
func TestThreadsEnd(t *testing.T) {
	s, err := schedtest.Snapshot(schedtest.Nodes(4, 2)).Running(schedtest.Job("run", 3), 0, "n0", "n1", "n2").
		Pending(schedtest.Job("wide", 3)).Build()
	require.NoError(t, err)
	planner := whatif.Fresh(policies["edf"])
	plan, err := planner(background, s)
	require.NoError(t, err)
	for _, threads := range []int{1, 2, 6} {
		broken := errors.New("broken")
		e, err := why.New(s, plan, why.Options{Threads: threads,
			Plan: func(context.Context, *sched.Snapshot) (*sched.Plan, error) { return nil, broken }})
		require.NoError(t, err)
		_, err = e.Explain(background, "wide")
		require.ErrorIs(t, err, broken)

		ctx, cancel := context.WithCancel(background)
		var plans atomic.Int64
		e, err = why.New(s, plan, why.Options{Threads: threads,
			Plan: func(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
				plans.Add(1)
				cancel()
				return planner(background, s)
			}})
		require.NoError(t, err)
		_, err = e.Explain(ctx, "wide")
		require.ErrorIs(t, err, context.Canceled)
		assert.LessOrEqual(t, plans.Load(), int64(threads), "none begins after the end but those at hand")
	}
}

// Where nothing helps, a kind costs a trial of the guess and one of its largest change, and one if they are the same.
func TestSearchesInVainAreShort(t *testing.T) {
	s, err := schedtest.Snapshot(schedtest.Nodes(5, 2)).
		Running(schedtest.Job("one", 2), 0, "n0", "n1").Running(schedtest.Job("two", 2), 0, "n2", "n3").
		Pending(schedtest.Job("first", 1), schedtest.Job("last", 4).Submitted(1)).Build()
	require.NoError(t, err)
	plan, err := whatif.Fresh(policies["edf"])(background, s)
	require.NoError(t, err)
	tried := map[string]int{}
	e, err := why.New(s, plan, why.Options{Plan: func(_ context.Context, c *sched.Snapshot) (*sched.Plan, error) {
		switch {
		case c.Nodes.Len() > s.Nodes.Len():
			tried["nodes"]++
		case len(c.Running) < len(s.Running):
			tried["ends"]++
		case len(c.Pending) < len(s.Pending):
			tried["ahead"]++
		default:
			tried["job"]++ // other tasks, or another priority
		}
		return &sched.Plan{}, nil
	}})
	require.NoError(t, err)
	x, err := e.Explain(background, "last")
	require.NoError(t, err)
	assert.Empty(t, x.Remedies)
	assert.Equal(t, map[string]int{"nodes": 2, "ends": 1, "ahead": 1, "job": 2}, tried)
}
