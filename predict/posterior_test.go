package predict_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/predict/predicttest"
)

func TestPosteriorConforms(t *testing.T) {
	predicttest.Run(t, func() predict.Predictor { return posterior(t) })
}

func posterior(t testing.TB) *predict.Posterior {
	t.Helper()
	h, err := predict.NewHistory(nil)
	require.NoError(t, err)
	p, err := predict.NewPosterior(h)
	require.NoError(t, err)
	return p
}

func TestPosteriorNeedsAPredictor(t *testing.T) {
	_, err := predict.NewPosterior(nil)
	require.ErrorIs(t, err, predict.ErrOptions)
}

// runStages runs jobs of three stages whose times are 100 s plus what all stages of the job share, of standard
// deviation 20 s times the root of the share, plus what each has of its own.
func runStages(t testing.TB, p predict.Predictor, share float64, jobs int) (errors, without float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 8))
	plain, err := predict.NewHistory(nil)
	require.NoError(t, err)
	n := 0.0
	for i := range jobs {
		common := rng.NormFloat64() * math.Sqrt(share)
		for k := range 3 {
			j := stageOf(i, k)
			took := max(1, 100+20*(common+rng.NormFloat64()*math.Sqrt(1-share)))
			if k > 0 && i > jobs/2 {
				errors += math.Abs(p.Predict(j).Dist.Quantile(0.5) - took)
				without += math.Abs(plain.Predict(j).Dist.Quantile(0.5) - took)
				n++
			}
			o := predict.Observation{Job: j, Runtime: took}
			require.NoError(t, p.Observe(o))
			require.NoError(t, plain.Observe(o))
		}
	}
	return errors / n, without / n
}

func stageOf(job, stage int) predict.Job {
	return predict.Job{ID: fmt.Sprint(job, "-", stage), Of: strconv.Itoa(job), Attributes: map[string]string{"user": "u"},
		Submitted: time.Date(2026, 1, 1, 0, 0, job, 0, time.UTC)}
}

// With 0.8 of the variance shared, the second and the third stage can be forecast with standard deviations of 12 and
// 10.3 s instead of 20 s, so with mean errors of some 9 s instead of 16 s.
func TestPosteriorLearnsFromEarlierStages(t *testing.T) {
	p := posterior(t)
	with, without := runStages(t, p, 0.8, 1000)
	assert.InDelta(t, 0.8, p.Shared(), 0.15)
	assert.InDelta(t, 16, without, 1.5)
	assert.Less(t, with, 11.0)

	first := p.Predict(stageOf(5000, 0)).Dist
	require.NoError(t, p.Observe(predict.Observation{Job: stageOf(5000, 0), Runtime: 130}))
	next := p.Predict(stageOf(5000, 1))
	assert.Greater(t, next.Dist.Quantile(0.5), first.Quantile(0.5)+10, "the first stage took long")
	assert.Less(t, next.Dist.Quantile(0.84)-next.Dist.Quantile(0.16), first.Quantile(0.84)-first.Quantile(0.16))
	assert.Greater(t, next.Point, 110.0)
}

func TestPosteriorLeavesUnrelatedStagesAlone(t *testing.T) {
	p := posterior(t)
	with, without := runStages(t, p, 0, 1000)
	assert.Less(t, p.Shared(), 0.1)
	assert.InEpsilon(t, without, with, 0.03)
}

func TestPosteriorForgetsOldJobs(t *testing.T) {
	p := posterior(t)
	runStages(t, p, 0.8, 200)
	require.NoError(t, p.Observe(predict.Observation{Job: stageOf(1000, 0), Runtime: 150}))
	long := p.Predict(stageOf(1000, 1)).Point
	for i := range 1 << 14 {
		j := stageOf(2000+i, 0)
		j.Attributes = map[string]string{"user": "other"}
		require.NoError(t, p.Observe(predict.Observation{Job: j, Runtime: float64(100 + i%40)}))
	}
	assert.Less(t, p.Predict(stageOf(1000, 1)).Point, long-10)
}

// The first stage takes much longer than usual, so the second is expected to, too.
func ExamplePosterior() {
	history, err := predict.NewHistory(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := predict.NewPosterior(history)
	if err != nil {
		fmt.Println(err)
		return
	}
	observe := func(job, stage int, seconds float64) {
		if err := p.Observe(predict.Observation{Job: stageOf(job, stage), Runtime: seconds}); err != nil {
			fmt.Println(err)
		}
	}
	for i := range 200 { // both stages of a job take about as long
		observe(i, 0, float64(90+i%21))
		observe(i, 1, float64(90+i%21))
	}
	fmt.Printf("before: %.0f s\n", p.Predict(stageOf(200, 1)).Dist.Quantile(0.5))
	observe(200, 0, 110)
	fmt.Printf("after:  %.0f s\n", p.Predict(stageOf(200, 1)).Dist.Quantile(0.5))
	// Output:
	// before: 97 s
	// after:  109 s
}
