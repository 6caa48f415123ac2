package slearn_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/slearn"
)

// recalled forecasts a point for each job by its ID, and nothing for others.
type recalled struct {
	seconds map[string]float64
	seen    []predict.Observation
}

func (r *recalled) Predict(j predict.Job) predict.Prediction {
	v, known := r.seconds[j.ID]
	d, _ := dist.NewPoint(max(v, 0.5))
	if !known {
		return predict.Prediction{Dist: d, Point: 0.5}
	}
	return predict.Prediction{Dist: d, Point: v, Samples: 3}
}

func (r *recalled) Observe(o predict.Observation) error {
	r.seen = append(r.seen, o)
	return nil
}

var stageNames = []string{"thin", "first", "later", "last"}

// chain is a job of two roots, of 1 and 10 tasks, and two later stages of 10 and 4.
func chain(*agent.Job) slearn.Stages {
	s := slearn.Stages{Roots: 2}
	for i, tasks := range []int32{1, 10, 10, 4} {
		s.All = append(s.All, agent.Job{ID: int32(i), Of: 0, Tasks: tasks})
	}
	return s
}

// predictor is what a scheme makes; history says 5 s, 20 s and 1 s of the tasks of the stages but the first.
func predictor(t *testing.T, scheme slearn.Scheme, seconds map[string]float64) slearn.Predictor {
	t.Helper()
	var c slearn.Config
	require.NoError(t, slearn.Staged{Scheme: scheme}.Configure(&c, &slearn.Knowledge{ThinLimit: 3,
		Ratio:    &slearn.Ratio{Fixed: 10},
		History:  func() (predict.Predictor, error) { return &recalled{seconds: seconds}, nil },
		Describe: func(j *agent.Job) predict.Job { return predict.Job{ID: stageNames[j.ID]} },
		Truth:    func(j *agent.Job) float64 { return float64(j.ID+1) * 100 },
	}, chain))
	return c.Predictor
}

func sample(id, tasks int32) *slearn.Sample {
	return &slearn.Sample{Job: agent.Job{ID: id, Of: 0, Tasks: tasks}}
}

func done(p slearn.Predictor, id, tasks int32, seconds float64) {
	o := &slearn.Outcome{Sample: *sample(id, tasks)}
	o.Ended = slearn.Times{Count: int(tasks), Sum: seconds}
	p.(slearn.Learner).Learn(o)
}

// The first stage is the root with most work. Its pilot took twice what history says, so all is taken twice.
func TestSLearnScalesHistoryByTheFirstStage(t *testing.T) {
	p := predictor(t, slearn.SLearn, map[string]float64{"thin": 1, "first": 5, "later": 20, "last": 1})
	assert.InDelta(t, 1+10*5+10*20+4.0, p.Estimate(sample(0, 1)).Size, 1e-9, "the other root, by history")
	first := sample(1, 10)
	a := p.Estimate(first)
	require.Equal(t, 1, a.Pilots)
	first.Note, first.Pilots, first.Ended = a.Note, slearn.Times{Count: 1, Sum: 10}, slearn.Times{Count: 1, Sum: 10}
	a = p.Estimate(first)
	assert.Equal(t, 1, a.Pilots)
	assert.InDelta(t, 2*1+10*10+2*10*20+2*4.0, a.Size, 1e-9)
	done(p, 1, 10, 90) // 9 s on average
	done(p, 0, 1, 3)
	assert.InDelta(t, 3+90+2*10*20+2*4.0, p.Estimate(sample(2, 10)).Size, 1e-9, "what is done counts as it was")
	done(p, 2, 10, 500)
	done(p, 3, 4, 1)
	assert.InDelta(t, 1+10*5+10*20+4.0, p.Estimate(sample(0, 1)).Size, 1e-9, "it is forgotten when it is done")
}

// Without history of the first stage nothing is scaled.
func TestSLearnWithoutHistoryKeepsTheRest(t *testing.T) {
	p := predictor(t, slearn.SLearn, map[string]float64{"later": 20})
	first := sample(1, 10)
	p.Estimate(first)
	first.Pilots, first.Ended = slearn.Times{Count: 1, Sum: 10}, slearn.Times{Count: 1, Sum: 10}
	assert.InDelta(t, 0.5+10*10+10*20+4*0.5, p.Estimate(first).Size, 1e-9)
}

func TestTheOtherSchemesOfStages(t *testing.T) {
	seconds := map[string]float64{"thin": 1, "first": 5, "later": 20, "last": 1}
	for scheme, want := range map[slearn.Scheme]float64{
		slearn.ThreeSigma: 255, slearn.PointEst: 255, slearn.Oracle: 1000,
	} {
		p := predictor(t, scheme, seconds)
		a := p.Estimate(sample(1, 10))
		assert.InDelta(t, want, a.Size, 1e-9)
		assert.Zero(t, a.Pilots)
	}
	las := predictor(t, slearn.LAS, nil)
	s := sample(1, 10)
	assert.Zero(t, las.Estimate(s).Size)
	s.Ended = slearn.Times{Count: 2, Sum: 30}
	a := las.Estimate(s)
	assert.InDelta(t, 30.0, a.Size, 1e-9)
	assert.True(t, a.Watch)
	done(las, 1, 10, 100)
	assert.Equal(t, 100.0, las.Estimate(sample(2, 10)).Size)

	var c slearn.Config
	require.ErrorIs(t, slearn.Staged{Scheme: slearn.FIFO}.Configure(&c, &slearn.Knowledge{}, chain), slearn.ErrConfig)
	require.ErrorIs(t, slearn.Staged{Scheme: slearn.Oracle}.Configure(&c, &slearn.Knowledge{}, chain), slearn.ErrConfig)
	require.ErrorIs(t, slearn.Staged{Scheme: slearn.SLearn}.Configure(&c, &slearn.Knowledge{}, chain), slearn.ErrConfig)
}
