package sched_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// remote is a cluster whose Apply does as the test says and whose events are the test's.
type remote struct {
	events []sched.Event
	err    error
	plans  int
}

func (r *remote) Events(context.Context) ([]sched.Event, error) {
	out := r.events
	r.events = nil
	return out, nil
}

func (r *remote) Apply(context.Context, *sched.Plan) error {
	r.plans++
	return r.err
}

// applied is a loop over three nodes on which "low" runs on n0 and that has just planned to preempt it for
// "high" on n0 and n1, and to start "other" on n2.
func applied(t *testing.T, outcome error) (r *remote, next func() *sched.Snapshot) {
	t.Helper()
	r = &remote{}
	for _, n := range schedtest.Nodes(3, 1) {
		r.events = append(r.events, sched.Event{Kind: sched.NodeUp, Node: &n})
	}
	one := func(names ...string) (out []sched.NodeTasks) {
		for _, n := range names {
			out = append(out, sched.NodeTasks{Node: n, Tasks: 1})
		}
		return out
	}
	for _, j := range []*sched.Job{
		schedtest.Job("low", 1).Job(), schedtest.Job("high", 2).Submitted(1).Priority(1).Job(), schedtest.Job("other", 1).Submitted(2).Job(),
	} {
		r.events = append(r.events, sched.Event{Kind: sched.Submitted, Job: j})
	}
	r.events = append(r.events, sched.Event{Kind: sched.Started, ID: "low", Time: schedtest.At(0), Nodes: one("n0")})
	plan := &sched.Plan{Decisions: []sched.Decision{
		{Job: "low", Kind: sched.Preempt},
		{Job: "high", Kind: sched.Start, Nodes: one("n0", "n1")},
		{Job: "other", Kind: sched.Start, Nodes: one("n2")},
	}}
	var shown *sched.Snapshot
	policy := &spy{Policy: baseline.NewFIFO(), see: func(s *sched.Snapshot) { shown = s.Clone() },
		plan: func(*sched.Snapshot) (*sched.Plan, error) { return plan, nil }}
	loop := newLoop(t, r, policy, schedtest.Forecasts())
	r.err = outcome
	_, err := loop.Step(background, schedtest.At(3))
	require.ErrorIs(t, err, outcome)
	r.err, plan = nil, &sched.Plan{}
	now := 3.0
	return r, func() *sched.Snapshot {
		now++
		cycle, err := loop.Step(background, schedtest.At(now))
		require.NoError(t, err)
		require.Empty(t, cycle.Ignored)
		return shown
	}
}

func ids(s *sched.Snapshot) (pending, running []string) {
	for _, p := range s.Pending {
		pending = append(pending, p.Job.ID)
	}
	for _, r := range s.Running {
		running = append(running, r.Job.ID)
	}
	slices.Sort(running)
	return pending, running
}

// TestApplyContract has a cluster do all, none and parts of a plan, and looks at what the loop holds for true then.
func TestApplyContract(t *testing.T) {
	tell := func(kind sched.EventKind, id string) sched.Event { return sched.Event{Kind: kind, ID: id} }
	for _, tt := range []struct {
		name             string
		err              error
		events           []sched.Event
		pending, running []string
		free             []float64
	}{
		{name: "an error: nothing was done", err: errors.New("refused"),
			pending: []string{"high", "other"}, running: []string{"low"}, free: []float64{0, 1, 1}},
		{name: "an error, but a job was started: its event is believed", err: errors.New("halfway"),
			events:  []sched.Event{{Kind: sched.Started, ID: "other", Nodes: []sched.NodeTasks{{Node: "n2", Tasks: 1}}}},
			pending: []string{"high"}, running: []string{"low", "other"}, free: []float64{0, 1, 0}},
		{name: "nothing is known: all counts as under way",
			running: []string{"high", "other"}, free: []float64{-1, 0, 0}},
		{name: "halfway: the rest failed",
			events:  []sched.Event{tell(sched.PreemptFailed, "low"), tell(sched.StartFailed, "high"), tell(sched.Started, "other")},
			pending: []string{"high"}, running: []string{"low", "other"}, free: []float64{0, 1, 0}},
		{name: "halfway: a job was stopped in vain",
			events:  []sched.Event{tell(sched.Preempted, "low"), tell(sched.StartFailed, "high"), tell(sched.StartFailed, "other")},
			pending: []string{"low", "high", "other"}, free: []float64{1, 1, 1}},
		{name: "halfway: one start is not known of",
			events:  []sched.Event{tell(sched.Preempted, "low"), tell(sched.StartFailed, "other")},
			pending: []string{"low", "other"}, running: []string{"high"}, free: []float64{0, 0, 1}},
		{name: "all was done",
			events:  []sched.Event{tell(sched.Preempted, "low"), tell(sched.Started, "high"), tell(sched.Started, "other")},
			pending: []string{"low"}, running: []string{"high", "other"}, free: []float64{0, 0, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cluster, next := applied(t, tt.err)
			require.Equal(t, 1, cluster.plans)
			cluster.events = tt.events
			for range 2 { // it stays so until something else is told
				s := next()
				pending, running := ids(s)
				assert.Equal(t, tt.pending, pending)
				assert.Equal(t, tt.running, running)
				assert.Equal(t, tt.free, s.Free)
			}
		})
	}
}
