package sched_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// A policy is told once of each job that has finished, and when, even if a cycle fails before it sees the snapshot.
func TestSnapshotsTellWhatCompleted(t *testing.T) {
	r, next := applied(t, nil)
	r.events = []sched.Event{
		{Kind: sched.Finished, ID: "other", Time: schedtest.At(3.5), Runtime: time.Second},
		{Kind: sched.Withdrawn, ID: "low"},
		{Kind: sched.Finished, ID: "ghost", Runtime: time.Second},
	}
	s, _ := next()
	assert.Equal(t, []sched.Completion{{Job: "other", At: schedtest.At(3.5)}}, s.Completed)
	r.events = []sched.Event{{Kind: sched.Finished, ID: "high", Runtime: time.Second}}
	s, _ = next()
	assert.Equal(t, []sched.Completion{{Job: "high", At: schedtest.At(5)}}, s.Completed)
	s, _ = next()
	assert.Empty(t, s.Completed)
}

// cut is a cluster whose next call of Events breaks off after what it tells.
type cut struct {
	*remote
	err error
}

func (c *cut) Events(ctx context.Context) ([]sched.Event, error) {
	events, _ := c.remote.Events(ctx)
	return events, c.err
}

func TestCompletedJobsOutliveAFailedCycle(t *testing.T) {
	c := &cut{remote: &remote{events: []sched.Event{
		{Kind: sched.NodeUp, Node: &sched.Node{Name: "n0"}},
		{Kind: sched.Submitted, Job: schedtest.Job("a", 1).Job()},
		{Kind: sched.Started, ID: "a", Time: schedtest.At(0), Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}},
		{Kind: sched.Finished, ID: "a", Time: schedtest.At(1), Runtime: time.Second},
	}}, err: errors.New("out of reach")}
	var shown *sched.Snapshot
	policy := &spy{see: func(s *sched.Snapshot) { shown = s.Clone() },
		plan: func(*sched.Snapshot) (*sched.Plan, error) { return &sched.Plan{}, nil }}
	loop := newLoop(t, c, policy, schedtest.Forecasts())
	_, err := loop.Step(background, schedtest.At(2))
	require.ErrorIs(t, err, c.err)
	c.err = nil
	_, err = loop.Step(background, schedtest.At(3))
	require.NoError(t, err)
	assert.Equal(t, []sched.Completion{{Job: "a", At: schedtest.At(1)}}, shown.Completed)
}
