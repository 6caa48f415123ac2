package native

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/solvertest"
)

// TestGoalsEnd: where there is no plan above the tree's goal, the goal is the bound, and after some goals the tree is of all better plans.
func TestGoalsEnd(t *testing.T) {
	w := prepared(solvertest.Cycle(3, 20, 5))
	require.Greater(t, w.bound(), w.top())
	for range 2 { // solves
		w.shown, w.proven = math.Inf(1), false
		w.tree.reset()
		w.tree.plant()
		for range mostGoals {
			goal := w.tree.goal
			assert.Greater(t, goal, w.better())
			assert.Less(t, goal, w.bound())
			w.tree.open = w.tree.open[:0]
			require.True(t, w.tree.conclude(), "another tree")
			assert.InDelta(t, goal, w.bound(), 1e-9*goal)
		}
		assert.True(t, math.IsInf(w.tree.goal, -1))
		w.tree.open = w.tree.open[:0]
		assert.False(t, w.tree.conclude())
	}
}
