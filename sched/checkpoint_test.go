package sched_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// A job that keeps its work is forecast by what is left of it, wherever it was slowed down, and learnt of as a whole.
func TestLoopKeepsWork(t *testing.T) {
	uniform, err := dist.NewUniform(100, 300)
	require.NoError(t, err)
	for _, tt := range []struct {
		name      string
		keeps     bool
		submitted time.Duration // done when the loop first hears of it
		node      string
		stopped   sched.Event
		left      [2]float64 // bounds of the forecast after the stop
		learnt    float64    // where the second run takes 50 s on n1
	}{
		{name: "nothing is kept", node: "n1", stopped: sched.Event{Time: schedtest.At(40)}, left: [2]float64{100, 300},
			learnt: 50},
		{name: "by the clock", keeps: true, node: "n1", stopped: sched.Event{Time: schedtest.At(40)},
			left: [2]float64{60, 260}, learnt: 90},
		{name: "slowed down", keeps: true, node: "n0", stopped: sched.Event{Time: schedtest.At(60)},
			left: [2]float64{60, 260}, learnt: 90},
		{name: "by the cycle", keeps: true, node: "n1", left: [2]float64{0, 100}, learnt: 250},
		{name: "as the cluster says", keeps: true, node: "n1",
			stopped: sched.Event{Time: schedtest.At(40), Done: 30 * time.Second}, left: [2]float64{70, 270}, learnt: 80},
		{name: "none, as the cluster says", keeps: true, submitted: 70 * time.Second, node: "n1",
			stopped: sched.Event{Time: schedtest.At(40), Done: -1},
			left:    [2]float64{100, 300}, learnt: 50},
		{name: "though the start failed", keeps: true, node: "n1",
			stopped: sched.Event{Kind: sched.StartFailed, Done: 30 * time.Second},
			left:    [2]float64{70, 270}, learnt: 80},
		{name: "not where the start failed", keeps: true, node: "n1", stopped: sched.Event{Kind: sched.StartFailed},
			left: [2]float64{100, 300}, learnt: 50},
		{name: "from before a restart", keeps: true, submitted: 70 * time.Second, node: "n1",
			stopped: sched.Event{Time: schedtest.At(40)}, left: [2]float64{0, 190}, learnt: 160},
		{name: "longer than was thought possible", keeps: true, node: "n1", stopped: sched.Event{Time: schedtest.At(400)},
			left: [2]float64{0, 0}, learnt: 450},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, l := &remote{}, newLearner()
			b := schedtest.Job("a", 1).Prefers(sched.NodesWith("rack", "r1"), 1.5).Predicted(uniform)
			l.Predictor = schedtest.Forecasts(b)
			job := b.Job()
			job.Checkpoint = tt.keeps
			var shown *sched.Snapshot
			plan := &spy{Policy: baseline.NewFIFO(), see: func(s *sched.Snapshot) { shown = s.Clone() },
				plan: func(*sched.Snapshot) (*sched.Plan, error) { return &sched.Plan{}, nil }}
			loop := newLoop(t, r, plan, l, sched.WithFreshPredictions())
			for _, n := range schedtest.Nodes(2, 2) {
				r.events = append(r.events, sched.Event{Kind: sched.NodeUp, Node: &n})
			}
			r.events = append(r.events, sched.Event{Kind: sched.Submitted, Job: job, Done: tt.submitted},
				sched.Event{Kind: sched.Started, ID: "a", Time: schedtest.At(0),
					Nodes: []sched.NodeTasks{{Node: tt.node, Tasks: 1}}})
			step := func(seconds float64, events ...sched.Event) *sched.Cycle {
				t.Helper()
				r.events = append(r.events, events...)
				c, err := loop.Step(background, schedtest.At(seconds))
				require.NoError(t, err)
				require.Empty(t, c.Ignored)
				return c
			}
			step(1)
			stopped := tt.stopped
			if stopped.ID = "a"; stopped.Kind == 0 {
				stopped.Kind = sched.Preempted
			}
			step(200, stopped)
			check := func() {
				t.Helper()
				require.Len(t, shown.Pending, 1)
				lo, hi := shown.Pending[0].Prediction.Dist.Bounds()
				assert.InDeltaSlice(t, tt.left[:], []float64{lo, hi}, 1e-9)
				assert.GreaterOrEqual(t, shown.Pending[0].Prediction.Point, 0.0)
			}
			check()
			other := schedtest.Job("b", 1).Job()
			step(201, sched.Event{Kind: sched.Submitted, Job: other},
				sched.Event{Kind: sched.Finished, ID: "b", Runtime: time.Second})
			check() // forecast anew
			c := step(202, sched.Event{Kind: sched.Started, ID: "a", Nodes: []sched.NodeTasks{{Node: "n1", Tasks: 1}}},
				sched.Event{Kind: sched.Finished, ID: "a", Runtime: 50 * time.Second})
			assert.InDelta(t, tt.learnt, l.observed["a"], 1e-9)
			require.Len(t, c.Learnt, 1)
			assert.Same(t, job, c.Learnt[0].Job)
			assert.InDelta(t, 50, c.Learnt[0].Ran, 1e-9, "the last run alone, as it was forecast")
			lo, hi := c.Learnt[0].Prediction.Dist.Bounds()
			assert.InDeltaSlice(t, tt.left[:], []float64{lo, hi}, 1e-9)
		})
	}
}

// A job with a checkpoint that comes, starts and is stopped between two cycles was never forecast. It starts again.
func TestLoopKeepsWorkBeforeForecast(t *testing.T) {
	r, l := &remote{}, newLearner()
	b := schedtest.Job("a", 1)
	l.Predictor = schedtest.Forecasts(b)
	job := b.Job()
	job.Checkpoint = true
	loop := newLoop(t, r, baseline.NewFIFO(), l)
	node := schedtest.Nodes(1, 1)[0]
	r.events = []sched.Event{{Kind: sched.NodeUp, Node: &node},
		{Kind: sched.Submitted, Job: job, Done: 30 * time.Second},
		{Kind: sched.Started, ID: "a", Time: schedtest.At(1), Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}},
		{Kind: sched.Preempted, ID: "a", Time: schedtest.At(2)}}
	c, err := loop.Step(t.Context(), schedtest.At(10))
	require.NoError(t, err)
	assert.Empty(t, c.Ignored)
	assert.Equal(t, 1, c.Started)
}
