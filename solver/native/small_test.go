package native_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native"
)

// TestStartedInParts: an option whose tasks may be split in any way is no reason to round capacities, though another
// takes as much a task.
func TestStartedInParts(t *testing.T) {
	p, err := solver.ReadProblemFile("testdata/small/started-now-in-parts.json")
	require.NoError(t, err)
	sol, err := solver.Solve(context.Background(), native.New(nil), p,
		solver.Options{Work: 20_000, Gap: -1, Splits: solver.SplitsNow})
	require.NoError(t, err)
	assert.InDelta(t, 7, sol.Objective, 1e-6, "one and a half tasks in each partition")
	assert.Equal(t, solver.StopOptimal, sol.Stop)
}

// TestLittleBesideItsCost: a plan that gains little beside what it costs is better than none.
func TestLittleBesideItsCost(t *testing.T) {
	p, err := solver.ReadProblemFile("testdata/small/little-beside-its-cost.json")
	require.NoError(t, err)
	sol, err := solver.Solve(context.Background(), native.New(nil), p, solver.Options{Work: 20_000, Gap: -1})
	require.NoError(t, err)
	assert.GreaterOrEqual(t, *sol.Bound, 1.4-1e-6, "the optimum")
	assert.InDelta(t, 1.4, sol.Objective, 1e-6)
}

// TestProblemsOnceProvenWrongly are small problems of which a wrong optimum was proven, or none however long it took.
// Their optima are HiGHS's and CBC's.
func TestProblemsOnceProvenWrongly(t *testing.T) {
	for name, optimum := range map[string]float64{
		"full-to-the-brim":    84, // where nothing but rounding errors is left over
		"full-twice":          136,
		"nothing-free":        0, // amounts of a billion, none of which is free
		"values-of-a-billion": 2,
		"cheaper-by-a-cut":    9, // a cut makes an option worth more than its value
		// Rounding of capacities took little for nothing.
		"next-to-nothing-used": 2,
		"much-released":        1,
	} {
		p, err := solver.ReadProblemFile("testdata/small/" + name + ".json")
		require.NoError(t, err)
		sol, err := solver.Solve(context.Background(), native.New(nil), p, solver.Options{Work: 20_000, Gap: -1})
		require.NoError(t, err, name)
		assert.Equal(t, solver.StopOptimal, sol.Stop, name)
		assert.InDelta(t, optimum, sol.Objective, 1e-6, name)
	}
}
