package stats

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIntervalOfKnownSample(t *testing.T) {
	iv := Of([]float64{1, 2, 3, 4, 5})
	assert.InDelta(t, 3, iv.Mean, 1e-12)
	half := 2.776 * math.Sqrt(2.5/5)
	assert.InDelta(t, 3-half, iv.CI95[0], 1e-9)
	assert.InDelta(t, 3+half, iv.CI95[1], 1e-9)
}

func TestOneSeedHasNoInterval(t *testing.T) {
	assert.Equal(t, Interval{Mean: 7}, Of([]float64{7}))
	assert.Equal(t, Interval{}, Of(nil))
	data, err := json.Marshal(Of([]float64{7}))
	require.NoError(t, err)
	assert.JSONEq(t, `{"mean":7,"ci95":null}`, string(data))
}

func TestStudentT(t *testing.T) {
	for df, want := range map[int]float64{1: 12.706, 4: 2.776, 30: 2.042, 40: 2.0211, 60: 2.0003, 120: 1.9799} {
		assert.InDelta(t, want, StudentT975(df), 2e-3, "df %d", df)
	}
	for df := 2; df < 200; df++ {
		assert.Less(t, StudentT975(df), StudentT975(df-1), "df %d", df)
	}
}

func TestIntervalCoversTheMean(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	covered := 0
	const trials = 4000
	for range trials {
		x := make([]float64, 5)
		for i := range x {
			x[i] = 10 + rng.NormFloat64()
		}
		iv := Of(x)
		if iv.CI95[0] <= 10 && 10 <= iv.CI95[1] {
			covered++
		}
	}
	assert.InDelta(t, 0.95, float64(covered)/trials, 0.015)
}

func TestQuantile(t *testing.T) {
	s := []float64{1, 2, 3, 4}
	assert.Equal(t, 1.0, Quantile(s, 0))
	assert.Equal(t, 2.0, Quantile(s, .5))
	assert.Equal(t, 3.0, Quantile(s, .51))
	assert.Equal(t, 4.0, Quantile(s, 1))
	for n := 1; n < 200; n++ {
		s := make([]float64, n)
		for i := range s {
			s[i] = float64(i + 1)
		}
		for k := 1; k <= n; k++ {
			assert.Equal(t, float64(k), Quantile(s, float64(k)/float64(n)), "%d of %d", k, n)
		}
	}
	assert.Zero(t, Quantile(nil, .5))
}

func TestBox(t *testing.T) {
	b := BoxOf([]float64{1, 2, 3, 4, 100})
	assert.Equal(t, Box{Low: 1, P25: 2, Median: 3, P75: 4, High: 4, Outliers: 1}, b)
}

func TestKS(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	exp := func(x float64) float64 { return 1 - math.Exp(-max(0, x)) }
	var good, bad []float64
	for range 2000 {
		v := rng.ExpFloat64()
		good = append(good, v)
		bad = append(bad, v*v)
	}
	assert.False(t, KSTest(good, exp).Rejected)
	assert.True(t, KSTest(bad, exp).Rejected)
	assert.InDelta(t, 0.05, kolmogorovTail(1.3581), 1e-3)
}

func TestKnown(t *testing.T) {
	assert.Nil(t, Known(nil))
	assert.Nil(t, Known([]*float64{nil, nil}))
	assert.Equal(t, new(Of([]float64{1, 3})), Known([]*float64{new(1.0), nil, new(3.0)}))
}
