// Package gap defines relative gaps for solver and milp: the distance of a value from a bound, relative to the bound.
package gap

import "math"

// Default is the target gap that an option of 0 means.
const Default = 1e-4

// Target is the gap at which to stop: 0 means Default, and a negative option exactly zero.
func Target(option float64) float64 {
	if option == 0 {
		return Default
	}
	return math.Max(option, 0)
}

// Of is (bound-value)/max(|bound|, 1e-9), for maximisation. Its absolute value is the gap in either sense.
func Of(bound, value float64) float64 {
	return (bound - value) / math.Max(math.Abs(bound), 1e-9)
}
