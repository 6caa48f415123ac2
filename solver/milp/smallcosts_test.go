package milp_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/milptest/reference"
)

// store is a model in which a unit of value needs half of a store, and filling that costs so little a unit that
// tolerances hide it.
func store(cost, size float64) *milp.Model {
	m := &milp.Model{Maximize: true, Offset: 2}
	m.AddVar(milp.Var{Name: "y", Upper: 1, Cost: 1, Integer: true})
	m.AddVar(milp.Var{Name: "z", Upper: size, Cost: -cost})
	m.AddRow(milp.Row{Lower: 0, Upper: math.Inf(1), Index: []int32{0, 1}, Value: []float64{-size / 2, 1}})
	return m
}

// coarse is a backend that takes costs below 1e-7 for none, as simplex methods do.
type coarse struct{ milp.Backend }

func (c coarse) Solve(ctx context.Context, m *milp.Model, opts milp.Options) (*milp.Result, error) {
	rough := m.Clone()
	for j := range rough.Vars() {
		if v := rough.Var(j); math.Abs(v.Cost) < 2e-7 {
			v.Cost = 0
			rough.SetVar(j, v)
		}
	}
	opts.Incumbent = nil
	return c.Backend.Solve(ctx, rough, opts)
}

func TestSmallCostsCount(t *testing.T) {
	for _, m := range []*milp.Model{store(1e-7, 1e6), store(1e-9, 1e8), store(3e-6, 1e4)} {
		want, err := milp.Solve(t.Context(), reference.New(), m, milp.Options{Gap: -1})
		require.NoError(t, err)
		var told []milp.Point
		got, err := milp.Solve(t.Context(), coarse{reference.New()}, m, milp.Options{Gap: -1, Incumbent: func(p milp.Point) {
			told = append(told, p)
		}})
		require.NoError(t, err)
		assert.Equal(t, milp.StopOptimal, got.Stop)
		assert.InDelta(t, 1+2-m.Var(1).Upper/2*-m.Var(1).Cost, got.Objective, 1e-9)
		assert.InDelta(t, want.Objective, got.Objective, 1e-9)
		assert.InDelta(t, got.Objective, got.Bound, 1e-9)
		for _, p := range told {
			assert.InDelta(t, m.Objective(p.X), p.Objective, 1e-12)
			assert.GreaterOrEqual(t, p.Bound, got.Objective)
		}
	}
}

// answering is a backend that gives one answer.
type answering struct {
	milp.Backend
	res milp.Result
}

func (a answering) Solve(context.Context, *milp.Model, milp.Options) (*milp.Result, error) {
	res := a.res
	return &res, nil
}

// Costs that are too far apart to be scaled leave a bound that says so.
func TestCostsThatAreTooFarApartAreNotTrusted(t *testing.T) {
	m := store(1e-9, 1e8)
	m.AddVar(milp.Var{Name: "big", Upper: 1, Cost: 1e4, Integer: true})
	const scale = 64 // the power of two that brings 1e4 up to a million
	b := answering{reference.New(),
		milp.Result{Stop: milp.StopOptimal, X: []float64{1, 1e8, 1}, Bound: scale * (1e4 + 2 + 1 - 0.1)}}
	got, err := milp.Solve(t.Context(), b, m, milp.Options{Gap: -1})
	require.NoError(t, err)
	assert.Equal(t, milp.StopOther, got.Stop)
	assert.Contains(t, got.Raw, "too small")
	assert.InDelta(t, 1e4+2+0.9, got.Objective, 1e-9)
	assert.InDelta(t, got.Objective+0.1, got.Bound, 1e-9)

	b.res.Bound = scale * (1e4 + 2 + 0.9)
	got, err = milp.Solve(t.Context(), b, m, milp.Options{Gap: 1e-4})
	require.NoError(t, err)
	assert.Equal(t, milp.StopOptimal, got.Stop, "within the gap all the same")

	m = &milp.Model{}
	m.AddVar(milp.Var{Upper: math.Inf(1), Cost: 1e-12})
	m.AddVar(milp.Var{Upper: 1, Cost: -1e6})
	got, err = milp.Solve(t.Context(), reference.New(), m, milp.Options{})
	require.NoError(t, err)
	assert.Equal(t, milp.StopOther, got.Stop)
	assert.True(t, math.IsInf(got.Bound, -1))
}
