package native

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/solvertest"
)

// decideAtRandom decides n things about the node that are not decided yet.
func decideAtRandom(w *worker, r *rand.Rand, n int) {
	in := &w.in
	for range n {
		switch o := r.IntN(len(in.Opts)); r.IntN(4) {
		case 0:
			w.node.forbid(o)
		case 1:
			if !w.node.decided.dead[o] && !w.node.decided.must[in.Opts[o].Job] {
				w.node.require(in.Opts[o].Job, o)
			}
		case 2:
			if e := in.Opts[o].P0; in.Opts[o].Whole && w.node.decided.upper[e] > 0 {
				w.node.confine(o, e, math.Floor(w.node.decided.upper[e]/2), false)
			}
		default:
			if k := len(in.P.Running); k > 0 {
				w.node.settleRun(r.IntN(k), r.IntN(2) == 0)
			}
		}
	}
}

// TestBasesComeBack: a basis that has been kept is the same program when it comes back, unless columns have been dropped in between.
func TestBasesComeBack(t *testing.T) {
	w := prepared(solvertest.Cycle(3, 24, 4))
	m := &w.lp
	w.relaxation.solve(math.MaxInt64)
	w.node.reset()
	w.best.Value = 0 // nothing is given up
	value := m.objective()
	var b bases
	first, second := b.keep(m), b.keep(m)
	assert.NotEqual(t, first, second)
	disturb := func() {
		decideAtRandom(w, rand.New(rand.NewPCG(1, 1)), 4)
		w.node.solve(maxRounds)
		w.node.revert(0)
		require.NotEqual(t, value, m.objective())
	}
	disturb()
	require.True(t, b.restore(m, first))
	assert.InEpsilon(t, value, m.objective(), 1e-9)
	checkBasis(t, w)
	assert.Equal(t, first, b.keep(m), "its room is used again")

	disturb()
	m.drop(0)
	changed := m.objective()
	require.False(t, b.restore(m, second))
	assert.Equal(t, changed, m.objective(), "a basis of columns that have gone")
	third := b.keep(m) // which begins another list
	assert.NotEqual(t, second, third)
	require.False(t, b.restore(m, second))
	require.False(t, b.restore(m, saved{}))
	assert.Empty(t, b.free, "neither is in that list")
	require.True(t, b.restore(m, third))
	assert.Equal(t, []int32{0}, b.free)
	checkBasis(t, w)
}

// TestSumsByRows are the same as by columns, also when columns have come or gone.
func TestSumsByRows(t *testing.T) {
	w := prepared(solvertest.Cycle(5, 20, 6))
	m, r := &w.lp, rand.New(rand.NewPCG(2, 2))
	check := func() {
		v := make([]float64, m.rows)
		for i := range v {
			if r.IntN(3) == 0 {
				v[i] = r.NormFloat64()
			}
		}
		sums := m.weighRows(v)
		for c := range m.set {
			want := 0.0
			for i := m.off[c]; i < m.off[c+1]; i++ {
				want += v[m.row[i]] * m.amt[i]
			}
			require.InDelta(t, want, sums[c], 1e-9*(1+math.Abs(want)), "column %d", c)
		}
	}
	check()
	few := len(m.set)
	w.relaxation.solve(math.MaxInt64)
	require.Greater(t, len(m.set), few)
	check()
	m.drop(0)
	check()
	w.cutRoot()
	require.Greater(t, m.rows, w.in.Rows, "no cuts")
	check()
}

// TestTheTreeGoesBack: wherever the tree ends, the basis that it leaves is feasible.
func TestTheTreeGoesBack(t *testing.T) {
	for seed := range uint64(12) {
		w := prepared(solvertest.Cycle(seed, 14+int(seed), int(seed)%5))
		w.relaxation.solve(math.MaxInt64)
		for range 20 {
			w.Within(w.Spent()+700*opsPerUnit, w.tree.grow)
			checkBasis(t, w)
		}
	}
}
