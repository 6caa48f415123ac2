package sim_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/decisionlog"
	"github.com/hedgesched/hedge/adapters/sim/taskuse"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
)

// sharedNodes are n nodes of 4 CPU and 10 of memory.
func sharedNodes(n int) []sched.Node {
	nodes := make([]sched.Node, n)
	for i := range nodes {
		nodes[i] = sched.Node{Name: fmt.Sprintf("n%d", i), Capacity: sched.Resources{usage.CPU: 4, usage.Memory: 10}}
	}
	return nodes
}

// dice is a reckless policy: it starts what waits anywhere, however full the nodes are, and now and then preempts a
// gang or one task of it.
type dice struct {
	rng     *rand.Rand
	preempt bool
	check   func(*sched.Snapshot)
}

func (*dice) Name() string { return "dice" }

func (d *dice) Plan(_ context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	if d.check != nil {
		d.check(s)
	}
	if s.Nodes.Len() == 0 { // all are lost
		return &sched.Plan{}, nil
	}
	p := &sched.Plan{Overpacks: []string{usage.CPU, usage.Memory}}
	for i := range s.Running {
		r := &s.Running[i]
		switch {
		case !d.preempt || d.rng.IntN(20) > 0:
		case len(r.Nodes) > 1 && d.rng.IntN(2) == 0:
			one := []sched.NodeTasks{{Node: r.Nodes[0].Node, Tasks: 1}}
			p.Decisions = append(p.Decisions, sched.Decision{Job: r.Job.ID, Kind: sched.Preempt, Nodes: one})
		default:
			p.Decisions = append(p.Decisions, sched.Decision{Job: r.Job.ID, Kind: sched.Preempt})
		}
	}
	for i := range s.Pending {
		j := s.Pending[i].Job
		nodes := make([]sched.NodeTasks, 0, j.Tasks)
		for range j.Tasks {
			nodes = append(nodes, sched.NodeTasks{Node: s.Nodes.Node(d.rng.IntN(s.Nodes.Len())).Name, Tasks: 1})
		}
		p.Decisions = append(p.Decisions, sched.Decision{Job: j.ID, Kind: sched.Start, Nodes: nodes})
	}
	return p, nil
}

// users draws jobs whose tasks use CPU and memory.
func users(seed uint64, n int) []sim.Job {
	rng := rand.New(rand.NewPCG(seed, 21))
	jobs := make([]sim.Job, n)
	for i := range jobs {
		tasks := 1 + rng.IntN(5)
		use := make([]taskuse.Series, tasks)
		for k := range use {
			for range 1 + rng.IntN(3) {
				use[k] = append(use[k], taskuse.Segment{Duration: time.Duration(1 + rng.Int64N(int64(time.Minute))),
					CPU: 2 * rng.Float64(), Memory: 4 * rng.Float64()})
			}
		}
		jobs[i] = sim.Job{Job: sched.Job{ID: fmt.Sprintf("j%d", i), Tasks: tasks, Utility: constant(1), Priority: rng.IntN(2),
			Demand: sched.Resources{usage.CPU: rng.Float64(), usage.Memory: 2 * rng.Float64()}},
			Arrive: time.Duration(rng.Int64N(int64(5 * time.Minute))), Work: sim.Usage(use)}
		if jobs[i].Priority == 1 {
			jobs[i].Deadline = time.Minute
		}
	}
	return jobs
}

// learner notes what it is taught.
type learner struct {
	predict.Predictor
	told []predict.Observation
}

func (l *learner) Observe(o predict.Observation) error { l.told = append(l.told, o); return nil }

// Whatever the policy does, every task is done once and whole, nothing that happens surprises the loop, and the same
// seed gives the same log.
func TestSharedRunsEverythingOnce(t *testing.T) {
	for seed := range uint64(12) {
		run := func() (*sim.Result, string) {
			jobs := users(seed, 60)
			var text bytes.Buffer
			teach := &learner{Predictor: fixed(t)}
			byID := map[string]*sim.Job{}
			for i := range jobs {
				byID[jobs[i].ID] = &jobs[i]
			}
			policy := &dice{rng: rand.New(rand.NewPCG(seed, 22)), preempt: seed%2 == 1, check: func(s *sched.Snapshot) {
				for i := range s.Running {
					tasks := 0
					for _, nt := range s.Running[i].Nodes {
						tasks += nt.Tasks
					}
					require.Len(t, s.Running[i].Use, tasks, "all that run are measured")
				}
			}}
			result, err := sim.Run(context.Background(), sim.Config{Nodes: sharedNodes(6), Jobs: jobs, Policy: policy,
				Predictor: teach, Cycle: 5 * time.Second, Log: &text})
			require.NoError(t, err)
			for _, o := range teach.told {
				require.Len(t, o.Used, 5)
				require.Contains(t, byID, o.Job.ID, "parts teach nothing")
			}
			return result, text.String()
		}
		result, text := run()
		require.Zero(t, result.Rejections)
		require.NotZero(t, result.Sharing.Evictions)
		all := 0.0
		for i := range result.Jobs {
			r := &result.Jobs[i]
			require.GreaterOrEqual(t, r.Finish-r.FirstStart, r.Runtime-time.Microsecond)
			all += r.CPUTime
		}
		require.InDelta(t, all/3600, result.Sharing.Goodput.SLO+result.Sharing.Goodput.BE, 1e-9)
		report, err := decisionlog.Check(strings.NewReader(text), nil)
		require.NoError(t, err)
		m, n := &result.Metrics, &report.Metrics
		require.Equal(t, result.Sharing.Evictions, n.Evictions)
		require.Equal(t, m.Preemptions, n.Preemptions)
		require.Equal(t, seed%2 == 1, m.Preemptions > 0)
		require.Equal(t, m.SLO.Missed, n.SLO.Missed)
		require.Equal(t, m.MakespanS, n.MakespanS)
		require.InDelta(t, m.LostMachineHours, n.LostMachineHours, 1e-9)
		require.InDelta(t, m.Goodput.BE, n.Goodput.BE, 1e-9)
		require.InDelta(t, m.Utilisation, n.Utilisation, 1e-9)
		require.InDelta(t, m.JCT.Mean, n.JCT.Mean, 1e-9)
		_, again := run()
		require.Equal(t, text, again)
	}
}

func TestSharedRefuses(t *testing.T) {
	one := taskuse.Series{{Duration: time.Second, CPU: 1, Memory: 1}}
	good := func() sim.Config {
		return sim.Config{Nodes: sharedNodes(1), Policy: &dice{}, Predictor: fixed(t), Jobs: []sim.Job{{
			Job:  sched.Job{ID: "a", Tasks: 1, Demand: sched.Resources{usage.CPU: 1}},
			Work: sim.Usage([]taskuse.Series{one})}}}
	}
	for name, c := range map[string]struct {
		change func(*sim.Config)
		err    error
	}{
		"another resource": {func(c *sim.Config) { c.Nodes[0].Capacity["gpu"] = 1 }, sim.ErrNode},
		"no CPU": {func(c *sim.Config) {
			c.Nodes[0].Capacity[usage.CPU] = 0
			c.Jobs[0].Demand = sched.Resources{usage.Memory: 1}
		}, sim.ErrNode},
		"a series too few": {func(c *sim.Config) { c.Jobs[0].Tasks = 2 }, sim.ErrJob},
		"no segments":      {func(c *sim.Config) { c.Jobs[0].Work = sim.Usage([]taskuse.Series{{}}) }, sim.ErrJob},
		"some without usage": {func(c *sim.Config) {
			c.Jobs = append(c.Jobs, c.Jobs[0])
			c.Jobs[1].ID, c.Jobs[1].Work = "b", sim.Runtime(time.Second)
		}, sim.ErrJob},
		"slow-down":  {func(c *sim.Config) { c.Jobs[0].Speeds = sched.SpeedsOf(sched.Speed{Factor: 0.5}) }, sim.ErrJob},
		"checkpoint": {func(c *sim.Config) { c.Jobs[0].Checkpoint = true }, sim.ErrJob},
		"a stage":    {func(c *sim.Config) { c.Jobs[0].Of = "whole" }, sim.ErrJob},
		"memory above every node": {func(c *sim.Config) {
			c.Jobs[0].Work = sim.Usage([]taskuse.Series{{{Duration: time.Second, CPU: 1, Memory: 9.6}}})
		}, sim.ErrTooWide},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := good()
			c.change(&cfg)
			_, err := sim.Run(context.Background(), cfg)
			require.ErrorIs(t, err, c.err)
		})
	}
}

// A simulation that ends before its jobs do loses none of them, and its log passes.
func TestSharedEndsInTime(t *testing.T) {
	var text bytes.Buffer
	result, err := sim.Run(context.Background(), sim.Config{Nodes: sharedNodes(3), Jobs: users(3, 60),
		Policy: &dice{rng: rand.New(rand.NewPCG(1, 1))}, Predictor: fixed(t), Cycle: 5 * time.Second,
		Until: 4 * time.Minute, Log: &text})
	require.NoError(t, err)
	open := 0
	for i := range result.Jobs {
		if r := &result.Jobs[i]; r.Finish < 0 {
			open++
		}
		require.LessOrEqual(t, result.Jobs[i].Stop, 4*time.Minute)
	}
	require.Positive(t, open)
	report, err := decisionlog.Check(strings.NewReader(text.String()), nil)
	require.NoError(t, err)
	require.Equal(t, result.Metrics.MakespanS, report.Metrics.MakespanS)
}

// Whoever tampers with a log of shared nodes is found out.
func TestSharedLogIsChecked(t *testing.T) {
	var text bytes.Buffer
	_, err := sim.Run(context.Background(), sim.Config{Nodes: sharedNodes(3), Jobs: users(4, 30),
		Policy: &dice{rng: rand.New(rand.NewPCG(2, 2)), preempt: true}, Predictor: fixed(t), Cycle: 5 * time.Second,
		Log: &text})
	require.NoError(t, err)
	lines := strings.SplitAfter(strings.TrimSpace(text.String()), "\n")
	first := func(parts ...string) int {
		for i, line := range lines {
			all := true
			for _, p := range parts {
				all = all && strings.Contains(line, p)
			}
			if all {
				return i
			}
		}
		require.Fail(t, "no such line", "%q", parts)
		return 0
	}
	without := func(i int) string { return strings.Join(lines[:i], "") + strings.Join(lines[i+1:], "") }
	changed := func(i int, from, to string) string {
		require.Contains(t, lines[i], from)
		return strings.Join(lines[:i], "") + strings.Replace(lines[i], from, to, 1) + strings.Join(lines[i+1:], "")
	}
	task := first(`"event":"task"`)
	for name, c := range map[string]struct {
		log string
		err error
	}{
		"a task's end is missing":  {without(task), decisionlog.ErrState},
		"a task ends twice":        {strings.Join(lines[:task+1], "") + strings.Join(lines[task:], ""), decisionlog.ErrState},
		"an eviction is missing":   {without(first(`"event":"evict"`, `"part"`)), decisionlog.ErrMismatch},
		"a part of another name":   {changed(first(`"event":"evict"`, `"part"`), `#1"`, `#7"`), decisionlog.ErrMismatch},
		"another node":             {changed(task, `"node":"n`, `"node":"x`), decisionlog.ErrState},
		"memory above the node":    {changed(first(`"event":"usage"`), `"memory":[0`, `"memory":[11`), decisionlog.ErrOvercommit},
		"usage without a task":     {changed(first(`"event":"usage"`), `"cpu":[0`, `"cpu":[1`), decisionlog.ErrMismatch},
		"usage of too few nodes":   {changed(first(`"event":"usage"`), `"cpu":[0,`, `"cpu":[`), decisionlog.ErrMismatch},
		"a submission is missing":  {without(first(`"event":"submit"`)), decisionlog.ErrState},
		"tasks that take longer":   {changed(first(`"event":"submit"`), `"task_runtimes":[`, `"task_runtimes":[9`), decisionlog.ErrRuntime},
		"a finish is missing":      {without(first(`"event":"finish"`)), decisionlog.ErrIncomplete},
		"a start between cycles":   {changed(0, `"cycle":5`, `"cycle":7`), decisionlog.ErrOrder},
		"a gang of too many tasks": {changed(first(`"event":"start"`), `"nodes":[`, `"nodes":[{"node":"n0","tasks":1},`), decisionlog.ErrGang},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decisionlog.Check(strings.NewReader(c.log), nil)
			require.ErrorIs(t, err, c.err)
		})
	}
}
