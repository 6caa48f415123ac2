package predict_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/predict/predicttest"
)

func known(j predict.Job) (float64, bool) {
	n, err := strconv.Atoi(j.ID)
	return float64(100 * n), err == nil
}

func TestOraclesConform(t *testing.T) {
	for name, make := range map[string]func() (predict.Predictor, error){
		"perfect": func() (predict.Predictor, error) { return predict.NewPerfect(known) },
		"fixed": func() (predict.Predictor, error) {
			d, err := dist.NewUniform(10, 20)
			require.NoError(t, err)
			return predict.NewFixed(d)
		},
		"perturbed": func() (predict.Predictor, error) {
			return predict.NewPerturbed(known, predict.Perturbation{Shift: -0.5, ShiftDeviation: 0.1, CoV: 0.5, Seed: 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			predicttest.Run(t, func() predict.Predictor {
				p, err := make()
				require.NoError(t, err)
				return p
			})
		})
	}
}

func TestPerfect(t *testing.T) {
	p, err := predict.NewPerfect(known)
	require.NoError(t, err)
	got := p.Predict(predict.Job{ID: "7"})
	require.Equal(t, 700.0, got.Point)
	require.Equal(t, 700.0, got.Dist.Quantile(0.01))
	require.Equal(t, "perfect", got.Expert.Estimator)
	require.Equal(t, "prior", p.Predict(predict.Job{ID: "?"}).Expert.Estimator)
	require.Equal(t, "prior", p.Predict(predict.Job{ID: "-1"}).Expert.Estimator, "no runtime")
	_, err = predict.NewPerfect(nil)
	require.ErrorIs(t, err, predict.ErrOptions)
}

func TestFixedRefuses(t *testing.T) {
	_, err := predict.NewFixed(nil)
	require.ErrorIs(t, err, predict.ErrOptions)
}

func TestPerturbed(t *testing.T) {
	p, err := predict.NewPerturbed(known, predict.Perturbation{Shift: 0.2, CoV: 0.1})
	require.NoError(t, err)
	got := p.Predict(predict.Job{ID: "10"})
	require.InDelta(t, 1200, got.Point, 1e-9)
	require.InDelta(t, 1200, got.Dist.Mean(), 1e-6)
	require.InDelta(t, 1200+1.2815515655*100, got.Dist.Quantile(0.9), 1e-3, "sigma is 10 % of the actual runtime")

	p, err = predict.NewPerturbed(known, predict.Perturbation{Shift: 0.2})
	require.NoError(t, err)
	require.InDelta(t, 1200, p.Predict(predict.Job{ID: "10"}).Dist.Quantile(0.9), 1e-9)

	for _, bad := range []predict.Perturbation{{CoV: -1}, {Shift: math.NaN()}, {ShiftDeviation: math.Inf(1)},
		{ShiftDeviation: -1}, {CoV: 1e300}, {Shift: -1e7}} {
		_, err := predict.NewPerturbed(known, bad)
		require.ErrorIs(t, err, predict.ErrOptions)
	}
}

// The longest runtime and the largest perturbation still make a distribution.
func TestPerturbedIsNeverAPointUnasked(t *testing.T) {
	for _, runtime := range []float64{1e-200, 1, predict.MaxRuntime} {
		for _, shift := range []float64{-1e6, -1, 0, 1e6} {
			p, err := predict.NewPerturbed(func(predict.Job) (float64, bool) { return runtime, true },
				predict.Perturbation{Shift: shift, ShiftDeviation: 1e6, CoV: 1e6})
			require.NoError(t, err)
			got := p.Predict(predict.Job{ID: "j"})
			require.IsType(t, dist.Normal{}, got.Dist)
			require.False(t, math.IsInf(got.Point, 0))
		}
	}
}

// A job's shift depends on the seed and its id, and is N(Shift, ShiftDeviation) over jobs.
func TestPerturbedShifts(t *testing.T) {
	predictor := func(seed uint64) predict.Predictor {
		p, err := predict.NewPerturbed(known, predict.Perturbation{Shift: 0.5, ShiftDeviation: 0.1, CoV: 0.2, Seed: seed})
		require.NoError(t, err)
		return p
	}
	a, b, c := predictor(1), predictor(1), predictor(2)
	var sum, squares float64
	differ := 0
	const n = 4000
	for i := 1; i <= n; i++ {
		j := predict.Job{ID: strconv.Itoa(i)}
		x := a.Predict(j).Point
		require.Equal(t, x, b.Predict(j).Point)
		if x != c.Predict(j).Point {
			differ++
		}
		s := x/float64(100*i) - 1
		sum += s
		squares += s * s
	}
	mean := sum / n
	require.InDelta(t, 0.5, mean, 0.01)
	require.InDelta(t, 0.1, math.Sqrt(squares/n-mean*mean), 0.01)
	require.Equal(t, n, differ)
}

// What JVuPredict is: the point and the expert of the distribution's prediction, without the distribution.
func TestPointResults(t *testing.T) {
	h, jvu := taught(t, nil), taught(t, &predict.HistoryOptions{Result: predict.ResultPoint})
	for _, user := range []string{"u1", "u3", "nobody"} {
		want, got := h.Predict(userJob(user)), jvu.Predict(userJob(user))
		require.Equal(t, want.Point, got.Point)
		require.Equal(t, want.Expert, got.Expert)
		require.Equal(t, want.Samples, got.Samples)
		lo, hi := got.Dist.Bounds()
		require.Equal(t, []float64{want.Point, want.Point}, []float64{lo, hi})
	}
}
