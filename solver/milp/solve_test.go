package milp_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
)

// scripted is a backend that does what its test says. It is used by pointer, so that each is an owner of its own.
type scripted struct {
	caps  milp.Caps
	solve func(ctx context.Context, m *milp.Model, opts milp.Options) (*milp.Result, error)
}

func (s *scripted) Name() string    { return "scripted" }
func (s *scripted) Caps() milp.Caps { return s.caps }
func (s *scripted) Solve(ctx context.Context, m *milp.Model, opts milp.Options) (*milp.Result, error) {
	return s.solve(ctx, m, opts)
}

// script is a backend of integer variables and nodes.
func script(solve func(ctx context.Context, m *milp.Model, opts milp.Options) (*milp.Result, error)) *scripted {
	return &scripted{caps: milp.Caps{Integer: true, Nodes: true}, solve: solve}
}

// answers is a backend that gives res.
func answers(res milp.Result) *scripted {
	return script(func(context.Context, *milp.Model, milp.Options) (*milp.Result, error) { return &res, nil })
}

func run(b milp.Backend, m *milp.Model, opts milp.Options) (*milp.Result, error) {
	return milp.Solve(context.Background(), b, m, opts)
}

// The knapsack's optimum is 7, at 1, 1, 0.

func TestSolveComputesTheObjective(t *testing.T) {
	m := knapsack()
	m.Offset = 100
	res, err := run(answers(milp.Result{Stop: milp.StopOptimal, X: []float64{1, 1, 0}, Objective: -3, Bound: 107,
		Raw: "done", Nodes: 4, Iterations: 9}), m, milp.Options{})
	require.NoError(t, err)
	assert.Equal(t, 107.0, res.Objective)
	assert.Equal(t, "done", res.Raw)
	assert.Equal(t, []int64{4, 9}, []int64{res.Nodes, res.Iterations})
	assert.Positive(t, res.Wall)
	res, err = run(answers(milp.Result{Stop: milp.StopTime, Objective: 12, Bound: 120}), m, milp.Options{})
	require.NoError(t, err)
	assert.Zero(t, res.Objective, "there is no point")
	assert.Equal(t, math.Inf(1), res.Gap())
}

func TestSolveRefusesContradictions(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	good := []float64{1, 1, 0}
	for _, c := range []struct {
		name string
		res  milp.Result
		want string
	}{
		{"no reason", milp.Result{X: good, Bound: 7}, `stopped for ""`},
		{"unknown reason", milp.Result{Stop: "bored", X: good, Bound: 7}, `stopped for "bored"`},
		{"optimal without a point", milp.Result{Stop: milp.StopOptimal, Bound: 7}, "optimal and has none"},
		{"optimal away from its bound", milp.Result{Stop: milp.StopOptimal, X: []float64{1, 0, 0}, Bound: 7},
			"calls 3 optimal, with a bound of 7"},
		{"better than its bound", milp.Result{Stop: milp.StopTime, X: good, Bound: 6},
			"objective 7 is better than its bound 6"},
		{"optimal and better than its bound", milp.Result{Stop: milp.StopOptimal, X: good, Bound: 6.99},
			"better than its bound"},
		{"a point of an infeasible model", milp.Result{Stop: milp.StopInfeasible, X: good, Bound: 7},
			"infeasible and has a point of it"},
		{"NaN bound", milp.Result{Stop: milp.StopTime, X: good, Bound: nan}, "bound is NaN"},
		{"NaN bound without a point", milp.Result{Stop: milp.StopTime, Bound: nan}, "bound is NaN"},
		{"bound of the other sense", milp.Result{Stop: milp.StopTime, Bound: -inf}, "bound is -Inf"},
		{"NaN in its point", milp.Result{Stop: milp.StopOptimal, X: []float64{1, nan, 0}, Bound: 7}, "is NaN"},
		{"infinity in its point", milp.Result{Stop: milp.StopOptimal, X: []float64{1, inf, 0}, Bound: 7}, "is +Inf"},
		{"too short", milp.Result{Stop: milp.StopOptimal, X: []float64{1, 1}, Bound: 7}, "found 2 numbers, expected 3"},
		{"too long", milp.Result{Stop: milp.StopOptimal, X: []float64{1, 1, 0, 0}, Bound: 7}, "found 4 numbers, expected 3"},
		{"empty", milp.Result{Stop: milp.StopOptimal, X: []float64{}, Bound: 7}, "found 0 numbers, expected 3"},
		{"fraction", milp.Result{Stop: milp.StopOptimal, X: []float64{1, 0.5, 0}, Bound: 5}, "expected a whole number"},
		{"beyond a bound", milp.Result{Stop: milp.StopOptimal, X: []float64{2, 0, 0}, Bound: 6}, "expected 0 to 1"},
		{"breaks a row", milp.Result{Stop: milp.StopOptimal, X: []float64{1, 0, 1}, Bound: 8}, `rows[0] ("weight")`},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, err := run(answers(c.res), knapsack(), milp.Options{})
			require.ErrorIs(t, err, milp.ErrBackend)
			assert.ErrorContains(t, err, "backend scripted: ")
			assert.ErrorContains(t, err, c.want)
			assert.Nil(t, res)
		})
	}
}

func TestSolveTakesWhatAgrees(t *testing.T) {
	good := []float64{1, 1, 0}
	for _, c := range []struct {
		name  string
		opts  milp.Options
		res   milp.Result
		bound float64
	}{
		{"optimum", milp.Options{Gap: -1}, milp.Result{Stop: milp.StopOptimal, X: good, Bound: 7}, 7},
		{"rounding", milp.Options{Gap: -1}, milp.Result{Stop: milp.StopOptimal, X: good, Bound: 7 + 5e-6}, 7 + 5e-6},
		{"rounding the other way", milp.Options{Gap: -1}, milp.Result{Stop: milp.StopOptimal, X: good, Bound: 7 - 5e-6}, 7},
		{"within the gap", milp.Options{Gap: 0.3}, milp.Result{Stop: milp.StopOptimal, X: good, Bound: 9.5}, 9.5},
		{"within the default gap", milp.Options{}, milp.Result{Stop: milp.StopOptimal, X: good, Bound: 7.0006}, 7.0006},
		{"no point", milp.Options{}, milp.Result{Stop: milp.StopNodes, Bound: 8}, 8},
		{"no bound", milp.Options{}, milp.Result{Stop: milp.StopOther, X: good, Bound: math.Inf(1)}, math.Inf(1)},
		{"infeasible", milp.Options{}, milp.Result{Stop: milp.StopInfeasible, Bound: math.NaN()}, math.Inf(1)},
		{"unbounded", milp.Options{}, milp.Result{Stop: milp.StopUnbounded, X: good, Bound: 3}, math.Inf(1)},
		{"one of the two", milp.Options{}, milp.Result{Stop: milp.StopInfeasibleOrUnbounded}, math.Inf(1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, err := run(answers(c.res), knapsack(), c.opts)
			require.NoError(t, err)
			assert.Equal(t, c.res.Stop, res.Stop)
			assert.Equal(t, c.res.X, res.X)
			assert.Equal(t, c.bound, res.Bound)
		})
	}
	_, err := run(answers(milp.Result{Stop: milp.StopOptimal, X: good, Bound: 9.5}), knapsack(), milp.Options{Gap: 0.2})
	require.ErrorIs(t, err, milp.ErrBackend, "outside the gap")
}

func TestSolveRefusesWhatHasOverflowed(t *testing.T) {
	m := &milp.Model{}
	x := m.AddVar(milp.Var{Lower: 0, Upper: math.Inf(1), Cost: 1e200})
	y := m.AddVar(milp.Var{Lower: 0, Upper: math.Inf(1)})
	m.AddRow(milp.Row{Lower: math.Inf(-1), Upper: 1, Index: []int32{int32(y)}, Value: []float64{1e200}})
	m.AddRow(milp.Row{Lower: 0, Upper: math.Inf(1), Index: []int32{int32(x), int32(y)}, Value: []float64{1, -1}})
	_, err := run(answers(milp.Result{Stop: milp.StopTime, X: []float64{1e200, 0}, Bound: 0}), m, milp.Options{})
	require.ErrorIs(t, err, milp.ErrBackend)
	assert.ErrorContains(t, err, "objective is +Inf")
	require.ErrorContains(t, milp.Check(m, []float64{0, 1e200}), "rows[0]")
	m.AddRow(milp.Row{Lower: -1, Upper: 1, Index: []int32{int32(x), int32(x)}, Value: []float64{1e200, -1e200}})
	require.ErrorContains(t, milp.Check(m, []float64{1e200, 0}), "rows[2]", "infinity less infinity")
}

func TestSolveRefusesTheCallersMistakes(t *testing.T) {
	never := script(func(context.Context, *milp.Model, milp.Options) (*milp.Result, error) {
		t.Error("the backend was called")
		return nil, nil
	})
	broken := knapsack()
	broken.Offset = math.NaN()
	for _, c := range []struct {
		m    *milp.Model
		opts milp.Options
		want string
	}{
		{nil, milp.Options{}, "no model"},
		{broken, milp.Options{}, "offset"},
		{knapsack(), milp.Options{Time: -1}, "time -1ns"},
		{knapsack(), milp.Options{Nodes: -1}, "nodes -1"},
		{knapsack(), milp.Options{Threads: -2}, "threads -2"},
		{knapsack(), milp.Options{Gap: math.NaN()}, "gap NaN"},
		{knapsack(), milp.Options{Gap: math.Inf(-1)}, "gap -Inf"},
		{knapsack(), milp.Options{Start: []float64{1}}, "found 1 numbers, expected 3"},
		{knapsack(), milp.Options{Start: []float64{1, math.NaN(), math.Inf(1)}}, "start[2]: found +Inf"},
	} {
		_, err := run(never, c.m, c.opts)
		require.ErrorIs(t, err, milp.ErrInvalid)
		assert.ErrorContains(t, err, c.want)
	}
	_, err := run(nil, knapsack(), milp.Options{})
	require.ErrorIs(t, err, milp.ErrBackend)
	never.caps = milp.Caps{}
	_, err = run(never, knapsack(), milp.Options{})
	require.ErrorIs(t, err, milp.ErrUnsupported, "integer variables")
	never.caps = milp.Caps{Heuristic: true}
	_, err = run(never, knapsack(), milp.Options{Nodes: 1})
	require.ErrorIs(t, err, milp.ErrUnsupported, "nodes")
}

func TestSolveKeepsKindsOfErrors(t *testing.T) {
	own := errors.New("disk full")
	for _, c := range []struct {
		err, want error
		other     bool // not the backend's failure
	}{
		{fmt.Errorf("%w: quadratic", milp.ErrUnsupported), milp.ErrUnsupported, true},
		{fmt.Errorf("%w: no licence", milp.ErrUnavailable), milp.ErrUnavailable, true},
		{fmt.Errorf("%w: too many rows", milp.ErrInvalid), milp.ErrInvalid, true},
		{own, milp.ErrBackend, false},
		{own, own, false},
		{nil, milp.ErrBackend, false},
	} {
		res, err := run(script(func(context.Context, *milp.Model, milp.Options) (*milp.Result, error) {
			return nil, c.err
		}), knapsack(), milp.Options{})
		require.ErrorIs(t, err, c.want)
		assert.Nil(t, res)
		if c.other {
			assert.NotErrorIs(t, err, milp.ErrBackend)
		}
	}
}

func TestSolveKeepsThePointToldOfByABackendThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		res   *milp.Result
		err   error
		panic bool
	}{
		"panic":         {panic: true},
		"error":         {err: errors.New("boom")},
		"nothing":       {},
		"bad point":     {res: &milp.Result{Stop: milp.StopTime, X: []float64{1, 1, 1}, Bound: 12}},
		"contradiction": {res: &milp.Result{Stop: milp.StopInfeasible}},
		"bad bound":     {res: &milp.Result{Stop: milp.StopTime, Bound: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			b := script(func(_ context.Context, _ *milp.Model, opts milp.Options) (*milp.Result, error) {
				opts.Incumbent(milp.Point{X: []float64{1, 0, 0}, Bound: 8})
				if c.panic {
					panic("boom")
				}
				return c.res, c.err
			})
			res, err := run(b, knapsack(), milp.Options{})
			require.ErrorIs(t, err, milp.ErrBackend)
			require.NotNil(t, res)
			assert.Equal(t, milp.StopOther, res.Stop)
			assert.Equal(t, []float64{1, 0, 0}, res.X)
			assert.Equal(t, 3.0, res.Objective)
			assert.Equal(t, math.Inf(1), res.Bound, "nothing is believed of its bound")
			if c.panic {
				assert.ErrorContains(t, err, "panic: boom")
			}
		})
	}
}

func TestSolvePrefersTheBestPointToldOf(t *testing.T) {
	b := script(func(_ context.Context, _ *milp.Model, opts milp.Options) (*milp.Result, error) {
		opts.Incumbent(milp.Point{X: []float64{1, 1, 0}, Bound: 9})
		return &milp.Result{Stop: milp.StopTime, X: []float64{1, 0, 0}, Bound: 9}, nil
	})
	res, err := run(b, knapsack(), milp.Options{})
	require.NoError(t, err)
	assert.Equal(t, []float64{1, 1, 0}, res.X)
	assert.Equal(t, 7.0, res.Objective)
	lost := script(func(_ context.Context, _ *milp.Model, opts milp.Options) (*milp.Result, error) {
		opts.Incumbent(milp.Point{X: []float64{1, 1, 0}, Bound: 9})
		return &milp.Result{Stop: milp.StopTime, Bound: 9}, nil
	})
	res, err = run(lost, knapsack(), milp.Options{})
	require.NoError(t, err)
	assert.Equal(t, []float64{1, 1, 0}, res.X)
}

func TestIncumbentsAreCheckedCopiedAndRise(t *testing.T) {
	var seen []float64
	var points [][]float64
	x := []float64{0, 0, 0}
	b := script(func(_ context.Context, _ *milp.Model, opts milp.Options) (*milp.Result, error) {
		for _, j := range []int{0, 2, 1} { // 3; 8, which is too heavy; 7
			clear(x)
			x[j] = 1
			if j == 1 {
				x[0] = 1
			}
			opts.Incumbent(milp.Point{X: x, Objective: 1000, Bound: 12 - float64(j)})
		}
		opts.Incumbent(milp.Point{X: []float64{0, 0, 1}, Bound: 8})          // no better
		opts.Incumbent(milp.Point{X: []float64{1, 1, 0}, Bound: math.NaN()}) // no better, and no bound
		clear(x)
		return &milp.Result{Stop: milp.StopTime, Bound: 8}, nil
	})
	res, err := run(b, knapsack(), milp.Options{Incumbent: func(p milp.Point) {
		seen = append(seen, p.Objective, p.Bound)
		points = append(points, append([]float64(nil), p.X...))
	}})
	require.NoError(t, err)
	assert.Equal(t, []float64{1, 1, 0}, res.X)
	assert.Equal(t, []float64{3, 12, 5, 10, 7, 10}, seen, "objectives are computed, and no bound is worse than one before")
	assert.Equal(t, [][]float64{{1, 0, 0}, {0, 0, 1}, {1, 1, 0}}, points)
}

func TestABadIncumbentIsAnError(t *testing.T) {
	for name, bad := range map[string][]float64{"too heavy": {1, 1, 1}, "too short": {1}, "NaN": {math.NaN(), 0, 0},
		"nil": nil} {
		t.Run(name, func(t *testing.T) {
			called := 0
			b := script(func(_ context.Context, _ *milp.Model, opts milp.Options) (*milp.Result, error) {
				opts.Incumbent(milp.Point{X: bad, Bound: 9})
				return &milp.Result{Stop: milp.StopOptimal, X: []float64{1, 1, 0}, Bound: 7}, nil
			})
			res, err := run(b, knapsack(), milp.Options{Incumbent: func(milp.Point) { called++ }})
			require.ErrorIs(t, err, milp.ErrBackend)
			assert.ErrorContains(t, err, "a point that it told of breaks the model")
			assert.Nil(t, res)
			assert.Zero(t, called)
		})
	}
}

func TestNothingIsCalledAfterReturn(t *testing.T) {
	release, ended := make(chan struct{}), make(chan struct{})
	b := script(func(_ context.Context, _ *milp.Model, opts milp.Options) (*milp.Result, error) {
		opts.Log("in time")
		go func() {
			defer close(ended)
			<-release
			opts.Log("late")
			opts.Incumbent(milp.Point{X: []float64{1, 1, 0}, Bound: 7})
		}()
		return &milp.Result{Stop: milp.StopTime, Bound: 12}, nil
	})
	var words []string
	points := 0
	res, err := run(b, knapsack(), milp.Options{Log: func(line string) {
		words = append(words, line)
	}, Incumbent: func(milp.Point) {
		points++
	}})
	require.NoError(t, err)
	close(release)
	<-ended
	assert.Equal(t, []string{"in time"}, words)
	assert.Zero(t, points)
	assert.Nil(t, res.X)
}

// stubborn is a backend that tells of a point, and goes on until it is released.
func stubborn(release <-chan struct{}) *scripted {
	return script(func(_ context.Context, _ *milp.Model, opts milp.Options) (*milp.Result, error) {
		opts.Incumbent(milp.Point{X: []float64{1, 0, 0}, Bound: 11})
		<-release
		return &milp.Result{Stop: milp.StopOptimal, X: []float64{1, 1, 0}, Bound: 7}, nil
	})
}

func TestALateBackendIsAbandonedWithItsBestPoint(t *testing.T) {
	for _, want := range []milp.Stop{milp.StopTime, milp.StopCanceled} {
		t.Run(string(want), func(t *testing.T) {
			release := make(chan struct{})
			b := stubborn(release)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			opts := milp.Options{Time: time.Millisecond}
			if want == milp.StopCanceled {
				opts.Time = 0
				cancel()
			}
			told := make(chan struct{}) // which a loaded machine may have had no time for
			opts.Incumbent = func(milp.Point) { close(told) }
			res, err := milp.Solve(ctx, b, knapsack(), opts)
			require.NoError(t, err)
			assert.Equal(t, want, res.Stop)
			assert.Equal(t, "abandoned past its deadline", res.Raw)
			select {
			case <-told:
				assert.Equal(t, []float64{1, 0, 0}, res.X)
				assert.Equal(t, 11.0, res.Bound)
			default:
				assert.Nil(t, res.X)
				assert.Equal(t, math.Inf(1), res.Bound)
			}
			_, err = run(b, knapsack(), milp.Options{Time: 20 * time.Millisecond})
			require.ErrorIs(t, err, milp.ErrUnavailable)
			assert.ErrorContains(t, err, "still busy", "it is not waited for for ever")
			other := answers(milp.Result{Stop: milp.StopTime, Bound: 9})
			_, err = run(other, knapsack(), milp.Options{})
			require.NoError(t, err, "others are not refused")
			close(release)
			assert.Equal(t, 7.0, eventually(t, b).Objective, "it is waited for, and asked again once it has returned")
		})
	}
}

// eventually asks b until it is not refused as busy.
func eventually(t *testing.T, b milp.Backend) *milp.Result {
	for {
		res, err := run(b, knapsack(), milp.Options{})
		if err == nil {
			return res
		}
		require.ErrorContains(t, err, "still busy")
		runtime.Gosched()
	}
}

func TestTheEndOfTheContextReachesTheBackend(t *testing.T) {
	b := script(func(ctx context.Context, _ *milp.Model, opts milp.Options) (*milp.Result, error) {
		if _, has := ctx.Deadline(); has != (opts.Time > 0) {
			return nil, errors.New("no deadline")
		}
		if opts.Time == 0 {
			<-ctx.Done()
			return &milp.Result{Stop: milp.StopOf(ctx.Err()), Bound: 12}, nil
		}
		return &milp.Result{Stop: milp.StopOptimal, X: []float64{1, 1, 0}, Bound: 7}, nil
	})
	_, err := run(b, knapsack(), milp.Options{Time: time.Hour})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	res, err := milp.Solve(ctx, b, knapsack(), milp.Options{})
	require.NoError(t, err)
	assert.Equal(t, milp.StopCanceled, res.Stop)
}

func TestStopOf(t *testing.T) {
	assert.Equal(t, milp.StopCanceled, milp.StopOf(context.Canceled))
	assert.Equal(t, milp.StopCanceled, milp.StopOf(fmt.Errorf("call: %w", context.Canceled)))
	assert.Equal(t, milp.StopTime, milp.StopOf(context.DeadlineExceeded))
	assert.Equal(t, milp.StopTime, milp.StopOf(nil))
}

func TestTheModelAndOptionsReachTheBackend(t *testing.T) {
	start := []float64{1, math.NaN(), 0}
	b := script(func(_ context.Context, m *milp.Model, opts milp.Options) (*milp.Result, error) {
		assert.Equal(t, 3, m.Vars())
		assert.Same(t, &start[0], &opts.Start[0])
		assert.Equal(t, []any{int64(5), 2, int64(7), 0.25}, []any{opts.Nodes, opts.Threads, opts.Seed, opts.TargetGap()})
		assert.Nil(t, opts.Log)
		assert.NotNil(t, opts.Incumbent, "Solve keeps points, whoever else wants them")
		return &milp.Result{Stop: milp.StopNodes, Bound: 12, Start: milp.StartUnknown}, nil
	})
	res, err := run(b, knapsack(), milp.Options{Start: start, Nodes: 5, Threads: 2, Seed: 7, Gap: 0.25})
	require.NoError(t, err)
	assert.Equal(t, milp.StartUnknown, res.Start)
}
