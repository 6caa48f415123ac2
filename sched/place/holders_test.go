package place_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/place"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// TestHolders: each job named holds something, on a node of the set, that the waiting tasks need; without all of them
// there is more room; and all that hold something there are named or counted.
func TestHolders(t *testing.T) {
	named := 0
	for trial := range uint64(200) {
		s, err := schedtest.Random(rand.New(rand.NewPCG(trial, 9)))
		require.NoError(t, err)
		var h place.Holders
		placer := place.NewPlacer(s)
		h.Reset(s, placer, nil)
		for i := range s.Pending {
			j := s.Pending[i].Job
			demand, err := s.Nodes.Demand(j.Demand)
			require.NoError(t, err)
			nodes := s.Nodes.NodesOf(j.Required)
			names, more := h.Of(demand, nodes)
			named += len(names)
			require.LessOrEqual(t, len(names), 5)
			if len(names) < 5 {
				require.Zero(t, more)
			}
			before := placer.Fits(demand, nodes)
			if len(names) == 0 {
				require.Equal(t, s.Nodes.Holds(demand, nodes), before, "nobody holds what the tasks need")
				continue
			}
			if more > 0 {
				continue
			}
			without := place.NewPlacer(s)
			for k := range s.Running {
				r := &s.Running[k]
				for _, id := range names {
					if id == r.Job.ID {
						without.Release(r)
					}
				}
			}
			require.Greater(t, without.Fits(demand, nodes), before, "trial %d: job %s", trial, j.ID)
		}
	}
	require.Greater(t, named, 200)
}

// TestHoldersNearestFirst: running jobs come by when they are expected to end, then those that start; preempted ones
// hold nothing.
func TestHoldersNearestFirst(t *testing.T) {
	b := schedtest.Snapshot(schedtest.Nodes(9, 1)).Now(50)
	for i, runs := range []float64{500, 100, 300, 10, 200, 400} {
		b.Running(schedtest.Job(fmt.Sprint("r", i), 1).Runs(runs), float64(i), fmt.Sprint("n", i))
	}
	starts := schedtest.Job("starts", 1).Job()
	s, err := b.Build()
	require.NoError(t, err)
	placer := place.NewPlacer(s)
	var h place.Holders
	h.Reset(s, placer, []sched.Decision{{Job: "r4", Kind: sched.Preempt}})
	h.Start(starts, []sched.NodeTasks{{Node: "n4", Tasks: 1}})
	demand, err := s.Nodes.Demand(nil)
	require.NoError(t, err)
	names, more := h.Of(demand, s.Nodes.All())
	assert.Equal(t, []string{"r3", "r1", "r2", "r5", "r0"}, names)
	assert.Equal(t, 1, more, "who starts on n4")
}
