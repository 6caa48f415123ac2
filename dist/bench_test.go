package dist_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hedgesched/hedge/dist"
)

func sketched(t testing.TB) *dist.Histogram {
	s := dist.NewSketch(0)
	fill(t, s, lognormals(5000, 11))
	return need[*dist.Histogram](t)(s.Distribution())
}

func TestHotPathsDoNotAllocate(t *testing.T) {
	h := sketched(t)
	s := dist.NewSketch(0)
	values := lognormals(4000, 13)
	fill(t, s, values)
	dst := make([]float64, 24)
	i := 0
	assert.Zero(t, testing.AllocsPerRun(1000, func() {
		_ = s.Add(values[i] * 1.0001)
		s.Quantile(0.3)
		s.CDF(100)
		h.Quantile(0.3)
		h.PartialMean(100)
		dist.Survivals(dst, h, 50, 60)
		i++
	}))
}

func BenchmarkSurvivals24(b *testing.B) {
	h, dst := sketched(b), make([]float64, 24)
	b.ReportAllocs()
	for b.Loop() {
		dist.Survivals(dst, h, 50, 60)
	}
}

func BenchmarkCondition(b *testing.B) {
	h := sketched(b)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = dist.Condition(h, 50)
	}
}

func BenchmarkHistogramPartialMean(b *testing.B) {
	h := sketched(b)
	b.ReportAllocs()
	x := 0.0
	for b.Loop() {
		h.PartialMean(x)
		if x += 37; x > 1000 {
			x = 0
		}
	}
}

func BenchmarkSum(b *testing.B) {
	h := sketched(b)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = dist.Sum(h, h)
	}
}

func BenchmarkFromSamples(b *testing.B) {
	values := lognormals(1000, 15)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = dist.FromSamples(values)
	}
}
