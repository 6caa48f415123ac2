package threesigma

import (
	"math"

	"github.com/hedgesched/hedge/sched"
)

// units are the factors by which amounts of each resource are multiplied for the problem, or nil where all are 1.
//
// A solver takes amounts in a limited range, and a large cluster has more bytes of memory than that. So the problem
// counts each resource in units of which the largest node has between 1 and [maxUnits]. The factors are powers of two,
// so that amounts lose no digit.
type units []float64

// maxUnits is how much the largest node may have of a resource in the problem. A hundred thousand such nodes stay far
// below what a solver takes.
const maxUnits = 1 << 20

// unitsOf are the units for these nodes.
func unitsOf(nodes *sched.NodeSet) units {
	largest := make([]float64, len(nodes.Resources()))
	for i, c := range nodes.Capacity() {
		r := i % len(largest)
		largest[r] = max(largest[r], c)
	}
	u, scaled := make(units, len(largest)), false
	for r, most := range largest {
		u[r] = unitFor(most)
		scaled = scaled || u[r] != 1
	}
	if !scaled {
		return nil
	}
	return u
}

// unitFor is the factor for a resource of which the largest node has that much.
func unitFor(most float64) float64 {
	_, exp := math.Frexp(most) // most is in [2^(exp-1), 2^exp)
	switch {
	case most > maxUnits:
		return math.Ldexp(maxUnits, -exp)
	case most > 0 && most < 1:
		return math.Ldexp(1, min(1-exp, 1000)) // 2^1024 is infinite
	}
	return 1
}

// of is an amount of each resource in these units: the slice itself where all are 1.
func (u units) of(amounts []float64) []float64 {
	if u == nil {
		return amounts
	}
	scaled := make([]float64, len(amounts))
	for r, a := range amounts {
		scaled[r] = a * u[r]
	}
	return scaled
}

// factor is that of one resource.
func (u units) factor(resource int) float64 {
	if u == nil {
		return 1
	}
	return u[resource]
}
