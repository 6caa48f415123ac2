// Package predicttest is the conformance suite of predict.Predictor: what
// every implementation, of this module or a stranger's, must do.
package predicttest

import (
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/predict"
)

// Run checks a predictor; newPredictor makes a fresh one for each case.
func Run(t *testing.T, newPredictor func() predict.Predictor) {
	t.Helper()
	t.Run("answers without history", func(t *testing.T) {
		p := newPredictor()
		for _, j := range []predict.Job{{}, job(1), {ID: "x", Attributes: map[string]string{"": "", "user": ""}}} {
			valid(t, p.Predict(j))
		}
	})
	t.Run("answers sensibly while learning", func(t *testing.T) { learning(t, newPredictor()) })
	t.Run("refuses what is no runtime", func(t *testing.T) { refuses(t, newPredictor) })
	t.Run("same history, same forecasts", func(t *testing.T) { deterministic(t, newPredictor) })
	t.Run("predicting changes nothing", func(t *testing.T) { pure(t, newPredictor()) })
	t.Run("leaves the job alone", func(t *testing.T) { leavesAlone(t, newPredictor()) })
	t.Run("concurrent use", func(t *testing.T) { concurrent(t, newPredictor()) })
}

// job makes the i-th of a small population of jobs.
func job(i int) predict.Job {
	return predict.Job{
		ID: strconv.Itoa(i),
		Attributes: map[string]string{
			"user": "u" + strconv.Itoa(i%3), "name": "n" + strconv.Itoa(i%7), "tasks": strconv.Itoa(1 + i%4),
		},
		Submitted: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * 17 * time.Minute),
	}
}

// valid checks that a prediction can be used.
func valid(t *testing.T, p predict.Prediction) {
	t.Helper()
	require.NotNil(t, p.Dist)
	require.GreaterOrEqual(t, p.Point, 0.0)
	require.False(t, math.IsInf(p.Point, 0) || math.IsNaN(p.Point), "point %v", p.Point)
	require.GreaterOrEqual(t, p.Samples, 0)
	require.NotEmpty(t, p.Expert.Estimator)
	lo, hi := p.Dist.Bounds()
	require.GreaterOrEqual(t, lo, 0.0)
	require.LessOrEqual(t, lo, hi)
	require.False(t, math.IsNaN(p.Dist.Mean()) || math.IsInf(p.Dist.Mean(), 0))
	last := lo
	for _, q := range []float64{0.1, 0.5, 0.9} {
		x := p.Dist.Quantile(q)
		require.GreaterOrEqual(t, x, last*(1-1e-9))
		last = x
	}
}

func learning(t *testing.T, p predict.Predictor) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 500 {
		j := job(i)
		valid(t, p.Predict(j))
		require.NoError(t, p.Observe(predict.Observation{Job: j, Runtime: math.Exp(rng.NormFloat64()*2 + 5)}))
	}
	for _, extreme := range []float64{0, 1e-300, 1e12} {
		require.NoError(t, p.Observe(predict.Observation{Job: job(1), Runtime: extreme}))
		valid(t, p.Predict(job(1)))
	}
}

func refuses(t *testing.T, newPredictor func() predict.Predictor) {
	p, same := newPredictor(), newPredictor()
	for i := range 20 {
		require.NoError(t, p.Observe(predict.Observation{Job: job(i), Runtime: float64(i)}))
		require.NoError(t, same.Observe(predict.Observation{Job: job(i), Runtime: float64(i)}))
		for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, -1e-300} {
			require.Error(t, p.Observe(predict.Observation{Job: job(i), Runtime: x}), "runtime %v", x)
		}
	}
	for i := range 20 {
		equal(t, same.Predict(job(i)), p.Predict(job(i)))
	}
}

func deterministic(t *testing.T, newPredictor func() predict.Predictor) {
	a, b := newPredictor(), newPredictor()
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 300 {
		x := rng.Float64() * 1000
		equal(t, a.Predict(job(i)), b.Predict(job(i)))
		require.NoError(t, a.Observe(predict.Observation{Job: job(i), Runtime: x}))
		require.NoError(t, b.Observe(predict.Observation{Job: job(i), Runtime: x}))
	}
}

func pure(t *testing.T, p predict.Predictor) {
	for i := range 50 {
		require.NoError(t, p.Observe(predict.Observation{Job: job(i), Runtime: float64(10 + i)}))
	}
	first := p.Predict(job(5))
	for i := range 50 {
		p.Predict(job(i))
		p.Predict(predict.Job{ID: strconv.Itoa(i), Attributes: map[string]string{"user": strconv.Itoa(i)}})
	}
	equal(t, first, p.Predict(job(5)))
}

func leavesAlone(t *testing.T, p predict.Predictor) {
	j, want := job(3), job(3)
	p.Predict(j)
	require.NoError(t, p.Observe(predict.Observation{Job: j, Runtime: 5}))
	require.Equal(t, want, j)
}

func concurrent(t *testing.T, p predict.Predictor) {
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				got := p.Predict(job(i + g))
				assert.NotNil(t, got.Dist)
				assert.NoError(t, p.Observe(predict.Observation{Job: job(i + g), Runtime: float64(1 + i)}))
			}
		})
	}
	wg.Wait()
	valid(t, p.Predict(job(1)))
}

func equal(t *testing.T, want, got predict.Prediction) {
	t.Helper()
	require.Equal(t, want.Point, got.Point)
	require.Equal(t, want.Expert, got.Expert)
	require.Equal(t, want.Samples, got.Samples)
	for i := range 21 {
		q := float64(i) / 20
		require.Equal(t, want.Dist.Quantile(q), got.Dist.Quantile(q), "quantile %v", q)
	}
}
