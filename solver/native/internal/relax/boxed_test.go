package relax_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/nativetest"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// boxed is a worker about to solve the relaxation of a random cycle that is large enough to begin in a box.
func boxed(seed uint64) *nativetest.Bench {
	return nativetest.Prepared(solvertest.CycleOf(seed, solvertest.Shape{
		Jobs: relax.BoxJobs + int(seed), Running: 4 * int(seed), Slots: 12}))
}

// TestBoxesAreLeft: wherever the box is at first, the relaxation ends with a solution that fits and is worth what the
// prices prove.
func TestBoxesAreLeft(t *testing.T) {
	for seed := range uint64(4) {
		for _, factor := range []float64{0, 0.01, 1, 30} {
			w := boxed(seed)
			m, d := &w.Master, &w.Dual
			for r := range d.Best {
				d.Best[r] *= factor
			}
			copy(d.Lam, d.Best)
			d.Bound = d.Evaluate()
			require.True(t, w.Relax(math.MaxInt64), "seed %d, prices times %g", seed, factor)
			checkBasis(t, w)
			worth := 0.0
			for c, v := range m.Val {
				worth += m.Weight(int32(c)) * v
			}
			assert.InEpsilon(t, d.Bound, worth, 1e-4, "seed %d, prices times %g", seed, factor)
			assert.False(t, m.Boxed)
			assert.True(t, m.PrimalFeasible())
		}
	}
}

// TestUnfinishedBoxesAreLeft: a relaxation that is cut short leaves a program whose solution fits.
func TestUnfinishedBoxesAreLeft(t *testing.T) {
	for seed := range uint64(4) {
		for _, units := range []int64{50, 200, 800} {
			w := boxed(seed)
			w.Relax(w.Budget.Spent() + units*pack.OpsPerUnit)
			checkBasis(t, w)
			assert.False(t, w.Master.Boxed)
			assert.GreaterOrEqual(t, w.Dual.Bound, w.Master.Objective()*(1-1e-6))
		}
	}
}

// TestDropKeepsWhatNearlyPays drops columns and finds the program as it was, with those that nearly pay.
func TestDropKeepsWhatNearlyPays(t *testing.T) {
	w := boxed(3)
	m := &w.Master
	w.Dual.Chosen = func(o int, split []float64) { w.Master.Add(o, split) }
	for range 20 { // columns that poor prices choose
		w.Ascent.Step(w.Known.Best.Value)
		for r := range w.Dual.Lam {
			w.Dual.Lam[r] *= 0.3
		}
		w.Dual.Evaluate()
	}
	w.Dual.Chosen = nil
	w.Relax(math.MaxInt64)
	near := map[int32]int{}
	const within = 0.05
	for c := range m.Set {
		pays := m.Dual(int(m.Set[c])) - float64(within*math.Abs(m.Worth[c]))
		if m.Opt[c] >= 0 && (m.Where[c] != -1 || m.Price(int32(c)) >= pays) {
			near[m.Opt[c]]++
		}
	}
	before, columns := m.Objective(), len(m.Set)
	m.Drop(within)
	assert.Less(t, len(m.Set), columns)
	assert.InDelta(t, before, m.Objective(), 1e-9)
	checkBasis(t, w)
	after := map[int32]int{}
	for _, o := range m.Opt {
		if o >= 0 {
			after[o]++
		}
	}
	assert.Equal(t, near, after)
	m.Refactor()
	assert.InEpsilon(t, before, m.Objective(), 1e-9)
}
