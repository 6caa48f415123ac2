package sched_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// Times with and without a monotonic reading have no common order once the wall clock has been set: of three, each
// can be before the next. So the loop keeps none with a reading, wherever times come in.
func TestLoopDropsMonotonicReadings(t *testing.T) {
	now := time.Now()
	bare := now.Round(0)
	require.NotEqual(t, bare, now, "there is a reading to drop")
	cluster := &remote{events: []sched.Event{
		{Kind: sched.NodeUp, Node: &sched.Node{Name: "n0", Capacity: sched.Resources{"node": 4}}}}}
	var shown *sched.Snapshot
	loop := newLoop(t, cluster, &spy{Policy: baseline.NewFIFO(), see: func(s *sched.Snapshot) { shown = s.Clone() }},
		schedtest.Forecasts())
	submit := func(id string, job, event time.Time) {
		j := schedtest.Job(id, 2).Job()
		j.Submitted = job
		cluster.events = append(cluster.events, sched.Event{Kind: sched.Submitted, Job: j, Time: event})
		if id == "told" {
			cluster.events = append(cluster.events,
				sched.Event{Kind: sched.Started, ID: id, Time: now, Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 2}}})
		}
	}
	submit("told", now, now)
	submit("event's", time.Time{}, now)
	submit("cycle's", time.Time{}, time.Time{})
	for range 2 { // before and after FIFO has started what it can
		cycle, err := loop.Step(background, now)
		require.NoError(t, err)
		require.Empty(t, cycle.Ignored)
		require.Equal(t, 3, cycle.Pending+cycle.Running)
		assert.Equal(t, bare, cycle.Now)
		assert.Equal(t, bare, shown.Now)
		for _, p := range shown.Pending {
			assert.Equal(t, bare, p.Job.Submitted, p.Job.ID)
		}
		for _, r := range shown.Running {
			assert.Equal(t, bare, r.Job.Submitted, r.Job.ID)
			assert.Equal(t, bare, r.Started, r.Job.ID)
		}
	}
	require.Len(t, shown.Running, 2)
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
