// Package duality proves optima of linear programs by the dual values of their rows. It is for backends whose solvers
// cannot be trusted.
package duality

import (
	"math"

	"github.com/hedgesched/hedge/solver/milp"
)

// Proves reports whether the rows' dual values y prove that point x of m is optimal, within milp.Tolerance. It also
// returns the bound that they prove.
func Proves(m *milp.Model, x, y []float64) (optimal bool, bound float64) {
	objective := m.Objective(x)
	bound = proven(m, y)
	return math.Abs(bound-objective) <= float64(milp.Tolerance*math.Max(1, math.Abs(objective))), bound // false for NaN
}

// pricing is how far from zero a reduced cost may be and still count as zero, relative to the numbers whose difference
// it is. Clp's own tolerance is 1e-7, in its scaled model.
const pricing = 1e-6

// proven is the bound that the rows' dual values y prove for m, a linear program, with arithmetic that does not rely on
// the library. For any y the objective c·x is (c - yA)·x + y·(Ax), and neither part can be better than at the bounds of
// x and of the rows. The bound is infinite if y proves nothing. Dual values of an optimum prove the optimum.
func proven(m *milp.Model, y []float64) float64 {
	sense := 1.0
	if m.Maximize {
		sense = -1
	}
	lower, upper := m.Bounds()
	rowLower, rowUpper := m.RowBounds()
	reduced, size := append([]float64(nil), m.Costs()...), make([]float64, m.Vars())
	for j, c := range reduced {
		size[j] = math.Abs(c)
	}
	bound := m.Offset
	for i, price := range y {
		row := m.Row(i)
		for k, j := range row.Index {
			part := float64(row.Value[k] * price)
			reduced[j] -= part
			size[j] += math.Abs(part)
		}
		bound += best(sense, price, math.Abs(price), rowLower[i], rowUpper[i])
	}
	for j, d := range reduced {
		bound += best(sense, d, size[j], lower[j], upper[j])
	}
	return bound
}

// best is the best value of d·v for v from lower to upper: the smallest if sense is 1, and the largest if it is -1. If
// that is infinite, a d that is negligible compared with size counts as zero.
func best(sense, d, size, lower, upper float64) float64 {
	at := lower
	if sense*d < 0 {
		at = upper
	}
	if d == 0 || math.IsInf(at, 0) && math.Abs(d) <= pricing*math.Max(1, size) {
		return 0
	}
	return float64(d * at)
}
