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
	w.subproblem.wholeProblem()
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
		assert.InEpsilon(t, want, w.dual.Bound, 1e-4, name)
		assert.GreaterOrEqual(t, w.dual.Bound, want*(1-1e-9), "%s: a bound below the relaxation's value", name)
		assert.InEpsilon(t, want, w.master.Objective(), 1e-4, name)
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
		root := w.master.Objective()
		checkBasis(t, w)
		w.dive.run(-1)
		checkBasis(t, w)
		w.dive.run(1)
		w.subproblem.solve(maxRounds)
		checkBasis(t, w)
		assert.InEpsilon(t, root, w.master.Objective(), 1e-3, "seed %d: after all is taken back", seed)
		assert.GreaterOrEqual(t, w.dual.Bound, w.best.Value)
	}
}

// checkBasis checks the basis of w's program.
func checkBasis(t *testing.T, w *worker) {
	t.Helper()
	require.NoError(t, w.master.Check())
}

// TestCompactKeepsTheBasis drops columns and finds the program as it was.
func TestCompactKeepsTheBasis(t *testing.T) {
	w := prepared(solvertest.Cycle(3, 60, 10))
	w.relaxation.solve(math.MaxInt64)
	m := &w.master
	spare := w.in.MaxParts
	for len(m.Set) < 10_000 { // many copies of a column without tasks
		m.Admit(m.Append(w.in.JobOpts[0], make([]float64, spare)))
	}
	before := m.Objective()
	m.Compact()
	assert.Less(t, len(m.Set), 10_000)
	assert.InDelta(t, before, m.Objective(), 1e-9)
	checkBasis(t, w)
	m.Refactor()
	assert.InEpsilon(t, before, m.Objective(), 1e-9)
}
