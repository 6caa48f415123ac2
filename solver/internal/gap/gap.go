// Package gap is what solver and milp share of relative gaps: how far a bound is from a value, in parts of the bound.
package gap

import "math"

// Default is the gap that a target of 0 stands for.
const Default = 1e-4

// Target is the gap at which to stop that an option asks for: 0 means Default, and negative exactly zero.
func Target(option float64) float64 {
	if option == 0 {
		return Default
	}
	return math.Max(option, 0)
}

// Of is (bound-value)/max(|bound|, 1e-9), for a value that is maximised. Its absolute value is the gap in either sense.
func Of(bound, value float64) float64 {
	return (bound - value) / math.Max(math.Abs(bound), 1e-9)
}
