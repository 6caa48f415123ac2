package dist_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
)

func TestLargestIsTheProductOfTheCDFs(t *testing.T) {
	for i, a := range largestOf(t) {
		for k, b := range largestOf(t) {
			m, err := dist.Largest(a, b)
			require.NoError(t, err)
			loA, _ := a.Bounds()
			loB, _ := b.Bounds()
			lo, _ := m.Bounds()
			assert.GreaterOrEqual(t, lo, max(loA, loB)-1e-9, "%d and %d", i, k)
			for x := 0.0; x <= 30; x += 0.37 {
				assert.InDelta(t, a.CDF(x)*b.CDF(x), m.CDF(x), 0.01, "%d and %d at %v", i, k, x)
			}
		}
	}
}

func largestOf(t *testing.T) []dist.Distribution {
	t.Helper()
	point, err := dist.NewPoint(7)
	require.NoError(t, err)
	uniform, err := dist.NewUniform(2, 12)
	require.NoError(t, err)
	early, err := dist.NewUniform(0.5, 1.5)
	require.NoError(t, err)
	atoms, err := dist.FromSamples([]float64{1, 4, 4, 7, 20})
	require.NoError(t, err)
	exponential, err := dist.NewExponential(6)
	require.NoError(t, err)
	return []dist.Distribution{point, uniform, early, atoms, exponential}
}

// Atoms are exact, and so is a distribution that the other cannot reach.
func TestLargestIsExactWhereItCanBe(t *testing.T) {
	atoms := func(v ...float64) dist.Distribution {
		d, err := dist.FromSamples(v)
		require.NoError(t, err)
		return d
	}
	m, err := dist.Largest(atoms(1, 3), atoms(2, 3))
	require.NoError(t, err)
	for _, c := range []struct{ x, want float64 }{{0.9, 0}, {1.5, 0}, {2, 0.25}, {2.9, 0.25}, {3, 1}} {
		assert.InDelta(t, c.want, m.CDF(c.x), 1e-12, "at %v", c.x)
	}
	late := atoms(5, 6)
	m, err = dist.Largest(late, atoms(1, 5))
	require.NoError(t, err)
	assert.Same(t, late, m)
}

// The mean of the larger of two draws, against draws.
func TestLargestAgainstDraws(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		sample := func() dist.Distribution {
			v := make([]float64, 1+rng.IntN(300))
			scale := 10 * rng.Float64()
			for i := range v {
				v[i] = scale * math.Exp(rng.NormFloat64())
			}
			d, err := dist.FromSamples(v)
			require.NoError(t, err)
			return d
		}
		a, b := sample(), sample()
		m, err := dist.Largest(a, b)
		require.NoError(t, err)
		const draws = 40_000
		sum, values := 0.0, make([]float64, draws)
		for i := range draws {
			values[i] = max(a.Quantile(rng.Float64()), b.Quantile(rng.Float64()))
			sum += values[i]
		}
		assert.InEpsilon(t, sum/draws, m.Mean(), 0.06)
		slices.Sort(values)
		assert.InEpsilon(t, values[draws/2], m.Quantile(0.5), 0.06)
	}
}

func TestLargestRefuses(t *testing.T) {
	d, err := dist.NewPoint(1)
	require.NoError(t, err)
	_, err = dist.Largest(nil, d)
	require.ErrorIs(t, err, dist.ErrInvalid)
	_, err = dist.Largest(d, nil)
	require.ErrorIs(t, err, dist.ErrInvalid)
}
