package duality_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/internal/duality"
)

// diet is min 2x+3y+5, x+y >= 4, 0 <= x <= 3, y >= 0, or the same turned round: the optimum is 3, 1, at a price of 3.
func diet(maximize bool) (m *milp.Model, sign float64) {
	m, sign = &milp.Model{Maximize: maximize, Offset: 5}, 1
	if maximize {
		sign = -1
	}
	m.AddVar(milp.Var{Upper: 3, Cost: 2 * sign})
	m.AddVar(milp.Var{Upper: math.Inf(1), Cost: 3 * sign})
	m.AddRow(milp.Row{Lower: 4, Upper: math.Inf(1), Index: []int32{0, 1}, Value: []float64{1, 1}})
	return m, sign
}

func TestProves(t *testing.T) {
	for _, maximize := range []bool{false, true} {
		m, sign := diet(maximize)
		for _, c := range []struct {
			x       []float64
			price   float64
			optimal bool
			bound   float64 // of the minimum, without the offset
		}{
			{[]float64{3, 1}, 3, true, 9},
			{[]float64{3, 2}, 3, false, 9}, // not the best point
			{[]float64{3, 1}, 2, false, 8}, // not the best prices, which prove less
			{[]float64{3, 1}, 0, false, 0},
			{[]float64{3, 1}, 3.5, false, math.Inf(-1)}, // y is worth less than it costs without end
			{[]float64{3, 1}, -1, false, math.Inf(-1)},  // of the wrong sign
			{[]float64{3, 1}, math.NaN(), false, math.NaN()},
		} {
			optimal, bound := duality.Proves(m, c.x, []float64{sign * c.price})
			assert.Equal(t, c.optimal, optimal, "maximize %v, %v at %v", maximize, c.x, c.price)
			if math.IsNaN(c.bound) {
				assert.True(t, math.IsNaN(bound))
				continue
			}
			assert.InDelta(t, 5+sign*c.bound, bound, 1e-12, "maximize %v, %v at %v", maximize, c.x, c.price)
		}
	}
}
