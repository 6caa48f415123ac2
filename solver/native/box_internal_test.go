package native

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/solvertest"
)

// boxed is a worker about to solve the relaxation of a random cycle that is large enough to begin in a box.
func boxed(seed uint64) *worker {
	return prepared(solvertest.CycleOf(seed, solvertest.Shape{Jobs: boxJobs + int(seed), Running: 4 * int(seed), Slots: 12}))
}

// dualValue is what the program is worth at most, by prices lam within the box.
func dualValue(m *basis, lam []float64) float64 {
	sum := 0.0
	for r, l := range lam {
		sum += l * m.rhs[r]
	}
	best := make([]float64, len(m.key))
	for c := range m.set {
		v := m.val[c]
		for i := m.off[c]; i < m.off[c+1]; i++ {
			v -= lam[m.row[i]] * m.amt[i]
		}
		best[m.set[c]] = max(best[m.set[c]], v)
	}
	for _, v := range best {
		sum += v
	}
	return sum
}

// TestBoxedProgramIsOptimal: once no column improves it, its prices are in the box and prove its value, and no others in the box prove less.
func TestBoxedProgramIsOptimal(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for seed := range uint64(6) {
		w := boxed(seed)
		m, d := &w.lp, &w.dual
		w.relaxation.crash()
		radius := w.relaxation.boxIn()
		require.Positive(t, radius)
		copy(d.lam, d.best)
		for range 3 {
			w.relaxation.generate()
			require.True(t, w.relaxation.pivots(math.MaxInt64))
			value := m.objective()
			lam := make([]float64, m.rows)
			for row, p := range m.pi {
				slack := 1e-6 * (1 + m.hi[row])
				require.GreaterOrEqual(t, p, m.lo[row]-slack, "seed %d, row %d", seed, row)
				require.LessOrEqual(t, p, m.hi[row]+slack, "seed %d, row %d", seed, row)
				lam[row] = p
			}
			assert.InEpsilon(t, value, dualValue(m, lam), 1e-6, "seed %d, radius %g", seed, radius)
			for range 20 {
				for row := range lam {
					lam[row] = m.lo[row] + r.Float64()*(m.hi[row]-m.lo[row])
				}
				assert.GreaterOrEqual(t, dualValue(m, lam), value*(1-1e-6), "seed %d, radius %g", seed, radius)
			}
			for row, p := range m.pi {
				d.lam[row] = max(0, p)
			}
			radius *= 4
			w.relaxation.box(radius)
		}
	}
}

// TestBoxesAreLeft: wherever the box is at first, the relaxation ends with a solution that fits and is worth what the prices prove.
func TestBoxesAreLeft(t *testing.T) {
	for seed := range uint64(4) {
		for _, factor := range []float64{0, 0.01, 1, 30} {
			w := boxed(seed)
			m, d := &w.lp, &w.dual
			for r := range d.best {
				d.best[r] *= factor
			}
			copy(d.lam, d.best)
			d.bound = d.evaluate()
			require.True(t, w.relaxation.solve(math.MaxInt64), "seed %d, prices times %g", seed, factor)
			checkBasis(t, w)
			worth := 0.0
			for c, v := range m.val {
				worth += m.weight(int32(c)) * v
			}
			assert.InEpsilon(t, d.bound, worth, 1e-4, "seed %d, prices times %g", seed, factor)
			for r := range m.pi {
				assert.Zero(t, m.lo[r])
				assert.True(t, math.IsInf(m.hi[r], 1) && !m.over[r])
			}
		}
	}
}

// TestUnfinishedBoxesAreLeft: a relaxation that is cut short leaves a program whose solution fits.
func TestUnfinishedBoxesAreLeft(t *testing.T) {
	for seed := range uint64(4) {
		for _, units := range []int64{50, 200, 800} {
			w := boxed(seed)
			w.relaxation.solve(w.Spent() + units*opsPerUnit)
			checkBasis(t, w)
			assert.False(t, w.lp.boxed)
			assert.GreaterOrEqual(t, w.dual.bound, w.lp.objective()*(1-1e-6))
		}
	}
}

// TestDropKeepsWhatNearlyPays drops columns and finds the program as it was, with those that nearly pay.
func TestDropKeepsWhatNearlyPays(t *testing.T) {
	w := boxed(3)
	m := &w.lp
	w.dual.chosen = w.ascent.take
	for range 20 { // columns that poor prices choose
		w.ascent.step(w.best.Value)
		for r := range w.dual.lam {
			w.dual.lam[r] *= 0.3
		}
		w.dual.evaluate()
	}
	w.dual.chosen = nil
	w.relaxation.solve(math.MaxInt64)
	near := map[int32]int{}
	const within = 0.05
	for c := range m.set {
		if m.opt[c] >= 0 && (m.where[c] != -1 || !m.short(int32(c), within)) {
			near[m.opt[c]]++
		}
	}
	before, columns := m.objective(), len(m.set)
	m.drop(within)
	assert.Less(t, len(m.set), columns)
	assert.InDelta(t, before, m.objective(), 1e-9)
	checkBasis(t, w)
	after := map[int32]int{}
	for _, o := range m.opt {
		if o >= 0 {
			after[o]++
		}
	}
	assert.Equal(t, near, after)
	m.refactor()
	assert.InEpsilon(t, before, m.objective(), 1e-9)
}
