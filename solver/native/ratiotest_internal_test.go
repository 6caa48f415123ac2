package native

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/solvertest"
)

// state is a basis' values and prices: of columns, and of rows' slacks and rows.
func state(m *basis) (weights, slacks, prices []float64) {
	for c := range m.set {
		weights = append(weights, m.weight(int32(c)))
	}
	for _, p := range m.slack {
		if p < 0 {
			slacks = append(slacks, 0)
			continue
		}
		slacks = append(slacks, m.beta[p])
	}
	return weights, slacks, append([]float64{}, m.pi...)
}

// TestPivotsAreExact: behind every pivot of the dual method, with sets that go over to other columns and without, values, prices and the program's value are what the
// basis has by a new factorisation.
func TestPivotsAreExact(t *testing.T) {
	pivots, turned := 0, 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 8))
		w := prepared(solvertest.Cycle(seed, 8+int(seed%24), int(seed)%9))
		w.relaxation.solve(math.MaxInt64)
		w.node.reset()
		for range 4 {
			decideAtRandom(w, r, 1+r.IntN(6))
			if d := &w.node.dualSimplex; d.begin() {
				for d.pivot() == pivoted && d.pivots < 300 {
					pivots, turned = pivots+1, turned+len(d.ratio.turns)
					checkPivot(t, d)
				}
				d.end(false)
				d.goBack()
			}
			w.node.solve(maxRounds)
			w.node.revert(0)
			w.node.solve(maxRounds)
		}
	}
	t.Logf("%d pivots, %d turns", pivots, turned)
	assert.Greater(t, turned, 100)
}

// checkPivot compares with a new factorisation.
func checkPivot(t *testing.T, d *dualSimplex) {
	t.Helper()
	weights, slacks, prices := state(d.basis)
	value, red := d.value, append([]float64{}, d.red...)
	d.refactor()
	d.renew()
	freshWeights, freshSlacks, freshPrices := state(d.basis)
	scale := 1e-4 * math.Abs(d.value) // columns that gain something are taken for such that do not
	requireNear(t, freshWeights, weights, 1e-6)
	requireNear(t, freshSlacks, slacks, 1e-6)
	requireNear(t, freshPrices, prices, scale)
	require.InDelta(t, d.value, value, scale)
	for _, c := range d.live {
		require.InDelta(t, d.red[c], red[c], scale, "column %d", c)
	}
}

// requireNear allows for least, or a millionth of the value.
func requireNear(t *testing.T, want, got []float64, least float64) {
	t.Helper()
	for i, v := range want {
		require.InDelta(t, v, got[i], max(least, 1e-6*math.Abs(v)), "entry %d", i)
	}
}

// TestTurnsTakeTheirSetsPlace: behind a turn of a column's set what else may come in of the set does so in the column's place, and a second turn takes that of the first.
func TestTurnsTakeTheirSetsPlace(t *testing.T) {
	x := ratioTest{left: 5, list: []comer{{column: 10, set: 1, size: 1, red: -2}, {column: 11, set: 1, size: 3, red: -9}, {column: 12, set: 1, size: 0.5, red: -1.5}, {column: 13, set: 2, size: 1, red: -8}}}
	x.turn(x.list[0])
	assert.Equal(t, []comer{{column: 11, set: 1, size: 2, red: -7}, {column: 13, set: 2, size: 1, red: -8}}, x.list)
	assert.InDelta(t, 4, x.left, 0)
	assert.InDelta(t, 2, x.lost, 0)
	x.turn(x.list[0])
	assert.Equal(t, []comer{{column: 13, set: 2, size: 1, red: -8}}, x.list)
	require.Len(t, x.turns, 1)
	assert.Equal(t, int32(11), x.turns[0].column)
	assert.InDelta(t, 2, x.left, 0)
	assert.InDelta(t, 9, x.lost, 0)
}
