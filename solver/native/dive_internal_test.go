package native

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hedgesched/hedge/solver/solvertest"
)

// TestEveryDiveLeavesAPlan gives dives shares too small for a single step: what the program says by then is a plan
// all the same.
func TestEveryDiveLeavesAPlan(t *testing.T) {
	for seed := range uint64(6) {
		w := prepared(solvertest.Cycle(seed, 30+5*int(seed), int(seed)))
		w.relaxation.solve(math.MaxInt64)
		known := w.best.Value
		w.emptyPlan()
		w.best.Copy(&w.cur)
		w.Within(w.Spent()+1, func() { w.dive.run(-1) })
		assert.GreaterOrEqual(t, w.best.Value, 0.8*known, "seed %d", seed)
		assert.Empty(t, w.subproblem.decided.Trail, "seed %d: decisions that have not been taken back", seed)
	}
}
