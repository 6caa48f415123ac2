package milp

import (
	"math"
	"slices"
)

// WholeBounds are the variables' bounds, in which bounds of integer variables are whole: the smallest and the largest
// whole number within them. They cross if there is none. Bounds that miss a whole number only by rounding (1e-9 of
// their size, and at most 1e-6) count as that number. Solvers disagree about fractional bounds, and some fail with
// them, so backends pass on these. The slices must not be modified: they may be the model's own.
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

// whole is the whole number that v stands for, or otherwise if it stands for none.
func whole(v, otherwise float64) float64 {
	near := math.Round(v)
	if math.Abs(v-near) <= math.Min(float64(1e-9*math.Max(1, math.Abs(v))), 1e-6) { // false for infinities
		return near
	}
	return otherwise
}
