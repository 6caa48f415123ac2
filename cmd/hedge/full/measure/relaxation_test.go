//go:build unix

package main

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/clp"
	"github.com/hedgesched/hedge/solver/native"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// optimum is that of the linear program c by Clp.
func optimum(t *testing.T, c *milp.Placement, m *milp.Model) float64 {
	t.Helper()
	res, err := milp.Solve(context.Background(), clp.New(), m, milp.Options{Time: 2 * time.Minute})
	require.NoError(t, err)
	require.Equal(t, milp.StopOptimal, res.Stop)
	return c.Bound(res.Bound)
}

// tightened is m with a row for each number of tasks in a partition that is bounded below its gang's: no more of them
// than the bound's share of the option that is chosen. The native engine's columns know that; the model for generic
// solvers leaves it to branching.
func tightened(m *milp.Model) *milp.Model {
	out := m.Clone()
	_, upper := m.Bounds()
	for i := range m.Rows() {
		row := m.Row(i)
		gang, negative := int32(-1), 0
		for k, v := range row.Value {
			if v < 0 {
				gang, negative = row.Index[k], negative+1
			}
		}
		if row.Lower != 0 || row.Upper != 0 || negative != 1 {
			continue
		}
		for k, v := range row.Value {
			if j := row.Index[k]; v > 0 {
				out.AddRow(milp.Row{Lower: math.Inf(-1), Index: []int32{j, gang}, Value: []float64{1, -upper[j]}})
			}
		}
	}
	return out
}

// TestNativeBoundsAndLinearPrograms: with neither cuts nor branching, the native bound is never below the linear
// program's optimum, by whatever prices it was come by; when the relaxation is solved it is no higher than that.
func TestNativeBoundsAndLinearPrograms(t *testing.T) {
	for seed := range uint64(14) {
		p := solvertest.Cycle(2000+seed, 8+3*int(seed), int(seed)%4*3)
		c, err := linear(p)
		require.NoError(t, err)
		compact, tight := optimum(t, c, c.Model), optimum(t, c, tightened(c.Model))
		require.LessOrEqual(t, tight, compact*(1+same), "seed %d: the oracle", seed)

		opts := solver.Options{Work: 1 << 40, Splits: solver.SplitsContinuous, Gap: -1}
		sol, err := solver.Solve(context.Background(), native.New(&native.Config{Relaxation: true}), p, opts)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, *sol.Bound, tight*(1-same), "seed %d: solved", seed)
		assert.LessOrEqual(t, *sol.Bound, compact*(1+same), "seed %d: solved", seed)

		for _, work := range []int64{10, 1000, 10_000} {
			opts.Work = work
			sol, err = solver.Solve(context.Background(), native.New(&native.Config{NoExact: true}), p, opts)
			require.NoError(t, err)
			assert.GreaterOrEqual(t, *sol.Bound, tight*(1-same), "seed %d: within %d units", seed, work)
		}
		sol, err = solver.Solve(context.Background(), native.New(nil), p, solver.Options{Work: 30_000, Gap: -1})
		require.NoError(t, err)
		assert.LessOrEqual(t, *sol.Bound, compact*(1+same), "seed %d: with cuts, whole splits and branching", seed)
	}
}

// TestRelaxationIsMeasured: both sides come to the same value, whatever it took.
func TestRelaxationIsMeasured(t *testing.T) {
	p, err := solver.ReadProblemFile("../../../../solver/testdata/a-020.json.gz")
	require.NoError(t, err)
	r, err := relax(context.Background(), problem{"a", p}, 2*time.Minute, 2)
	require.NoError(t, err)
	assert.InEpsilon(t, 1157.4853537, *r.Value, 1e-6)
	assert.InEpsilon(t, *r.Value, r.Bound, 1e-6)
	require.NotNil(t, r.Reached)
	assert.NotNil(t, r.best())
	assert.Equal(t, 330, r.Vars)
	table := relaxations([]relaxation{*r})
	assert.Contains(t, table, "| a | 330 | 148 |")
	assert.Contains(t, table, "geometric mean")
}

// TestWithoutClp: where no method was done in time there is nothing to divide by.
func TestWithoutClp(t *testing.T) {
	d := time.Second
	table := relaxations([]relaxation{{Name: "a", Clp: []*time.Duration{nil, nil, nil}, Solved: d, Bound: 5}})
	assert.Contains(t, table, "| a | 0 | 0 | – | – | – | – | – | 1000 | – |")
	assert.NotContains(t, table, "geometric mean")
}
