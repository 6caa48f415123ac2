package milp_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/milptest/reference"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// exactly asks for proven optima.
func exactly() solver.Options { return solver.Options{Gap: -1} }

// TestEngineFindsTheOptimum: against exhaustive search, with running jobs, several resources and gangs that are split.
func TestEngineFindsTheOptimum(t *testing.T) {
	engine := milp.New(reference.New(), nil)
	for seed := range uint64(150) {
		p := solvertest.Tiny(seed)
		sol, err := solver.Solve(context.Background(), engine, p, exactly())
		require.NoError(t, err, "seed %d", seed)
		want := solvertest.Optimum(p)
		require.InDelta(t, want, sol.Objective, 1e-6*math.Max(1, want), "seed %d", seed)
		assert.Equal(t, solver.StopOptimal, sol.Stop, "seed %d", seed)
		assert.Equal(t, "milp+reference", sol.Engine)
	}
}

// TestRelaxedModelsGiveWholePlans: the plan keeps the rules whatever the model left out, the bound is one, and a
// model that is relaxed more has a bound that is no tighter.
func TestRelaxedModelsGiveWholePlans(t *testing.T) {
	for seed := range uint64(100) {
		p := solvertest.Tiny(seed)
		want := solvertest.Optimum(p)
		last := want
		for _, relax := range []milp.Relax{milp.RelaxNone, milp.RelaxLater, milp.RelaxAll} {
			sol, err := solver.Solve(context.Background(), milp.New(reference.New(), &milp.Config{Relax: relax}), p, exactly())
			require.NoError(t, err, "seed %d", seed)
			require.NotNil(t, sol.Bound)
			assert.GreaterOrEqual(t, *sol.Bound, last-1e-6*math.Max(1, last), "seed %d, relax %d", seed, relax)
			assert.LessOrEqual(t, sol.Objective, want+1e-6*math.Max(1, want), "seed %d, relax %d", seed, relax)
			last = *sol.Bound
		}
	}
}

// TestSplits: a model for continuous splits is worth what relaxing everything bounds.
func TestSplits(t *testing.T) {
	for seed := range uint64(60) {
		p := solvertest.Tiny(seed)
		for _, splits := range []solver.SplitRule{solver.SplitsContinuous, solver.SplitsNow} {
			sol, err := solver.Solve(context.Background(), milp.New(reference.New(), nil), p,
				solver.Options{Gap: -1, Splits: splits})
			require.NoError(t, err, "seed %d", seed)
			assert.GreaterOrEqual(t, sol.Objective, solvertest.Optimum(p)-1e-6, "seed %d: fewer rules", seed)
		}
	}
}

// TestPlanOfAnyPoint: whatever a backend gives, the plan of it keeps the problem's rules.
func TestPlanOfAnyPoint(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := solvertest.Random(seed, 12)
		for _, splits := range []solver.SplitRule{solver.SplitsInteger, solver.SplitsContinuous, solver.SplitsNow} {
			c, err := milp.Compile(p, splits, milp.RelaxNone)
			require.NoError(t, err)
			x := make([]float64, c.Model.Vars())
			for j := range x {
				x[j] = math.Max(0, r.Float64()*1.5-0.5) * math.Max(1, c.Model.Var(j).Upper)
			}
			require.NoError(t, solver.Verify(p, c.Plan(x), splits), "seed %d", seed)
		}
	}
}

// TestStartIsAPointOfTheModel: what fits of a hint, stale parts of it left out.
func TestStartIsAPointOfTheModel(t *testing.T) {
	some := 0
	for seed := range uint64(100) {
		p := solvertest.Random(seed, 10)
		r := rand.New(rand.NewPCG(seed, 2))
		p.Hint = map[string]int{"nobody": 3}
		for _, job := range p.Jobs {
			p.Hint[job.ID] = r.IntN(len(job.Options)+2) - 1
		}
		c, err := milp.Compile(p, solver.SplitsInteger, milp.RelaxNone)
		require.NoError(t, err)
		x := c.Start()
		if x == nil {
			continue
		}
		some++
		require.NoError(t, milp.Check(c.Model, x), "seed %d", seed)
		sol := c.Plan(x)
		assert.GreaterOrEqual(t, solver.Objective(p, sol), c.Model.Objective(x)/c.Scale-1e-6, "seed %d", seed)
	}
	assert.Greater(t, some, 50)
}

func TestNamesAreForThoseWhoAsk(t *testing.T) {
	p := solvertest.Tiny(3)
	plain, err := milp.Compile(p, solver.SplitsInteger, milp.RelaxNone)
	require.NoError(t, err)
	named, err := milp.CompileNamed(p, solver.SplitsInteger, milp.RelaxNone)
	require.NoError(t, err)
	assert.Empty(t, plain.Model.Var(0).Name)
	assert.NotEmpty(t, named.Model.Var(0).Name)
	assert.NotEmpty(t, named.Model.Row(0).Name)
	assert.Equal(t, plain.Model.ByColumn(), named.Model.ByColumn())
	_, err = milp.Compile(&solver.Problem{}, solver.SplitsInteger, milp.RelaxNone)
	assert.ErrorIs(t, err, solver.ErrInvalid)
}

// TestLiesAreRefused: what solver.Solve must not believe of a backend.
func TestLiesAreRefused(t *testing.T) {
	p := solvertest.Random(5, 8)
	honest := func(m *milp.Model) *milp.Result {
		res, err := milp.Solve(context.Background(), reference.New(), m, milp.Options{Gap: -1})
		require.NoError(t, err)
		return res
	}
	for name, lie := range map[string]func(m *milp.Model, r *milp.Result){
		"calls it infeasible":     func(_ *milp.Model, r *milp.Result) { *r = milp.Result{Stop: milp.StopInfeasible} },
		"calls it unbounded":      func(_ *milp.Model, r *milp.Result) { *r = milp.Result{Stop: milp.StopUnbounded} },
		"bound below its point":   func(_ *milp.Model, r *milp.Result) { r.Bound = r.Objective / 2 },
		"optimum away from bound": func(_ *milp.Model, r *milp.Result) { r.Bound *= 2 },
		"point that is none":      func(_ *milp.Model, r *milp.Result) { r.X[0] = 0.5 },
		"more than there is": func(m *milp.Model, r *milp.Result) {
			for j := range r.X {
				r.X[j] = m.Var(j).Upper
			}
		},
		"less than there is": func(_ *milp.Model, r *milp.Result) {
			clear(r.X)
			r.Bound = 0 // of which the engine itself finds a better plan
		},
		"NaN":                 func(_ *milp.Model, r *milp.Result) { r.X[1] = math.NaN() },
		"too short":           func(_ *milp.Model, r *milp.Result) { r.X = r.X[1:] },
		"stops for no reason": func(_ *milp.Model, r *milp.Result) { r.Stop = "" },
		"panics":              func(*milp.Model, *milp.Result) { panic("boom") },
	} {
		t.Run(name, func(t *testing.T) {
			liar := &scripted{caps: milp.Caps{Integer: true}}
			liar.solve = func(_ context.Context, m *milp.Model, _ milp.Options) (*milp.Result, error) {
				res := honest(m)
				lie(m, res)
				return res, nil
			}
			refused(t, p, liar)
		})
	}
	for name, b := range map[string]*scripted{
		"nothing": script(func(context.Context, *milp.Model, milp.Options) (*milp.Result, error) { return nil, nil }),
		"fails": script(func(context.Context, *milp.Model, milp.Options) (*milp.Result, error) {
			return nil, errors.New("boom")
		}),
		"missing": script(func(context.Context, *milp.Model, milp.Options) (*milp.Result, error) {
			return nil, milp.ErrUnavailable
		}),
	} {
		t.Run(name, func(t *testing.T) { refused(t, p, b) })
	}
}

// refused: solver.Solve has none of what b says, and a ladder goes on to the next rung.
func refused(t *testing.T, p *solver.Problem, liar milp.Backend) {
	t.Helper()
	sol, err := solver.Solve(context.Background(), milp.New(liar, nil), p, exactly())
	require.ErrorIs(t, err, solver.ErrEngine)
	if sol != nil { // what was told of before and holds by itself
		assert.Equal(t, solver.StopError, sol.Stop)
	}
	sol, err = solver.Solve(context.Background(), solver.Ladder(milp.New(liar, nil), milp.New(reference.New(), nil)), p,
		exactly())
	require.NoError(t, err, "the next rung answers")
	require.Len(t, sol.Rungs, 2)
	assert.Equal(t, "milp+scripted", sol.Rungs[0].Engine)
	assert.Equal(t, "milp+reference", sol.Engine)
}

// TestIncumbentsSurvive: what a backend told of before it hung is the plan, and the cycle ends in time for the next
// rung.
func TestIncumbentsSurvive(t *testing.T) {
	p := solvertest.Random(5, 8)
	c, err := milp.Compile(p, solver.SplitsInteger, milp.RelaxNone)
	require.NoError(t, err)
	best, err := milp.Solve(context.Background(), reference.New(), c.Model, milp.Options{})
	require.NoError(t, err)
	release := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stuck := &scripted{caps: milp.Caps{Integer: true, Incumbents: true, Deaf: true}}
	stuck.solve = func(_ context.Context, m *milp.Model, opts milp.Options) (*milp.Result, error) {
		if m.Vars() == len(best.X) {
			opts.Incumbent(milp.Point{X: best.X, Bound: math.Inf(1)})
			cancel()
		}
		<-release
		return nil, errors.New("too late")
	}
	sol, err := solver.Solve(ctx, milp.New(stuck, nil), p, solver.Options{})
	require.NoError(t, err)
	assert.Equal(t, solver.StopCanceled, sol.Stop)
	assert.NotEmpty(t, sol.Choice)
	ended, end := context.WithCancel(context.Background())
	end()
	require.Eventually(t, func() bool {
		return milp.New(stuck, nil).Wait(ended) != nil
	}, time.Minute, time.Millisecond, "it is known to hang")
	_, err = solver.Solve(context.Background(), milp.New(stuck, nil), p, solver.Options{Time: 8 * time.Second})
	require.ErrorIs(t, err, solver.ErrEngine, "while it hangs it is not asked again")
	assert.ErrorContains(t, err, "still busy")
	close(release)
	require.Eventually(t, func() bool {
		_, err := milp.Solve(context.Background(), stuck, &milp.Model{}, milp.Options{})
		return !strings.Contains(fmt.Sprint(err), "still busy")
	}, time.Minute, time.Millisecond)
}
