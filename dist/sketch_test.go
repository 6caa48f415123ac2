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

func fill(t testing.TB, s *dist.Sketch, values []float64) {
	t.Helper()
	for _, v := range values {
		require.NoError(t, s.Add(v))
	}
}

func lognormals(n int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 7))
	out := make([]float64, n)
	for i := range out {
		out[i] = math.Exp(5 + 1.2*rng.NormFloat64())
	}
	return out
}

func TestSketchFewValuesIsEmpirical(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	values := make([]float64, 5000)
	for i := range values {
		values[i] = math.Floor(80*rng.Float64()) * 3.7
	}
	s := dist.NewSketch(0)
	fill(t, s, values)
	got, err := s.Distribution()
	require.NoError(t, err)
	want, err := dist.FromSamples(values)
	require.NoError(t, err)
	require.Equal(t, want.Len(), got.Len())
	for i := range want.Len() {
		wx, wc := want.Knot(i)
		gx, gc := got.Knot(i)
		assert.Equal(t, wx, gx)
		assert.InDelta(t, wc, gc, 1e-12)
	}
	for x := -1.0; x < 300; x++ {
		assert.InDelta(t, want.CDF(x), s.CDF(x), 1e-12)
	}
}

func TestSketchExactFacts(t *testing.T) {
	values := lognormals(20000, 1)
	s := dist.NewSketch(40)
	fill(t, s, values)
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	assert.Equal(t, uint64(20000), s.Count())
	assert.Equal(t, slices.Min(values), s.Min())
	assert.Equal(t, slices.Max(values), s.Max())
	assert.InEpsilon(t, sum/20000, s.Mean(), 1e-12)
	assert.LessOrEqual(t, s.Bins(), 40)
	h, err := s.Distribution()
	require.NoError(t, err)
	assert.InEpsilon(t, s.Mean(), h.Mean(), 1e-9, "bins keep their means")
	for p := 0.0; p <= 1; p += 0.01 {
		assert.InEpsilon(t, h.Quantile(p), s.Quantile(p), 1e-9)
		x := h.Quantile(p) * 1.01
		assert.InDelta(t, h.CDF(x), s.CDF(x), 1e-9)
	}
}

func TestSketchInventsNoMassBetweenModes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	s := dist.NewSketch(0)
	for range 20000 {
		x := 10 + rng.Float64()
		if rng.Float64() < 0.3 {
			x = 1000 + 50*rng.Float64()
		}
		require.NoError(t, s.Add(x))
	}
	assert.Equal(t, s.CDF(11), s.CDF(999.99))
	assert.InDelta(t, 0.7, s.CDF(500), 0.02)
}

// Quantiles are those found one by one, whatever their order.
func TestSketchQuantiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	s := dist.NewSketch(20)
	for n := range 300 {
		p := []float64{0, 1, math.NaN(), -1, 2, 0.5, 0.5}
		for range 20 {
			p = append(p, rng.Float64())
		}
		rng.Shuffle(len(p), func(i, j int) { p[i], p[j] = p[j], p[i] })
		if n%2 == 0 {
			slices.Sort(p)
		}
		got := make([]float64, len(p)+1)
		s.Quantiles(got, p)
		for i := range p {
			require.Equal(t, math.Float64bits(s.Quantile(p[i])), math.Float64bits(got[i]), "%d values, p = %v", n, p[i])
		}
		require.Zero(t, got[len(p)], "beyond p")
		require.NoError(t, s.Add(math.Floor(100*rng.ExpFloat64())))
	}
}

func TestSketchRefuses(t *testing.T) {
	s := dist.NewSketch(0)
	for _, v := range []float64{math.NaN(), math.Inf(1), -1, math.Inf(-1)} {
		require.ErrorIs(t, s.Add(v), dist.ErrInvalid)
	}
	assert.Zero(t, s.Count())
	_, err := s.Distribution()
	require.ErrorIs(t, err, dist.ErrEmpty)
	assert.True(t, math.IsNaN(s.Mean()) && math.IsNaN(s.Min()) && math.IsNaN(s.Quantile(0.5)) && math.IsNaN(s.CDF(1)))
}

func TestSketchMerge(t *testing.T) {
	values := lognormals(8000, 2)
	a, b, all := dist.NewSketch(0), dist.NewSketch(0), dist.NewSketch(0)
	fill(t, a, values[:3000])
	fill(t, b, values[3000:])
	fill(t, all, values)
	require.NoError(t, a.Merge(b))
	assert.Equal(t, all.Count(), a.Count())
	assert.Equal(t, all.Max(), a.Max())
	assert.InEpsilon(t, all.Mean(), a.Mean(), 1e-12)
	h, err := a.Distribution()
	require.NoError(t, err)
	assert.InEpsilon(t, all.Mean(), h.Mean(), 1e-9)
	require.NoError(t, a.Merge(nil))
	require.NoError(t, a.Merge(a))
	assert.Equal(t, uint64(16000), a.Count())
}

func TestSketchBinary(t *testing.T) {
	s := dist.NewSketch(16)
	fill(t, s, lognormals(300, 3))
	data, err := s.MarshalBinary()
	require.NoError(t, err)
	var back dist.Sketch
	require.NoError(t, back.UnmarshalBinary(data))
	assert.Equal(t, s, &back)
	for n := range data {
		require.ErrorIs(t, back.UnmarshalBinary(data[:n]), dist.ErrFormat, "cut at %d", n)
	}
	for name, at := range map[string]int{"magic": 0, "version": 3, "limit": 7, "bins": 8, "count": 12, "sum": 26,
		"mean": 42, "lo": 50, "bin count": 60} {
		bad := slices.Clone(data)
		bad[at] ^= 0x7f
		require.ErrorIs(t, back.UnmarshalBinary(bad), dist.ErrFormat, name)
	}
	require.ErrorIs(t, back.UnmarshalBinary(append(slices.Clone(data), 0)), dist.ErrFormat)
	assert.Equal(t, s, &back, "refused bytes change nothing")
}

func FuzzSketchUnmarshal(f *testing.F) {
	for _, n := range []int{0, 1, 5, 300} {
		s := dist.NewSketch(8)
		fill(f, s, lognormals(n, 9))
		data, err := s.MarshalBinary()
		require.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := dist.NewSketch(3)
		fill(t, s, []float64{1, 2, 3, 4})
		before := s.Clone()
		if err := s.UnmarshalBinary(data); err != nil {
			require.ErrorIs(t, err, dist.ErrFormat)
			require.Equal(t, before, s)
			return
		}
		again, err := s.MarshalBinary()
		require.NoError(t, err)
		require.Equal(t, data, again)
		if s.Count() > 0 && s.Count() < 1<<60 {
			twice, other := s.Clone(), dist.NewSketch(4)
			fill(t, other, []float64{0, s.Max() / 3, s.Max()})
			if twice.Merge(s) == nil && twice.Merge(other) == nil {
				require.Equal(t, s.Max(), twice.Max())
				merged, err := twice.MarshalBinary()
				require.NoError(t, err)
				require.NoError(t, new(dist.Sketch).UnmarshalBinary(merged))
			}
			_ = s.Add(s.Max() / 2)
			h, err := s.Distribution()
			require.NoError(t, err)
			require.False(t, math.IsNaN(h.Mean()))
			require.GreaterOrEqual(t, s.Quantile(0.5), s.Min())
		}
	})
}

func BenchmarkSketchAdd(b *testing.B) {
	values := lognormals(1<<14, 4)
	s := dist.NewSketch(0)
	fill(b, s, values)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		_ = s.Add(values[i&(1<<14-1)] * (1 + float64(i&1023)*1e-6))
		i++
	}
}

func BenchmarkSketchQuantile(b *testing.B) {
	s := dist.NewSketch(0)
	fill(b, s, lognormals(1<<14, 4))
	b.ReportAllocs()
	p := 0.0
	for b.Loop() {
		s.Quantile(p)
		if p += 0.37; p > 1 {
			p--
		}
	}
}

func BenchmarkSketchCDF(b *testing.B) {
	s := dist.NewSketch(0)
	values := lognormals(1<<14, 4)
	fill(b, s, values)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		s.CDF(values[i&(1<<14-1)])
		i++
	}
}
