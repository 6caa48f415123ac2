package whatif_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/place"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/threesigma"
	"github.com/hedgesched/hedge/sched/usage"
	"github.com/hedgesched/hedge/sched/whatif"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]whatif.Change{
		"drain n0":      {Verb: whatif.Drain, Name: "n0"},
		"  cordon\tn0 ": {Verb: whatif.Cordon, Name: "n0"},
		`drop "a b"`:    {Verb: whatif.Drop, Name: "a b"},
		"tasks j 4":     {Verb: whatif.Tasks, Name: "j", Count: 4},
		"priority j -1": {Verb: whatif.Priority, Name: "j", Count: -1},
		"require j any": {Verb: whatif.Require, Name: "j"},
		"require j rack=r1|r0&gpu=*": {Verb: whatif.Require, Name: "j",
			Set: sched.NodesWith("rack", "r0", "r1").And(sched.NodesWith("gpu"))},
		"demand j cpu=0.5 mem=0": {Verb: whatif.Demand, Name: "j", Resources: sched.Resources{"cpu": 0.5, "mem": 0}},
		"deadline j 90m":         {Verb: whatif.Deadline, Name: "j", Span: 90 * time.Minute},
		"policy edf":             {Verb: whatif.Policy, Name: "edf"},
		"add 1 node like n0":     {Verb: whatif.AddNodes, Name: "n0", Count: 1},
		"add 3 jobs like j":      {Verb: whatif.AddJobs, Name: "j", Count: 3},
		`add 3 nodes like n0 label rack=r9 "a b"="c=d" offer gpu=8`: {Verb: whatif.AddNodes, Name: "n0", Count: 3,
			Labels: map[string]string{"rack": "r9", "a b": "c=d"}, Resources: sched.Resources{"gpu": 8}},
	} {
		got, err := whatif.Parse(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
		again, err := whatif.Parse(got.String())
		require.NoError(t, err, got.String())
		assert.Equal(t, got, again)
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "found the end, expected drain, cordon, add",
		"stop n0":                              `found "stop", expected drain, cordon, add`,
		"drain":                                "found the end, expected a node",
		"drain n0 n1":                          `found "n1", expected nothing more`,
		`drop "a`:                              "expected a closing quote",
		`drop a"b"`:                            "expected a job",
		"tasks j":                              "found the end, expected a whole number from 1 to 2147483647",
		"tasks j 0":                            `found "0", expected a whole number from 1`,
		"priority j high":                      `found "high", expected a whole number`,
		"require j rack":                       "expected LABEL=VALUE",
		"demand j":                             "found the end, expected RESOURCE=AMOUNT",
		"demand j cpu=-1":                      `found "cpu=-1", expected another RESOURCE=AMOUNT, not negative`,
		"demand j cpu=NaN":                     `found "cpu=NaN"`,
		"demand j cpu=1 cpu=2":                 `found "cpu=2"`,
		"deadline j soon":                      `found "soon", expected a time such as 90m`,
		"deadline j -1s":                       `found "-1s"`,
		"add n0":                               `found "n0", expected a whole number from 1 to 100000`,
		"add 2 racks like n0":                  `found "racks", expected nodes or jobs`,
		"add 2 nodes n0":                       `found "n0", expected like`,
		"add 2 nodes like n0 x":                `found "x", expected nothing more`,
		"add 1 node like n0 label offer gpu=1": `found "offer", expected LABEL=VALUE`,
		"policy":                               "found the end, expected a policy",
	} {
		_, err := whatif.Parse(text)
		require.ErrorIs(t, err, whatif.ErrChange, text)
		assert.ErrorContains(t, err, want, text)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"drain n0", `add 3 nodes like "n 0" label a=b offer gpu=8`, "require j rack=r0&gpu=*",
		"tasks j 4", "demand j cpu=1e-3", "deadline j 1h", `drop "label"`} {
		f.Add(text)
	}
	s, err := schedtest.Random(rand.New(rand.NewPCG(3, 1)))
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := whatif.Parse(text)
		if err != nil {
			require.ErrorIs(t, err, whatif.ErrChange)
			return
		}
		again, err := whatif.Parse(c.String())
		require.NoError(t, err, c.String())
		require.Equal(t, c, again)
		if c.Count > 1000 {
			return
		}
		changed, err := whatif.Apply(s, []whatif.Change{c})
		if err != nil {
			require.ErrorIs(t, err, whatif.ErrChange)
			return
		}
		require.NoError(t, sched.CheckSnapshot(changed))
	})
}

// apply applies changes to a snapshot and plans.
func apply(t *testing.T, s *sched.Snapshot, texts ...string) (*sched.Snapshot, error) {
	t.Helper()
	var changes []whatif.Change
	for _, text := range texts {
		var c whatif.Change
		require.NoError(t, c.UnmarshalText([]byte(text)))
		changes = append(changes, c)
	}
	return whatif.Apply(s, changes)
}

func started(t *testing.T, s *sched.Snapshot) []string {
	t.Helper()
	plan, err := baseline.NewEDF().Plan(t.Context(), s)
	require.NoError(t, err)
	schedtest.CheckPlan(t, s, plan)
	return schedtest.Started(plan)
}

func TestApply(t *testing.T) {
	b := schedtest.Snapshot(schedtest.Nodes(4, 2)).Now(100).
		Running(schedtest.Job("wide", 2), 0, "n0", "n2").Running(schedtest.Job("one", 1), 0, "n1").
		Pending(schedtest.Job("a", 2).Submitted(10), schedtest.Job("b", 1).Submitted(20))
	s, err := b.Build()
	require.NoError(t, err)
	before, err := b.Build()
	require.NoError(t, err)
	for _, c := range []struct {
		changes []string
		starts  []string
	}{
		{nil, []string{"b"}},
		{[]string{"drop b"}, nil},
		{[]string{"drop one"}, []string{"a"}},
		{[]string{"drop one", "drop wide"}, []string{"a", "b"}},
		{[]string{"tasks a 1"}, []string{"a"}},
		{[]string{"add 1 node like n0"}, []string{"a"}},
		{[]string{"add 2 nodes like n0", "add 1 job like b"}, []string{"a", "b"}},
		{[]string{"add 1 node like n0 label rack=r9", "require b rack=r9"}, []string{"a"}},
		{[]string{"add 1 node like n0", "require a rack=r1"}, []string{"b"}},
		{[]string{"drain n3"}, nil},
		{[]string{"cordon n3"}, nil},
		{[]string{"cordon n0", "drop wide"}, []string{"a"}},
		{[]string{"drain n0"}, []string{"wide"}}, // the oldest of those that wait, as it waits again
		{[]string{"drain n0", "drop wide"}, []string{"a"}},
		{[]string{"deadline b 1h", "drop one"}, []string{"b"}},
		{[]string{"demand b node=0.5", "drop one"}, []string{"a"}},
		{[]string{"policy sjf"}, []string{"b"}},
	} {
		changed, err := apply(t, s, c.changes...)
		require.NoError(t, err, c.changes)
		assert.Equal(t, c.starts, started(t, changed), c.changes)
	}
	assert.Equal(t, before.Nodes.Len(), s.Nodes.Len())
	before.Nodes = s.Nodes // what a node set has worked out meanwhile is its own affair
	assert.Equal(t, before, s, "the snapshot is as it was")
}

func TestApplyRefuses(t *testing.T) {
	s, err := schedtest.Snapshot(schedtest.Nodes(2, 1)).Running(schedtest.Job("run", 1), 0, "n0").
		Pending(schedtest.Job("a", 1)).Build()
	require.NoError(t, err)
	for text, want := range map[string]string{
		"drain n9":           `drain n9: no node "n9"`,
		"drop x":             `drop x: no job "x" waits or runs`,
		"tasks run 2":        `job "run" runs, and only a job that waits can be changed`,
		"tasks x 2":          `no job "x" waits`,
		"demand a node=0":    `nothing is left of what a task of job "a" needs`,
		"add 1 job like x":   `no job "x" waits or runs`,
		"add 1 node like n9": `no node "n9"`,
	} {
		_, err := apply(t, s, text)
		require.ErrorIs(t, err, whatif.ErrChange, text)
		assert.ErrorContains(t, err, want)
	}
	for _, twice := range []string{"drop a", "drop run", "drain n0"} {
		_, err := apply(t, s, twice, twice)
		require.ErrorIs(t, err, whatif.ErrChange, twice)
	}
}

// What is free after any changes is what nodes offer less what runs, counted anew.
func TestFreeAddsUp(t *testing.T) {
	for trial := range 500 {
		rng := rand.New(rand.NewPCG(uint64(trial), 8))
		s, err := schedtest.Random(rng)
		require.NoError(t, err)
		texts := []string{fmt.Sprintf("add %d nodes like n0 offer fpga=2", 1+rng.IntN(3))}
		if len(s.Running) > 0 {
			texts = append(texts, "drop "+s.Running[rng.IntN(len(s.Running))].Job.ID)
		}
		if last := s.Nodes.Len() - 1; last > 0 {
			texts = append(texts, fmt.Sprintf("drain n%d", last))
		}
		s.Others = make([]usage.Level, s.Nodes.Len())
		s.Others[0].CPU = 1
		changed, err := apply(t, s, texts...)
		require.NoError(t, err)
		require.NoError(t, sched.CheckSnapshot(changed))
		require.InDelta(t, 1, changed.Others[0].CPU, 0)
		placer := place.NewPlacer(&sched.Snapshot{Nodes: changed.Nodes, Free: changed.Nodes.Capacity()})
		for i := range changed.Running {
			r := &changed.Running[i]
			demand, err := changed.Nodes.Demand(r.Job.Demand)
			require.NoError(t, err)
			placer.Take(r.Nodes, demand)
		}
		require.InDeltaSlice(t, placer.Free(), changed.Free, 1e-9, "trial %d: %v", trial, texts)
		started(t, changed)
	}
}

// A held job waits for room once the last job that it waits for has ended, and goes if it is dropped.
func TestApplyToStages(t *testing.T) {
	s, err := schedtest.Snapshot(schedtest.Nodes(2, 1)).Running(schedtest.Job("a", 1), 0, "n0").
		Running(schedtest.Job("b", 1), 0, "n1").Build()
	require.NoError(t, err)
	last := schedtest.Job("c", 1)
	job := last.Job()
	job.After = []string{"a", "b", "done"}
	s.Held = []sched.Pending{{Job: job, Prediction: last.Prediction()}}
	for _, c := range []struct {
		changes       []string
		pending, held int
	}{
		{[]string{"drop a"}, 0, 1}, {[]string{"drop a", "drop b"}, 1, 0}, {[]string{"drop c"}, 0, 0},
		{[]string{"drop a", "drain n1"}, 1, 1}, // b waits again
	} {
		changed, err := apply(t, s, c.changes...)
		require.NoError(t, err)
		assert.Len(t, changed.Pending, c.pending, c.changes)
		assert.Len(t, changed.Held, c.held, c.changes)
	}
	assert.Len(t, s.Held, 1)
}

func TestPolicyOf(t *testing.T) {
	_, ok := whatif.PolicyOf([]whatif.Change{{Verb: whatif.Drop, Name: "a"}})
	assert.False(t, ok)
	name, ok := whatif.PolicyOf([]whatif.Change{{Verb: whatif.Policy, Name: "a"}, {Verb: whatif.Policy, Name: "b"}})
	assert.True(t, ok)
	assert.Equal(t, "b", name)
}

func ExampleApply() {
	snapshot, err := schedtest.Snapshot(schedtest.Nodes(2, 1)).
		Running(schedtest.Job("batch", 2), 0, "n0", "n1").Pending(schedtest.Job("train", 3)).Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	var changes []whatif.Change
	for _, text := range []string{"drop batch", "add 1 node like n0"} {
		change, err := whatif.Parse(text)
		if err != nil {
			fmt.Println(err)
			return
		}
		changes = append(changes, change)
	}
	changed, err := whatif.Apply(snapshot, changes)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(changed.Nodes.Len(), "nodes,", len(changed.Running), "running;", "free:", changed.Free)
	// Output: 3 nodes, 0 running; free: [1 1 1]
}

// TestAskAboutAPlan: the plan at hand is what is compared with, and is not made again.
func TestAskAboutAPlan(t *testing.T) {
	s, err := schedtest.Snapshot(schedtest.Nodes(1, 1)).
		Pending(schedtest.Job("a", 1), schedtest.Job("b", 1).Submitted(1)).Build()
	require.NoError(t, err)
	idle := &sched.Plan{Rest: sched.Reason{Code: sched.ReasonWaiting}}
	fifo := baseline.NewFIFO()
	got, err := whatif.Ask(context.Background(), s, []whatif.Change{{Verb: whatif.Drop, Name: "a"}},
		whatif.Planned(idle), fifo.Plan)
	require.NoError(t, err)
	assert.Same(t, idle, got.Before)
	assert.Equal(t, []string{"b"}, got.StartsNow)
	assert.Equal(t, []string{"b"}, got.Gained)
}

// TestAskBothAtOnce: both plans made at the same time are those made one after the other.
func TestAskBothAtOnce(t *testing.T) {
	fresh := whatif.Fresh(func() (sched.Policy, error) { return threesigma.New(threesigma.Config{}) })
	for seed := range uint64(20) {
		s, err := schedtest.Random(rand.New(rand.NewPCG(seed, 5)))
		require.NoError(t, err)
		changes := []whatif.Change{{Verb: whatif.AddNodes, Name: s.Nodes.Node(0).Name, Count: 2}}
		inTurn, err := whatif.Ask(t.Context(), s, changes, fresh, nil)
		require.NoError(t, err)
		atOnce, err := whatif.Ask(t.Context(), s, changes, fresh, fresh)
		require.NoError(t, err)
		assert.Equal(t, inTurn.Before.Decisions, atOnce.Before.Decisions)
		assert.Equal(t, inTurn.After.Decisions, atOnce.After.Decisions)
		assert.Equal(t, inTurn.Gained, atOnce.Gained)
	}
}

// TestAskFails: the first plan's error counts before the second's, and stops the second.
func TestAskFails(t *testing.T) {
	s, err := schedtest.Snapshot(schedtest.Nodes(1, 1)).Pending(schedtest.Job("a", 1)).Build()
	require.NoError(t, err)
	first, second := errors.New("first"), errors.New("second")
	fails := func(err error) whatif.Planner {
		return func(context.Context, *sched.Snapshot) (*sched.Plan, error) { return nil, err }
	}
	waits := func(ctx context.Context, _ *sched.Snapshot) (*sched.Plan, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	drop := []whatif.Change{{Verb: whatif.Drop, Name: "a"}}
	for name, c := range map[string]struct {
		before, after whatif.Planner
		want          error
	}{
		"both":             {fails(first), fails(second), first},
		"the second alone": {baseline.NewFIFO().Plan, fails(second), second},
		"the first alone":  {fails(first), waits, first},
		"one for both":     {fails(first), nil, first},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := whatif.Ask(t.Context(), s, drop, c.before, c.after)
			require.ErrorIs(t, err, c.want)
		})
	}
}
