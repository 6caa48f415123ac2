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

// TestDualAndPrimalAgree: nodes' programs have the same value by either method, or none that is worth searching, and the dual method leaves a feasible
// basis, also where it has given up.
func TestDualAndPrimalAgree(t *testing.T) {
	solved, given := 0, 0
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 5))
		w := prepared(solvertest.Cycle(seed, 8+int(seed), int(seed)%9))
		w.relaxation.solve(math.MaxInt64)
		w.best.Value = float64((0.9 + 0.05*float64(seed%2)) * w.dual.bound)
		for range 5 {
			w.node.reset()
			decideAtRandom(w, r, 1+r.IntN(6))
			w.node.dually = true
			fast := w.node.solve(maxRounds)
			checkBasis(t, w)
			d := &w.node.dualSimplex
			for _, b := range d.barred {
				require.Equal(t, b.val, w.lp.val[b.column], "seed %d: a penalty is not back", seed)
			}
			w.node.dually = false
			slow := w.node.solve(maxRounds)
			checkBasis(t, w)
			if slow <= w.enough() {
				assert.LessOrEqual(t, fast, w.enough()*(1+1e-6), "seed %d", seed)
				given++
			} else {
				assert.InEpsilon(t, slow, fast, 1e-6, "seed %d", seed)
				solved++
			}
			w.node.revert(0)
		}
	}
	assert.Greater(t, solved, 20)
	assert.Greater(t, given, 10)
}

// TestDualMethodEnds: behind a decision the dual method goes down to an optimum without what is barred.
func TestDualMethodEnds(t *testing.T) {
	ended := 0
	for seed := range uint64(20) {
		w := prepared(solvertest.Cycle(seed, 12+int(seed), int(seed)%5))
		w.relaxation.solve(math.MaxInt64)
		w.node.reset()
		w.lp.reprice()
		o, _ := w.node.weigh()
		if o < 0 {
			continue
		}
		before := w.lp.objective()
		w.node.forbid(o)
		d := &w.node.dualSimplex
		require.True(t, d.begin(), "seed %d: nothing is barred", seed)
		assert.InEpsilon(t, before, d.value, 1e-9)
		last, out := d.value, pivoted
		for out == pivoted {
			out = d.pivot()
			require.LessOrEqual(t, d.value, last*(1+1e-9), "seed %d: the value rises", seed)
			require.Less(t, d.pivots, 1000)
			last = d.value
		}
		require.Equal(t, optimal, out, "seed %d", seed)
		assert.InEpsilon(t, w.lp.objective(), d.value, 1e-6, "seed %d: the value it has counted", seed)
		d.end(true)
		checkBasis(t, w)
		for _, b := range d.barred {
			assert.InDelta(t, 0, w.lp.weight(b.column), 1e-6, "seed %d: what is barred", seed)
		}
		ended++
	}
	assert.Greater(t, ended, 10)
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

// TestWhatComesOfTheDualMethod: where something is decided against, most programs come to their optimum or to a proof by it, some of them along a row, and by few pivots.
func TestWhatComesOfTheDualMethod(t *testing.T) {
	optimal, proven, along, gaveUp, pivots := 0, 0, 0, 0, 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 6))
		w := prepared(solvertest.Cycle(seed, 8+int(seed%24), int(seed)%9))
		w.relaxation.solve(math.MaxInt64)
		w.best.Value = float64((0.9 + 0.05*float64(seed%2)) * w.dual.bound)
		for range 5 {
			w.node.reset()
			w.node.dually = true
			decideAtRandom(w, r, 1+r.IntN(6))
			d := &w.node.dualSimplex
			if barred := d.begin(); barred {
				d.end(true)
				bound := w.node.byDual()
				d.goBack()
				pivots += d.pivots
				left := 0.0
				for _, b := range d.barred {
					left = max(left, w.lp.weight(b.column))
				}
				switch {
				case bound <= w.node.enough():
					proven++
					if d.value > w.node.enough() {
						along++ // the program is worth more, but nothing can come in
					}
				case left <= 1e-6:
					optimal++
				default:
					gaveUp++
				}
				checkBasis(t, w)
			}
			w.node.revert(0)
			w.node.solve(maxRounds)
		}
	}
	all := optimal + proven + gaveUp
	t.Logf("optimal %d, proven %d, %d of them along a row, given up %d, pivots each %d", optimal, proven, along, gaveUp, pivots/all)
	assert.Greater(t, optimal, all/2)
	assert.Greater(t, proven, all/5)
	assert.Positive(t, along)
	assert.Less(t, gaveUp, all/20)
	assert.Less(t, pivots, 20*all)
}
