package milp

import (
	"math"
	"slices"
)

// WholeBounds are the variables' bounds, where those of integer variables are whole: the smallest and the largest whole
// number within them, which cross if there is none. Bounds that miss a whole number by no more than rounding, 1e-9 of
// their size and at most 1e-6, stand for that number. Solvers do not agree about such bounds, and some go wrong with
// fractional ones, so that backends hand these over. The slices must not be changed: they may be the model's own.
func (m *Model) WholeBounds() (lower, upper []float64) {
	lower, upper = m.lower, m.upper
	copied := false
	for j, integer := range m.integer {
		if !integer {
			continue
		}
		low, high := whole(lower[j], math.Ceil(lower[j])), whole(upper[j], math.Floor(upper[j]))
		if low == lower[j] && high == upper[j] {
			continue
		}
		if !copied {
			lower, upper, copied = slices.Clone(lower), slices.Clone(upper), true
		}
		lower[j], upper[j] = low, high
	}
	return lower, upper
}

// whole is the whole number that v stands for, otherwise if it is none.
func whole(v, otherwise float64) float64 {
	near := math.Round(v)
	if math.Abs(v-near) <= math.Min(float64(1e-9*math.Max(1, math.Abs(v))), 1e-6) { // false for infinities
		return near
	}
	return otherwise
}
