package sched_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/threesigma"
	"github.com/hedgesched/hedge/utility"
)

// The tests of this file are of a public trial: hedge embedded in a cluster of GPU nodes, as its engineers would.

// morning is when they begin.
var morning = time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)

// gpus is a cluster of GPU nodes under 3Sigma, with a loop and a history.
type gpus struct {
	t       *testing.T
	now     time.Time
	told    []sched.Event
	applied error
	history *predict.History
	loop    *sched.Loop
	shown   *sched.Snapshot // a copy of the last
}

func (g *gpus) Events(context.Context) ([]sched.Event, error) {
	e := g.told
	g.told = nil
	return e, nil
}

func (g *gpus) Apply(context.Context, *sched.Plan) error { return g.applied }

// newGPUs has a number of nodes of 8 GPUs. Every other node is of the second model.
func newGPUs(t *testing.T, nodes int) *gpus {
	t.Helper()
	g := &gpus{t: t, now: morning}
	var err error
	g.history, err = predict.NewHistory(nil)
	require.NoError(t, err)
	p, err := threesigma.New(threesigma.Config{Slot: 10 * time.Minute, Window: 4 * time.Hour})
	require.NoError(t, err)
	g.loop = newLoop(t, g, p, g.history, sched.WithObserver(func(c *sched.Cycle) {
		if c.Snapshot != nil {
			g.shown = c.Snapshot.Clone()
		}
	}))
	for i := range nodes {
		g.up(i, 8)
	}
	return g
}

func (g *gpus) up(i int, count float64) {
	model := []string{"a100", "h100"}[i%2]
	g.tell(sched.Event{Kind: sched.NodeUp,
		Node: &sched.Node{Name: fmt.Sprint("n", i), Labels: map[string]string{"gpu-model": model},
			Capacity: sched.Resources{"cpu": 128, "memory": 1024, "gpu": count}}})
}

func (g *gpus) down(name string) {
	g.tell(sched.Event{Kind: sched.NodeDown, Node: &sched.Node{Name: name}})
}

func (g *gpus) tell(e sched.Event) {
	if e.Time.IsZero() {
		e.Time = g.now
	}
	g.told = append(g.told, e)
}

// job is a job of user u1 that is worth 5 and less by the day.
func (g *gpus) job(id string, tasks int, each float64) *sched.Job {
	u, err := utility.LinearDecay(5, 240*time.Hour)
	require.NoError(g.t, err)
	return &sched.Job{ID: id, Tasks: tasks, Demand: sched.Resources{"gpu": each, "cpu": 8 * each, "memory": 64 * each},
		Attributes: map[string]string{"user": "u1", "name": "m"}, Submitted: morning, Utility: u}
}

func (g *gpus) submit(jobs ...*sched.Job) {
	for _, j := range jobs {
		g.tell(sched.Event{Kind: sched.Submitted, Job: j})
	}
}

// due makes a job one with a deadline.
func (g *gpus) due(j *sched.Job, within time.Duration) *sched.Job {
	u, err := utility.Deadline(within, 100)
	require.NoError(g.t, err)
	j.Deadline, j.Utility, j.Priority = within, u, 1
	return j
}

// learn teaches runtimes of an hour and longer.
func (g *gpus) learn() {
	for i := range 30 {
		require.NoError(g.t, g.history.Observe(predict.Observation{Job: g.job("", 1, 1).Features(),
			Runtime: 3600 + 60*float64(i)}))
	}
}

// step does a cycle after a time, and returns what was decided of each job.
func (g *gpus) step(after time.Duration) (*sched.Cycle, map[string]sched.Kind) {
	g.t.Helper()
	g.now = g.now.Add(after)
	c, err := g.loop.Step(background, g.now)
	require.NoError(g.t, err)
	kinds := map[string]sched.Kind{}
	for d := range c.Decisions() {
		kinds[d.Job] = d.Kind
	}
	return c, kinds
}

// free are the GPUs free on each node.
func (g *gpus) free() map[string]float64 {
	out := map[string]float64{}
	for i := range g.shown.Nodes.Len() {
		out[g.shown.Nodes.Node(i).Name] = g.shown.Free[3*i+1]
	}
	return out
}

type brokenUtility func(float64) float64

func (u brokenUtility) At(t float64) float64 { return u(t) }

// TestEmbeddedUtilities: without a utility a job runs; with a broken one it is refused, and no other.
func TestEmbeddedUtilities(t *testing.T) {
	g := newGPUs(t, 2)
	none, due := g.job("none", 1, 1), g.due(g.job("due", 1, 1), time.Hour)
	none.Utility, due.Utility = nil, nil
	g.submit(none, due, g.job("fine", 1, 1))
	var curve *utility.Curve
	broken := map[string]utility.Utility{
		"nan":     brokenUtility(func(float64) float64 { return math.NaN() }),
		"panic":   brokenUtility(func(float64) float64 { panic("a user's utility") }),
		"nil":     curve,
		"no func": brokenUtility(nil),
		"zero":    &utility.Curve{},
	}
	for id, u := range broken {
		j := g.job(id, 1, 1)
		j.Utility = u
		g.submit(j)
	}
	c, kinds := g.step(0)
	assert.Equal(t, map[string]sched.Kind{"none": sched.Start, "due": sched.Start, "fine": sched.Start}, kinds)
	require.Len(t, c.Rejected, len(broken))
	for _, r := range c.Rejected {
		var bad *sched.JobError
		require.ErrorAs(t, r.Err, &bad)
		require.ErrorIs(t, r.Err, sched.ErrInvalidJob)
		assert.Equal(t, "Utility", bad.Field)
		assert.Contains(t, broken, bad.Job)
	}
}

func TestEmbeddedSubmissionTimes(t *testing.T) {
	g := newGPUs(t, 2)
	undated, future, due := g.job("undated", 1, 1), g.job("future", 1, 1), g.due(g.job("due", 1, 1), time.Hour)
	undated.Submitted, due.Submitted, future.Submitted = time.Time{}, time.Time{}, morning.Add(10*time.Hour)
	g.submit(undated, future, due)
	_, kinds := g.step(0)
	assert.Equal(t, map[string]sched.Kind{"undated": sched.Start, "future": sched.Start, "due": sched.Start}, kinds)
	for _, p := range g.shown.Pending[:2] {
		assert.Equal(t, morning, p.Job.Submitted)
	}
}

// TestEmbeddedCheckpoint: what a job had done counts, both in what is expected of the rest and in what is learnt.
func TestEmbeddedCheckpoint(t *testing.T) {
	g := newGPUs(t, 2)
	g.learn()
	kept := g.job("kept", 1, 8)
	kept.Checkpoint = true
	g.submit(kept, g.job("plain", 1, 8))
	_, kinds := g.step(0)
	require.Equal(t, map[string]sched.Kind{"kept": sched.Start, "plain": sched.Start}, kinds)
	g.tell(sched.Event{Kind: sched.Started, ID: "kept"})
	g.tell(sched.Event{Kind: sched.Started, ID: "plain"})
	g.now = g.now.Add(30 * time.Minute)
	slo := g.due(g.job("slo", 1, 8), 100*time.Minute)
	slo.Submitted = g.now
	g.submit(slo)
	_, kinds = g.step(0)
	require.Equal(t, map[string]sched.Kind{"kept": sched.Preempt, "slo": sched.Start}, kinds)
	whole := g.history.Predict(kept.Features())
	g.now = g.now.Add(20 * time.Second)
	g.tell(sched.Event{Kind: sched.Preempted, ID: "kept"})
	g.step(0)
	require.Len(t, g.shown.Pending, 1)
	assert.InDelta(t, whole.Point-1820, g.shown.Pending[0].Prediction.Point, 1e-6)
	g.tell(sched.Event{Kind: sched.Started, ID: "slo"})
	g.tell(sched.Event{Kind: sched.Finished, ID: "plain", Runtime: 31 * time.Minute})
	_, kinds = g.step(time.Minute)
	require.Equal(t, map[string]sched.Kind{"kept": sched.Start}, kinds)
	g.tell(sched.Event{Kind: sched.Started, ID: "kept"})
	g.now = g.now.Add(40 * time.Minute)
	g.tell(sched.Event{Kind: sched.Finished, ID: "kept"}) // the loop knows both times
	c, _ := g.step(0)
	require.Empty(t, c.Ignored)
	learnt := g.history.Predict(kept.Features())
	assert.Equal(t, 32, learnt.Samples)
	assert.InDelta(t, 31*60, learnt.Dist.Quantile(0), 1)
	assert.InDelta(t, 5340, learnt.Dist.Quantile(1), 1)
	assert.InDelta(t, (30*4470+31*60+1820+2400)/32., mean(g.history, kept), 1e-6)
}

// mean is of all runtimes that were learnt.
func mean(h *predict.History, j *sched.Job) float64 {
	for _, c := range h.Explain(j.Features()) {
		if c.Expert.Feature == predict.AllFeature && c.Expert.Estimator == predict.EstimatorMean {
			return c.Point
		}
	}
	return math.NaN()
}

func TestEmbeddedWithdrawals(t *testing.T) {
	g := newGPUs(t, 1)
	g.submit(g.job("a", 1, 8), g.job("b", 1, 8))
	_, kinds := g.step(0)
	assert.Equal(t, map[string]sched.Kind{"a": sched.Start, "b": sched.Defer}, kinds)
	g.tell(sched.Event{Kind: sched.Started, ID: "a"})
	g.tell(sched.Event{Kind: sched.Withdrawn, ID: "b"})
	c, kinds := g.step(time.Minute)
	assert.Empty(t, kinds)
	assert.Equal(t, 1, c.Running)
	g.tell(sched.Event{Kind: sched.Withdrawn, ID: "a"})
	g.tell(sched.Event{Kind: sched.Withdrawn, ID: "zzz"})
	g.tell(sched.Event{Kind: sched.Finished, ID: "a", Runtime: time.Minute})
	g.submit(g.job("a", 1, 8), g.job("a", 2, 8))
	c, kinds = g.step(time.Minute)
	assert.Equal(t, map[string]sched.Kind{"a": sched.Start}, kinds, "the id is free again")
	assert.Equal(t, map[string]error{"a": sched.ErrDuplicateJob}, sentinels(t, c.Rejected))
	require.Len(t, c.Ignored, 2)
	require.ErrorContains(t, c.Ignored[0], `withdrawn "zzz": unknown job`)
	require.ErrorContains(t, c.Ignored[1], `finished "a": unknown job`)
	assert.Equal(t, 0, g.history.Len(), "nothing is learnt of what was withdrawn")
}

func TestEmbeddedNodeLoss(t *testing.T) {
	g := newGPUs(t, 2)
	g.submit(g.job("a", 2, 8))
	g.step(0)
	g.tell(sched.Event{Kind: sched.Started, ID: "a"})
	g.down("n1")
	g.submit(g.job("b", 1, 1))
	_, kinds := g.step(time.Minute)
	assert.Equal(t, map[string]sched.Kind{"b": sched.Defer}, kinds)
	assert.Equal(t, map[string]float64{"n0": 0}, g.free())
	g.up(1, 8)
	_, kinds = g.step(time.Minute)
	assert.Equal(t, map[string]sched.Kind{"b": sched.Defer}, kinds)
	assert.Equal(t, map[string]float64{"n0": 0, "n1": 0}, g.free(), "until events tell, the job is there")
	g.up(1, 7)
	_, kinds = g.step(time.Minute)
	assert.Equal(t, map[string]sched.Kind{"b": sched.Defer}, kinds)
	assert.Equal(t, map[string]float64{"n0": 0, "n1": -1}, g.free())
	g.tell(sched.Event{Kind: sched.Preempted, ID: "a"})
	_, kinds = g.step(time.Minute)
	assert.Equal(t, map[string]sched.Kind{"a": sched.Defer, "b": sched.Start}, kinds, "a needs the lost GPU")
	g.down("n0")
	g.down("n1")
	g.down("n9")
	c, kinds := g.step(time.Minute)
	assert.Equal(t, map[string]sched.Kind{"a": sched.Defer}, kinds)
	require.Len(t, c.Ignored, 1)
	require.ErrorContains(t, c.Ignored[0], `node-down "n9": unknown node`)
	g.tell(sched.Event{Kind: sched.Withdrawn, ID: "b"})
	g.up(0, 8)
	g.up(1, 8)
	_, kinds = g.step(time.Minute)
	assert.Equal(t, map[string]sched.Kind{"a": sched.Start}, kinds)
}

func TestEmbeddedGPULostInUse(t *testing.T) {
	g := newGPUs(t, 1)
	g.submit(g.job("a", 8, 1))
	g.step(0)
	g.tell(sched.Event{Kind: sched.Started, ID: "a"})
	g.up(0, 7)
	g.submit(g.job("b", 1, 1))
	_, kinds := g.step(time.Minute)
	assert.Equal(t, map[string]sched.Kind{"b": sched.Defer}, kinds)
	assert.Equal(t, map[string]float64{"n0": -1}, g.free())
}

func TestEmbeddedHalfGPUs(t *testing.T) {
	g := newGPUs(t, 1)
	g.submit(g.job("halves", 16, 0.5), g.job("whole", 1, 1))
	_, kinds := g.step(0)
	assert.Equal(t, map[string]sched.Kind{"halves": sched.Start, "whole": sched.Defer}, kinds)
}

func TestEmbeddedNoNodes(t *testing.T) {
	g := newGPUs(t, 0)
	g.submit(g.job("a", 1, 1))
	c, kinds := g.step(0)
	assert.Equal(t, map[string]sched.Kind{"a": sched.Defer}, kinds)
	assert.Empty(t, c.Unplaceable, "nodes may yet come")
	g.up(0, 8)
	_, kinds = g.step(time.Minute)
	assert.Equal(t, map[string]sched.Kind{"a": sched.Start}, kinds)
}

// TestEmbeddedRestart: a host that was restarted tells of jobs that run.
func TestEmbeddedRestart(t *testing.T) {
	g := newGPUs(t, 2)
	old := g.job("old", 2, 4)
	old.Submitted = morning.Add(-5 * time.Hour)
	g.submit(old)
	g.tell(sched.Event{Kind: sched.Started, ID: "old", Time: morning.Add(-2 * time.Hour),
		Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 2}}})
	g.step(0)
	assert.Equal(t, map[string]float64{"n0": 0, "n1": 8}, g.free())
	assert.Equal(t, morning.Add(-2*time.Hour), g.shown.Running[0].Started)
	g.tell(sched.Event{Kind: sched.Finished, ID: "old"})
	g.step(0)
	assert.InDelta(t, 7200, mean(g.history, old), 0)
}

// TestEmbeddedBackInTime: a clock that is set back stops nothing for good.
func TestEmbeddedBackInTime(t *testing.T) {
	g := newGPUs(t, 1)
	a := g.job("a", 1, 8)
	g.submit(a)
	g.step(0)
	g.tell(sched.Event{Kind: sched.Started, ID: "a"})
	g.submit(g.job("b", 1, 8))
	for _, now := range []time.Time{morning.Add(-5 * time.Hour), {}} {
		g.now = now
		_, kinds := g.step(0)
		assert.Equal(t, map[string]sched.Kind{"b": sched.Defer}, kinds, now)
	}
	g.now = morning.Add(-time.Hour)
	g.tell(sched.Event{Kind: sched.Finished, ID: "a"}) // before it started
	c, kinds := g.step(0)
	assert.Equal(t, map[string]sched.Kind{"b": sched.Start}, kinds)
	require.Len(t, c.Ignored, 1)
	require.ErrorContains(t, c.Ignored[0], "its Time is -1h0m0s after the start")
	assert.Equal(t, 0, g.history.Len())
}

func TestEmbeddedApplyError(t *testing.T) {
	g := newGPUs(t, 1)
	g.submit(g.job("a", 1, 8))
	g.applied = errors.New("api down")
	c, err := g.loop.Step(background, g.now)
	require.ErrorIs(t, err, g.applied)
	assert.Equal(t, sched.StageApply, c.Stage)
	assert.Equal(t, 0, c.Started)
	g.applied = nil
	_, kinds := g.step(time.Minute)
	assert.Equal(t, map[string]sched.Kind{"a": sched.Start}, kinds)
}

func TestEmbeddedBadEvents(t *testing.T) {
	g := newGPUs(t, 1)
	for _, e := range []sched.Event{
		{}, {Kind: 99, ID: "x"}, {Kind: sched.Submitted}, {Kind: sched.NodeUp}, {Kind: sched.NodeDown},
		{Kind: sched.NodeUp, Node: &sched.Node{}},
		{Kind: sched.NodeUp, Node: &sched.Node{Name: "neg", Capacity: sched.Resources{"gpu": -1}}},
		{Kind: sched.NodeUp, Node: &sched.Node{Name: "nan", Capacity: sched.Resources{"gpu": math.NaN()}}},
		{Kind: sched.Started, ID: "nobody"}, {Kind: sched.Preempted, ID: "nobody"}, {Kind: sched.StartFailed},
	} {
		g.tell(e)
	}
	g.submit(g.job("", 1, 1), g.job("zero-tasks", 0, 1), g.job("nan", 1, math.NaN()))
	c, kinds := g.step(0)
	assert.Empty(t, kinds)
	assert.Len(t, c.Rejected, 3)
	require.Len(t, c.Ignored, 11)
	for i, want := range []string{
		`EventKind(0) "": unknown kind`, `EventKind(99) "x": unknown kind`, "no job", "no node", "no node",
		"a node without a name",
		`node "neg": capacity of "gpu" is -1`, `node "nan": capacity of "gpu" is NaN`,
		`started "nobody": unknown job`, `preempted "nobody": unknown job`, `start-failed "": unknown job`,
	} {
		require.ErrorIs(t, c.Ignored[i], sched.ErrBadEvent)
		require.ErrorContains(t, c.Ignored[i], want)
	}
	g.submit(g.job("r", 2, 1), g.job("s", 1, 1))
	g.tell(sched.Event{Kind: sched.Started, ID: "r",
		Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}, {Node: "n77", Tasks: 1}}})
	g.tell(sched.Event{Kind: sched.Started, ID: "s", Nodes: []sched.NodeTasks{{Node: "n0", Tasks: -1}}})
	c, kinds = g.step(0)
	require.Len(t, c.Ignored, 1)
	require.ErrorContains(t, c.Ignored[0], `started "s": -1 tasks on node "n0"`)
	assert.Equal(t, map[string]sched.Kind{"s": sched.Start}, kinds)
	assert.Equal(t, map[string]float64{"n0": 7}, g.free(), "a node that is not known, or not yet, holds nothing")
}

// TestEmbeddedFinishedWithoutRuntime: the loop knows the times, and never learns a runtime of 0 s.
func TestEmbeddedFinishedWithoutRuntime(t *testing.T) {
	g := newGPUs(t, 1)
	for i := range 5 {
		id := fmt.Sprint("a", i)
		g.submit(g.job(id, 1, 1))
		g.step(0)
		g.tell(sched.Event{Kind: sched.Started, ID: id})
		g.now = g.now.Add(time.Hour)
		g.tell(sched.Event{Kind: sched.Finished, ID: id})
		c, _ := g.step(0)
		require.Empty(t, c.Ignored)
	}
	p := g.history.Predict(g.job("next", 1, 1).Features())
	assert.InDelta(t, 3600, p.Point, 0)
	assert.InDelta(t, 3600, p.Dist.Mean(), 1e-6)
}

func TestEmbeddedNothingIsLearntOf(t *testing.T) {
	hour := morning.Add(time.Hour)
	started := sched.Event{Kind: sched.Started, ID: "a", Time: morning}
	undated := started
	undated.Time = time.Time{}
	finished := sched.Event{Kind: sched.Finished, ID: "a", Time: hour}
	for name, c := range map[string]struct {
		events []sched.Event
		why    string
	}{
		"a negative runtime": {[]sched.Event{started, {Kind: sched.Finished, ID: "a", Time: hour, Runtime: -time.Hour}},
			"Runtime is -1h0m0s, which is negative"},
		"a start that nobody saw": {[]sched.Event{finished}, "no event Started has told since when"},
		"a start without a time":  {[]sched.Event{undated, finished}, "no event Started has told since when"},
		"an end without a time":   {[]sched.Event{started, {Kind: sched.Finished, ID: "a"}}, "no Runtime and no Time"},
		"an end that is the start": {[]sched.Event{started, {Kind: sched.Finished, ID: "a", Time: morning}},
			"its Time is 0s after the start"},
		"a second start not seen": {[]sched.Event{started, {Kind: sched.Preempted, ID: "a", Time: hour}, finished},
			"no event Started has told since when"},
		"a first run of some length": {
			[]sched.Event{{Kind: sched.Preempted, ID: "a", Time: hour}, {Kind: sched.Started, ID: "a", Time: hour,
				Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}}, {Kind: sched.Finished, ID: "a", Time: hour.Add(time.Hour)}},
			"how much the job had done"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGPUs(t, 1)
			a := g.job("a", 1, 1)
			a.Checkpoint = true
			g.submit(a)
			g.step(0)
			g.told = append(g.told, c.events...)
			cycle, _ := g.step(2 * time.Hour)
			require.Len(t, cycle.Ignored, 1)
			require.ErrorIs(t, cycle.Ignored[0], sched.ErrBadEvent)
			require.ErrorContains(t, cycle.Ignored[0], c.why)
			require.ErrorContains(t, cycle.Ignored[0], `finished "a"`)
			assert.Equal(t, 0, g.history.Len())
			assert.Equal(t, 0, cycle.Running, "it is gone all the same")
		})
	}
}

// TestEmbeddedDirect: a policy that is asked without a loop says what is wrong with the question.
func TestEmbeddedDirect(t *testing.T) {
	nodes, err := sched.NewNodeSet([]sched.Node{{Name: "n0", Capacity: sched.Resources{"gpu": 8}}})
	require.NoError(t, err)
	minute, err := dist.NewPoint(60)
	require.NoError(t, err)
	job := func(id string, demand sched.Resources) []sched.Pending {
		return []sched.Pending{{Prediction: predict.Prediction{Dist: minute, Point: 60},
			Job: &sched.Job{ID: id, Tasks: 1, Demand: demand, Submitted: morning}}}
	}
	one := sched.Resources{"gpu": 1}
	unforeseen, zero := job("unforeseen", one), job("zero", one)
	unforeseen[0].Prediction, zero[0].Prediction = predict.Prediction{}, predict.Prediction{Dist: dist.Normal{}}
	for name, c := range map[string]struct {
		s    *sched.Snapshot
		err  string
		kind sched.Kind
	}{
		"nil":              {nil, "nil", 0},
		"empty":            {&sched.Snapshot{}, "Nodes: nil", 0},
		"no amounts":       {&sched.Snapshot{Nodes: nodes}, "Free: 0 amounts, expected 1", 0},
		"a negative cycle": {&sched.Snapshot{Nodes: nodes, Free: []float64{8}, Cycle: -1}, "Cycle: -1ns", 0},
		"a job that is nil": {&sched.Snapshot{Nodes: nodes, Free: []float64{8}, Pending: []sched.Pending{{}}},
			"Pending[0].Job: nil", 0},
		"an amount that is NaN": {&sched.Snapshot{Nodes: nodes, Free: []float64{math.NaN()}, Pending: job("a", one)},
			"Free[0]: NaN", 0},
		"nothing pending": {&sched.Snapshot{Nodes: nodes, Free: []float64{8}}, "", 0},
		"a job": {
			&sched.Snapshot{Nodes: nodes, Free: []float64{8}, Now: morning, Pending: job("a", one)}, "", sched.Start},
		"a job without a forecast": {
			&sched.Snapshot{Nodes: nodes, Free: []float64{8}, Now: morning, Pending: unforeseen}, "", sched.Start},
		"a distribution made by nobody": {&sched.Snapshot{Nodes: nodes, Free: []float64{8}, Now: morning, Pending: zero}, "",
			sched.Start},
		"a resource that is not there": {&sched.Snapshot{Nodes: nodes, Free: []float64{8}, Now: morning,
			Pending: job("a", sched.Resources{"cpu": 1})}, "", sched.Defer},
	} {
		p, err := threesigma.New(threesigma.Config{})
		require.NoError(t, err)
		plan, err := p.Plan(background, c.s)
		if c.err != "" {
			require.ErrorIs(t, err, sched.ErrInvalidSnapshot, name)
			require.ErrorContains(t, err, c.err, name)
			continue
		}
		require.NoError(t, err, name)
		require.Empty(t, plan.Stats.Fault, name)
		require.Len(t, plan.Decisions, len(c.s.Pending), name)
		for _, d := range plan.Decisions {
			assert.Equal(t, c.kind, d.Kind, name)
		}
	}
}
