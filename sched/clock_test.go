package sched_test

import (
	"fmt"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// later is a reading of a clock whose monotonic part is ahead of its wall part, as readings are after the
// wall clock was set back. Only the runtime can make one, so the second word of a [time.Time] is changed.
func later(t *testing.T, at time.Time, by time.Duration) time.Time {
	t.Helper()
	(*struct {
		wall uint64
		ext  int64
	})(unsafe.Pointer(&at)).ext += int64(by)
	return at
}

// After a step of the wall clock, times with a monotonic reading and times without one have no common order.
func TestLoopWallClockStep(t *testing.T) {
	start := time.Now()
	a := start.Add(time.Hour)                             // before the step back
	b := later(t, start.Add(10*time.Minute), 2*time.Hour) // after it
	c := start.Add(30 * time.Minute).Round(0)             // from elsewhere
	require.True(t, a.Before(b) && b.Before(c) && c.Before(a), "the times go round in a circle")

	for _, phase := range []string{"pending", "running"} {
		t.Run(phase, func(t *testing.T) {
			cluster := schedtest.NewCluster(start, schedtest.Nodes(20, 1))
			var shown *sched.Snapshot
			policy := &spy{see: func(s *sched.Snapshot) { shown = s.Clone() }, plan: func(*sched.Snapshot) (*sched.Plan, error) { return &sched.Plan{}, nil }}
			loop := newLoop(t, cluster, policy, schedtest.Forecasts())
			var ids []string
			for i, at := range []time.Time{a, b, c, a, c, b, c, a, b} {
				job := schedtest.Job(fmt.Sprint("j", i), 1).Job()
				job.Submitted = at
				ids = append(ids, job.ID)
				cluster.Tell(sched.Event{Kind: sched.Submitted, Job: job})
				if phase == "running" {
					cluster.Tell(sched.Event{Kind: sched.Started, ID: job.ID, Time: at, Nodes: []sched.NodeTasks{{Node: fmt.Sprint("n", i), Tasks: 1}}})
				}
			}
			for left := len(ids); left > 0; left-- {
				cycle, err := loop.Step(background, start)
				require.NoError(t, err)
				require.Empty(t, cycle.Ignored)
				require.Equal(t, left, cycle.Pending+cycle.Running)
				for i := 1; i < len(shown.Pending); i++ {
					assert.False(t, shown.Pending[i].Job.Submitted.Before(shown.Pending[i-1].Job.Submitted))
				}
				for i := 1; i < len(shown.Running); i++ {
					assert.False(t, shown.Running[i].Started.Before(shown.Running[i-1].Started))
				}
				assert.Equal(t, start.Round(0), shown.Now)
				cluster.Tell(sched.Event{Kind: sched.Withdrawn, ID: ids[(left*5)%len(ids)]})
				ids = append(ids[:(left*5)%len(ids)], ids[(left*5)%len(ids)+1:]...)
			}
			cycle, err := loop.Step(background, start)
			require.NoError(t, err)
			assert.Zero(t, cycle.Pending+cycle.Running, "no job is left behind")
		})
	}
}

// A host that changes a job it has handed over breaks the order, but leaves no ghosts.
func TestLoopJobChangedByItsHost(t *testing.T) {
	c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(1, 1))
	loop := newLoop(t, c, baseline.NewFIFO(), schedtest.Forecasts())
	jobs := make([]*sched.Job, 5)
	for i := range jobs {
		jobs[i] = schedtest.Job(fmt.Sprint(i), 1).Submitted(float64(i)).Job()
		c.Submit(jobs[i], 1e6)
	}
	require.Equal(t, 5, step(t, loop, c, 0).Pending)
	jobs[2].Submitted = schedtest.At(1e6)
	c.Withdraw("2")
	c.Withdraw("3")
	cycle := step(t, loop, c, 2)
	assert.Empty(t, cycle.Ignored)
	assert.Equal(t, []int{2, 1}, []int{cycle.Pending, cycle.Running})
}
