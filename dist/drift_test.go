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

// streams are a hundred thousand values each, in orders and of shapes that are hard on a sketch.
func streams() []struct {
	name   string
	values []float64
} {
	const n = 100_000
	draw := func(seed uint64, f func(*rand.Rand) float64) []float64 {
		rng := rand.New(rand.NewPCG(seed, 77))
		out := make([]float64, n)
		for i := range out {
			out[i] = f(rng)
		}
		return out
	}
	lognormal := draw(1, func(r *rand.Rand) float64 { return math.Exp(5 + 1.2*r.NormFloat64()) })
	sorted := slices.Sorted(slices.Values(lognormal))
	reversed := slices.Clone(sorted)
	slices.Reverse(reversed)
	bimodal := draw(2, func(r *rand.Rand) float64 {
		if r.IntN(10) < 7 {
			return 10 + r.Float64()
		}
		return 1000 + 50*r.NormFloat64()
	})
	heavy := draw(3, func(r *rand.Rand) float64 { return 30 * math.Pow(1-r.Float64(), -1/1.2) })
	i := 0.0
	drifting := draw(4, func(r *rand.Rand) float64 { i++; return math.Exp(3 + 4*i/n + 0.5*r.NormFloat64()) })
	return []struct {
		name   string
		values []float64
	}{
		{"lognormal", lognormal}, {"sorted", sorted}, {"reversed", reversed},
		{"bimodal", bimodal}, {"heavy tail", heavy}, {"drifting", drifting},
	}
}

// drift is how far a sketch is off the values it has seen.
type drift struct {
	rank          float64 // greatest difference of the CDFs at the values' percentiles
	p50, p90, p99 float64 // relative errors of quantiles
}

func measure(s *dist.Sketch, sorted []float64) drift {
	exact := func(p float64) float64 { return sorted[int(math.Ceil(p*float64(len(sorted))))-1] }
	rel := func(p float64) float64 { return math.Abs(s.Quantile(p)/exact(p) - 1) }
	d := drift{p50: rel(0.5), p90: rel(0.9), p99: rel(0.99)}
	for i := 1; i < 1000; i++ {
		p := float64(i) / 1000
		d.rank = max(d.rank, math.Abs(s.CDF(exact(p))-p))
	}
	return d
}

func TestSketchDrift(t *testing.T) {
	for _, stream := range streams() {
		sorted := slices.Sorted(slices.Values(stream.values))
		one := dist.NewSketch(0)
		fill(t, one, stream.values)
		merged := dist.NewSketch(0)
		for part := range slices.Chunk(stream.values, 10_000) {
			s := dist.NewSketch(0)
			fill(t, s, part)
			require.NoError(t, merged.Merge(s))
		}
		a, b := measure(one, sorted), measure(merged, sorted)
		// What the documentation of Sketch says, and the spread between seeds.
		for what, c := range map[string]struct {
			d               drift
			rank, quantiles float64
		}{"one": {a, 0.006, 0.006}, "merged": {b, 0.035, 0.02}} {
			assert.Less(t, c.d.rank, c.rank, "%s, %s: CDF", stream.name, what)
			assert.Less(t, max(c.d.p50, c.d.p90, c.d.p99), c.quantiles, "%s, %s: quantiles", stream.name, what)
		}
		assert.Equal(t, sorted[0], merged.Min())
		assert.Equal(t, sorted[len(sorted)-1], merged.Max())
		h, err := merged.Distribution()
		require.NoError(t, err)
		assert.InEpsilon(t, one.Mean(), h.Mean(), 1e-9, "bins keep their means")
		data, err := merged.MarshalBinary()
		require.NoError(t, err)
		require.NoError(t, new(dist.Sketch).UnmarshalBinary(data), "merging leaves a sketch in order")
		t.Logf("%-10s one: %.4f %.3f %.3f %.3f   ten merged: %.4f %.3f %.3f %.3f", stream.name, a.rank, a.p50, a.p90, a.p99,
			b.rank, b.p50, b.p90, b.p99)
		assert.Equal(t, one.Count(), merged.Count())
	}
}

func TestMergedSketchesOfAnyShape(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	for trial := range 300 {
		var all []float64
		merged := dist.NewSketch(2 + rng.IntN(20))
		for range 1 + rng.IntN(5) {
			s := dist.NewSketch(2 + rng.IntN(20))
			scale := math.Exp(3 * rng.NormFloat64())
			for range rng.IntN(60) {
				x := math.Floor(scale * rng.ExpFloat64() * 4)
				require.NoError(t, s.Add(x))
				all = append(all, x)
			}
			before := s.Clone()
			require.NoError(t, merged.Merge(s))
			require.Equal(t, before, s, "what is merged stays as it was")
		}
		if len(all) == 0 {
			continue
		}
		require.Equal(t, uint64(len(all)), merged.Count(), "trial %d", trial)
		require.Equal(t, slices.Min(all), merged.Min(), "trial %d", trial)
		require.Equal(t, slices.Max(all), merged.Max(), "trial %d", trial)
		h, err := merged.Distribution()
		require.NoError(t, err)
		require.InEpsilon(t, 1+merged.Mean(), 1+h.Mean(), 1e-9, "trial %d", trial)
		data, err := merged.MarshalBinary()
		require.NoError(t, err)
		require.NoError(t, new(dist.Sketch).UnmarshalBinary(data), "trial %d", trial)
	}
}

func TestMergingInventsNoMassBetweenModes(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 54))
	merged := dist.NewSketch(16)
	for range 20 {
		s := dist.NewSketch(16)
		for range 500 {
			x := 10 + rng.Float64()
			if rng.IntN(3) == 0 {
				x = 1000 + 50*rng.Float64()
			}
			require.NoError(t, s.Add(x))
		}
		require.NoError(t, merged.Merge(s))
	}
	assert.Equal(t, merged.CDF(11), merged.CDF(999))
	assert.InDelta(t, 2.0/3, merged.CDF(500), 0.02)
}
