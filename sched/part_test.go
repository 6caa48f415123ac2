package sched_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/usage"
)

// shared is a node of 4 cores and 8 of memory.
func shared(name string) sched.Node {
	return sched.Node{Name: name, Capacity: sched.Resources{usage.CPU: 4, usage.Memory: 8}}
}

// gang is a job of tasks that demand 1 core and 2 of memory each.
func gang(id string, tasks int) *schedtest.JobBuilder {
	return schedtest.Job(id, tasks).Demand(sched.Resources{usage.CPU: 1, usage.Memory: 2})
}

// script is a cluster that tells what it is told to and notes the plans.
type script struct {
	events []sched.Event
	plans  []*sched.Plan
}

func (c *script) Events(context.Context) ([]sched.Event, error) {
	out := c.events
	c.events = nil
	return out, nil
}

func (c *script) Apply(_ context.Context, p *sched.Plan) error {
	c.plans = append(c.plans, p)
	return nil
}

// sharing is a loop over two shared nodes on which a gang of three runs: two tasks on a, one on b.
type sharing struct {
	*script
	t    *testing.T
	loop *sched.Loop
	spy  *spy
	seen *sched.Snapshot
	told []predict.Observation
	at   float64
}

func (s *sharing) Predict(j predict.Job) predict.Prediction {
	p := schedtest.Job(j.ID, 1).Prediction()
	p.Expert.Value = j.ID
	return p
}

func (s *sharing) Observe(o predict.Observation) error { s.told = append(s.told, o); return nil }

func (s *sharing) step(events ...sched.Event) *sched.Cycle {
	s.t.Helper()
	s.at += 10
	s.events = events
	c, err := s.loop.Step(background, schedtest.At(s.at))
	require.NoError(s.t, err)
	return c
}

func newSharing(t *testing.T) *sharing {
	s := &sharing{script: &script{}, t: t}
	s.spy = &spy{plan: func(*sched.Snapshot) (*sched.Plan, error) { return &sched.Plan{}, nil },
		see: func(snap *sched.Snapshot) { s.seen = snap.Clone() }}
	s.spy.Policy = baseline.NewFIFO()
	loop, err := sched.NewLoop(s, s.spy, s)
	require.NoError(t, err)
	s.loop = loop
	a, b := shared("a"), shared("b")
	s.step(sched.Event{Kind: sched.NodeUp, Node: &a}, sched.Event{Kind: sched.NodeUp, Node: &b},
		sched.Event{Kind: sched.Submitted, Job: gang("g", 3).Job()},
		sched.Event{Kind: sched.Started, ID: "g", Time: schedtest.At(0), Nodes: []sched.NodeTasks{{Node: "a", Tasks: 2},
			{Node: "b", Tasks: 1}}})
	require.Equal(t, []float64{2, 4, 3, 6}, s.seen.Free)
	return s
}

// measured is an event about the gang's three tasks. Each has used half a core for that time.
func measured(ran time.Duration) sched.Event {
	half := usage.Level{CPU: 0.5, Memory: 1}
	task := func(i int, node string) usage.Task {
		return usage.Task{Index: i, Node: node, Ran: ran, Now: half, Mean: half, Max: half}
	}
	return sched.Event{Kind: sched.Measured, Usage: &usage.Batch{
		Jobs:  []usage.Job{{ID: "g", Tasks: []usage.Task{task(0, "a"), task(1, "a"), task(2, "b")}}},
		Nodes: []usage.Node{{Name: "b", Others: usage.Level{CPU: 1, Memory: 3}}},
	}}
}

// TestMeasured: what is measured is shown by task and by node, until it is measured anew.
func TestMeasured(t *testing.T) {
	s := newSharing(t)
	assert.Nil(t, s.seen.Running[0].Use)
	assert.Nil(t, s.seen.Others)
	s.step(measured(10 * time.Second))
	require.Len(t, s.seen.Running[0].Use, 3)
	assert.InDelta(t, 5, s.seen.Running[0].Use[2].Work(), 0)
	assert.Equal(t, []usage.Level{{}, {CPU: 1, Memory: 3}}, s.seen.Others)
	s.step()
	assert.Len(t, s.seen.Running[0].Use, 3, "it stays as it was told")

	wrong := measured(10 * time.Second)
	wrong.Usage.Jobs[0].Tasks[1].Now.CPU = -1
	c := s.step(wrong, measured(-time.Second), sched.Event{Kind: sched.Measured})
	require.Len(t, c.Ignored, 3)
	for _, err := range c.Ignored {
		require.ErrorIs(t, err, sched.ErrBadEvent)
	}
	assert.ErrorContains(t, c.Ignored[0], `job "g": task 1: cpu of -1`)
	assert.Equal(t, 10*time.Second, s.seen.Running[0].Use[0].Ran)
}

// TestEvicted: a task that is evicted waits alone, as a part of its job, and knows what it had done; the others go on.
func TestEvicted(t *testing.T) {
	s := newSharing(t)
	job := s.seen.Running[0].Job
	s.step(measured(10*time.Second), sched.Event{Kind: sched.Preempted, ID: "g", Time: schedtest.At(15),
		Job: job.Part(1, 1), Nodes: []sched.NodeTasks{{Node: "a", Tasks: 1}}, Cause: sched.CauseEvicted})
	require.Len(t, s.seen.Running, 1)
	assert.Equal(t, []sched.NodeTasks{{Node: "a", Tasks: 1}, {Node: "b", Tasks: 1}}, s.seen.Running[0].Nodes)
	assert.Len(t, s.seen.Running[0].Use, 2)
	assert.Equal(t, []float64{3, 6, 3, 6}, s.seen.Free)
	require.Len(t, s.seen.Pending, 1)
	p := s.seen.Pending[0]
	assert.Equal(t, "g#1", p.Job.ID)
	assert.Equal(t, "g", p.Prediction.Expert.Value, "it is forecast as the whole job is")
	assert.Equal(t, job.Submitted, p.Job.Submitted)
	assert.InDelta(t, 5, p.Attained, 0)

	s.step(sched.Event{Kind: sched.Started, ID: "g#1", Nodes: []sched.NodeTasks{{Node: "b", Tasks: 1}}},
		sched.Event{Kind: sched.Finished, ID: "g", Nodes: []sched.NodeTasks{{Node: "b", Tasks: 1}}})
	assert.Equal(t, []float64{3, 6, 3, 6}, s.seen.Free)
	require.Len(t, s.seen.Running, 2)
	assert.Empty(t, s.told, "the gang has not finished")

	used := []predict.Used{{Quantity: predict.CPU, Value: 0.5}}
	s.step(sched.Event{Kind: sched.Finished, ID: "g", Runtime: time.Minute, Used: used},
		sched.Event{Kind: sched.Finished, ID: "g#1", Runtime: time.Minute})
	require.Len(t, s.told, 1, "the part teaches nothing")
	assert.Equal(t, used, s.told[0].Used)
	assert.Equal(t, []float64{4, 8, 4, 8}, s.seen.Free)
	assert.Len(t, s.seen.Completed, 2)
}

// TestLastTaskIsEvicted: a gang of which no task is left is gone; its parts are not.
func TestLastTaskIsEvicted(t *testing.T) {
	s := newSharing(t)
	job := s.seen.Running[0].Job
	c := s.step(
		sched.Event{Kind: sched.Finished, ID: "g", Nodes: []sched.NodeTasks{{Node: "a", Tasks: 2}}},
		sched.Event{Kind: sched.Preempted, ID: "g", Job: job.Part(1, 1), Nodes: []sched.NodeTasks{{Node: "b", Tasks: 1}},
			Attained: 7, NotBefore: schedtest.At(100)})
	require.Empty(t, c.Ignored)
	assert.Empty(t, s.seen.Running)
	assert.Empty(t, s.seen.Pending, "not before its time")
	assert.Equal(t, []float64{4, 8, 4, 8}, s.seen.Free)
	s.at = 100
	s.step()
	require.Len(t, s.seen.Pending, 1)
	assert.InDelta(t, 7, s.seen.Pending[0].Attained, 0)
}

// TestWholeJobIsEvicted: a job that comes back whole knows what its tasks had done, also after a second run.
func TestWholeJobIsEvicted(t *testing.T) {
	s := newSharing(t)
	s.step(measured(10*time.Second), sched.Event{Kind: sched.Preempted, ID: "g", Cause: sched.CauseEvicted})
	require.Len(t, s.seen.Pending, 1)
	assert.InDelta(t, 5, s.seen.Pending[0].Attained, 0)
	s.step(sched.Event{Kind: sched.Started, ID: "g", Nodes: []sched.NodeTasks{{Node: "a", Tasks: 3}}},
		sched.Event{Kind: sched.Preempted, ID: "g", Attained: 2})
	assert.InDelta(t, 5, s.seen.Pending[0].Attained, 0, "the most of all runs")
}

// TestSomeTasksArePreempted: a plan stops a task of a gang. What it holds stays held until it has stopped.
func TestSomeTasksArePreempted(t *testing.T) {
	s := newSharing(t)
	job := s.seen.Running[0].Job
	stop := &sched.Plan{Decisions: []sched.Decision{{Job: "g", Kind: sched.Preempt,
		Nodes: []sched.NodeTasks{{Node: "a", Tasks: 1}}}}}
	s.spy.plan = func(*sched.Snapshot) (*sched.Plan, error) { return stop, nil }
	s.step()
	s.spy.plan = func(*sched.Snapshot) (*sched.Plan, error) { return &sched.Plan{}, nil }
	s.step()
	one := []sched.NodeTasks{{Node: "a", Tasks: 1}, {Node: "b", Tasks: 1}}
	assert.Equal(t, one, s.seen.Running[0].Nodes)
	assert.Equal(t, []float64{2, 4, 3, 6}, s.seen.Free)
	s.step(sched.Event{Kind: sched.PreemptFailed, ID: "g", Nodes: []sched.NodeTasks{{Node: "a", Tasks: 1}}})
	assert.Equal(t, []sched.NodeTasks{{Node: "a", Tasks: 2}, {Node: "b", Tasks: 1}}, s.seen.Running[0].Nodes)

	s.spy.plan = func(*sched.Snapshot) (*sched.Plan, error) { return stop, nil }
	s.step()
	s.spy.plan = func(*sched.Snapshot) (*sched.Plan, error) { return &sched.Plan{}, nil }
	s.step(sched.Event{Kind: sched.Preempted, ID: "g", Job: job.Part(1, 1), Cause: sched.CausePolicy,
		Nodes: []sched.NodeTasks{{Node: "a", Tasks: 1}}})
	assert.Equal(t, one, s.seen.Running[0].Nodes)
	assert.Equal(t, []float64{3, 6, 3, 6}, s.seen.Free)
	assert.Len(t, s.seen.Pending, 1)
}

// TestOddParts: events about tasks that are not there change nothing.
func TestOddParts(t *testing.T) {
	s := newSharing(t)
	job := s.seen.Running[0].Job
	on := func(node string, tasks int) []sched.NodeTasks { return []sched.NodeTasks{{Node: node, Tasks: tasks}} }
	other := *job
	other.ID, other.PartOf = "x#1", "x"
	for _, e := range []sched.Event{
		{Kind: sched.Preempted, ID: "g", Job: job.Part(1, 1)},
		{Kind: sched.Preempted, ID: "g", Job: job.Part(1, 1), Nodes: on("b", 2)},
		{Kind: sched.Preempted, ID: "g", Job: job.Part(1, 1), Nodes: on("c", 1)},
		{Kind: sched.Preempted, ID: "g", Job: &other, Nodes: on("b", 1)},
		{Kind: sched.Preempted, ID: "g", Job: job, Nodes: on("b", 1)},
		{Kind: sched.Finished, ID: "g", Nodes: on("a", 3)},
		{Kind: sched.PreemptFailed, ID: "g", Nodes: on("a", 1)},
	} {
		c := s.step(e)
		require.Len(t, c.Ignored, 1, "%v", e)
		assert.Equal(t, []float64{2, 4, 3, 6}, s.seen.Free)
		assert.Empty(t, s.seen.Pending)
	}
}

// TestOverpacks: what a plan promises twice passes if it says so, and nothing else does.
func TestOverpacks(t *testing.T) {
	b := schedtest.Snapshot([]sched.Node{shared("a")}).Running(gang("r", 3), 0, "a", "a", "a").Pending(gang("p", 2))
	s, err := b.Build()
	require.NoError(t, err)
	plan := &sched.Plan{Decisions: []sched.Decision{{Job: "p", Kind: sched.Start,
		Nodes: []sched.NodeTasks{{Node: "a", Tasks: 2}}}}}
	for _, tt := range []struct {
		overpacks []string
		want      string
	}{
		{nil, "over-commits cpu"}, {[]string{usage.CPU}, "over-commits memory"}, {[]string{usage.Memory}, "over-commits cpu"},
		{[]string{usage.CPU, usage.Memory}, ""}, {[]string{"gpu"}, `it overpacks "gpu", which no node offers`},
	} {
		plan.Overpacks = tt.overpacks
		err := sched.CheckPlan(s, plan)
		if tt.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, sched.ErrInvalidPlan)
		require.ErrorContains(t, err, tt.want)
	}
}

// TestPartialPreemptionIsChecked: some tasks that run there, and not all.
func TestPartialPreemptionIsChecked(t *testing.T) {
	s, err := schedtest.Snapshot([]sched.Node{shared("a"), shared("b")}).Running(gang("r", 3), 0, "a", "a", "b").
		Pending(gang("p", 3).Priority(1).Requires(sched.AnyNode())).Build()
	require.NoError(t, err)
	start := sched.Decision{Job: "p", Kind: sched.Start, Nodes: []sched.NodeTasks{{Node: "a", Tasks: 3}}}
	stop := func(nodes ...sched.NodeTasks) *sched.Plan {
		return &sched.Plan{Decisions: []sched.Decision{{Job: "r", Kind: sched.Preempt, Nodes: nodes}, start}}
	}
	require.NoError(t, sched.CheckPlan(s, stop(sched.NodeTasks{Node: "a", Tasks: 1})))
	require.ErrorContains(t, sched.CheckPlan(s, stop(sched.NodeTasks{Node: "b", Tasks: 1})), "over-commits")
	require.ErrorContains(t, sched.CheckPlan(s, stop(sched.NodeTasks{Node: "a", Tasks: 3})), "do not run there")
	require.ErrorContains(t, sched.CheckPlan(s, stop(s.Running[0].Nodes...)), "all tasks")
}

// TestPartsAtRandom: whatever tasks end, are lost or come back, what the loop shows is what an account by hand has.
func TestPartsAtRandom(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 6))
		s := newSharing(t)
		runs := map[string]map[string]int{"g": {"a": 2, "b": 1}}
		jobs := map[string]*sched.Job{"g": s.seen.Running[0].Job}
		waits := map[string]bool{}
		parts := 0
		for range 120 {
			id, node := randomTask(rng, runs)
			e := sched.Event{ID: id, Nodes: []sched.NodeTasks{{Node: node, Tasks: 1}}}
			switch op := rng.IntN(6); {
			case op == 0 || id == "":
				id = fmt.Sprint("j", len(jobs))
				jobs[id] = gang(id, 3).Job()
				runs[id] = map[string]int{"a": 1, "b": 2}
				s.step(sched.Event{Kind: sched.Submitted, Job: jobs[id]}, sched.Event{Kind: sched.Started, ID: id,
					Nodes: []sched.NodeTasks{{Node: "a", Tasks: 1}, {Node: "b", Tasks: 2}}})
				continue
			case op == 1: // the whole job ends
				delete(runs, id)
				e.Kind, e.Nodes, e.Runtime = sched.Finished, nil, time.Second
			case op == 2: // a task ends
				e.Kind = sched.Finished
				lessOne(runs, id, node)
			case op == 3: // all that was lost starts again
				for part := range waits {
					runs[part] = map[string]int{"b": 1}
					delete(waits, part)
					s.step(sched.Event{Kind: sched.Started, ID: part, Nodes: []sched.NodeTasks{{Node: "b", Tasks: 1}}})
				}
				continue
			default: // a task is lost
				parts++
				e.Kind, e.Job = sched.Preempted, jobs[id].Part(parts, 1)
				jobs[e.Job.ID], waits[e.Job.ID] = e.Job, true
				lessOne(runs, id, node)
			}
			c := s.step(e, measured(time.Second))
			require.Empty(t, c.Ignored)
			held := map[string]int{}
			for _, r := range s.seen.Running {
				got := map[string]int{}
				for _, nt := range r.Nodes {
					got[nt.Node], held[nt.Node] = nt.Tasks, held[nt.Node]+nt.Tasks
				}
				require.Equal(t, runs[r.Job.ID], got, "seed %d: job %s", seed, r.Job.ID)
			}
			require.Len(t, s.seen.Running, len(runs))
			require.Len(t, s.seen.Pending, len(waits))
			a, b := float64(held["a"]), float64(held["b"])
			require.InDeltaSlice(t, []float64{4 - a, 8 - 2*a, 4 - b, 8 - 2*b}, s.seen.Free, 1e-9)
		}
	}
}

// randomTask is a task that runs, by its job and node.
func randomTask(rng *rand.Rand, runs map[string]map[string]int) (job, node string) {
	ids := slices.Sorted(maps.Keys(runs))
	if len(ids) == 0 {
		return "", ""
	}
	job = ids[rng.IntN(len(ids))]
	nodes := slices.Sorted(maps.Keys(runs[job]))
	return job, nodes[rng.IntN(len(nodes))]
}

// lessOne takes a task out of the account.
func lessOne(runs map[string]map[string]int, job, node string) {
	if runs[job][node]--; runs[job][node] == 0 {
		delete(runs[job], node)
	}
	if len(runs[job]) == 0 {
		delete(runs, job)
	}
}
