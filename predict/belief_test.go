package predict_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
)

// The closed form against drawing means from the prior and weighing each by how likely it makes the tasks that were
// seen.
func TestBeliefAgainstMonteCarlo(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		prior    predict.Belief
		variance float64
		tasks    []float64
	}{
		{predict.Belief{Mean: 100, Variance: 400}, 900, []float64{130}},
		{predict.Belief{Mean: 100, Variance: 400}, 900, []float64{90, 80, 120, 70}},
		{predict.Belief{Mean: 10, Variance: 9}, 1, []float64{12, 13}},
		{predict.Belief{Mean: 10, Variance: 1}, 100, []float64{2, 5, 4}},
	} {
		sum := 0.0
		for _, y := range c.tasks {
			sum += y
		}
		got := c.prior.After(len(c.tasks), sum, c.variance)
		var weights, first, second float64
		for range 400_000 {
			x := c.prior.Mean + math.Sqrt(c.prior.Variance)*random.NormFloat64()
			off := 0.0
			for _, y := range c.tasks {
				off += (y - x) * (y - x)
			}
			w := math.Exp(-off / (2 * c.variance))
			weights += w
			first += w * x
			second += w * x * x
		}
		mean := first / weights
		assert.InDelta(t, mean, got.Mean, 0.02*math.Sqrt(got.Variance)+1e-3*got.Mean)
		assert.InEpsilon(t, second/weights-mean*mean, got.Variance, 0.03)
	}
}

// It does not matter in what order tasks are told, nor whether at once.
func TestBeliefIsTheSameInParts(t *testing.T) {
	b := predict.Belief{Mean: 50, Variance: 100}
	whole := b.After(3, 120, 64)
	parts := b.After(1, 30, 64).After(2, 90, 64)
	assert.InDelta(t, whole.Mean, parts.Mean, 1e-12)
	assert.InDelta(t, whole.Variance, parts.Variance, 1e-12)
	assert.Equal(t, b, b.After(0, 0, 64))
}

func TestBeliefAtItsLimits(t *testing.T) {
	for name, c := range map[string]struct{ got, want predict.Belief }{
		"nothing known":  {predict.Unknown().After(4, 40, 8), predict.Belief{Mean: 10, Variance: 2}},
		"alike tasks":    {predict.Belief{Mean: 5, Variance: 1}.After(2, 8, 0), predict.Belief{Mean: 4}},
		"certain before": {predict.Belief{Mean: 5}.After(2, 8, 3), predict.Belief{Mean: 5}},
		"no doubt":       {predict.Belief{Mean: 5, Variance: 2}.Doubted(2, 10, 3), predict.Belief{Mean: 5, Variance: 2}},
		"nothing seen":   {predict.Belief{Mean: 5, Variance: 2}.Doubted(0, 0, 3), predict.Belief{Mean: 5, Variance: 2}},
		// The mean of 15 is 10 off; of that square, 3/2 are the tasks' own.
		"doubt": {predict.Belief{Mean: 5, Variance: 2}.Doubted(2, 30, 3), predict.Belief{Mean: 5, Variance: 98.5}},
	} {
		assert.Equal(t, c.want, c.got, name)
	}
	assert.True(t, predict.Belief{Mean: 5, Variance: 1}.Within(3, 8, 2))
	assert.False(t, predict.Belief{Mean: 5, Variance: 1}.Within(3, 7, 2), "the end is not within")
	assert.False(t, predict.Unknown().Within(0, math.MaxFloat64, 1))
}

func TestBeliefOfANormalForecastIsThat(t *testing.T) {
	d, err := dist.NewNormal(100, 10)
	require.NoError(t, err)
	b := predict.BeliefOf(d)
	assert.InDelta(t, 100, b.Mean, 1e-6)
	assert.InDelta(t, 100, b.Variance, 1e-3)
}

func TestBeliefAsAForecast(t *testing.T) {
	b := predict.Belief{Mean: 100, Variance: 100}
	d, err := b.Forecast()
	require.NoError(t, err)
	assert.InDelta(t, 100, d.Mean(), 1e-6)
	assert.InDelta(t, 110, d.Quantile(0.8413447460685429), 1e-6)
	d, err = predict.Belief{Mean: 7}.Forecast()
	require.NoError(t, err)
	assert.InDelta(t, 7, d.Quantile(0.1), 0)
	for _, bad := range []predict.Belief{predict.Unknown(), {Mean: -1}, {Mean: 1, Variance: math.NaN()}} {
		_, err = bad.Forecast()
		assert.ErrorIs(t, err, dist.ErrInvalid)
	}
}

// Even places raise no alarm in ten thousand jobs; places at one end do in nine, and forecasts that are a deviation too
// short in some tens. The alarm ends when places are even again.
func TestDrift(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var d predict.Drift
	for range 10_000 {
		d.Observe(random.Float64())
		require.False(t, d.Alarm())
	}
	for _, end := range []float64{0, 1} {
		d = predict.Drift{}
		n := 0
		for ; !d.Alarm(); n++ {
			d.Observe(end)
		}
		assert.Equal(t, 9, n)
	}
	n := 0
	for ; d.Alarm(); n++ {
		d.Observe(random.Float64())
	}
	assert.Less(t, n, 40)
	for n = 0; !d.Alarm(); n++ {
		d.Observe(0.5 * math.Erfc(-(random.NormFloat64()+1)/math.Sqrt2))
	}
	assert.Less(t, n, 80)
}

// History says 100 s, give or take 20 s; two tasks of the job took 130 and 150 s, and tasks of a job differ by 20 s.
func ExampleBelief() {
	b := predict.Belief{Mean: 100, Variance: 400}
	b = b.After(2, 280, 400)
	fmt.Printf("%.0f s, give or take %.1f s\n", b.Mean, math.Sqrt(b.Variance))
	// Output: 127 s, give or take 11.5 s
}
