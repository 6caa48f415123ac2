package relax_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native/internal/nativetest"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// TestRelaxationIsTheLinearProgram compares with the optimum of the compact linear
// program of the same problem, as a generic solver gives it.
func TestRelaxationIsTheLinearProgram(t *testing.T) {
	for name, want := range map[string]float64{
		"a-020": 1157.4853537, "b-060": 26263.1491293, "c-150": 27019.0525156, "e-400-google": 4397311.4657,
	} {
		if testing.Short() && want > 1e6 {
			continue
		}
		p, err := solver.ReadProblemFile("../../../testdata/" + name + ".json.gz")
		require.NoError(t, err)
		w := nativetest.Prepared(p)
		assert.True(t, w.Relax(math.MaxInt64), name)
		assert.InEpsilon(t, want, w.Dual.Bound, 1e-4, name)
		assert.GreaterOrEqual(t, w.Dual.Bound, want*(1-1e-9), "%s: a bound below the relaxation's value", name)
		assert.InEpsilon(t, want, w.Master.Objective(), 1e-4, name)
	}
}

// TestCompactKeepsTheBasis drops columns and finds the program as it was.
func TestCompactKeepsTheBasis(t *testing.T) {
	w := nativetest.Prepared(solvertest.Cycle(3, 60, 10))
	w.Relax(math.MaxInt64)
	m := &w.Master
	spare := w.In.MaxParts
	for len(m.Set) < 10_000 { // many copies of a column without tasks
		m.Admit(m.Append(w.In.JobOpts[0], make([]float64, spare)))
	}
	before := m.Objective()
	m.Compact()
	assert.Less(t, len(m.Set), 10_000)
	assert.InDelta(t, before, m.Objective(), 1e-9)
	checkBasis(t, w)
	m.Refactor()
	assert.InEpsilon(t, before, m.Objective(), 1e-9)
}

// checkBasis checks the basis of w's program.
func checkBasis(t *testing.T, w *nativetest.Bench) {
	t.Helper()
	require.NoError(t, w.Master.Check())
}

// TestCutsThatMakeOptionsCheaper: the option of most reduced value is found at any prices, of cuts too, some of which
// make options worth more than their value.
func TestCutsThatMakeOptionsCheaper(t *testing.T) {
	cheaper := 0
	for seed := range uint64(300) {
		w := nativetest.Prepared(solvertest.Cycle(seed, 6, 2))
		d, r := &w.Dual, rand.New(rand.NewPCG(seed, 3))
		d.Cuts = &relax.Cuts{}
		d.Cuts.Reset()
		dense, places := make([]float64, len(w.In.Part)+len(w.In.P.Running)), []int32{}
		for i := range dense {
			places = append(places, int32(i))
			dense[i] = float64(r.IntN(5) - 2)
		}
		d.Cuts.Add(places, dense, 1)
		d.Lam = append(d.Lam[:w.In.Rows], 10*r.Float64())
		for i := range w.In.Rows {
			d.Lam[i] = max(0, r.Float64()-0.5)
		}
		d.Window()
		for j := range w.In.P.Jobs {
			most := 0.0
			for o := w.In.JobOpts[j]; o < w.In.JobOpts[j+1]; o++ {
				if opt := &w.In.Opts[o]; !w.Decided.Dead[o] {
					red := opt.Value - d.Price(opt, d.Unit)
					if most = max(most, red); red > opt.Value {
						cheaper++
					}
				}
			}
			d.Last[j] = -1
			best, _ := d.Choose(j, 0)
			require.InDelta(t, most, best, 1e-9*(1+most), "seed %d, job %d", seed, j)
		}
	}
	assert.Greater(t, cheaper, 100)
}
