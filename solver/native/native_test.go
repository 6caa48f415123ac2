package native_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native"
	"github.com/hedgesched/hedge/solver/solvertest"
)

func TestConformance(t *testing.T) {
	solvertest.Run(t, native.New(nil), solvertest.Caps{Exact: true, Bound: true, Deterministic: true})
}

// TestReferenceProblems holds plans and bounds to what is known of the problems.
func TestReferenceProblems(t *testing.T) {
	for _, c := range []struct {
		name             string
		atLeast, optimum float64
	}{
		{"a-020", 1129, 1129.4},
		{"b-060", 25_500, 26_258},
		{"c-150", 24_400, 26_330},
		{"d-300-multi", 490_000, 564_473},
		{"e-400-google", 2_900_000, 4_397_298},
		{"f-1000-google", 2_000_000, 2_928_073},
	} {
		t.Run(c.name, func(t *testing.T) {
			sol, err := solver.Solve(context.Background(), native.New(nil), load(t, c.name), solver.Options{Work: 60_000})
			require.NoError(t, err)
			assert.GreaterOrEqual(t, sol.Objective, c.atLeast*0.9999)
			assert.LessOrEqual(t, sol.Objective, c.optimum)
			assert.GreaterOrEqual(t, *sol.Bound, c.atLeast*0.9999)
		})
	}
}

func TestConfig(t *testing.T) {
	p := load(t, "b-060")
	less := native.New(&native.Config{DefaultWork: 2000, NoExact: true})
	a, err := solver.Solve(context.Background(), less, p, solver.Options{})
	require.NoError(t, err)
	b, err := solver.Solve(context.Background(), less, p, solver.Options{Work: 2000})
	require.NoError(t, err)
	assert.Equal(t, a.Choice, b.Choice)
	assert.Equal(t, solver.StopIterations, a.Stop)
}
