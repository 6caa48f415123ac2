package sched_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/schedtest"
)

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
