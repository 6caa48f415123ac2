package solver_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
)

// pair is two jobs, a rack of two nodes that holds one of them, and a running job.
func pair() *solver.Problem {
	gang := func(value float64) []solver.Option {
		return []solver.Option{{Set: "any", Count: 2, Demand: []float64{1}, Partitions: []int{0}, Usage: []float64{1, 0.5},
			Value: value}}
	}
	return &solver.Problem{
		SlotSeconds: 60, Slots: 2, Resources: []string{"node"},
		Partitions: []solver.Partition{{Name: "rack", Nodes: 4}}, Capacity: [][][]float64{{{2, 2}}},
		Jobs: []solver.Job{{ID: "a", Options: gang(10)}, {ID: "b", Options: gang(7)}},
		Running: []solver.Running{{ID: "m", PreemptCost: 3, Demand: []float64{1}, Usage: []float64{1, 1},
			Alloc: []solver.Alloc{{Partition: 0, Count: 2}}}},
	}
}

func plan(ids ...string) *solver.Solution {
	s := &solver.Solution{Stop: solver.StopWork, Choice: map[string]solver.Choice{}}
	for _, id := range ids {
		s.Choice[id] = solver.Choice{Split: []solver.Split{{Partition: 0, Count: 2}}}
	}
	return s
}

// TestVerifyPriorities: of four nodes two are free and two are taken from a running job, which b may not have.
func TestVerifyPriorities(t *testing.T) {
	for _, c := range []struct {
		a, b, least int
		ok          bool
	}{
		{0, 0, 0, true},
		{1, 0, 1, true}, // b takes what is free
		{0, 1, 1, true},
		{0, 0, 1, false}, // nobody may
		{-1, -2, -1, true},
		{-1, -1, 0, false},
		{5, 9, 3, true},
		{math.MinInt, math.MaxInt, math.MaxInt, true},
		{math.MinInt, 0, math.MaxInt, false},
	} {
		p, sol := pair(), plan("a", "b")
		sol.Preempt = []string{"m"}
		p.Jobs[0].Priority, p.Jobs[1].Priority, p.Running[0].MinPriority = c.a, c.b, c.least
		err := solver.Verify(p, sol, solver.SplitsInteger)
		if c.ok {
			assert.NoError(t, err, "%+v", c)
			continue
		}
		assert.ErrorIs(t, err, solver.ErrInfeasible, "%+v", c)
	}
	p, sol := pair(), plan("a", "b")
	sol.Preempt = []string{"m"}
	p.Jobs[0].Priority, p.Running[0].MinPriority = 1, 1
	p.Jobs[1].Options[0].Count = 4
	sol.Choice["b"].Split[0].Count = 4
	delete(sol.Choice, "a")
	assert.ErrorContains(t, solver.Verify(p, sol, solver.SplitsInteger), "uses 4 of 2 (jobs of priority 0 and below)")
}

// script is an engine with a scripted answer.
type script func(ctx context.Context, report func(*solver.Solution)) (*solver.Solution, error)

func (script) Name() string { return "script" }

func (s script) Solve(ctx context.Context, _ *solver.Problem, _ solver.Options,
	report func(*solver.Solution)) (*solver.Solution, error) {
	return s(ctx, report)
}

func says(sol *solver.Solution, err error) script {
	return func(context.Context, func(*solver.Solution)) (*solver.Solution, error) { return sol, err }
}

func TestValidateNamesFieldAndValue(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		spoil func(p *solver.Problem)
		want  []string
	}{
		{func(p *solver.Problem) { p.SlotSeconds = 0 }, []string{"slot_seconds: 0"}},
		{func(p *solver.Problem) { p.SlotSeconds = nan }, []string{"slot_seconds: NaN"}},
		{func(p *solver.Problem) { p.SlotSeconds = inf }, []string{"slot_seconds: +Inf"}},
		{func(p *solver.Problem) { p.Slots = 0 }, []string{"slots: 0"}},
		{func(p *solver.Problem) { p.Slots = 1 << 30 }, []string{"slots: 1073741824"}},
		{func(p *solver.Problem) { p.Partitions[0].Nodes = -1 }, []string{"partitions[0].nodes: -1"}},
		{func(p *solver.Problem) { p.Capacity = nil }, []string{"capacity: has 0"}},
		{func(p *solver.Problem) { p.Capacity[0] = nil }, []string{"capacity[0]: has 0"}},
		{func(p *solver.Problem) { p.Capacity[0][0] = []float64{1} }, []string{"capacity[0][0]: has 1 slots, want 2"}},
		{func(p *solver.Problem) { p.Capacity[0][0][1] = -1 }, []string{"capacity[0][0][1]: -1"}},
		{func(p *solver.Problem) { p.Capacity[0][0][1] = inf }, []string{"capacity[0][0][1]: +Inf"}},
		{func(p *solver.Problem) { p.Jobs[1].ID = "a" }, []string{`jobs[1].id: "a"`, "jobs[0]"}},
		{func(p *solver.Problem) { p.Jobs[1].Options[0].Start = 2 }, []string{"jobs[1].options[0].start: 2"}},
		{func(p *solver.Problem) { p.Jobs[1].Options[0].Start = -1 }, []string{"jobs[1].options[0].start: -1"}},
		{func(p *solver.Problem) { p.Jobs[1].Options[0].Count = 0 }, []string{"jobs[1].options[0].count: 0"}},
		{func(p *solver.Problem) { p.Jobs[1].Options[0].Value = 0 }, []string{"jobs[1].options[0].value: 0"}},
		{func(p *solver.Problem) { p.Jobs[1].Options[0].Value = nan }, []string{"jobs[1].options[0].value: NaN"}},
		{func(p *solver.Problem) { p.Jobs[1].Options[0].Demand = nil }, []string{"jobs[1].options[0].demand: has 0"}},
		{func(p *solver.Problem) { p.Jobs[1].Options[0].Demand[0] = -2 },
			[]string{"jobs[1].options[0].demand[0]: -2", `job "b"`}},
		{func(p *solver.Problem) { p.Jobs[1].Options[0].Partitions = nil },
			[]string{"jobs[1].options[0].partitions: is empty"}},
		{func(p *solver.Problem) { p.Jobs[1].Options[0].Partitions[0] = 1 }, []string{"jobs[1].options[0].partitions[0]: 1"}},
		{func(p *solver.Problem) { p.Jobs[1].Options[0].Partitions = []int{0, 0} },
			[]string{"jobs[1].options[0].partitions[1]: 0 is listed twice"}},
		{func(p *solver.Problem) { p.Jobs[1].Options[0].Usage[1] = 0 }, []string{"jobs[1].options[0].usage[1]: 0"}},
		{func(p *solver.Problem) { p.Jobs[1].Options[0].Usage[1] = 1.1 }, []string{"jobs[1].options[0].usage[1]: 1.1"}},
		{func(p *solver.Problem) { p.Jobs[1].Options[0].Usage[1] = nan }, []string{"jobs[1].options[0].usage[1]: NaN"}},
		{func(p *solver.Problem) { p.Jobs[1].Options[0].Start = 1 }, []string{"jobs[1].options[0].usage: has 2 slots"}},
		{func(p *solver.Problem) { p.Running = append(p.Running, p.Running[0]) }, []string{`running[1].id: "m"`}},
		{func(p *solver.Problem) { p.Running[0].PreemptCost = inf }, []string{"running[0].preempt_cost: +Inf"}},
		{func(p *solver.Problem) { p.Running[0].Usage = []float64{1, 1, 1} }, []string{"running[0].usage: has 3"}},
		{func(p *solver.Problem) { p.Running[0].Usage[0] = -1 }, []string{"running[0].usage[0]: -1"}},
		{func(p *solver.Problem) { p.Running[0].Demand = nil }, []string{"running[0].demand: has 0"}},
		{func(p *solver.Problem) { p.Running[0].Alloc[0].Partition = 9 }, []string{"running[0].alloc[0].partition: 9"}},
		{func(p *solver.Problem) { p.Running[0].Alloc[0].Count = 0 }, []string{"running[0].alloc[0].count: 0"}},
		{func(p *solver.Problem) { p.Running[0].Alloc = append(p.Running[0].Alloc, p.Running[0].Alloc[0]) },
			[]string{"running[0].alloc[1].partition: 0 is listed twice"}},
	} {
		p := pair()
		require.NoError(t, solver.Validate(p))
		c.spoil(p)
		_, err := solver.Solve(context.Background(), says(plan(), nil), p, solver.Options{})
		require.ErrorIs(t, err, solver.ErrInvalid, c.want)
		for _, w := range c.want {
			assert.ErrorContains(t, err, w)
		}
	}
	require.ErrorIs(t, solver.Validate(nil), solver.ErrInvalid)
	for name, o := range map[string]solver.Options{"Time of -1ns": {Time: -1}, "Work of -1": {Work: -1}, "Gap": {Gap: nan},
		"Threads of -2": {Threads: -2}, "Splits of 3": {Splits: 3}, "Splits of -1": {Splits: -1}} {
		_, err := solver.Solve(context.Background(), says(plan(), nil), pair(), o)
		require.ErrorIs(t, err, solver.ErrOptions)
		require.ErrorContains(t, err, name)
	}
}

func TestVerify(t *testing.T) {
	change := func(f func(s *solver.Solution)) *solver.Solution {
		s := plan("a")
		f(s)
		return s
	}
	split := func(splits ...solver.Split) *solver.Solution {
		return change(func(s *solver.Solution) { s.Choice["a"] = solver.Choice{Split: splits} })
	}
	for _, c := range []struct {
		sol  *solver.Solution
		rule solver.SplitRule
		want string // empty means feasible
	}{
		{plan(), solver.SplitsInteger, ""},
		{plan("a"), solver.SplitsInteger, ""},
		{plan("a", "b"), solver.SplitsInteger, "partition 0 (rack), resource node, slot 0: uses 4 of 2"},
		{change(func(s *solver.Solution) { s.Choice = plan("a", "b").Choice; s.Preempt = []string{"m"} }),
			solver.SplitsInteger, ""},
		{plan("c"), solver.SplitsInteger, "1 jobs that the problem has not"},
		{change(func(s *solver.Solution) { s.Preempt = []string{"x"} }), solver.SplitsInteger, "not running"},
		{change(func(s *solver.Solution) { s.Preempt = []string{"m", "m"} }), solver.SplitsInteger, "twice"},
		{change(func(s *solver.Solution) { s.Choice["a"] = solver.Choice{Option: 1} }), solver.SplitsInteger,
			"option 1 is not in [0, 1)"},
		{split(), solver.SplitsInteger, "adds up to 0 tasks, the gang has 2"},
		{split(solver.Split{Count: 1}, solver.Split{Count: 1}), solver.SplitsInteger, "partition 0 twice"},
		{split(solver.Split{Partition: 1, Count: 2}), solver.SplitsInteger, "split[0].partition 1"},
		{split(solver.Split{Count: -2}), solver.SplitsInteger, "-2 is not a number >= 0"},
		{split(solver.Split{Count: math.NaN()}), solver.SplitsInteger, "NaN is not a number >= 0"},
		{split(solver.Split{Count: 1.5}), solver.SplitsInteger, "1.5 is not whole"},
		{split(solver.Split{Count: 1.5}), solver.SplitsContinuous, "adds up to 1.5"},
		{split(solver.Split{Count: 1.5}), solver.SplitsNow, "not whole"},
		{nil, solver.SplitsInteger, "none"},
	} {
		err := solver.Verify(pair(), c.sol, c.rule)
		if c.want == "" {
			assert.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, solver.ErrInfeasible, c.want)
		assert.ErrorContains(t, err, c.want)
	}
}

func TestSolveComputesObjectiveGapAndOrder(t *testing.T) {
	p := pair()
	p.Running = append(p.Running, solver.Running{ID: "k", Demand: []float64{0}})
	s := plan("a", "b")
	bound := 20.0
	s.Objective, s.Bound, s.Preempt = 1e9, &bound, []string{"k", "m"}
	sol, err := solver.Solve(context.Background(), says(s, nil), p, solver.Options{})
	require.NoError(t, err)
	assert.Equal(t, 14.0, sol.Objective)
	assert.InDelta(t, 0.3, *sol.Gap, 1e-12)
	assert.Equal(t, []string{"m", "k"}, sol.Preempt)
	assert.Equal(t, "script", sol.Engine)
	assert.Equal(t, 1e9, s.Objective, "the engine's solution is not modified")
}

func TestSolveKeepsTheIncumbentOfAnEngineThatHangs(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	hang := script(func(_ context.Context, report func(*solver.Solution)) (*solver.Solution, error) {
		report(plan("b"))
		report(plan("a"))
		report(plan("b"))
		cancel()
		<-release
		return nil, nil
	})
	sol, err := solver.Solve(ctx, hang, pair(), solver.Options{})
	require.NoError(t, err)
	assert.Equal(t, solver.StopCanceled, sol.Stop)
	assert.Equal(t, 10.0, sol.Objective)

	mute := script(func(context.Context, func(*solver.Solution)) (*solver.Solution, error) {
		<-release
		return nil, nil
	})
	sol, err = solver.Solve(context.Background(), mute, pair(), solver.Options{Time: time.Millisecond})
	require.NoError(t, err)
	assert.Equal(t, solver.StopTime, sol.Stop)
	assert.Empty(t, sol.Choice)
	assert.NotNil(t, sol.Preempt)
}

func TestSolveWithAWrongEngine(t *testing.T) {
	boom := errors.New("boom")
	low := plan("a")
	low.Bound = new(float64)
	for name, c := range map[string]struct {
		engine solver.Solver
		is     error
	}{
		"infeasible":   {says(plan("a", "b"), nil), solver.ErrInfeasible},
		"error":        {says(nil, boom), boom},
		"error typed":  {says(nil, boom), solver.ErrEngine},
		"nothing":      {says(nil, nil), solver.ErrEngine},
		"bound":        {says(low, nil), solver.ErrEngine},
		"not solved":   {says(&solver.Solution{}, nil), solver.ErrEngine},
		"gap, unbound": {says(&solver.Solution{Stop: solver.StopGap}, nil), solver.ErrEngine},
		"panic": {script(func(context.Context, func(*solver.Solution)) (*solver.Solution, error) { panic(1) }),
			solver.ErrEngine},
		"none": {nil, solver.ErrEngine},
	} {
		sol, err := solver.Solve(context.Background(), c.engine, pair(), solver.Options{})
		require.ErrorIs(t, err, c.is, name)
		assert.Nil(t, sol, name)
	}
}

func TestSolveFallsBackToAVerifiedIncumbent(t *testing.T) {
	e := script(func(_ context.Context, report func(*solver.Solution)) (*solver.Solution, error) {
		report(plan("b"))
		return plan("a", "b"), nil
	})
	sol, err := solver.Solve(context.Background(), e, pair(), solver.Options{})
	require.ErrorIs(t, err, solver.ErrInfeasible)
	assert.ErrorContains(t, err, "slot 0: uses 4 of 2")
	require.NotNil(t, sol)
	assert.Equal(t, solver.StopError, sol.Stop)
	assert.Equal(t, 7.0, sol.Objective)
}

func TestLadder(t *testing.T) {
	boom := errors.New("boom")
	empty := plan()
	empty.Stop = solver.StopTime
	sol, err := solver.Solve(context.Background(), solver.Ladder(says(nil, boom), says(plan("a", "b"), nil),
		says(empty, nil), says(plan("a"), nil)), pair(), solver.Options{})
	require.NoError(t, err)
	assert.Equal(t, 10.0, sol.Objective)
	require.Len(t, sol.Rungs, 4)
	require.ErrorIs(t, sol.Rungs[0].Err, boom)
	require.ErrorIs(t, sol.Rungs[1].Err, solver.ErrInfeasible)
	assert.ErrorContains(t, sol.Rungs[2].Err, "no plan")
	require.NoError(t, sol.Rungs[3].Err)
	assert.Equal(t, "script", sol.Engine)

	sol, err = solver.Solve(context.Background(), solver.Ladder(says(empty, nil), says(nil, boom)), pair(),
		solver.Options{})
	require.NoError(t, err, "an empty plan is better than none")
	assert.Len(t, sol.Rungs, 2)
	_, err = solver.Solve(context.Background(), solver.Ladder(says(nil, boom)), pair(), solver.Options{})
	require.ErrorIs(t, err, solver.ErrEngine)
	assert.ErrorContains(t, err, "boom")
	_, err = solver.Solve(context.Background(), solver.Ladder(), pair(), solver.Options{})
	require.ErrorIs(t, err, solver.ErrEngine)
}

func TestLadderGivesTheNextRungTime(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	hang := script(func(context.Context, func(*solver.Solution)) (*solver.Solution, error) {
		<-release
		return nil, nil
	})
	sol, err := solver.Solve(context.Background(), solver.Ladder(solver.Share(hang, 0.002), says(plan("a"), nil)), pair(),
		solver.Options{Time: time.Minute})
	require.NoError(t, err)
	assert.Equal(t, 10.0, sol.Objective)
	assert.Len(t, sol.Rungs, 2)
}

func TestProblemRoundTrip(t *testing.T) {
	var buf bytes.Buffer
	require.NoError(t, solver.WriteProblem(&buf, pair()))
	p, err := solver.ReadProblem(bytes.NewReader(buf.Bytes()))
	require.NoError(t, err)
	assert.Equal(t, pair(), p)
	var zipped bytes.Buffer
	zw := gzip.NewWriter(&zipped)
	_, err = zw.Write(buf.Bytes())
	require.NoError(t, err)
	require.NoError(t, zw.Close())
	p, err = solver.ReadProblem(bytes.NewReader(zipped.Bytes()))
	require.NoError(t, err)
	assert.Equal(t, pair(), p)
	_, err = solver.ReadProblem(bytes.NewReader(zipped.Bytes()[:zipped.Len()/2]))
	require.ErrorIs(t, err, solver.ErrInvalid)
	_, err = solver.ReadProblem(bytes.NewReader(append(zipped.Bytes(), "junk"...)))
	require.ErrorIs(t, err, solver.ErrInvalid)
}

func TestReadProblemRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"":                               "line 1",
		"{":                              "line 1",
		"[]":                             "line 1, column 1",
		"{\n\"slots\": \"x\"}":           "line 2",
		`{"slot_seconds":1,"slots":1}{}`: "column 29",
		`{"slot_seconds":1,"jobs":[]}`:   "slots: 0",
		`{"slot_seconds":1e999}`:         "line 1",
		strings.Repeat("[", 100_000):     "document: found an array",
		`{"x":` + strings.Repeat(`{"a":`, 100_000): "depth",
		"\x1f\x8bnot gzip at all":                  "gzip",
		`{"slot_seconds":1,"slots":1,"job":[]}`:    "jobs: found nothing, expected an array",
	} {
		_, err := solver.ReadProblem(strings.NewReader(in))
		require.ErrorIs(t, err, solver.ErrInvalid, "%.40s", in)
		assert.ErrorContains(t, err, want, "%.40s", in)
	}
	_, err := solver.ReadProblemFile("testdata/none.json")
	require.Error(t, err)
	p, err := solver.ReadProblem(strings.NewReader(` {"slot_seconds":1,"slots":1,"jobs":[],"later":{"x":[1]}} `))
	require.NoError(t, err, "unknown fields are ignored")
	assert.Equal(t, 1, p.Slots)
}

func TestWriteSolution(t *testing.T) {
	var buf bytes.Buffer
	require.NoError(t, solver.WriteSolution(&buf, &solver.Solution{Engine: "greedy", Stop: solver.StopTime}))
	assert.Equal(t, `{"engine":"greedy","stop":"time","objective":0,"bound":null,"gap":null,"wall_ms":0,"choice":{},"preempt":[]}`+"\n", buf.String())

	want := `{"engine":"native","stop":"optimal","objective":123.4,"bound":123.9,"gap":0.004,"wall_ms":87.2,` +
		`"choice":{"j0":{"option":3,"split":[{"partition":0,"count":4}]}},"preempt":["r7"]}` + "\n"
	s, err := solver.ReadSolution(strings.NewReader(want))
	require.NoError(t, err)
	buf.Reset()
	require.NoError(t, solver.WriteSolution(&buf, s))
	assert.Equal(t, want, buf.String())
	_, err = solver.ReadSolution(strings.NewReader("{]"))
	require.ErrorContains(t, err, "line 1, column 2")
}

func FuzzReadProblem(f *testing.F) {
	var buf bytes.Buffer
	require.NoError(f, solver.WriteProblem(&buf, pair()))
	f.Add(buf.Bytes())
	f.Add([]byte(`{"slot_seconds":1,"slots":1}`))
	f.Add([]byte("\x1f\x8b\x08"))
	f.Add([]byte(`{"slot_seconds":1,"slots":2,"resources":["n"],"partitions":[{}],"capacity":[[[1,1e308]]]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := solver.ReadProblem(bytes.NewReader(data))
		if err != nil {
			require.ErrorIs(t, err, solver.ErrInvalid)
			return
		}
		require.NoError(t, solver.Verify(p, &solver.Solution{}, solver.SplitsInteger))
		var buf bytes.Buffer
		require.NoError(t, solver.WriteProblem(&buf, p))
		_, err = solver.ReadProblem(&buf)
		require.NoError(t, err)
	})
}
