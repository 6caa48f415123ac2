package why_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/whatif"
	"github.com/hedgesched/hedge/sched/why"
)

var background = context.Background()

// explain explains a job under a policy.
func explain(t *testing.T, policy sched.Policy, b *schedtest.SnapshotBuilder, job string) *why.Explanation {
	t.Helper()
	s, err := b.Build()
	require.NoError(t, err)
	plan, err := policy.Plan(background, s)
	require.NoError(t, err)
	e, err := why.New(s, plan, why.Options{Plan: policy.Plan})
	require.NoError(t, err)
	x, err := e.Explain(background, job)
	require.NoError(t, err)
	return x
}

// left is what a plan leaves free for tasks, computed without packages why and place. Nodes are rows of a map.
func left(s *sched.Snapshot, plan *sched.Plan) map[string]sched.Resources {
	free := map[string]sched.Resources{}
	for n := range s.Nodes.Len() {
		row := sched.Resources{}
		for k, name := range s.Nodes.Resources() {
			row[name] = s.Free[n*len(s.Nodes.Resources())+k]
		}
		free[s.Nodes.Node(n).Name] = row
	}
	move := func(job *sched.Job, nodes []sched.NodeTasks, sign float64) {
		for _, nt := range nodes {
			for name, amount := range job.DemandOrNode() {
				free[nt.Node][name] += sign * amount * float64(nt.Tasks)
			}
		}
	}
	for _, d := range plan.Decisions {
		for i := range s.Running {
			if r := &s.Running[i]; d.Kind == sched.Preempt && r.Job.ID == d.Job {
				move(r.Job, r.Nodes, 1)
			}
		}
		for i := range s.Pending {
			if job := s.Pending[i].Job; d.Kind == sched.Start && job.ID == d.Job {
				move(job, d.Nodes, -1)
			}
		}
	}
	return free
}

// fits counts the tasks of a job that fit.
func fits(s *sched.Snapshot, free map[string]sched.Resources, job *sched.Job) int {
	total := 0
	for n := range s.Nodes.Len() {
		node := s.Nodes.Node(n)
		if !job.Required.Matches(node.Labels) {
			continue
		}
		here := 1 << 20
		for name, amount := range job.DemandOrNode() {
			if amount > 0 {
				here = min(here, int(free[node.Name][name]/amount+1e-9))
			}
		}
		total += max(0, here)
	}
	return total
}

// Of 1,000 random snapshots: the room told is the room there is, each holder when removed frees what was said, what
// is short is what keeps a task from starting, and those who are not named free nothing that the job could use.
func TestHoldersAndShortagesAreTrue(t *testing.T) {
	waited, held := 0, 0
	for trial := range 1000 {
		s, err := schedtest.Random(rand.New(rand.NewPCG(uint64(trial), 5)))
		require.NoError(t, err)
		plan, err := baseline.NewPrio().Plan(background, s)
		require.NoError(t, err)
		e, err := why.New(s, plan, why.Options{})
		require.NoError(t, err)
		for i := range s.Pending {
			job := s.Pending[i].Job
			x, err := e.Explain(background, job.ID)
			require.NoError(t, err)
			if x.State != why.Pending {
				continue
			}
			waited++
			at := fmt.Sprintf("trial %d, job %s", trial, job.ID)
			free := left(s, plan)
			require.Equal(t, fits(s, free, job), x.Fits, at)
			require.Equal(t, x.Fits < job.Tasks, len(x.Short) > 0, at)
			for _, short := range x.Short {
				require.Greater(t, short.Need, short.Free, at)
				require.InDelta(t, float64(job.Tasks)*job.DemandOrNode()[short.Resource], short.Need, 1e-9, at)
				require.GreaterOrEqual(t, short.Idle+1e-9, short.Free, at)
			}
			for _, h := range x.Holders {
				held++
				without, err := whatif.Apply(s, []whatif.Change{{Verb: whatif.Drop, Name: h.Job}})
				require.NoError(t, err)
				after := left(without, plan)
				require.Equal(t, h.Tasks, fits(s, after, job)-x.Fits, "%s: holder %s", at, h.Job)
				freed := sched.Resources{}
				for node, row := range after {
					n, _ := s.Nodes.Index(node)
					for name := range row {
						if d := row[name] - free[node][name]; d > 1e-9 && job.Required.Matches(s.Nodes.Node(n).Labels) {
							freed[name] += d
						}
					}
				}
				require.InDeltaMapValues(t, h.Frees, freed, 1e-6, "%s: holder %s", at, h.Job)
			}
			for k := range s.Running {
				id := s.Running[k].Job.ID
				gone := slices.ContainsFunc(plan.Decisions, func(d sched.Decision) bool { return d.Job == id })
				named := slices.ContainsFunc(x.Holders, func(h why.Holder) bool { return h.Job == id })
				if !gone && !named && x.Fits < job.Tasks {
					without, err := whatif.Apply(s, []whatif.Change{{Verb: whatif.Drop, Name: id}})
					require.NoError(t, err)
					require.Equal(t, x.Fits, fits(s, left(without, plan), job), "%s: %s is no holder", at, id)
				}
			}
		}
	}
	t.Log(waited, "jobs wait,", held, "holders")
	assert.Greater(t, held, 1000)
}

// Without a planner a remedy makes room beside the plan, and one less does not.
func TestRemediesWithoutTrialMakeRoom(t *testing.T) {
	seen := map[why.Kind]int{}
	for trial := range 1000 {
		s, err := schedtest.Random(rand.New(rand.NewPCG(uint64(trial), 6)))
		require.NoError(t, err)
		plan, err := baseline.NewEDF().Plan(background, s)
		require.NoError(t, err)
		e, err := why.New(s, plan, why.Options{})
		require.NoError(t, err)
		for i := range s.Pending {
			job := s.Pending[i].Job
			x, err := e.Explain(background, job.ID)
			require.NoError(t, err)
			room := func(changes []whatif.Change) bool {
				changed, err := whatif.Apply(s, changes)
				require.NoError(t, err)
				j := changed.Pending[slices.IndexFunc(changed.Pending,
					func(p sched.Pending) bool { return p.Job.ID == job.ID })].Job
				return fits(changed, left(changed, plan), j) >= j.Tasks
			}
			for _, r := range x.Remedies {
				seen[r.Kind]++
				at := fmt.Sprintf("trial %d, job %s: %s", trial, job.ID, r.Text)
				require.False(t, r.Starts || r.Smallest, at)
				require.True(t, room(r.Changes), at)
				for _, l := range less(&r, job) {
					var changes []whatif.Change
					for _, text := range l {
						c, err := whatif.Parse(text)
						require.NoError(t, err)
						changes = append(changes, c)
					}
					require.False(t, room(changes), "%s: but %v does, too", at, l)
				}
			}
		}
	}
	t.Log(seen)
	for _, kind := range []why.Kind{why.FewerTasks, why.AnotherSet, why.JobsEnd, why.MoreNodes} {
		assert.Greater(t, seen[kind], 20, kind)
	}
}

func TestUnplaceable(t *testing.T) {
	nodes := []sched.Node{{Name: "n0", Labels: map[string]string{"rack": "r0"}, Capacity: sched.Resources{"cpu": 4}}}
	one := func(j *schedtest.JobBuilder) *why.Explanation {
		return explain(t, baseline.NewEDF(), schedtest.Snapshot(nodes).Pending(j), "j")
	}
	x := one(schedtest.Job("j", 1).Demand(sched.Resources{"gpu": 2}))
	assert.Equal(t, "no node offers gpu, of which each task needs 2; nodes offer cpu", x.Obstacle.String())
	assert.Equal(t, []why.Shortage{{Resource: "gpu", Set: "any", Need: 2}}, x.Short)
	require.Len(t, x.Remedies, 1)
	assert.Equal(t, "with 1 more node like n0 that offer 2 gpu", x.Remedies[0].Text)

	x = one(schedtest.Job("j", 3).Demand(sched.Resources{"cpu": 8}))
	assert.Equal(t, "with 3 more nodes like n0 that offer 8 cpu", x.Remedies[0].Text)

	x = one(schedtest.Job("j", 3).Demand(sched.Resources{"cpu": 2}))
	assert.Equal(t, "with 2 tasks instead of 3", x.Remedies[0].Text)
	assert.Equal(t, "with 1 more node like n0", x.Remedies[1].Text)

	never := sched.NodesWith("rack", "r0").And(sched.NodesWith("rack", "r1"))
	x = one(schedtest.Job("j", 1).Demand(sched.Resources{"cpu": 1}).Requires(never))
	require.Len(t, x.Remedies, 1, "no node can meet it")
	assert.Equal(t, "if it could run whatever the label rack is", x.Remedies[0].Text)
}

func TestStates(t *testing.T) {
	b := func() *schedtest.SnapshotBuilder {
		return schedtest.Snapshot(schedtest.Nodes(2, 1)).Now(100).
			Running(schedtest.Job("low", 2).Runs(300), 0, "n0", "n1").
			Pending(schedtest.Job("high", 2).Priority(1))
	}
	assert.Equal(t, why.Starts, explain(t, baseline.NewPrio(), b(), "high").State)
	x := explain(t, baseline.NewPrio(), b(), "low")
	assert.Equal(t, why.Stops, x.State)
	assert.Equal(t, "high", x.Reason.For)
	x = explain(t, baseline.NewEDF(), b(), "low")
	assert.Equal(t, why.Runs, x.State)
	assert.Equal(t, &why.Span{P10: 200, P50: 200, P90: 200}, x.Ends)

	s, err := b().Build()
	require.NoError(t, err)
	e, err := why.New(s, &sched.Plan{}, why.Options{})
	require.NoError(t, err)
	_, err = e.Explain(background, "nobody")
	require.ErrorIs(t, err, why.ErrUnknownJob)
	stage := *s.Pending[0].Job
	stage.ID, stage.After = "stage", []string{"low", "done"}
	s.Held = append(s.Held, sched.Pending{Job: &stage})
	x, err = e.Explain(background, "stage")
	require.NoError(t, err)
	assert.Equal(t, why.Held, x.State)
	assert.Equal(t, "stage waits for low to finish", x.String())
	_, err = why.New(s, nil, why.Options{})
	require.ErrorIs(t, err, sched.ErrInvalidPlan)
}

// Ends are conditioned on the time that a job has run, and slowed jobs take longer.
func TestEnds(t *testing.T) {
	d, err := dist.NewUniform(100, 300)
	require.NoError(t, err)
	slow := schedtest.Job("slow", 1).Runs(100).Prefers(sched.NodesWith("rack", "r9"), 2)
	x := explain(t, baseline.NewEDF(), schedtest.Snapshot(schedtest.Nodes(3, 1)).Now(200).
		Running(schedtest.Job("half", 1).Predicted(d), 0, "n0").
		Running(slow, 50, "n1").
		Running(schedtest.Job("over", 1).Runs(100), 0, "n2").
		Pending(schedtest.Job("wide", 3)), "wide")
	assert.Equal(t, []why.Holder{
		{Job: "over", Nodes: 1, Frees: sched.Resources{"node": 1}, Tasks: 1, Overdue: true},
		{Job: "half", Nodes: 1, Frees: sched.Resources{"node": 1}, Tasks: 1, Ends: why.Span{P10: 10, P50: 50, P90: 90}},
		{Job: "slow", Nodes: 1, Frees: sched.Resources{"node": 1}, Tasks: 1, Ends: why.Span{P10: 50, P50: 50, P90: 50}},
	}, x.Holders)
}

// Tries bound the work; what was settled by then stays.
func TestTriesAndContext(t *testing.T) {
	s, err := schedtest.Snapshot(schedtest.Nodes(4, 2)).Running(schedtest.Job("run", 3), 0, "n0", "n1", "n2").
		Pending(schedtest.Job("wide", 3)).Build()
	require.NoError(t, err)
	policy := baseline.NewEDF()
	plan, err := policy.Plan(background, s)
	require.NoError(t, err)
	few, err := why.New(s, plan, why.Options{Plan: policy.Plan, Tries: 2})
	require.NoError(t, err)
	x, err := few.Explain(background, "wide")
	require.NoError(t, err)
	require.Len(t, x.Remedies, 1)
	assert.Equal(t, "with 1 task instead of 3", x.Remedies[0].Text)
	ctx, cancel := context.WithCancel(background)
	cancel()
	all, err := why.New(s, plan, why.Options{Plan: policy.Plan})
	require.NoError(t, err)
	x, err = all.Explain(ctx, "wide")
	require.ErrorIs(t, err, context.Canceled)
	assert.Len(t, x.Holders, 1)
	assert.Empty(t, x.Remedies)
}

func TestTeller(t *testing.T) {
	s, err := schedtest.Snapshot(schedtest.Nodes(6, 2)).Now(100).
		Running(schedtest.Job("batch", 4).Runs(1000), 0, "n0", "n1", "n2", "n3").
		Running(schedtest.Job("other", 1).Runs(90_000_000), 0, "n4").
		Pending(schedtest.Job("wide", 5), schedtest.Job("fits", 1).Submitted(1), schedtest.Job("huge", 9)).Build()
	require.NoError(t, err)
	teller := why.NewTeller(baseline.NewEDF())
	assert.Equal(t, "edf", teller.Name())
	assert.Empty(t, teller.Tell("wide"), "there is no plan yet")
	_, err = teller.Plan(background, s)
	require.NoError(t, err)
	assert.Equal(t, "room for 0 of 5 tasks: 5 node too little; held by batch until about 00:16 UTC, and by 1 more; "+
		"would have room with 5 more nodes like n0", teller.Tell("wide"))
	assert.Empty(t, teller.Tell("fits"), "it starts")
	assert.Empty(t, teller.Tell("huge"), "no nodes can hold it")
	assert.Empty(t, teller.Tell("nobody"))
	teller = why.NewTeller(baseline.NewFIFO())
	_, err = teller.Plan(background, s)
	require.NoError(t, err)
	assert.Equal(t, "there is room for its 1 task now", teller.Tell("fits"))
	_, err = teller.Plan(background, nil)
	require.Error(t, err)
	assert.Empty(t, teller.Tell("wide"))
}
