package slearn_test

import (
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/slearn"
)

// Two runtimes of 1 s and 2 s, as likely: E[1/T²] = 5/8. A uniform one from a to b: 1/(ab).
func TestUtilityTime(t *testing.T) {
	two, err := dist.FromSamples([]float64{1, 2})
	require.NoError(t, err)
	even, err := dist.FromKnots([]float64{4, 9}, []float64{0, 1})
	require.NoError(t, err)
	zero, err := dist.FromSamples([]float64{0})
	require.NoError(t, err)
	part, err := dist.FromKnots([]float64{0, 0.002}, []float64{0, 1}) // half of it counts as 1 ms
	require.NoError(t, err)
	normal, err := dist.NewNormal(100, 10)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		of   dist.Distribution
		want float64
	}{
		"two": {two, math.Sqrt(8.0 / 5)}, "even": {even, 6}, "zero": {zero, 1e-3},
		"part":   {part, 1 / math.Sqrt(0.5/(1e-3*2e-3)+0.5/1e-6)},
		"normal": {normal, 98.4}, // 100 (1 - 3/2 · 0.01) and smaller terms
	} {
		assert.InEpsilon(t, c.want, slearn.UtilityTime(c.of), 1e-3, name)
	}
}

// past is a history by user of jobs whose mean tasks took these seconds; user 0 has all of them.
func past(t *testing.T, seconds ...float64) slearn.Past {
	t.Helper()
	h, err := predict.NewHistory(&predict.HistoryOptions{Features: []predict.Feature{predict.Attr("user")}})
	require.NoError(t, err)
	p := slearn.Past{Of: h, Describe: func(j *agent.Job) predict.Job {
		return predict.Job{Attributes: map[string]string{"user": strconv.Itoa(int(j.ID % 10))}}
	}}
	for _, s := range seconds {
		require.NoError(t, h.Observe(predict.Observation{Job: p.Describe(&agent.Job{}), Runtime: s}))
	}
	return p
}

func TestHistoryPredictors(t *testing.T) {
	s := &slearn.Sample{Job: agent.Job{Tasks: 10}}
	sigma := &slearn.History{Past: past(t, 20, 20, 20)}
	assert.InDelta(t, 200, sigma.Estimate(s).Size, 1e-9)
	point := &slearn.History{Past: past(t, 10, 20, 90), Median: true}
	assert.InDelta(t, 200, point.Estimate(s).Size, 40, "about the median, and not the mean of 40 s")
	thin := slearn.Thin{Limit: 11, Of: sigma}
	assert.Equal(t, slearn.Answer{}, thin.Estimate(s))
	o := &slearn.Outcome{Sample: slearn.Sample{Job: s.Job, Ended: slearn.Times{Count: 10, Sum: 4000}}}
	for range 60 {
		thin.Learn(o)
	}
	assert.Greater(t, sigma.Estimate(s).Size, 800.0, "it goes on learning, and keeps the short times in mind")
}

func TestSchemesNeedTheirKnowledge(t *testing.T) {
	for scheme := slearn.SLearn; scheme <= slearn.Oracle; scheme++ {
		var c slearn.Config
		switch err := scheme.Configure(&c, &slearn.Knowledge{}); scheme {
		case slearn.SLearn, slearn.LAS, slearn.FIFO:
			assert.NoError(t, err)
		default:
			assert.ErrorIs(t, err, slearn.ErrConfig)
		}
	}
	assert.ErrorIs(t, (slearn.Oracle+1).Configure(&slearn.Config{}, knowledge()), slearn.ErrConfig)
}

// trial has a joint predictor see jobs of 20 tasks, one after the other, and tells how many of them were sampled. The
// tasks of a job all take its mean, which is what draw says, but pilots take more and less in turns, by that share.
func trial(j *slearn.Joint, jobs int, off float64, draw func(i int) float64) (sampled int) {
	for i := range jobs {
		mean := draw(i)
		s := slearn.Sample{Job: agent.Job{ID: int32(10 * i), Tasks: 20}}
		a := j.Estimate(&s)
		s.Note, s.Size = a.Note, a.Size
		if a.Pilots > 0 {
			sampled++
			n, took := float64(a.Pilots), mean*(1+off)
			off = -off
			s.Pilots = slearn.Times{Count: a.Pilots, Sum: n * took, Squares: n * took * took}
		}
		s.Ended = slearn.Times{Count: 20, Sum: 20 * mean, Squares: 20 * mean * mean}
		j.Learn(&slearn.Outcome{Sample: s, Completion: time.Duration(20 * mean * 1e9)})
	}
	return sampled
}

// joint has a history by user of these seconds, and queues that part at 1000 s, which 50 s a task are.
func joint(t *testing.T, seconds ...float64) *slearn.Joint {
	t.Helper()
	j, err := slearn.NewJoint(past(t, seconds...), 3, &slearn.Ratio{Fixed: 10}, slearn.Queues{})
	require.NoError(t, err)
	return j
}

// History that proves better than pilots is trusted after a while. If pilots are better, or if it is sure and wrong or
// not sure, it never is.
func TestJointTrustsWhatProvesRight(t *testing.T) {
	random := agent.NewRandom(1, 2)
	around := func(mean float64) func(int) float64 {
		return func(int) float64 { return mean * (0.9 + 0.2*random.Unit()) }
	}
	right := joint(t, 19, 20, 21, 20)
	first := trial(right, 200, 0.2, around(20))
	assert.Less(t, first, 180)
	assert.Greater(t, first, 20)
	assert.Zero(t, trial(right, 100, 0.2, around(20)))
	assert.Equal(t, 200, trial(joint(t, 19, 20, 21, 20), 200, 0, around(20)), "pilots are never wrong")

	none := joint(t)
	assert.Equal(t, 1, trial(none, 1, 0, around(20)))
	apart := joint(t, 5, 10, 20, 40, 80, 160, 320)
	assert.Greater(t, trial(apart, 100, 0, func(int) float64 { return 50 * math.Exp2(6*random.Unit()-3) }), 80)
}

// As long as pilots prove better, a job goes by its pilots. Once they prove worse than the posterior, that stands
// between history and pilots, and goes with the pilots where they contradict.
func TestJointJoins(t *testing.T) {
	for _, c := range []struct{ pilots, from, to float64 }{
		{21, 20, 20.99}, {25, 20.5, 24.99}, {200, 195, 199.999}, {2, 2.00001, 3},
	} {
		for _, off := range []float64{0, 0.3} {
			j := joint(t, 10, 14, 18, 20, 22, 26, 30)
			random := agent.NewRandom(5, 6)
			require.Equal(t, 100, trial(j, 100, off, func(int) float64 { return 20 * (0.95 + 0.1*random.Unit()) }))
			s := slearn.Sample{Job: agent.Job{Tasks: 100}}
			a := j.Estimate(&s)
			require.Equal(t, 10, a.Pilots)
			s.Note, s.Pilots = a.Note, slearn.Times{Count: 10, Sum: 10 * c.pilots, Squares: 10 * c.pilots * c.pilots}
			mean := j.Estimate(&s).Size / 100
			if off == 0 {
				assert.InDelta(t, c.pilots, mean, 1e-9)
				continue
			}
			assert.True(t, mean >= c.from && mean <= c.to, "pilots of %g s: %g s", c.pilots, mean)
		}
	}
}

// Pilots are urgent where history expects a small job.
func TestJointHurriesSmallJobs(t *testing.T) {
	for tasks, want := range map[int32]bool{10: true, 49: true, 60: false} {
		s := slearn.Sample{Job: agent.Job{Tasks: tasks}}
		j := joint(t, 19, 20, 21, 20)
		assert.Equal(t, want, j.Estimate(&s).First, "%d tasks of 20 s", tasks)
		assert.False(t, joint(t).Estimate(&s).First, "nothing is known")
	}
}

// Two pilots are the fewest, of a job that has as many tasks.
func TestJointRunsTwoPilots(t *testing.T) {
	for tasks, want := range map[int32]int{1: 1, 2: 2, 3: 2, 66: 2, 67: 3, 1000: 30} {
		j, err := slearn.NewJoint(past(t), 0, &slearn.Ratio{Fixed: 3}, slearn.Queues{})
		require.NoError(t, err)
		s := slearn.Sample{Job: agent.Job{Tasks: tasks}}
		a := j.Estimate(&s)
		assert.Equal(t, want, a.Pilots, "%d tasks", tasks)
		s.Note, s.Out, s.Pilots = a.Note, 1, slearn.Times{Count: 1, Sum: 5, Squares: 25}
		assert.Equal(t, want, j.Estimate(&s).Pilots, "%d tasks, one has ended", tasks)
	}
}

// A job in a queue changes it when its tasks leave no doubt, once as many have ended as run.
func TestJointWatchesJobsInQueues(t *testing.T) {
	j := joint(t, 20, 21, 19, 20)
	s := slearn.Sample{Job: agent.Job{Tasks: 100}}
	s.Note = j.Estimate(&s).Note
	s.Placed, s.Size, s.Running = true, 2000, 8
	s.Ended = slearn.Times{Count: 7, Sum: 7 * 500, Squares: 7 * 500 * 500}
	assert.InDelta(t, 2000, j.Estimate(&s).Size, 0)
	s.Ended = slearn.Times{Count: 8, Sum: 8 * 500, Squares: 8 * 500 * 500}
	assert.InDelta(t, 50_000, j.Estimate(&s).Size, 1500)
}

// A thin job goes to the front, unless history is sure that it is large.
func TestJointOfThinJobs(t *testing.T) {
	s := slearn.Sample{Job: agent.Job{Tasks: 2}}
	assert.Zero(t, joint(t, 100, 110, 105, 100).Estimate(&s).Size)
	assert.Zero(t, joint(t, 100, 110, 5000, 6000).Estimate(&s).Size)
	assert.InDelta(t, 2*5500, joint(t, 5000, 5500, 6000, 5500).Estimate(&s).Size, 500)
}

// From the middle on tasks take twice as long as before: the alarm comes within some jobs, and it ends when history has
// learnt.
func TestJointRaisesAnAlarm(t *testing.T) {
	random := agent.NewRandom(3, 4)
	j := joint(t, 19, 20, 21, 20)
	trial(j, 300, 0, func(int) float64 { return 20 * (0.9 + 0.2*random.Unit()) })
	assert.LessOrEqual(t, j.Alarms().Raised, 1)
	before := j.Alarms().During
	longer := func(int) float64 { return 40 * (0.9 + 0.2*random.Unit()) }
	trial(j, 15, 0, longer)
	assert.Positive(t, j.Alarms().During-before)
	trial(j, 300, 0, longer)
	during := j.Alarms().During
	assert.Less(t, during-before, 250, "history keeps the old times in mind for long")
	trial(j, 100, 0, longer)
	assert.Equal(t, during, j.Alarms().During)
}

// A window forgets what was submitted longer ago, an eighth late at most.
func TestWindowForgets(t *testing.T) {
	w, err := slearn.NewWindow(8*time.Hour, func() (predict.Predictor, error) { return predict.NewHistory(nil) })
	require.NoError(t, err)
	at := func(hour float64) predict.Job {
		return predict.Job{Submitted: time.Unix(0, 0).Add(time.Duration(hour * float64(time.Hour)))}
	}
	for hour, seconds := range []float64{10, 10, 10, 10, 70, 70, 70, 70} {
		require.NoError(t, w.Observe(predict.Observation{Job: at(float64(hour)), Runtime: seconds}))
	}
	assert.Equal(t, 8, w.Predict(at(8)).Samples)
	p := w.Predict(at(12)) // from hour 4 on
	assert.Equal(t, 4, p.Samples)
	assert.InDelta(t, 70, p.Point, 1e-9)
	assert.Zero(t, w.Predict(at(100)).Samples)
	assert.ErrorIs(t, w.Observe(predict.Observation{Job: at(101), Runtime: -1}), predict.ErrRuntime)
}
