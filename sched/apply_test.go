package sched_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

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
func applied(t *testing.T, outcome error) (r *remote, next func() (*sched.Snapshot, *sched.Cycle)) {
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
		schedtest.Job("low", 1).Job(), schedtest.Job("high", 2).Submitted(1).Priority(1).Job(),
		schedtest.Job("other", 1).Submitted(2).Job(),
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
	return r, func() (*sched.Snapshot, *sched.Cycle) {
		now++
		cycle, err := loop.Step(background, schedtest.At(now))
		require.NoError(t, err)
		return shown, cycle
	}
}

// A host reads why something failed; the loop goes on.
func TestLoopTellsFailures(t *testing.T) {
	broken, evicted := errors.New("no such image"), errors.New("over quota")
	r, next := applied(t, nil)
	r.events = []sched.Event{
		{Kind: sched.PreemptFailed, ID: "low", Err: broken}, {Kind: sched.StartFailed, ID: "high"},
		{Kind: sched.Withdrawn, ID: "other", Err: evicted}, {Kind: sched.Withdrawn, ID: "high"},
		{Kind: sched.StartFailed, ID: "ghost", Err: broken},
	}
	want := r.events[:3]
	_, cycle := next()
	assert.Equal(t, want, cycle.Failed)
	require.Len(t, cycle.Ignored, 1)
	require.ErrorIs(t, cycle.Ignored[0], sched.ErrBadEvent)
	_, cycle = next()
	assert.Empty(t, cycle.Failed, "told once")
}

// A job whose start fails is kept from the policy until it may be tried again.
func TestLoopNotBefore(t *testing.T) {
	soon, late := schedtest.At(6), schedtest.At(100) // next is at 4, 5, 6, ...
	set := func(kind sched.EventKind, id string, at time.Time) sched.Event {
		return sched.Event{Kind: kind, ID: id, NotBefore: at}
	}
	look := func(next func() (*sched.Snapshot, *sched.Cycle), pending, running []string, delayed int) {
		t.Helper()
		s, cycle := next()
		require.Empty(t, cycle.Ignored)
		p, r := ids(s)
		assert.Equal(t, pending, p)
		assert.Equal(t, running, r)
		assert.Equal(t, []int{len(p), len(r), delayed}, []int{cycle.Pending, cycle.Running, cycle.Delayed})
	}
	t.Run("its time comes", func(t *testing.T) {
		r, next := applied(t, nil)
		r.events = []sched.Event{set(sched.Preempted, "low", soon), set(sched.StartFailed, "high", late),
			set(sched.StartFailed, "other", schedtest.At(4))}
		look(next, []string{"other"}, nil, 2)
		look(next, []string{"other"}, nil, 2)
		look(next, []string{"low", "other"}, nil, 1)
		s, _ := next()
		assert.Equal(t, []float64{1, 1, 1}, s.Free, "they hold nothing meanwhile")
	})
	t.Run("it is told of meanwhile", func(t *testing.T) {
		r, next := applied(t, nil)
		r.events = []sched.Event{set(sched.Preempted, "low", late), set(sched.StartFailed, "high", late),
			set(sched.StartFailed, "other", late)}
		look(next, nil, nil, 3)
		r.events = []sched.Event{
			{Kind: sched.Withdrawn, ID: "low"}, {Kind: sched.Finished, ID: "high", Runtime: 1},
			{Kind: sched.Started, ID: "other", Nodes: []sched.NodeTasks{{Node: "n1", Tasks: 1}}},
		}
		look(next, nil, []string{"other"}, 0)
		s, _ := next()
		assert.Equal(t, []float64{1, 0, 1}, s.Free)
	})
	t.Run("it cannot be planned", func(t *testing.T) {
		r := &remote{}
		job := schedtest.Job("a", 1).Job()
		start := &sched.Plan{Decisions: []sched.Decision{
			{Job: "a", Kind: sched.Start, Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}}}}
		loop := newLoop(t, r, &spy{Policy: baseline.NewFIFO(),
			plan: func(*sched.Snapshot) (*sched.Plan, error) { return start, nil }}, schedtest.Forecasts())
		r.events = []sched.Event{{Kind: sched.NodeUp, Node: &sched.Node{Name: "n0"}}, {Kind: sched.Submitted, Job: job}}
		_, err := loop.Step(background, schedtest.At(0))
		require.NoError(t, err)
		r.events = []sched.Event{set(sched.StartFailed, "a", soon)}
		_, err = loop.Step(background, schedtest.At(1))
		require.ErrorIs(t, err, sched.ErrInvalidPlan)
		_, err = loop.Step(background, soon)
		require.NoError(t, err)
	})
}

// The predictor learns what a job takes at full speed, from what the clock says and where the job ran.
func TestLoopLearnsFullSpeed(t *testing.T) {
	learnt := func(t *testing.T, node string, between ...sched.Event) float64 {
		r, l := &remote{}, newLearner()
		loop := newLoop(t, r, baseline.NewFIFO(), l)
		for _, n := range schedtest.Nodes(2, 2) {
			r.events = append(r.events, sched.Event{Kind: sched.NodeUp, Node: &n})
		}
		job := schedtest.Job("a", 1).Prefers(sched.NodesWith("rack", "r1"), 1.5).Job()
		r.events = append(r.events, sched.Event{Kind: sched.Submitted, Job: job},
			sched.Event{Kind: sched.Started, ID: "a", Nodes: []sched.NodeTasks{{Node: node, Tasks: 1}}})
		finished := sched.Event{Kind: sched.Finished, ID: "a", Runtime: 150*time.Second + 1}
		for _, r.events = range [][]sched.Event{r.events, between, {finished}} {
			_, err := loop.Step(background, schedtest.At(0))
			require.NoError(t, err)
		}
		return l.observed["a"]
	}
	gone := func(name string) sched.Event {
		return sched.Event{Kind: sched.NodeDown, Node: &sched.Node{Name: name}}
	}
	assert.Equal(t, 100.000000001, learnt(t, "n0"), "to the nanosecond")
	assert.Equal(t, 150.000000001, learnt(t, "n1"), "where it prefers to run")
	assert.Equal(t, 100.000000001, learnt(t, "n0", gone("n0")), "its node was gone before")
	assert.Equal(t, 150.000000001, learnt(t, "n1", gone("n1")), "its node was gone before")
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
			events: []sched.Event{tell(sched.PreemptFailed, "low"), tell(sched.StartFailed, "high"),
				tell(sched.Started, "other")},
			pending: []string{"high"}, running: []string{"low", "other"}, free: []float64{0, 1, 0}},
		{name: "halfway: a job was stopped in vain",
			events: []sched.Event{tell(sched.Preempted, "low"), tell(sched.StartFailed, "high"),
				tell(sched.StartFailed, "other")},
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
				s, cycle := next()
				require.Empty(t, cycle.Ignored)
				pending, running := ids(s)
				assert.Equal(t, tt.pending, pending)
				assert.Equal(t, tt.running, running)
				assert.Equal(t, tt.free, s.Free)
			}
		})
	}
}
