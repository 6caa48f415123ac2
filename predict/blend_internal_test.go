package predict

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Shares of all sizes, of which the last may be lost in the rounding of the sum of the others: the
// knots are always those of a distribution.
func TestAnyMassesMakeAHistogram(t *testing.T) {
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(9, seed))
		var b blend
		x := rng.Float64()
		for range 1 + rng.IntN(60) {
			b.points = append(b.points, point{x, math.Exp(-40 * rng.Float64() * rng.Float64())})
			x += rng.Float64() * math.Exp(10*rng.NormFloat64())
		}
		b.points = append(b.points, point{x, 1e-18 * rng.Float64()})
		b.runs = append(b.runs, len(b.points))
		d, err := b.histogram(2 + rng.IntN(40))
		require.NoError(t, err, "seed %d", seed)
		_, hi := d.Bounds()
		require.LessOrEqual(t, hi, x)
	}
}
