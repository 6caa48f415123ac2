package native

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// prepared is a worker about to solve p, with far more work than it needs.
func prepared(p *solver.Problem) *worker {
	w := newWorker()
	w.begin(context.Background(), p, solver.Options{Work: 1 << 40, Gap: -1}, Config{}, func(*solver.Solution) {})
	w.greedy.starts()
	for range 100 {
		w.ascent.step(w.best.Value)
	}
	w.greedy.guide()
	w.greedy.fillByRed()
	w.node.wholeProblem()
	return w
}

// TestRelaxationIsTheLinearProgram compares with the optimum of the compact linear
// program of the same problem, as a generic solver gives it.
func TestRelaxationIsTheLinearProgram(t *testing.T) {
	for name, want := range map[string]float64{
		"a-020": 1157.4853537, "b-060": 26263.1491293, "c-150": 27019.0525156, "e-400-google": 4397311.4657,
	} {
		if testing.Short() && want > 1e6 {
			continue
		}
		p, err := solver.ReadProblemFile("../testdata/" + name + ".json.gz")
		require.NoError(t, err)
		w := prepared(p)
		assert.True(t, w.relaxation.solve(math.MaxInt64), name)
		assert.InEpsilon(t, want, w.dual.bound, 1e-4, name)
		assert.GreaterOrEqual(t, w.dual.bound, want*(1-1e-9), "%s: a bound below the relaxation's value", name)
		assert.InEpsilon(t, want, w.lp.objective(), 1e-4, name)
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
		w.relaxation.solve(math.MaxInt64)
		root := w.lp.objective()
		checkBasis(t, w)
		w.dive.run(-1)
		checkBasis(t, w)
		w.dive.run(1)
		w.node.solve(maxRounds)
		checkBasis(t, w)
		assert.InEpsilon(t, root, w.lp.objective(), 1e-3, "seed %d: after all is taken back", seed)
		assert.GreaterOrEqual(t, w.dual.bound, w.best.Value)
	}
}

// checkPlaces holds where columns and slacks are to what is basic.
func checkPlaces(t *testing.T, m *basis) {
	t.Helper()
	where, slack := make([]int32, len(m.set)), make([]int32, m.rows)
	for c := range where {
		where[c] = -1
	}
	for r := range slack {
		slack[r] = -1
	}
	require.Len(t, m.basic, m.rows)
	for p, c := range m.basic {
		if c < 0 {
			slack[-1-c] = int32(p)
		} else {
			where[c] = int32(p)
		}
	}
	for s, c := range m.key {
		require.Equal(t, int32(s), m.set[c], "the key of set %d", s)
		where[c] = -2
	}
	require.Equal(t, where, m.where)
	require.Equal(t, slack, m.slack)
}

// checkBasis recomputes what each row uses and each set gives out, and where what is basic is.
func checkBasis(t *testing.T, w *worker) {
	t.Helper()
	m := &w.lp
	checkPlaces(t, m)
	used, given := make([]float64, m.rows), make([]float64, len(m.key))
	for c := range m.set {
		z := m.weight(int32(c))
		require.GreaterOrEqual(t, z, -1e-6)
		given[m.set[c]] += z
		for i := m.off[c]; i < m.off[c+1]; i++ {
			used[m.row[i]] += z * m.amt[i]
		}
	}
	for s, v := range given {
		require.InDelta(t, 1, v, 1e-6, "set %d", s)
	}
	for r, v := range used {
		require.LessOrEqual(t, v, m.rhs[r]+1e-6, "row %d", r)
	}
}

// TestCompactKeepsTheBasis drops columns and finds the program as it was.
func TestCompactKeepsTheBasis(t *testing.T) {
	w := prepared(solvertest.Cycle(3, 60, 10))
	w.relaxation.solve(math.MaxInt64)
	m := &w.lp
	spare := w.in.MaxParts
	for len(m.set) < 10_000 { // many copies of a column that is worth nothing
		m.split = append(m.split, make([]float64, spare)...)
		m.admit(m.finish(0, w.in.JobOpts[0], 0))
	}
	before := m.objective()
	m.compact()
	assert.Less(t, len(m.set), 10_000)
	assert.InDelta(t, before, m.objective(), 1e-9)
	checkBasis(t, w)
	m.refactor()
	assert.InEpsilon(t, before, m.objective(), 1e-9)
}
