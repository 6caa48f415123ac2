package sched_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// keeping keeps the snapshot that it was shown last.
type keeping struct {
	sched.Policy
	last *sched.Snapshot
}

func (k *keeping) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	k.last = s
	return k.Policy.Plan(ctx, s)
}

// TestSnapshotStaysAfterStep: what was shown is as it was until the next Step, whatever was started or preempted, to
// the policy, the observer and the caller. After that asking for decisions may tell little, but does no harm.
func TestSnapshotStaysAfterStep(t *testing.T) {
	c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(2, 1))
	k := &keeping{Policy: baseline.NewPrio()}
	var seen []*sched.Cycle
	loop := newLoop(t, c, k, schedtest.Forecasts(), sched.WithObserver(func(c *sched.Cycle) { seen = append(seen, c) }))
	ids := func(s *sched.Snapshot) (pending, running []string) {
		for _, p := range s.Pending {
			pending = append(pending, p.Job.ID)
		}
		for _, r := range s.Running {
			running = append(running, r.Job.ID)
		}
		return pending, running
	}
	for _, id := range []string{"a", "b", "c", "d"} {
		c.Submit(schedtest.Job(id, 1).Job(), 50)
	}
	for n, urgent := range []string{"", "e", "f", ""} {
		if urgent != "" {
			c.Submit(schedtest.Job(urgent, 1).Priority(n).Job(), 50)
		}
		var was *sched.Snapshot
		cycle := step(t, loop, c, float64(10*n))
		require.Same(t, cycle, seen[n])
		require.Same(t, k.last, cycle.Snapshot)
		was = cycle.Snapshot.Clone()
		pending, running := ids(cycle.Snapshot)
		assert.Len(t, pending, cycle.Pending)
		assert.Len(t, running, cycle.Running)
		var decided []string
		for d := range cycle.Plan.All(k.last) {
			if d.Kind != sched.Preempt {
				decided = append(decided, d.Job)
			}
		}
		slices.Sort(decided)
		slices.Sort(pending)
		assert.Equal(t, pending, decided, "one for every job that waits")
		assert.Len(t, slices.Collect(cycle.Decisions()), len(decided)+cycle.Preempted)
		c.Submit(schedtest.Job("later"+urgent, 1).Job(), 50)
		assert.Equal(t, was, cycle.Snapshot.Clone(), "events that nobody has asked for change nothing")
	}
	for _, cycle := range seen {
		for range cycle.Plan.All(cycle.Snapshot) { // of long ago, but for the last
			continue
		}
	}
}

func TestCycleWithoutAPlanHasNoDecisions(t *testing.T) {
	assert.Empty(t, slices.Collect((&sched.Cycle{}).Decisions()))
	p := sched.Plan{Rest: sched.Reason{Code: sched.ReasonWaiting}}
	assert.Empty(t, slices.Collect(p.All(&sched.Snapshot{Pending: []sched.Pending{{}}})), "a job that is nil")
}

func TestNamesAreLimited(t *testing.T) {
	long, fits := strings.Repeat("n", sched.MaxName+1), strings.Repeat("n", sched.MaxName)
	for field, change := range map[string]func(*sched.Job, string){
		"ID":         func(j *sched.Job, name string) { j.ID = name },
		"Demand":     func(j *sched.Job, name string) { j.Demand = sched.Resources{name: 1} },
		"Attributes": func(j *sched.Job, name string) { j.Attributes = map[string]string{"user": "u", name: "x"} },
	} {
		j := schedtest.Job("a", 1).Job()
		change(j, fits)
		require.NoError(t, j.Validate(), field)
		change(j, long)
		var bad *sched.JobError
		require.ErrorAs(t, j.Validate(), &bad, field)
		require.ErrorIs(t, bad, sched.ErrInvalidJob)
		assert.Equal(t, field, bad.Field)
		assert.Contains(t, bad.Error(), "of 1025 bytes, at most 1024")
		assert.Less(t, len(bad.Error()), 400)
	}
	for field, change := range map[string]func(*sched.Node, string){
		"name":     func(n *sched.Node, name string) { n.Name = name },
		"resource": func(n *sched.Node, name string) { n.Capacity = sched.Resources{name: 1} },
		"label":    func(n *sched.Node, name string) { n.Labels = map[string]string{name: "x"} },
	} {
		n := sched.Node{Name: "n"}
		change(&n, fits)
		_, err := sched.NewNodeSet([]sched.Node{n})
		require.NoError(t, err, field)
		change(&n, long)
		_, err = sched.NewNodeSet([]sched.Node{n})
		require.ErrorIs(t, err, sched.ErrInvalidNode, field)
		require.ErrorContains(t, err, field+" \"nnn")
		assert.Less(t, len(err.Error()), 400)
	}
	c := &trickle{events: []sched.Event{{Kind: sched.Started, ID: long},
		{Kind: sched.NodeDown, Node: &sched.Node{Name: long}}}}
	cycle, err := newLoop(t, c, baseline.NewFIFO(), schedtest.Forecasts()).Step(background, schedtest.At(0))
	require.NoError(t, err)
	require.Len(t, cycle.Ignored, 2)
	for _, err := range cycle.Ignored {
		assert.Less(t, len(err.Error()), 400)
	}
}

// trickle is a cluster that tells some events once.
type trickle struct{ events []sched.Event }

func (c *trickle) Events(context.Context) ([]sched.Event, error) {
	e := c.events
	c.events = nil
	return e, nil
}

func (*trickle) Apply(context.Context, *sched.Plan) error { return nil }
