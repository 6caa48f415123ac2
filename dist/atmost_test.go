package dist_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/dist/disttest"
)

// TestAtMost: P(X <= x | X <= most) = P(X <= x) / P(X <= most), and what is void or refuted changes nothing.
func TestAtMost(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		samples := make([]float64, 1+rng.IntN(20))
		for i := range samples {
			samples[i] = float64(rng.IntN(50)) // some are alike: atoms
		}
		h, err := dist.FromSamples(samples)
		require.NoError(t, err)
		most := 60 * rng.Float64()
		got, mass := h.AtMost(most), h.CDF(most)
		disttest.Check(t, got)
		if _, hi := h.Bounds(); mass == 0 || most >= hi {
			require.Same(t, h, got)
			continue
		}
		_, hi := got.Bounds()
		assert.LessOrEqual(t, hi, most)
		for x := 0.0; x < 60; x += 0.7 {
			require.InDelta(t, min(1, h.CDF(min(x, most))/mass), got.CDF(x), 1e-12, "%v of %v at %v", most, samples, x)
		}
	}
	h, err := dist.FromSamples([]float64{5, 7})
	require.NoError(t, err)
	assert.Same(t, h, h.AtMost(math.NaN()))
	assert.Same(t, h, h.AtMost(math.Inf(1)))
	assert.Same(t, h, h.AtMost(-1))
}
