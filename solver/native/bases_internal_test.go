package native

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/solvertest"
)

// TestAnotherBasisComesNext: a basis that is astray where a node has been cut off does not come back behind another one.
func TestAnotherBasisComesNext(t *testing.T) {
	astray := 0
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 9))
		w := prepared(solvertest.Cycle(seed, 8+int(seed), int(seed)%5))
		w.relaxation.solve(math.MaxInt64)
		for range 5 {
			w.node.reset()
			var b bases
			s, value := b.keep(&w.lp), w.lp.objective()
			w.best.Value = 0 // nothing is given up
			decideAtRandom(w, r, 3)
			w.node.solve(maxRounds)
			w.best.Value = float64(0.99 * w.dual.bound)
			decideAtRandom(w, r, 1+r.IntN(6))
			if bound := w.node.try(maxRounds, 0); bound <= w.enough() && w.node.dualSimplex.astray {
				astray++
				w.node.revert(0)
				w.node.restore(&b, s)
				w.node.dualSimplex.goBack()
				require.InEpsilon(t, value, w.lp.objective(), 1e-9, "seed %d", seed)
				checkBasis(t, w)
			}
			w.node.revert(0)
			w.node.solve(maxRounds)
		}
	}
	assert.Greater(t, astray, 10)
}

// TestTheTreeGoesBack: wherever the tree ends, the basis that it leaves is feasible.
func TestTheTreeGoesBack(t *testing.T) {
	for seed := range uint64(12) {
		w := prepared(solvertest.Cycle(seed, 14+int(seed), int(seed)%5))
		w.relaxation.solve(math.MaxInt64)
		for range 20 {
			w.Within(w.Spent()+700*opsPerUnit, w.tree.grow)
			require.False(t, w.node.dualSimplex.astray)
			checkBasis(t, w)
		}
	}
}
