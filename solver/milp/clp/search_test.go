package clp_test

import (
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

// TestDivingUsesItsTime: cycles of 30 jobs, at whose dives' points it stopped though nearly all of its time was left.
func TestDivingUsesItsTime(t *testing.T) {
	for seed := range uint64(2) {
		p := solvertest.Cycle(seed, 30, 0)
		want, err := solver.Solve(t.Context(), native.New(nil), p, solver.Options{Work: 2_000_000})
		require.NoError(t, err)
		got, err := solver.Solve(t.Context(), milp.New(milp.Diving(clp.New()), nil), p, solver.Options{Time: 3 * time.Second})
		require.NoError(t, err)
		t.Logf("seed %d: %v of %v, %s", seed, got.Objective, want.Objective, got.Stop)
		assert.GreaterOrEqual(t, got.Objective, 0.97*want.Objective, "seed %d", seed)
		assert.NotEqual(t, solver.StopWork, got.Stop, "it ends when its time is up or the gap is reached")
	}
}
