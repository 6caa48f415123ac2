package cuts

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRoundingKeepsWholePoints: whole numbers, of either sign of amount, that keep an inequality keep its rounding by
// any divisor.
func TestRoundingKeepsWholePoints(t *testing.T) {
	r, kept := rand.New(rand.NewPCG(1, 1)), 0
	for range 20_000 {
		n := 1 + r.IntN(5)
		amounts, x, sum := make([]float64, n), make([]float64, n), 0.0
		for i := range n {
			amounts[i], x[i] = float64(r.IntN(41)-20)/4, float64(r.IntN(4))
			sum += amounts[i] * x[i]
		}
		b := sum + float64(r.IntN(8))/4
		m, rhs, ok := roundBy(b, float64(1+r.IntN(16))/4)
		if !ok {
			continue
		}
		kept++
		rounded := 0.0
		for i, v := range x {
			rounded += m.of(amounts[i]) * v
		}
		require.LessOrEqual(t, rounded, rhs+1e-9, "%v times %v ≤ %g, divided by %g", amounts, x, b, m.d)
	}
	assert.Greater(t, kept, 5000)
}
