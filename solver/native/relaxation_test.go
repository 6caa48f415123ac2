package native_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// TestRelaxationAlone: the values are those of the compact linear program, as a generic solver gives them, which on
// these problems is no weaker.
func TestRelaxationAlone(t *testing.T) {
	for name, want := range map[string]float64{"a-020": 1157.4853537, "b-060": 26263.1491293} {
		bounds := []float64{math.Inf(1)}
		e := native.New(&native.Config{Relaxation: true})
		sol, err := e.Solve(context.Background(), load(t, name),
			solver.Options{Work: 1 << 40, Gap: -1, Splits: solver.SplitsContinuous},
			func(s *solver.Solution) { bounds = append(bounds, *s.Bound) })
		require.NoError(t, err)
		assert.GreaterOrEqual(t, *sol.Bound, want*(1-1e-9), name)
		assert.LessOrEqual(t, *sol.Bound, want*(1+1e-6), name)
		assert.Less(t, sol.Objective, *sol.Bound)
		for i := range bounds[1:] {
			assert.LessOrEqual(t, bounds[i+1], bounds[i], "%s: bounds never rise", name)
		}
		assert.LessOrEqual(t, bounds[len(bounds)-1], want*(1+1e-6), "%s: the last is told", name)
	}
}

// TestRelaxationOfManyRows: of 960, the relaxation is solved, and proves less than the ascent alone and more than any
// plan is worth.
func TestRelaxationOfManyRows(t *testing.T) {
	p := solvertest.CycleOf(3, solvertest.Shape{Jobs: 40, Partitions: 40, Slots: 24, Resources: 1})
	opts := solver.Options{Work: 1_000_000, Gap: -1, Splits: solver.SplitsContinuous}
	sol, err := solver.Solve(context.Background(), native.New(&native.Config{Relaxation: true}), p, opts)
	require.NoError(t, err)
	plan, err := solver.Solve(context.Background(), native.New(&native.Config{NoExact: true}), p,
		solver.Options{Work: 50_000, Gap: -1, Splits: solver.SplitsContinuous})
	require.NoError(t, err)
	require.NotNil(t, sol.Bound)
	assert.GreaterOrEqual(t, *sol.Bound, plan.Objective*(1-1e-9))
	assert.LessOrEqual(t, *sol.Bound, *plan.Bound*(1+1e-9))
	assert.Less(t, sol.Work, opts.Work, "solved before the work was used up")
}
