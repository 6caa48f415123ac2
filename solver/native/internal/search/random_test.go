package search

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestExponential holds moments and tails to what they should be.
func TestExponential(t *testing.T) {
	var w Random
	w.Seed(1, 0)
	const n = 200_000
	mean, square := 0.0, 0.0
	above := make([]float64, 6)
	for range n {
		x := w.Exponential()
		mean += x / n
		square += x * x / n
		for i := range above {
			if x > 0.5*float64(i+1) {
				above[i] += 1.0 / n
			}
		}
	}
	assert.InDelta(t, 1, mean, 0.02)
	assert.InDelta(t, 2, square, 0.08)
	for i, part := range above {
		assert.InDelta(t, math.Exp(-0.5*float64(i+1)), part, 0.006)
	}
}
