package profile

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/predict"
)

// uniform is U(lo, hi).
type uniform struct{ lo, hi float64 }

func (u uniform) CDF(x float64) float64      { return min(1, max(0, (x-u.lo)/(u.hi-u.lo))) }
func (u uniform) Quantile(p float64) float64 { return u.lo + p*(u.hi-u.lo) }
func (u uniform) Mean() float64              { return (u.lo + u.hi) / 2 }
func (u uniform) Bounds() (lo, hi float64)   { return u.lo, u.hi }

// script answers always the same and writes down what it is asked and told.
type script struct {
	answer predict.Prediction
	calls  []string
}

func (s *script) Predict(j predict.Job) predict.Prediction {
	s.calls = append(s.calls, "predict "+j.ID)
	return s.answer
}

func (s *script) Observe(o predict.Observation) error {
	s.calls = append(s.calls, fmt.Sprintf("observe %s %g", o.Job.ID, o.Runtime))
	return nil
}

func job(id string, submit, wait, runtime int, outcome trace.Outcome) trace.Job {
	s := func(n int) time.Duration { return time.Duration(n) * time.Second }
	return trace.Job{ID: id, Submit: s(submit), Wait: s(wait), Runtime: s(runtime), Tasks: 1, Outcome: outcome}
}

func TestWalkShowsCompletionsInOrderOfTime(t *testing.T) {
	p := &script{answer: predict.Prediction{Dist: uniform{0, 10}, Point: 5, Samples: 1}}
	jobs := []trace.Job{
		job("a", 0, 10, 5, trace.Finished), // ends 15
		job("b", 1, -1, 2, trace.Finished), // ends 3, wait unknown
		job("c", 2, 0, 1, trace.Killed),    // not a runtime
		job("d", 3, 0, 1, trace.Unknown),   // b is not seen yet: it ends as d arrives; ends 4
		job("e", 20, 0, 1, trace.Finished),
	}
	_, counts, err := Walk("x", p, jobs, Options{})
	require.NoError(t, err)
	assert.Equal(t, []string{"predict a", "predict b", "predict d", "observe b 2", "observe d 1", "observe a 5",
		"predict e"}, p.calls)
	assert.Equal(t, Counts{Jobs: 5, Tested: 4}, counts)
}

func TestWalkTrainingShareIsNotScored(t *testing.T) {
	p := &script{answer: predict.Prediction{Dist: uniform{0, 10}, Point: 5}}
	jobs := []trace.Job{job("a", 0, 0, 5, ""), job("b", 9, 0, 5, ""), job("c", 19, 0, 5, ""), job("d", 29, 0, 5, "")}
	r, counts, err := Walk("x", p, jobs, Options{Train: .5})
	require.NoError(t, err)
	assert.Equal(t, Counts{Jobs: 4, Tested: 2, NoHistory: 2}, counts)
	assert.Equal(t, 1.0, r.Within2x)
}

func TestScoreAgainstClosedForms(t *testing.T) {
	s := newScore()
	// U(0,10) against a grid of actuals spread like U(0,10): calibrated.
	const n = 2000
	for i := range n {
		s.add(predict.Prediction{Dist: uniform{0, 10}, Point: 5, Samples: 3, Expert: predict.Expert{Feature: "user"}},
			(float64(i)+.5)/n*10, float64(i))
	}
	r := s.result("u")
	assert.InDelta(t, .5, r.Coverage["50"], 2e-3)
	assert.InDelta(t, .8, r.Coverage["80"], 2e-3)
	assert.InDelta(t, .95, r.Coverage["95"], 2e-3)
	// Pinball loss of the true p-quantile of U(0,1) is p(1-p)/2, its mean over deciles 11/120, and
	// the CRPS of U(0,1) against itself 1/6; the mean runtime is half the range.
	assert.InDelta(t, 11.0/120*2, r.Pinball.MeanOverDeciles, 1e-3)
	assert.InDelta(t, .25, r.Pinball.P50, 1e-3)
	assert.InDelta(t, 1.0/3, r.CRPS, 2e-3)
	assert.InDelta(t, .5, r.NMAE, 1e-3)
	// Within 2x of 5 are the actuals from 2.5 to 10.
	assert.InDelta(t, .75, r.Within2x, 1e-3)
	assert.Equal(t, map[string]float64{"user": 1}, r.Chosen)
}

func TestErrorHistogram(t *testing.T) {
	for percent, want := range map[float64]int{-100: 0, -95.1: 0, -95: 1, -5.1: 9, 0: 10, 4.9: 10, 5: 11, 94.9: 19, 95: 20,
		1e9: 20} {
		assert.Equal(t, want, bucketOf(percent), "%v %%", percent)
	}
	rows := newScore().buckets(1)
	assert.Equal(t, -100.0, rows[0].From)
	assert.Equal(t, -95.0, *rows[0].To)
	assert.Equal(t, -95.0, rows[1].From)
	assert.Equal(t, 95.0, rows[20].From)
	assert.Nil(t, rows[20].To)
}

func TestNothingTestedGivesZeros(t *testing.T) {
	r, counts, err := Walk("x", &script{}, nil, Options{Train: .5})
	require.NoError(t, err)
	assert.Zero(t, counts)
	assert.False(t, math.IsNaN(r.CRPS+r.NMAE+r.Pinball.P10+r.MedianAPE))
}
