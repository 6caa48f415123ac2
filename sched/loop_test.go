package sched_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/schedtest"
)

var background = context.Background()

// spy keeps the last snapshot's outline and answers by a function or FIFO.
type spy struct {
	sched.Policy
	see  func(*sched.Snapshot)
	plan func(*sched.Snapshot) (*sched.Plan, error)
}

func (p *spy) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	if p.see != nil {
		p.see(s)
	}
	if p.plan != nil {
		return p.plan(s)
	}
	return p.Policy.Plan(ctx, s)
}

// learner counts what it is asked and told.
type learner struct {
	predict.Predictor
	asked    map[string]int
	observed map[string]float64
	refuse   error
}

func newLearner() *learner {
	return &learner{Predictor: schedtest.Forecasts(), asked: map[string]int{}, observed: map[string]float64{}}
}

func (l *learner) Predict(j predict.Job) predict.Prediction {
	l.asked[j.ID]++
	return l.Predictor.Predict(j)
}

func (l *learner) Observe(o predict.Observation) error {
	if l.refuse != nil {
		return l.refuse
	}
	l.observed[o.Job.ID] = o.Runtime
	return nil
}

func newLoop(t *testing.T, c sched.Cluster, p sched.Policy, pr predict.Predictor, opts ...sched.Option) *sched.Loop {
	t.Helper()
	l, err := sched.NewLoop(c, p, pr, opts...)
	require.NoError(t, err)
	return l
}

func step(t *testing.T, l *sched.Loop, c *schedtest.Cluster, seconds float64) *sched.Cycle {
	t.Helper()
	c.Advance(schedtest.At(seconds))
	cycle, err := l.Step(background, schedtest.At(seconds))
	require.NoError(t, err)
	return cycle
}

func TestNewLoopRefuses(t *testing.T) {
	c, p, f := schedtest.NewCluster(schedtest.At(0), nil), baseline.NewFIFO(), schedtest.Forecasts()
	for name, try := range map[string]func() (*sched.Loop, error){
		"cluster":   func() (*sched.Loop, error) { return sched.NewLoop(nil, p, f) },
		"policy":    func() (*sched.Loop, error) { return sched.NewLoop(c, nil, f) },
		"predictor": func() (*sched.Loop, error) { return sched.NewLoop(c, p, nil) },
		"cycle":     func() (*sched.Loop, error) { return sched.NewLoop(c, p, f, sched.WithCycle(-1)) },
		"clock":     func() (*sched.Loop, error) { return sched.NewLoop(c, p, f, sched.WithClock(nil)) },
		"stopwatch": func() (*sched.Loop, error) { return sched.NewLoop(c, p, f, sched.WithStopwatch(nil)) },
	} {
		_, err := try()
		require.ErrorIs(t, err, sched.ErrInvalidOption, name)
		assert.ErrorContains(t, err, name)
	}
}

func TestLoopLifeOfAJob(t *testing.T) {
	c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(2, 1))
	l := newLearner()
	loop := newLoop(t, c, baseline.NewFIFO(), l)
	c.Submit(schedtest.Job("a", 2).Job(), 50)
	c.Submit(schedtest.Job("b", 1).Submitted(1).Job(), 50)

	first := step(t, loop, c, 0)
	assert.Equal(t, []string{"a"}, schedtest.Started(first.Plan))
	assert.Equal(t, []int{2, 0, 1, 4}, []int{first.Pending, first.Running, first.Started, first.Events})
	second := step(t, loop, c, 2)
	assert.Equal(t, []int{1, 1, 0}, []int{second.Pending, second.Running, second.Started})
	third := step(t, loop, c, 60)
	assert.Equal(t, []string{"b"}, schedtest.Started(third.Plan))
	assert.Equal(t, map[string]float64{"a": 50}, l.observed)
	assert.Equal(t, map[string]int{"a": 1, "b": 1}, l.asked, "forecast once, at submission")
}

func TestLoopFreshPredictions(t *testing.T) {
	c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(1, 1))
	l := newLearner()
	loop := newLoop(t, c, baseline.NewFIFO(), l, sched.WithFreshPredictions())
	for i := range 3 {
		c.Submit(schedtest.Job(fmt.Sprint(i), 1).Submitted(float64(i)).Job(), 50)
	}
	step(t, loop, c, 0)
	step(t, loop, c, 10)
	assert.Equal(t, map[string]int{"0": 1, "1": 1, "2": 1}, l.asked)
	step(t, loop, c, 60)
	assert.Equal(t, map[string]int{"0": 1, "1": 2, "2": 2}, l.asked)
}

// A running stage is forecast again when another stage of a job has ended, and a running job without stages is not.
func TestLoopForecastsRunningStagesAgain(t *testing.T) {
	c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(3, 1))
	l := newLearner()
	var shown *sched.Snapshot
	loop := newLoop(t, c, &spy{Policy: baseline.NewFIFO(), see: func(s *sched.Snapshot) { shown = s.Clone() }}, l,
		sched.WithFreshPredictions())
	for _, id := range []string{"a", "b", "alone"} {
		j := schedtest.Job(id, 1).Job()
		if id != "alone" {
			j.Of = "whole"
		}
		c.Submit(j, map[string]float64{"a": 50, "b": 500, "alone": 500}[id])
	}
	step(t, loop, c, 0)
	step(t, loop, c, 10)
	require.Len(t, shown.Running, 3)
	assert.Equal(t, map[string]int{"a": 1, "b": 1, "alone": 1}, l.asked)
	step(t, loop, c, 60)
	require.Len(t, shown.Running, 2)
	assert.Equal(t, map[string]int{"a": 1, "b": 2, "alone": 1}, l.asked)
	assert.Equal(t, map[string]float64{"a": 50}, l.observed)
}

func TestLoopRejects(t *testing.T) {
	c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(4, 2))
	loop := newLoop(t, c, baseline.NewFIFO(), schedtest.Forecasts())
	ok := schedtest.Job("ok", 1).Job()
	for _, j := range []*sched.Job{ok, ok, schedtest.Job("none", 0).Job()} {
		c.Submit(j, 10)
	}
	cycle := step(t, loop, c, 0)
	assert.Equal(t, map[string]error{"ok": sched.ErrDuplicateJob, "none": sched.ErrInvalidJob},
		sentinels(t, cycle.Rejected))
	assert.Equal(t, []string{"ok"}, schedtest.Started(cycle.Plan))
	assert.Empty(t, step(t, loop, c, 2).Rejected, "told once")
}

// A job submitted under an id in use is refused whatever the original does, which goes on as before.
func TestLoopDuplicateIDs(t *testing.T) {
	c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(2, 1))
	c.HoldStops = true
	var shown *sched.Snapshot
	loop := newLoop(t, c, &spy{Policy: baseline.NewPrio(), see: func(s *sched.Snapshot) { shown = s.Clone() }},
		newLearner())
	original := schedtest.Job("a", 2).Job()
	twin := func() *sched.Job { return schedtest.Job("a", 1).Submitted(9).Priority(7).Job() }
	refused := func(cycle *sched.Cycle, dup *sched.Job) {
		t.Helper()
		require.Len(t, cycle.Rejected, 1)
		assert.Same(t, dup, cycle.Rejected[0].Job)
		require.ErrorIs(t, cycle.Rejected[0].Err, sched.ErrDuplicateJob)
		assert.Empty(t, cycle.Ignored)
	}
	submitTwin := func(seconds float64) *sched.Cycle {
		t.Helper()
		dup := twin()
		c.Submit(dup, 1)
		cycle := step(t, loop, c, seconds)
		refused(cycle, dup)
		return cycle
	}
	c.Submit(original, 50)
	cycle := submitTwin(0) // the original is pending
	assert.Equal(t, []string{"a"}, schedtest.Started(cycle.Plan))
	submitTwin(2) // the original runs
	require.Len(t, shown.Running, 1)
	assert.Same(t, original, shown.Running[0].Job)
	c.Submit(schedtest.Job("urgent", 1).Submitted(3).Priority(1).Job(), 10)
	assert.Equal(t, []string{"a"}, schedtest.Preempted(step(t, loop, c, 4).Plan))
	submitTwin(6) // the original is stopping
	c.Stop("a")
	submitTwin(8) // the original is pending again
	require.Len(t, shown.Pending, 1)
	assert.Same(t, original, shown.Pending[0].Job)
	assert.Equal(t, []string{"a"}, schedtest.Started(step(t, loop, c, 30).Plan))
	step(t, loop, c, 90)
	dup := twin()
	c.Submit(dup, 1)
	cycle = step(t, loop, c, 92)
	assert.Empty(t, cycle.Rejected, "the id is free again once the job has finished")
	assert.Equal(t, 1, cycle.Pending)
}

func TestLoopWaitsForNodes(t *testing.T) {
	c := schedtest.NewCluster(schedtest.At(0), nil)
	loop := newLoop(t, c, baseline.NewFIFO(), schedtest.Forecasts())
	c.Submit(schedtest.Job("a", 1).Job(), 10)
	c.Submit(schedtest.Job("b", 3).Job(), 10)
	cycle := step(t, loop, c, 0)
	assert.Equal(t, 2, cycle.Pending)
	assert.Empty(t, cycle.Rejected, "nothing is known of the cluster yet")
	for _, n := range schedtest.Nodes(2, 1) {
		c.NodeUp(n)
	}
	cycle = step(t, loop, c, 2)
	assert.Equal(t, []string{"a"}, schedtest.Started(cycle.Plan))
	require.Len(t, cycle.Unplaceable, 1)
	assert.Equal(t, "b", cycle.Unplaceable[0].Job.ID)
}

func TestLoopFixedClusterRejects(t *testing.T) {
	c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(4, 2))
	loop := newLoop(t, c, baseline.NewFIFO(), schedtest.Forecasts(), sched.WithFixedCluster())
	want := map[string]error{"wide": sched.ErrTooLarge, "rack": sched.ErrTooLarge, "gpu": sched.ErrUnknownResource}
	submitUnplaceable(c)
	c.Submit(schedtest.Job("ok", 1).Submitted(1).Job(), 10)
	cycle := step(t, loop, c, 0)
	assert.Equal(t, want, sentinels(t, cycle.Rejected))
	assert.Empty(t, cycle.Unplaceable)
	assert.Equal(t, 1, cycle.Pending)
	assert.Equal(t, []string{"ok"}, schedtest.Started(cycle.Plan))
	cycle = step(t, loop, c, 2)
	assert.Empty(t, cycle.Rejected, "told once")
}

func submitUnplaceable(c *schedtest.Cluster) {
	c.Submit(schedtest.Job("wide", 5).Job(), 10)
	c.Submit(schedtest.Job("rack", 3).Requires(sched.NodesWith("rack", "r0")).Job(), 10)
	c.Submit(schedtest.Job("gpu", 1).Demand(sched.Resources{"gpu": 1}).Job(), 10)
}

// sentinels checks that every error names its job and gives what it wraps, by job.
func sentinels(t *testing.T, list []sched.Rejection) map[string]error {
	t.Helper()
	out := make(map[string]error)
	for _, r := range list {
		var je *sched.JobError
		require.ErrorAs(t, r.Err, &je)
		assert.Equal(t, r.Job.ID, je.Job)
		for _, sentinel := range []error{sched.ErrDuplicateJob, sched.ErrInvalidJob, sched.ErrTooLarge,
			sched.ErrUnknownResource} {
			if errors.Is(r.Err, sentinel) {
				out[r.Job.ID] = sentinel
			}
		}
	}
	return out
}

// What is refused says what is in the way, and by how much.
func TestUnplaceableJobsSayWhy(t *testing.T) {
	nodes := schedtest.Nodes(2, 2)
	for i := range nodes {
		nodes[i].Capacity = sched.Resources{"gpu": 8, "cpu": 64 - float64(32*i)}
	}
	c := schedtest.NewCluster(schedtest.At(0), nodes)
	loop := newLoop(t, c, baseline.NewFIFO(), schedtest.Forecasts())
	job := func(id string, tasks int, demand sched.Resources) *schedtest.JobBuilder {
		return schedtest.Job(id, tasks).Demand(demand)
	}
	want := map[string]string{
		"big":    `each task needs 9 gpu, and the most that one of 2 nodes offers is 8: 1 too little: job "big": Demand[gpu] = 9`,
		"label":  `no node has rack=r7: job "label": Required = rack=r7`,
		"both":   `what is asked of rack contradicts itself: no value is left that it may have: job "both": Required = rack=!`,
		"wide":   `2 tasks of 3 fit on 2 nodes even if nothing else runs there: 1 too many: job "wide": Tasks = 3`,
		"within": `each task needs 48 cpu, and the most that one of 1 node with rack=r1 offers is 32: 16 too little: job "within": Demand[cpu] = 48`,
	}
	for _, j := range []*schedtest.JobBuilder{
		job("big", 1, sched.Resources{"gpu": 9}),
		job("label", 1, sched.Resources{"gpu": 1}).Requires(sched.NodesWith("rack", "r7")),
		job("both", 1, sched.Resources{"gpu": 1}).Requires(sched.NodesWith("rack", "r0").And(sched.NodesWith("rack", "r1"))),
		job("wide", 3, sched.Resources{"gpu": 8}),
		job("within", 1, sched.Resources{"cpu": 48}).Requires(sched.NodesWith("rack", "r1")),
	} {
		c.Submit(j.Job(), 10)
	}
	cycle := step(t, loop, c, 0)
	require.Len(t, cycle.Unplaceable, len(want))
	for _, r := range cycle.Unplaceable {
		require.ErrorIs(t, r.Err, sched.ErrTooLarge)
		assert.Equal(t, "sched: the nodes cannot hold the gang: "+want[r.Job.ID], r.Err.Error())
	}
}

// Nodes register late and clusters grow: what cannot be placed waits, and is told once.
func TestLoopUnplaceableJobsWait(t *testing.T) {
	for name, newPolicy := range map[string]func() sched.Policy{"fifo": baseline.NewFIFO, "prio": baseline.NewPrio} {
		t.Run(name, func(t *testing.T) {
			c := schedtest.NewCluster(schedtest.At(0), nil)
			loop := newLoop(t, c, newPolicy(), schedtest.Forecasts())
			submitUnplaceable(c)
			cycle := step(t, loop, c, 0)
			assert.Empty(t, cycle.Unplaceable, "nothing is known of the cluster yet")
			for _, n := range schedtest.Nodes(4, 2) {
				c.NodeUp(n)
			}
			cycle = step(t, loop, c, 2)
			assert.Empty(t, cycle.Rejected)
			assert.Equal(t, map[string]error{"wide": sched.ErrTooLarge, "rack": sched.ErrTooLarge,
				"gpu": sched.ErrUnknownResource},
				sentinels(t, cycle.Unplaceable))
			assert.Equal(t, 3, cycle.Pending)
			assert.Empty(t, step(t, loop, c, 4).Unplaceable, "told once")

			c.Submit(schedtest.Job("small", 1).Submitted(1).Job(), 5)
			assert.Equal(t, []string{"small"}, schedtest.Started(step(t, loop, c, 6).Plan), "they block nobody")

			c.NodeUp(sched.Node{Name: "gpu", Capacity: sched.Resources{"gpu": 1}})
			c.NodeUp(sched.Node{Name: "n4", Labels: map[string]string{"rack": "r0"}})
			cycle = step(t, loop, c, 20)
			assert.ElementsMatch(t, []string{"rack", "gpu"}, schedtest.Started(cycle.Plan))
			assert.Equal(t, []string{"wide"}, schedtest.Started(step(t, loop, c, 40).Plan))
		})
	}
}

func TestLoopStartFails(t *testing.T) {
	c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(1, 1))
	fail := true
	c.Refuse = func(string) bool { return fail }
	loop := newLoop(t, c, baseline.NewFIFO(), schedtest.Forecasts())
	c.Submit(schedtest.Job("a", 1).Job(), 10)
	step(t, loop, c, 0)
	fail = false
	cycle := step(t, loop, c, 2)
	assert.Equal(t, []string{"a"}, schedtest.Started(cycle.Plan), "it is pending again and its node free")
	assert.Equal(t, 1, step(t, loop, c, 4).Running)
}

func TestLoopPreempts(t *testing.T) {
	c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(2, 1))
	loop := newLoop(t, c, baseline.NewPrio(), schedtest.Forecasts())
	c.Submit(schedtest.Job("be", 2).Job(), 100)
	step(t, loop, c, 0)
	c.Submit(schedtest.Job("slo", 1).Submitted(1).Priority(1).Job(), 10)
	cycle := step(t, loop, c, 2)
	assert.Equal(t, []int{1, 1}, []int{cycle.Started, cycle.Preempted})
	cycle = step(t, loop, c, 4)
	assert.Equal(t, []int{1, 1}, []int{cycle.Pending, cycle.Running}, "be waits again")
	assert.Equal(t, []string{"be"}, schedtest.Started(step(t, loop, c, 20).Plan))
	assert.Equal(t, 1, c.Lost)
}

// What a job holds stays held from the order to stop until the cluster tells what became of it.
func TestLoopStopping(t *testing.T) {
	setUp := func(t *testing.T) (*schedtest.Cluster, *sched.Loop, func() *sched.Snapshot) {
		c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(3, 1))
		c.HoldStops = true
		var shown *sched.Snapshot
		policy := &spy{Policy: baseline.NewPrio(), see: func(s *sched.Snapshot) { shown = s.Clone() }}
		loop := newLoop(t, c, policy, newLearner())
		c.Submit(schedtest.Job("be", 2).Job(), 100)
		step(t, loop, c, 0)
		c.Submit(schedtest.Job("slo", 2).Submitted(1).Priority(1).Job(), 10)
		cycle := step(t, loop, c, 2)
		require.Equal(t, []string{"be"}, schedtest.Preempted(cycle.Plan))
		require.Equal(t, []string{"slo"}, schedtest.Started(cycle.Plan))
		for _, d := range []sched.Decision{
			{Job: "be", Kind: sched.Preempt}, {Job: "be", Kind: sched.Start, Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 2}}},
		} {
			policy.plan = func(*sched.Snapshot) (*sched.Plan, error) { return &sched.Plan{Decisions: []sched.Decision{d}}, nil }
			_, err := loop.Step(background, schedtest.At(3))
			require.ErrorIs(t, err, sched.ErrInvalidPlan, "be is neither pending nor running")
		}
		policy.plan = func(*sched.Snapshot) (*sched.Plan, error) { return &sched.Plan{}, nil }
		cycle = step(t, loop, c, 4)
		require.Empty(t, cycle.Ignored)
		require.Equal(t, []int{0, 1}, []int{cycle.Pending, cycle.Running})
		require.Equal(t, -1.0, slices.Min(shown.Free), "slo counts on a node of be's")
		return c, loop, func() *sched.Snapshot { return shown }
	}
	t.Run("stops", func(t *testing.T) {
		c, loop, shown := setUp(t)
		c.Stop("be")
		cycle := step(t, loop, c, 6)
		require.Empty(t, cycle.Ignored)
		assert.Equal(t, "be", shown().Pending[0].Job.ID)
		assert.GreaterOrEqual(t, slices.Min(shown().Free), 0.0)
	})
	t.Run("cannot be stopped", func(t *testing.T) {
		c, loop, shown := setUp(t)
		c.Tell(sched.Event{Kind: sched.PreemptFailed, ID: "be"})
		c.Tell(sched.Event{Kind: sched.PreemptFailed, ID: "be"})
		cycle := step(t, loop, c, 6)
		require.Len(t, cycle.Ignored, 1, "the second: it is not stopping any more")
		require.ErrorIs(t, cycle.Ignored[0], sched.ErrBadEvent)
		be := shown().Running[slices.IndexFunc(shown().Running, func(r sched.Running) bool { return r.Job.ID == "be" })]
		assert.Equal(t, schedtest.At(0), be.Started, "it goes on where it was")
		assert.Equal(t, []sched.NodeTasks{{Node: "n0", Tasks: 1}, {Node: "n1", Tasks: 1}}, be.Nodes)
	})
	t.Run("finishes first", func(t *testing.T) {
		c, loop, shown := setUp(t)
		c.Tell(sched.Event{Kind: sched.Finished, ID: "be", Runtime: 5 * time.Second})
		cycle := step(t, loop, c, 6)
		require.Empty(t, cycle.Ignored)
		assert.GreaterOrEqual(t, slices.Min(shown().Free), 0.0)
	})
	t.Run("nodes change meanwhile", func(t *testing.T) {
		c, loop, shown := setUp(t)
		c.NodeUp(sched.Node{Name: "n9"})
		step(t, loop, c, 6)
		assert.Equal(t, -1.0, slices.Min(shown().Free), "what it holds is counted on the new cluster, too")
	})
}

func TestLoopNodeDown(t *testing.T) {
	c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(3, 1))
	var seen *sched.NodeSet
	loop := newLoop(t, c, &spy{Policy: baseline.NewFIFO(), see: func(s *sched.Snapshot) { seen = s.Nodes }},
		schedtest.Forecasts())
	c.Submit(schedtest.Job("a", 2).Job(), 100)
	step(t, loop, c, 0)
	before := seen
	step(t, loop, c, 2)
	assert.Same(t, before, seen, "the same value while no node changes")
	c.NodeDown("n0")
	cycle := step(t, loop, c, 4)
	assert.NotSame(t, before, seen)
	assert.Equal(t, []string{"a"}, schedtest.Started(cycle.Plan), "its work is lost, it starts on the others")
	assert.Equal(t, "n1", cycle.Plan.Decisions[0].Nodes[0].Node)
}

func TestLoopIgnoresNonsense(t *testing.T) {
	c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(1, 1))
	loop := newLoop(t, c, baseline.NewFIFO(), schedtest.Forecasts())
	c.Submit(schedtest.Job("a", 1).Job(), 10)
	c.Submit(schedtest.Job("b", 1).Submitted(1).Job(), 10)
	nonsense := []sched.Event{
		{Kind: sched.Finished, ID: "ghost"}, {Kind: sched.Preempted, ID: "b"}, {Kind: sched.Started, ID: "b"},
		{Kind: sched.NodeUp}, {Kind: sched.NodeDown}, {Kind: sched.NodeDown, Node: &sched.Node{Name: "x"}},
		{Kind: sched.NodeUp, Node: &sched.Node{}}, {Kind: sched.Submitted}, {Kind: 99, ID: "a"}, {},
	}
	for _, e := range nonsense {
		c.Tell(e)
	}
	cycle := step(t, loop, c, 0)
	require.Len(t, cycle.Ignored, len(nonsense))
	for _, err := range cycle.Ignored {
		require.ErrorIs(t, err, sched.ErrBadEvent)
	}
	assert.Equal(t, []string{"a"}, schedtest.Started(cycle.Plan))
}

func TestLoopTakesOverRunningJobs(t *testing.T) {
	c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(2, 2))
	var running []sched.Running
	loop := newLoop(t, c, &spy{Policy: baseline.NewFIFO(),
		see: func(s *sched.Snapshot) { running = slices.Clone(s.Running) }}, schedtest.Forecasts())
	job := schedtest.Job("old", 1).Prefers(sched.NodesWith("rack", "r1"), 2).Job()
	c.Tell(sched.Event{Kind: sched.Submitted, Job: job})
	c.Tell(sched.Event{Kind: sched.Started, ID: "old", Time: schedtest.At(-50),
		Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}})
	c.Submit(schedtest.Job("new", 2).Submitted(1).Job(), 10)
	cycle := step(t, loop, c, 0)
	assert.Empty(t, schedtest.Started(cycle.Plan), "one node is taken")
	require.Len(t, running, 1)
	assert.Equal(t, schedtest.At(-50), running[0].Started)
	assert.InDelta(t, 0.5, running[0].Speed, 0)
	assert.NotNil(t, running[0].Prediction.Dist)
}

func TestLoopErrorsLoseNothing(t *testing.T) {
	broken := errors.New("broken")
	c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(1, 1))
	p := &spy{Policy: baseline.NewFIFO()}
	loop := newLoop(t, c, p, schedtest.Forecasts())
	c.Submit(schedtest.Job("a", 1).Job(), 10)

	c.EventsErr = broken
	cycle, err := loop.Step(background, schedtest.At(0))
	require.ErrorIs(t, err, broken)
	assert.Equal(t, sched.StageEvents, cycle.Stage)

	p.plan = func(*sched.Snapshot) (*sched.Plan, error) { return nil, broken }
	cycle, err = loop.Step(background, schedtest.At(1))
	require.ErrorIs(t, err, broken)
	assert.ErrorContains(t, err, "fifo")
	assert.Nil(t, cycle.Plan)
	assert.Equal(t, 1, cycle.Pending)
	assert.Equal(t, sched.StagePlan, cycle.Stage)

	p.plan = func(*sched.Snapshot) (*sched.Plan, error) {
		return &sched.Plan{Decisions: []sched.Decision{
			{Job: "a", Kind: sched.Start, Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 2}}}}}, nil
	}
	cycle, err = loop.Step(background, schedtest.At(2))
	require.ErrorIs(t, err, sched.ErrInvalidPlan)
	assert.Equal(t, sched.StagePlan, cycle.Stage)
	assert.Zero(t, c.Running(), "an invalid plan is not carried out")

	p.plan = nil
	c.ApplyErr = broken
	cycle, err = loop.Step(background, schedtest.At(3))
	require.ErrorIs(t, err, broken)
	assert.Equal(t, sched.StageApply, cycle.Stage)
	assert.Zero(t, cycle.Started)

	cycle = step(t, loop, c, 4)
	assert.Equal(t, []string{"a"}, schedtest.Started(cycle.Plan))
	assert.Equal(t, sched.StageDone, cycle.Stage)
}

func TestStageString(t *testing.T) {
	var names []string
	for s := sched.StageEvents; s <= sched.StageDone+1; s++ {
		names = append(names, s.String())
	}
	assert.Equal(t, []string{"events", "plan", "apply", "done", "unknown"}, names)
}

func TestLoopStopwatch(t *testing.T) {
	c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(1, 1))
	ticks := time.Duration(0)
	watch := func() time.Duration { ticks++; return ticks * ticks }
	cycle := step(t, newLoop(t, c, baseline.NewFIFO(), schedtest.Forecasts(), sched.WithStopwatch(watch)), c, 0)
	assert.Equal(t, []time.Duration{16 - 1, 9 - 4, 25 - 16, 36 - 25},
		[]time.Duration{cycle.SnapshotTime, cycle.PredictTime, cycle.PlanTime, cycle.ApplyTime})
}

// truth knows from the plans alone which jobs were told to stop, and computes what must be free.
type truth struct {
	t        *testing.T
	stopping map[string]sched.Running
	busy     int // cycles in which a job was stopping
	idle     int // nodes that were idle when nodes elsewhere were not
}

func (w *truth) check(s *sched.Snapshot) {
	want := slices.Clone(s.Nodes.Capacity())
	used := make([]bool, s.Nodes.Len())
	take := func(r sched.Running) {
		demand, err := s.Nodes.Demand(r.Job.Demand)
		require.NoError(w.t, err)
		for _, nt := range r.Nodes {
			n, ok := s.Nodes.Index(nt.Node)
			if !ok {
				continue
			}
			used[n] = true
			for k, d := range demand {
				want[n*len(demand)+k] -= float64(d * float64(nt.Tasks))
			}
		}
	}
	for _, r := range s.Running {
		take(r)
		require.NotContains(w.t, w.stopping, r.Job.ID)
	}
	for _, r := range w.stopping {
		take(r)
	}
	for _, p := range s.Pending {
		require.NotContains(w.t, w.stopping, p.Job.ID)
	}
	w.busy += min(1, len(w.stopping))
	for i, capacity := range s.Nodes.Capacity() {
		require.InDelta(w.t, want[i], s.Free[i], 1e-13*capacity)
		if !used[i/len(s.Nodes.Resources())] {
			require.Equal(w.t, capacity, s.Free[i], "no rounding survives an idle moment")
			w.idle += min(1, len(s.Running))
		}
	}
	require.True(w.t, slices.IsSortedFunc(s.Pending,
		func(a, b sched.Pending) int { return a.Job.Submitted.Compare(b.Job.Submitted) }))
	require.True(w.t, slices.IsSortedFunc(s.Running, func(a, b sched.Running) int { return a.Started.Compare(b.Started) }))
}

// balky is a cluster whose failed starts are not to be tried again for a while.
type balky struct {
	*schedtest.Cluster
	rng   *rand.Rand
	until map[string]time.Time
}

func (b *balky) Events(ctx context.Context) ([]sched.Event, error) {
	events, err := b.Cluster.Events(ctx)
	for i := range events {
		if e := &events[i]; e.Kind == sched.StartFailed {
			e.NotBefore = e.Time.Add(time.Duration(b.rng.IntN(20)) * time.Second)
			b.until[e.ID] = e.NotBefore
		}
	}
	return events, err
}

// preempted notes what a plan for the snapshot stops.
func (w *truth) preempted(s *sched.Snapshot, plan *sched.Plan) {
	for _, id := range schedtest.Preempted(plan) {
		i := slices.IndexFunc(s.Running, func(r sched.Running) bool { return r.Job.ID == id })
		w.stopping[id] = s.Running[i]
	}
}

// TestLoopStateEqualsScratch drives a loop at random, on a cluster whose starts fail and whose tasks stop late, and
// compares each snapshot with one computed from nothing but what the snapshot says runs and what was told to stop.
func TestLoopStateEqualsScratch(t *testing.T) {
	busy, idle, delayed := 0, 0, 0
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 9))
		nodes := schedtest.Nodes(10, 2)
		for i := range nodes {
			nodes[i].Capacity = sched.Resources{"cpu": 4, "mem": 68_719_476_737} // an odd number of bytes
		}
		c := schedtest.NewCluster(schedtest.At(0), nodes)
		c.Refuse = func(string) bool { return rng.IntN(5) == 0 }
		c.HoldStops = seed%2 == 0
		w := &truth{t: t, stopping: map[string]sched.Running{}}
		var shown *sched.Snapshot
		b := &balky{c, rng, map[string]time.Time{}}
		loop := newLoop(t, b, &spy{Policy: baseline.NewPrio(), see: func(s *sched.Snapshot) {
			shown = s.Clone()
			w.check(s)
			for _, p := range s.Pending {
				require.False(t, b.until[p.Job.ID].After(s.Now), "it is kept back until then")
			}
		}}, schedtest.Forecasts())
		for i := range 120 {
			id := fmt.Sprintf("j%d", i)
			c.Submit(schedtest.Job(id, 1+rng.IntN(8)).Submitted(float64(i)).Priority(rng.IntN(3)).
				Demand(sched.Resources{"cpu": 0.1 * float64(1+rng.IntN(20)), "mem": 1_234_567_891.3 * float64(rng.IntN(20))}).Job(),
				float64(5+rng.IntN(80)))
			switch rng.IntN(12) {
			case 0:
				gone := fmt.Sprintf("j%d", rng.IntN(i+1))
				c.Withdraw(gone)
				delete(w.stopping, gone)
			case 1:
				c.NodeDown("n3")
			case 2:
				c.NodeUp(nodes[3])
			}
			for _, id := range slices.Sorted(maps.Keys(w.stopping)) {
				if rng.IntN(3) == 0 {
					c.Stop(id)
					delete(w.stopping, id)
				}
			}
			cycle := step(t, loop, c, float64(i*4))
			require.Empty(t, cycle.Rejected)
			delayed += cycle.Delayed
			if c.HoldStops {
				w.preempted(shown, cycle.Plan)
			}
		}
		busy, idle = busy+w.busy, idle+w.idle
	}
	require.Greater(t, idle, 50, "nodes must become idle")
	require.Greater(t, delayed, 50, "starts must fail")
	require.Greater(t, busy, 50, "tasks must be stopping while plans are made")
}

func TestRun(t *testing.T) {
	clock := schedtest.NewClock(schedtest.At(0))
	c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(1, 1))
	var times []time.Duration
	ctx, cancel := context.WithCancel(background)
	loop := newLoop(t, c, baseline.NewFIFO(), schedtest.Forecasts(), sched.WithClock(clock),
		sched.WithCycle(2*time.Second),
		sched.WithObserver(func(cy *sched.Cycle) { times = append(times, cy.Now.Sub(schedtest.At(0))) }))
	done := make(chan error, 1)
	go func() { done <- loop.Run(ctx) }()
	for range 2 {
		<-clock.Armed()
		clock.Advance(2 * time.Second)
	}
	<-clock.Armed()
	loop.Wake()
	<-clock.Armed()
	cancel()
	require.NoError(t, <-done, "a cancelled context is no error")
	assert.Equal(t, []time.Duration{0, 2 * time.Second, 4 * time.Second, 4 * time.Second}, times)
}

func TestRunErrors(t *testing.T) {
	broken := errors.New("broken")
	fail := &spy{Policy: baseline.NewFIFO(), plan: func(*sched.Snapshot) (*sched.Plan, error) { return nil, broken }}
	c := schedtest.NewCluster(schedtest.At(0), nil)
	require.ErrorIs(t, newLoop(t, c, fail, schedtest.Forecasts()).Run(background), broken)

	count := 0
	var loop *sched.Loop
	loop = newLoop(t, c, fail, schedtest.Forecasts(), sched.WithCycle(0), sched.WithErrorHandler(func(err error) error {
		if count++; count == 3 {
			return err
		}
		loop.Wake()
		return nil
	}))
	require.ErrorIs(t, loop.Run(background), broken)
	assert.Equal(t, 3, count)
}

func TestCheckPlan(t *testing.T) {
	s := build(t, schedtest.Snapshot(schedtest.Nodes(3, 3)).Running(schedtest.Job("r", 1), 0, "n0").
		Pending(schedtest.Job("a", 2), schedtest.Job("b", 1).Requires(sched.NodesWith("rack", "r2"))))
	on := func(names ...string) (out []sched.NodeTasks) {
		for _, n := range names {
			out = append(out, sched.NodeTasks{Node: n, Tasks: 1})
		}
		return out
	}
	start := func(id string, nodes ...string) sched.Decision {
		return sched.Decision{Job: id, Kind: sched.Start, Nodes: on(nodes...)}
	}
	preempt := sched.Decision{Job: "r", Kind: sched.Preempt}
	for _, tt := range []struct {
		says      string
		decisions []sched.Decision
	}{
		{"", nil},
		{"", []sched.Decision{start("a", "n1", "n2"), {Job: "b"}}},
		{"", []sched.Decision{preempt, start("a", "n0", "n1"), start("b", "n2")}},
		{"", []sched.Decision{start("a", "n0", "n1"), preempt}},
		{"over-commits node of node \"n0\"", []sched.Decision{start("a", "n0", "n1")}},
		{"over-commits", []sched.Decision{start("a", "n1", "n1")}},
		{"over-commits", []sched.Decision{start("a", "n1", "n2"), start("b", "n2")}},
		{"1 of 2 tasks", []sched.Decision{start("a", "n1")}},
		{"0 of 2 tasks", []sched.Decision{start("a")}},
		{"requires rack=r2", []sched.Decision{start("b", "n1")}},
		{"unknown node \"n9\"", []sched.Decision{start("b", "n9")}},
		{"unknown job \"x\"", []sched.Decision{start("x", "n1")}},
		{"not pending", []sched.Decision{start("r", "n1")}},
		{"not running", []sched.Decision{{Job: "a", Kind: sched.Preempt}}},
		{"two decisions", []sched.Decision{{Job: "a"}, start("a", "n1", "n2")}},
		{"no decision", []sched.Decision{{Job: "a", Kind: 7}}},
		{"0 tasks", []sched.Decision{{Job: "b", Kind: sched.Start, Nodes: []sched.NodeTasks{{Node: "n2"}}}}},
	} {
		err := sched.CheckPlan(s, &sched.Plan{Decisions: tt.decisions})
		if tt.says == "" {
			assert.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, sched.ErrInvalidPlan, tt.says)
		assert.ErrorContains(t, err, tt.says)
	}
	require.ErrorIs(t, sched.CheckPlan(s, nil), sched.ErrInvalidPlan)
}

func TestPlanAll(t *testing.T) {
	s := build(t, schedtest.Snapshot(schedtest.Nodes(1, 1)).Running(schedtest.Job("r", 1), 0, "n0").
		Pending(schedtest.Job("a", 1), schedtest.Job("b", 1), schedtest.Job("c", 1)))
	rest := sched.Reason{Code: sched.ReasonWaiting, Ahead: []string{"b"}, Probability: -1}
	p := &sched.Plan{Rest: rest, Decisions: []sched.Decision{{Job: "r", Kind: sched.Preempt},
		{Job: "b", Kind: sched.Start}}}
	want := append(slices.Clone(p.Decisions), sched.Decision{Job: "a", Reason: rest},
		sched.Decision{Job: "c", Reason: rest})
	assert.Equal(t, want, slices.Collect(p.All(s)))
	for range p.All(s) {
		break
	}
}

// A snapshot is the loop's memory; a clone is not.
func TestSnapshotClone(t *testing.T) {
	c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(2, 1))
	var shown, kept *sched.Snapshot
	loop := newLoop(t, c, &spy{Policy: baseline.NewFIFO(), see: func(s *sched.Snapshot) {
		if shown == nil {
			shown, kept = s, s.Clone()
			require.EqualExportedValues(t, shown, kept)
		}
	}}, schedtest.Forecasts())
	c.Submit(schedtest.Job("a", 1).Job(), 10)
	c.Submit(schedtest.Job("b", 2).Submitted(1).Job(), 10)
	step(t, loop, c, 0)
	step(t, loop, c, 2)
	assert.Len(t, kept.Pending, 2)
	assert.Equal(t, "a", kept.Pending[0].Job.ID)
	assert.Empty(t, kept.Running)
	assert.Equal(t, []float64{1, 1}, kept.Free)
}

// Outside the policy, a cycle allocates by what happens in it and not by the jobs that wait.
// build is the snapshot that was described.
func build(t testing.TB, b *schedtest.SnapshotBuilder) *sched.Snapshot {
	t.Helper()
	s, err := b.Build()
	require.NoError(t, err)
	return s
}

func TestStepDoesNotAllocateByBacklog(t *testing.T) {
	allocs := func(waiting int) float64 {
		c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(1, 1))
		loop := newLoop(t, c, baseline.NewFIFO(), schedtest.Forecasts())
		for i := range waiting {
			c.Submit(schedtest.Job(fmt.Sprint(i), 1).Submitted(float64(i)).Job(), 1e6)
		}
		return testing.AllocsPerRun(5, func() { step(t, loop, c, 0) })
	}
	assert.InDelta(t, allocs(10), allocs(3000), 0.5)
}

func TestJobValidate(t *testing.T) {
	ok := func() *sched.Job { return schedtest.Job("j", 1).Job() }
	assert.NoError(t, ok().Validate())
	for field, breakIt := range map[string]func(*sched.Job){
		"ID":          func(j *sched.Job) { j.ID = "" },
		"Tasks":       func(j *sched.Job) { j.Tasks = 0 },
		"Demand[cpu]": func(j *sched.Job) { j.Demand = sched.Resources{"cpu": math.NaN()} },
		"Demand[mem]": func(j *sched.Job) { j.Demand = sched.Resources{"cpu": 1, "mem": -1} },
		"Demand":      func(j *sched.Job) { j.Demand = sched.Resources{"cpu": 0} },
		"Speeds":      func(j *sched.Job) { j.Speeds = sched.SpeedsOf(sched.Speed{Factor: 1.5}) },
		"Deadline":    func(j *sched.Job) { j.Deadline = -1 },
	} {
		j := ok()
		breakIt(j)
		err := j.Validate()
		require.ErrorIs(t, err, sched.ErrInvalidJob, field)
		var je *sched.JobError
		require.ErrorAs(t, err, &je)
		assert.Equal(t, field, je.Field)
	}
	for _, s := range []float64{math.NaN(), math.Inf(1), -1, 0, 1e-7} {
		j := ok()
		j.Speeds = sched.SpeedsOf(sched.Speed{Factor: s})
		assert.Error(t, j.Validate(), "%v", s)
	}
	assert.Equal(t, sched.Resources{"node": 1}, ok().DemandOrNode())
}

func TestTexts(t *testing.T) {
	for _, k := range []sched.Kind{sched.Defer, sched.Start, sched.Preempt} {
		text, err := k.MarshalText()
		require.NoError(t, err)
		var back sched.Kind
		require.NoError(t, back.UnmarshalText(text))
		assert.Equal(t, k, back)
	}
	for k := sched.NodeUp; k <= sched.Measured; k++ {
		text, err := k.MarshalText()
		require.NoError(t, err)
		assert.False(t, strings.Contains(string(text), "("), "%s", text)
		var back sched.EventKind
		require.NoError(t, back.UnmarshalText(text))
		assert.Equal(t, k, back)
	}
	for _, k := range []sched.Kind{-1, sched.Preempt + 1} {
		_, err := k.MarshalText()
		assert.Error(t, err)
	}
	for _, k := range []sched.EventKind{0, sched.Measured + 1} {
		_, err := k.MarshalText()
		assert.Error(t, err)
	}
	var k sched.Kind
	var e sched.EventKind
	assert.Error(t, k.UnmarshalText([]byte("x")))
	assert.Error(t, e.UnmarshalText([]byte("x")))
	assert.Equal(t, "Kind(9) EventKind(0)", fmt.Sprint(sched.Kind(9), " ", sched.EventKind(0)))
	for want, r := range map[string]sched.Reason{
		"starts now on rack=r1; expected utility 12.5; 83% in time": {Code: sched.ReasonPlaced, Set: "rack=r1",
			Value: 12.5, Probability: 0.83},
		"deferred to slot 2 on any, behind a, b, c and 1 more, bound by p": {Code: sched.ReasonDeferred, Slot: 2, Set: "any",
			Partition: "p", Ahead: []string{"a", "b", "c", "d"}, Probability: -1},
		"deferred to slot 2 on rack=r1, behind j7, j9; expected utility 12.5; 83% in time": {
			Code: sched.ReasonDeferred, Slot: 2, Set: "rack=r1", Ahead: []string{"j7", "j9"}, Value: 12.5, Probability: 0.83},
		"deferred to slot 5 on any, when it is worth more; expected utility 9": {Code: sched.ReasonLater, Slot: 5, Set: "any",
			Value: 9, Probability: -1},
		"expected to be worth nothing by the time it is done": {Code: sched.ReasonNoUtility, Probability: -1},
		"worth nothing any more, behind a and 7 more": {Code: sched.ReasonSpent, Ahead: []string{"a"}, More: 7,
			Probability: -1},
		"preempted for x": {Code: sched.ReasonPreempted, For: "x", Probability: -1},
		"no reason given": {},
	} {
		assert.Equal(t, want, r.String())
	}
}

func ExampleNewLoop() {
	cluster := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(2, 1))
	cluster.Submit(schedtest.Job("train", 2).Job(), 60)
	cluster.Submit(schedtest.Job("report", 1).Submitted(1).Job(), 60)
	loop, err := sched.NewLoop(cluster, baseline.NewFIFO(), schedtest.Forecasts())
	if err != nil {
		panic(err)
	}
	for _, now := range []float64{2, 62} {
		cluster.Advance(schedtest.At(now))
		cycle, err := loop.Step(context.Background(), schedtest.At(now))
		if err != nil {
			panic(err)
		}
		for _, d := range cycle.Plan.Decisions {
			fmt.Println(d.Job, d.Kind, "-", d.Reason)
		}
	}
	// Output:
	// train start - starts now on any
	// report defer - waits on any, behind train
	// report start - starts now on any
}
