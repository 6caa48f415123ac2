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

func TestHistogramKnots(t *testing.T) {
	h, err := dist.NewHistogram([]float64{0, 10, 10, 20, 30, 40}, []float64{1, 2, 1, 0, 0})
	require.NoError(t, err)
	assert.InDelta(t, 0.25, h.CDF(math.Nextafter(10, 0)), 1e-15, "left of the atom")
	assert.Equal(t, 0.75, h.CDF(10), "right-continuous at the atom")
	assert.Equal(t, 0.875, h.CDF(15))
	assert.Equal(t, 10.0, h.Quantile(0.5))
	assert.Equal(t, 0.0, h.Quantile(0))
	assert.Equal(t, 20.0, h.Quantile(1), "massless bins at the end are not support")
	assert.InDelta(t, 0.25*5+0.5*10+0.25*15, h.Mean(), 1e-15)
	assert.InDelta(t, 0.25*5+0.5*10, h.PartialMean(10), 1e-15)
}

func TestFromSamplesIsEmpirical(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, 500)
	for i := range values {
		values[i] = float64(rng.IntN(60))
	}
	h, err := dist.FromSamples(values)
	require.NoError(t, err)
	slices.Sort(values)
	sum := 0.0
	for i, v := range values {
		sum += v
		assert.InDelta(t, v, h.Quantile((float64(i)+0.5)/500), 1e-9)
	}
	assert.InDelta(t, sum/500, h.Mean(), 1e-12)
	for x := -1.0; x < 62; x += 0.5 {
		n := 0
		for _, v := range values {
			if v <= x {
				n++
			}
		}
		assert.InDelta(t, float64(n)/500, h.CDF(x), 1e-12)
	}
}

func TestConstructorsRefuse(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, make := range map[string]func() error{
		"point NaN":        func() error { _, err := dist.NewPoint(nan); return err },
		"point negative":   func() error { _, err := dist.NewPoint(-1); return err },
		"uniform reversed": func() error { _, err := dist.NewUniform(2, 1); return err },
		"uniform Inf":      func() error { _, err := dist.NewUniform(2, inf); return err },
		"edges unsorted":   func() error { _, err := dist.NewHistogram([]float64{1, 0}, []float64{1}); return err },
		"too few edges":    func() error { _, err := dist.NewHistogram([]float64{1}, []float64{1}); return err },
		"no weight":        func() error { _, err := dist.NewHistogram([]float64{1, 2}, []float64{0}); return err },
		"weight NaN":       func() error { _, err := dist.NewHistogram([]float64{1, 2}, []float64{nan}); return err },
		"weights overflow": func() error {
			_, err := dist.NewHistogram([]float64{1, 2, 3}, []float64{1e308, 1e308})
			return err
		},
		"sample negative":   func() error { _, err := dist.FromSamples([]float64{1, -1}); return err },
		"knots not to one":  func() error { _, err := dist.FromKnots([]float64{1, 2}, []float64{0, 0.5}); return err },
		"knots not from 0":  func() error { _, err := dist.FromKnots([]float64{1, 2}, []float64{0.5, 1}); return err },
		"knots decreasing":  func() error { _, err := dist.FromKnots([]float64{1, 2, 3}, []float64{0, 1, 0.5}); return err },
		"condition nil":     func() error { _, err := dist.Condition(nil, 1); return err },
		"condition NaN":     func() error { _, err := dist.Condition(dist.Point{}, nan); return err },
		"condition on zero": func() error { _, err := dist.Condition((*dist.Histogram)(nil), 1); return err },
		"scale by 0":        func() error { _, err := dist.Scale(dist.Point{}, 0); return err },
		"shift below 0":     func() error { _, err := dist.Shift(dist.Point{}, -1); return err },
	} {
		err := make()
		var param *dist.ParamError
		require.ErrorAs(t, err, &param, name)
		require.ErrorIs(t, err, dist.ErrInvalid, name)
		assert.NotEmpty(t, param.Param, name)
	}
	_, err := dist.FromSamples(nil)
	require.ErrorIs(t, err, dist.ErrEmpty)
}

func TestConditionPaper(t *testing.T) {
	u, err := dist.NewUniform(0, 10)
	require.NoError(t, err)
	c, err := dist.Condition(u, 4)
	require.NoError(t, err)
	assert.InDelta(t, 0.5, c.CDF(7), 1e-15)
	assert.InDelta(t, 7, c.Mean(), 1e-15)
	over, err := dist.Condition(u, 10)
	require.NoError(t, err)
	lo, hi := over.Bounds()
	assert.Equal(t, []float64{10, 10}, []float64{lo, hi}, "a refuted forecast is a point at elapsed")
}

func TestSurvivals(t *testing.T) {
	h, err := dist.FromSamples([]float64{2, 4, 4, 8})
	require.NoError(t, err)
	got := make([]float64, 6)
	dist.Survivals(got, h, 0, 2)
	assert.Equal(t, []float64{1, 0.75, 0.25, 0.25, 0, 0}, got)
	dist.Survivals(got, h, 2, 1)
	assert.InDeltaSlice(t, []float64{1, 1, 1. / 3, 1. / 3, 1. / 3, 1. / 3}, got, 1e-15)
	dist.Survivals(got, h, 8, 1)
	assert.Equal(t, make([]float64, 6), got, "elapsed at the maximum")
	dist.Survivals(got, h, 0, 0)
	assert.True(t, math.IsNaN(got[0]))
	assert.Zero(t, testing.AllocsPerRun(100, func() { dist.Survivals(got, h, 1, 1) }))
}
