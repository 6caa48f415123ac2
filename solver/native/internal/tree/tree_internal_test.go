package tree

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/nativetest"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// TestWhatIsLeftIsInTheBound: nodes that promise too little are left, and the bound is no lower than what they promise.
func TestWhatIsLeftIsInTheBound(t *testing.T) {
	done := 0
	for seed := range uint64(20) {
		w := prepared(solvertest.Cycle(seed, 8, 2))
		w.Relax(1 << 40)
		w.Budget.Confine(w.Budget.Spent() + 50_000*pack.OpsPerUnit)
		w.tree.Grow()
		if w.Known.Proven {
			done++
			assert.GreaterOrEqual(t, w.Known.Bound(), w.tree.prunedBound, "seed %d", seed)
			assert.LessOrEqual(t, w.tree.prunedBound, w.Known.Enough(), "seed %d", seed)
		}
	}
	assert.Positive(t, done)
}

// TestTheTreeGoesBack: wherever the tree ends, the basis that it leaves is feasible.
func TestTheTreeGoesBack(t *testing.T) {
	for seed := range uint64(12) {
		w := prepared(solvertest.Cycle(seed, 14+int(seed), int(seed)%5))
		w.Relax(math.MaxInt64)
		for range 20 {
			w.Budget.Within(w.Budget.Spent()+700*pack.OpsPerUnit, w.tree.Grow)
			checkBasis(t, w)
		}
	}
}

// TestNoDivisionIsRepeated looks through the trees of many searches.
func TestNoDivisionIsRepeated(t *testing.T) {
	nativetest.Sequential(t)
	nodes := 0
	for seed := range uint64(24) {
		w := prepared(solvertest.Cycle(seed, 10+int(seed), int(seed%4)*3))
		w.Relax(1 << 60)
		w.Dual.Cuts = &w.pool
		w.cutting.Tighten(1 << 60)
		w.Budget.Confine(w.Budget.Spent() + 50_000*pack.OpsPerUnit)
		w.tree.Grow()
		nodes += len(w.tree.nodes)
		for n := range w.tree.nodes {
			b := &w.tree.nodes[n]
			if b.parent >= 0 {
				require.False(t, w.tree.divided(b.parent, b.c), "seed %d, node %d", seed, n)
				require.LessOrEqual(t, b.bound, w.tree.nodes[0].bound*(1+1e-9))
			}
		}
	}
	assert.Greater(t, nodes, 500)
}
