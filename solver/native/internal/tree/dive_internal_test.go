package tree

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
		w.Relax(math.MaxInt64)
		known := w.Known.Best.Value
		w.Cur.Empty()
		w.Known.Best.Copy(&w.Cur)
		w.Budget.Within(w.Budget.Spent()+1, func() { w.dive.Run(-1) })
		assert.GreaterOrEqual(t, w.Known.Best.Value, 0.8*known, "seed %d", seed)
		assert.Empty(t, w.subproblem.Decided.Trail, "seed %d: decisions that have not been taken back", seed)
	}
}

// TestBasisStaysConsistent checks the basis against its own definition after
// relaxing, after a dive, and after all decisions have been taken back.
func TestBasisStaysConsistent(t *testing.T) {
	for seed := range uint64(12) {
		if testing.Short() && seed > 4 {
			break
		}
		w := prepared(solvertest.Cycle(seed, 20+int(seed)*3, int(seed)))
		w.Relax(math.MaxInt64)
		root := w.Master.Objective()
		checkBasis(t, w)
		w.dive.Run(-1)
		checkBasis(t, w)
		w.dive.Run(1)
		w.subproblem.solve(maxRounds)
		checkBasis(t, w)
		assert.InEpsilon(t, root, w.Master.Objective(), 1e-3, "seed %d: after all is taken back", seed)
		assert.GreaterOrEqual(t, w.Dual.Bound, w.Known.Best.Value)
	}
}
