package sched_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// TestHolders: each job named holds something, on a node of the set, that the waiting tasks need; without all of them
// there is more room; and all that hold something there are named or counted.
func TestHolders(t *testing.T) {
	named := 0
	for trial := range uint64(200) {
		s, err := schedtest.Random(rand.New(rand.NewPCG(trial, 9)))
		require.NoError(t, err)
		var h sched.Holders
		placer := sched.NewPlacer(s)
		h.Reset(s, placer.Free(), nil)
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
			without := sched.NewPlacer(s)
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
	placer := sched.NewPlacer(s)
	var h sched.Holders
	h.Reset(s, placer.Free(), []sched.Decision{{Job: "r4", Kind: sched.Preempt}})
	h.Start(starts, []sched.NodeTasks{{Node: "n4", Tasks: 1}})
	demand, err := s.Nodes.Demand(nil)
	require.NoError(t, err)
	names, more := h.Of(demand, s.Nodes.All())
	assert.Equal(t, []string{"r3", "r1", "r2", "r5", "r0"}, names)
	assert.Equal(t, 1, more, "who starts on n4")
}

// TestObstacle: what keeps jobs from empty nodes, and nothing where they fit.
func TestObstacle(t *testing.T) {
	nodes, err := sched.NewNodeSet([]sched.Node{
		{Name: "a", Labels: map[string]string{"rack": "r0", "disk": "ssd"}, Capacity: sched.Resources{"cpu": 8, "mem": 4}},
		{Name: "b", Labels: map[string]string{"rack": "r1"}, Capacity: sched.Resources{"cpu": 2, "mem": 64}},
	})
	require.NoError(t, err)
	for want, c := range map[string]struct {
		tasks  int
		demand sched.Resources
		set    sched.EquivalenceSet
	}{
		"": {2, sched.Resources{"cpu": 4}, sched.AnyNode()},
		"no node offers gpu, of which each task needs 1; nodes offer cpu, mem": {
			1, sched.Resources{"gpu": 1, "tpu": 1}, sched.AnyNode()},
		"no node is offered whole, as a task without a demand needs it; nodes offer cpu, mem": {1, nil, sched.AnyNode()},
		"no node has rack=r2": {1, sched.Resources{"cpu": 1}, sched.NodesWith("rack", "r2").And(sched.NodesWith("disk"))},
		"what is asked of rack contradicts itself: no value is left that it may have": {
			1, sched.Resources{"cpu": 1},
			sched.NodesWith("disk", "none").And(sched.NodesWith("rack", "r0")).And(sched.NodesWith("rack", "r1"))},
		`what is asked of "x y" contradicts itself: no value is left that it may have`: {
			1, sched.Resources{"cpu": 1}, sched.NodesWith("x y", "a").And(sched.NodesWith("x y", "b"))},
		`no node has rack="!"`: {1, sched.Resources{"cpu": 1}, sched.NodesWith("rack", "!")},
		"no node has disk=ssd&rack=r1": {1, sched.Resources{"cpu": 1},
			sched.NodesWith("rack", "r1").And(sched.NodesWith("disk", "ssd"))},
		"each task needs 3 cpu, and the most that one of 1 node with rack=r1 offers is 2: 1 too little": {
			1, sched.Resources{"cpu": 3}, sched.NodesWith("rack", "r1")},
		"none of 2 nodes offers all that a task needs together": {
			1, sched.Resources{"cpu": 8, "mem": 32}, sched.AnyNode()},
		"5 tasks of 7 fit on 2 nodes even if nothing else runs there: 2 too many": {7, sched.Resources{"cpu": 2},
			sched.AnyNode()},
		"1 task of 3 fit on 1 node with rack=r1 even if nothing else runs there: 2 too many": {3, sched.Resources{"cpu": 2},
			sched.NodesWith("rack", "r1")},
	} {
		o := nodes.Obstacle(&sched.Job{ID: "j", Tasks: c.tasks, Demand: c.demand}, c.set)
		if want == "" {
			assert.Nil(t, o)
			continue
		}
		require.NotNil(t, o, want)
		assert.Equal(t, want, o.String())
	}
	empty, err := sched.NewNodeSet(nil)
	require.NoError(t, err)
	assert.Contains(t, empty.Obstacle(&sched.Job{ID: "j", Tasks: 1}, sched.AnyNode()).String(), "there are no nodes")
}

// TestReasonsAgree: every policy that lets a job wait for want of room names somebody, if anybody is there.
func TestReasonsAgree(t *testing.T) {
	for _, p := range []sched.Policy{baseline.NewFIFO(), baseline.NewEDF(), baseline.NewSJF(), baseline.NewPrio()} {
		for trial := range uint64(40) {
			s, err := schedtest.Random(rand.New(rand.NewPCG(trial, 10)))
			require.NoError(t, err)
			plan, err := p.Plan(context.Background(), s)
			require.NoError(t, err)
			for d := range plan.All(s) {
				if d.Reason.Code == sched.ReasonWaiting {
					assert.NotEmpty(t, d.Reason.Ahead, "%s: trial %d: %s", p.Name(), trial, d.Job)
				}
				if d.Reason.Code == sched.ReasonTooLarge || d.Reason.Code == sched.ReasonNoFeasibleSet {
					assert.NotNil(t, d.Reason.Obstacle, "%s: trial %d: %s", p.Name(), trial, d.Job)
				}
			}
		}
	}
}
