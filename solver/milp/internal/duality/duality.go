// Package duality proves optima of linear programs by the prices that a solver has for their rows, for backends whose
// solvers cannot be believed without.
package duality

import (
	"math"

	"github.com/hedgesched/hedge/solver/milp"
)

// Proves reports whether the rows' prices y prove point x of m optimal, to milp.Tolerance, and what they prove of any
// point.
func Proves(m *milp.Model, x, y []float64) (optimal bool, bound float64) {
	objective := m.Objective(x)
	bound = proven(m, y)
	return math.Abs(bound-objective) <= float64(milp.Tolerance*math.Max(1, math.Abs(objective))), bound // false for NaN
}

// pricing is how far from zero a reduced cost may be that ought to be zero, relative to what it is the difference of.
// Clp's own tolerance is 1e-7, in its scaled model.
const pricing = 1e-6

// proven is what the rows' prices y prove of m, a linear program, by arithmetic that owes nothing to the library: for
// any y the objective c·x is (c - yA)·x + y·(Ax), and neither part can be better than at the bounds of x and of the
// rows. It is infinite if y proves nothing. Prices of an optimum prove the optimum.
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

// best is the best value of d·v for v from lower to upper, the least if sense is 1 and the greatest if it is -1. If
// that is infinite, a d that is next to nothing beside size counts as zero.
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
