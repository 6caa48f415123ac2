package threesigma_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/threesigma"
	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/greedy"
	"github.com/hedgesched/hedge/solver/native"
	"github.com/hedgesched/hedge/utility"
)

// gpus is a cluster of nodes with 8 GPUs each, of two models in turn, whose jobs have run for 1 h to 1 h 29 min so far.
type gpus struct {
	t      *testing.T
	loop   *sched.Loop
	now    time.Time
	events []sched.Event
}

func (g *gpus) Events(context.Context) ([]sched.Event, error) {
	events := g.events
	g.events = nil
	return events, nil
}

func (g *gpus) Apply(context.Context, *sched.Plan) error { return nil }

func newGPUs(t *testing.T, nodes int, p sched.Policy) *gpus {
	t.Helper()
	g := &gpus{t: t, now: epoch}
	h, err := predict.NewHistory(nil)
	require.NoError(t, err)
	for i := range 30 {
		require.NoError(t, h.Observe(predict.Observation{
			Job: predict.Job{Attributes: map[string]string{"user": "u", "name": "m"}}, Runtime: 3600 + float64(60*i)}))
	}
	g.loop, err = sched.NewLoop(g, p, h)
	require.NoError(t, err)
	for i := range nodes {
		g.tell(sched.Event{Kind: sched.NodeUp, Node: &sched.Node{Name: fmt.Sprint("n", i),
			Labels:   map[string]string{"gpu-model": []string{"a100", "h100"}[i%2]},
			Capacity: sched.Resources{"cpu": 128, "memory": 1024, "gpu": 8}}})
	}
	return g
}

func (g *gpus) tell(e sched.Event) {
	e.Time = g.now
	g.events = append(g.events, e)
}

// submit submits a best-effort job, or one with a deadline.
func (g *gpus) submit(id string, tasks int, gpu float64, deadline time.Duration, change func(*sched.Job)) {
	g.t.Helper()
	var u utility.Utility
	var err error
	if deadline > 0 {
		u, err = utility.Deadline(deadline, 100)
	} else {
		u, err = utility.LinearDecay(5, 240*time.Hour)
	}
	require.NoError(g.t, err)
	j := &sched.Job{ID: id, Tasks: tasks, Demand: sched.Resources{"gpu": gpu, "cpu": 8 * gpu, "memory": 64 * gpu},
		Submitted:  g.now,
		Attributes: map[string]string{"user": "u", "name": "m"}, Utility: u, Deadline: deadline}
	if change != nil {
		change(j)
	}
	g.tell(sched.Event{Kind: sched.Submitted, Job: j})
}

// step runs a cycle and goes on. What starts is confirmed.
func (g *gpus) step(then time.Duration) map[string]sched.Decision {
	g.t.Helper()
	c, err := g.loop.Step(context.Background(), g.now)
	require.NoError(g.t, err)
	out := map[string]sched.Decision{}
	for _, d := range c.Plan.Decisions {
		out[d.Job] = d
		if d.Kind == sched.Start {
			g.tell(sched.Event{Kind: sched.Started, ID: d.Job, Nodes: d.Nodes})
		}
	}
	g.now = g.now.Add(then)
	return out
}

// planner plans in slots of ten minutes.
func planner(t *testing.T) sched.Policy {
	return policy(t, threesigma.Config{Slot: 10 * time.Minute, Window: 4 * time.Hour})
}

// TestReasonsNameWhoHolds: a job that waits names the running job that holds the node and the job that is planned
// before it. Where nothing is planned, no probability is told.
func TestReasonsNameWhoHolds(t *testing.T) {
	g := newGPUs(t, 1, planner(t))
	g.submit("a", 1, 8, 0, nil)
	g.step(time.Minute)
	g.submit("b", 1, 8, 0, nil)
	g.submit("slo", 1, 8, 5*time.Hour, nil)
	got := g.step(4 * time.Hour)
	assert.Equal(t, []string{"a"}, got["slo"].Reason.Ahead)
	assert.Greater(t, got["slo"].Reason.Probability, 0.9)
	assert.Equal(t, []string{"a", "slo"}, got["b"].Reason.Ahead)
	got = g.step(0)
	assert.Equal(t, "a", got["slo"].Reason.Ahead[0], "%s", got["slo"].Reason)
	if got["slo"].Start.IsZero() {
		assert.Equal(t, float64(sched.UnknownProbability), got["slo"].Reason.Probability)
	}
}

// TestReasonsKeepToTheSet: what starts or runs on other nodes than a job may use is not what it waits for.
func TestReasonsKeepToTheSet(t *testing.T) {
	on := func(model string) func(*sched.Job) {
		return func(j *sched.Job) { j.Required = sched.NodesWith("gpu-model", model) }
	}
	for _, p := range []sched.Policy{planner(t), baseline.NewFIFO(), baseline.NewEDF(), baseline.NewSJF(),
		baseline.NewPrio()} {
		g := newGPUs(t, 2, p)
		g.submit("holder", 1, 8, 0, on("a100"))
		g.step(time.Minute)
		g.submit("other", 1, 8, 0, on("h100"))
		g.step(0)
		g.submit("mine", 1, 8, 0, on("a100"))
		s := g.step(0)
		if d, own := s["mine"]; own {
			assert.Equal(t, []string{"holder"}, d.Reason.Ahead, p.Name())
			continue
		}
		c, err := g.loop.Step(context.Background(), g.now)
		require.NoError(t, err)
		assert.Equal(t, []string{"holder"}, c.Plan.Rest.Ahead, p.Name())
	}
}

// TestReasonsOfPreferredNodes: a job that waits for the nodes it prefers waits for what holds these.
func TestReasonsOfPreferredNodes(t *testing.T) {
	g := newGPUs(t, 2, planner(t))
	for i, d := range []time.Duration{0, 100 * time.Minute, 4 * time.Hour} {
		g.submit(fmt.Sprint("p", i), 1, 8, d, func(j *sched.Job) {
			j.Speeds = sched.SpeedsOf(sched.Speed{On: sched.NodesWith("gpu-model", "h100"), Factor: 1},
				sched.Speed{Factor: 1 / 1.5})
			j.Priority = min(i, 1)
		})
	}
	got := g.step(0)
	require.Equal(t, sched.Defer, got["p0"].Kind)
	require.Equal(t, "gpu-model=h100", got["p0"].Reason.Set)
	assert.Equal(t, []string{"p1"}, got["p0"].Reason.Ahead)
	assert.Equal(t, "n1", got["p1"].Nodes[0].Node)
}

// TestReasonsOfResources: a job that lacks GPUs does not wait for those that hold none.
func TestReasonsOfResources(t *testing.T) {
	g := newGPUs(t, 1, planner(t))
	g.submit("gpus", 1, 8, 0, nil)
	g.submit("cpus", 1, 0, 0, func(j *sched.Job) { j.Demand = sched.Resources{"cpu": 32} })
	g.step(time.Minute)
	g.submit("more", 1, 4, 0, nil)
	assert.Equal(t, []string{"gpus"}, g.step(0)["more"].Reason.Ahead)
}

// TestReasonsOfObstacles: a job that fits nowhere says why in every cycle, whatever the policy.
func TestReasonsOfObstacles(t *testing.T) {
	for _, p := range []sched.Policy{planner(t), baseline.NewFIFO(), baseline.NewEDF(), baseline.NewSJF(),
		baseline.NewPrio()} {
		g := newGPUs(t, 2, p)
		demand := func(r sched.Resources) func(*sched.Job) { return func(j *sched.Job) { j.Demand = r } }
		for i := range 3 { // they fill the cluster, and one waits
			g.submit(fmt.Sprint("fill", i), 1, 8, 0, nil)
		}
		g.submit("typo", 1, 1, 0, demand(sched.Resources{"gpus": 1}))
		g.submit("none", 1, 1, 0, demand(nil))
		g.submit("wide", 40, 1, 0, nil)
		g.submit("label", 1, 1, 0, func(j *sched.Job) { j.Required = sched.NodesWith("gpu-model", "b200") })
		g.submit("big", 1, 9, 0, nil)
		for range 3 {
			got := g.step(time.Minute)
			for id, want := range map[string]string{
				"typo": "cannot start: no node offers gpus, of which each task needs 1; nodes offer cpu, gpu, memory",
				"none": "cannot start: no node is offered whole, as a task without a demand needs it; " +
					"nodes offer cpu, gpu, memory",
				"wide":  "cannot start: 16 tasks of 40 fit on 2 nodes even if nothing else runs there: 24 too many",
				"label": "cannot start: no node has gpu-model=b200",
				"big":   "cannot start: each task needs 9 gpu, and the most that one of 2 nodes offers is 8: 1 too little",
			} {
				assert.Equal(t, want, got[id].Reason.String(), "%s %s", p.Name(), id)
			}
		}
	}
}

// TestReasonsOfWorth: a best-effort job that is worth nothing any more still runs where there is room. One whose
// deadline has passed does not.
func TestReasonsOfWorth(t *testing.T) {
	g := newGPUs(t, 1, planner(t))
	g.submit("late", 1, 1, 2*time.Hour, func(j *sched.Job) { j.Submitted = epoch.Add(-3 * time.Hour) })
	g.submit("old", 1, 1, 0, func(j *sched.Job) { j.Submitted = epoch.Add(-241 * time.Hour) })
	got := g.step(0)
	assert.Equal(t, sched.Start, got["old"].Kind)
	assert.Equal(t, "starts now on any", got["old"].Reason.String())
	assert.Equal(t, "worth nothing any more", got["late"].Reason.String())
}

// limited is an engine that finds nothing, and says why it stopped.
type limited struct {
	stop solver.Stop
	work int64
}

func (limited) Name() string { return "limited" }

func (e limited) Solve(_ context.Context, _ *solver.Problem, opts solver.Options,
	_ func(*solver.Solution)) (*solver.Solution, error) {
	return &solver.Solution{Engine: "limited", Stop: e.stop, Work: min(e.work, opts.Work),
		Choice: map[string]solver.Choice{}}, nil
}

// TestReasonsOfEngines: that the solver stopped is told only where a limit has stopped it.
func TestReasonsOfEngines(t *testing.T) {
	for _, c := range []struct {
		engine solver.Solver
		want   string
	}{
		{native.New(nil), "deferred, behind runner"},
		{greedy.New(), "deferred, behind runner"},
		{limited{stop: solver.StopOptimal}, "deferred, behind runner"},
		{limited{stop: solver.StopWork, work: 10}, "deferred, behind runner"},
		{limited{stop: solver.StopWork, work: 1e9}, "the solver stopped before a place was found, behind runner"},
		{limited{stop: solver.StopTime}, "the solver stopped before a place was found, behind runner"},
	} {
		s := cluster(t, 1, epoch, sched.Running{Job: be(t, "runner", 1), Prediction: forecast(point(t, 1e6)), Started: epoch,
			Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}})
		s.Pending = []sched.Pending{{Job: be(t, "next", 1), Prediction: forecast(point(t, 60))}}
		got := plan(t, policy(t, threesigma.Config{Solver: c.engine}), s)
		assert.Equal(t, c.want, got["next"].Reason.String(), "%v", c.engine)
	}
}

// TestReasonsOfFaults: every job that cannot be planned tells its own fault, and the plan tells the first few of them.
func TestReasonsOfFaults(t *testing.T) {
	for jobs, want := range map[int]string{3: "mood 2), want a number", 8: "; and 4 more"} {
		s := cluster(t, 2, epoch)
		moods := make([]*moody, jobs)
		for i := range moods {
			moods[i] = &moody{func(float64) float64 { return 1 }}
			j := be(t, fmt.Sprint("odd", i), 1)
			j.Utility = moods[i]
			s.Pending = append(s.Pending, sched.Pending{Job: j, Prediction: forecast(point(t, 60))})
		}
		s.Pending = append(s.Pending, sched.Pending{Job: be(t, "none", 0), Prediction: forecast(point(t, 60))})
		p := policy(t, threesigma.Config{})
		plan(t, p, s)
		for i, m := range moods {
			m.at = func(float64) float64 { panic(fmt.Sprint("mood ", i)) }
		}
		got, err := p.Plan(context.Background(), s)
		require.NoError(t, err)
		for i := range moods {
			text := got.Decisions[i].Reason.String()
			assert.Contains(t, text, fmt.Sprint("invalid: job odd", i, ": "))
			assert.Contains(t, text, fmt.Sprint("mood ", i))
			if i < 4 {
				assert.Contains(t, got.Stats.Fault, fmt.Sprint("mood ", i))
			}
		}
		assert.Equal(t, `invalid: sched: invalid job: job "none": Tasks = 0`, got.Decisions[jobs].Reason.String())
		assert.True(t, strings.HasSuffix(got.Stats.Fault, want), got.Stats.Fault)
	}
}

// TestReasonsOfRisingWorth: a job that waits on an idle cluster until it is worth more says so, and nothing binds it.
func TestReasonsOfRisingWorth(t *testing.T) {
	u, err := utility.Piecewise([]utility.Point{{T: 0, V: 1}, {T: 600, V: 1}, {T: 660, V: 10}})
	require.NoError(t, err)
	j := be(t, "rising", 1)
	j.Utility = u
	s := cluster(t, 1, epoch)
	s.Pending = []sched.Pending{{Job: j, Prediction: forecast(point(t, 60))}}
	r := plan(t, policy(t, threesigma.Config{}), s)["rising"].Reason
	assert.Regexp(t, `^deferred to slot 5 on any, when it is worth more; expected utility 9\.99`, r.String())
	assert.Empty(t, r.Partition)

	s = cluster(t, 1, epoch, sched.Running{Job: be(t, "runner", 1), Prediction: forecast(point(t, 300)), Started: epoch,
		Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}})
	s.Pending = []sched.Pending{{Job: j, Prediction: forecast(point(t, 60))}}
	r = plan(t, policy(t, threesigma.Config{}), s)["rising"].Reason
	assert.Equal(t, []any{sched.ReasonDeferred, []string{"runner"}, "any"}, []any{r.Code, r.Ahead, r.Partition})
}
