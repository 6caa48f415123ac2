package workload_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/adapters/sim/workload"
	"github.com/hedgesched/hedge/sched"
)

// synthetic is a log of n jobs of 40 users, each with a few recurring names whose
// runtimes are lognormal around a name's own median, about one a minute.
func synthetic(n int, seed uint64) []trace.Job {
	rng := rand.New(rand.NewPCG(seed, 7))
	jobs := make([]trace.Job, n)
	var at float64
	for i := range jobs {
		at += rng.ExpFloat64() * 60
		user, name := rng.IntN(40), rng.IntN(5)
		median := 30 * math.Exp(float64((user*7+name*13)%40)/8)
		jobs[i] = trace.Job{
			ID: fmt.Sprint("j", i), Line: i + 1,
			Submit:     time.Duration(at * float64(time.Second)),
			Wait:       -1,
			Runtime:    time.Duration(median * math.Exp(0.3*rng.NormFloat64()) * float64(time.Second)),
			Tasks:      1 + (user*3+name*5)%24,
			Attributes: map[string]string{"user": fmt.Sprint("u", user), "name": fmt.Sprint("n", name)},
			Outcome:    trace.Finished,
		}
	}
	return jobs
}

func spec() workload.Spec {
	s := workload.Default()
	s.Nodes, s.Racks, s.Hours = 64, 8, 5
	return s
}

func TestBuildMeetsLoad(t *testing.T) {
	log := synthetic(8000, 1)
	for _, kind := range []workload.Kind{workload.Window, workload.E2E} {
		for _, load := range []float64{0.5, 1, 1.4} {
			s := spec()
			s.Kind, s.Load = kind, load
			w, err := workload.Build(log, s)
			require.NoError(t, err)
			require.InEpsilon(t, load, w.Load, 0.01, "%s %g", kind, load)
			var work float64
			for i, j := range w.Jobs {
				work += float64(j.Tasks) * j.Work.Runtime().Hours()
				require.GreaterOrEqual(t, j.Arrive, time.Duration(0))
				require.Less(t, j.Arrive, w.Span)
				if i > 0 {
					require.LessOrEqual(t, w.Jobs[i-1].Arrive, j.Arrive)
				}
			}
			require.InEpsilon(t, work, w.MachineHours, 1e-9)
			require.InEpsilon(t, work/(64*5), w.Load, 1e-9)
		}
	}
}

func TestClassesAreHalves(t *testing.T) {
	log := synthetic(8000, 2)
	for seed := range int64(8) {
		for _, share := range []float64{0, 0.25, 0.5, 1} {
			s := spec()
			s.Seed, s.SLOShare = seed, share
			w, err := workload.Build(log, s)
			require.NoError(t, err)
			var slo, all float64
			n := 0
			for _, j := range w.Jobs {
				work := float64(j.Tasks) * j.Work.Runtime().Hours()
				all += work
				if j.Deadline > 0 {
					slo += work
					n++
				}
			}
			require.Equal(t, w.SLOJobs, n)
			require.InDelta(t, share*float64(len(w.Jobs)), n, 1)
			require.InDelta(t, share, slo/all, 0.01)
		}
	}
}

func TestDeadlinesUtilitiesPreferences(t *testing.T) {
	s := spec()
	w, err := workload.Build(synthetic(8000, 3), s)
	require.NoError(t, err)
	nodes, err := sched.NewNodeSet(sim.Nodes(64, 8, 1))
	require.NoError(t, err)
	slacks := map[int]int{}
	for _, j := range w.Jobs {
		if j.Deadline == 0 {
			require.Zero(t, j.Priority)
			require.InDelta(t, 5, j.Utility.At(0), 1e-9)
			require.Positive(t, j.Utility.At(3*w.Span.Seconds()))
			require.True(t, j.Speeds.Even())
			continue
		}
		require.Equal(t, 1, j.Priority)
		require.InDelta(t, 100, j.Utility.At(j.Deadline.Seconds()), 1e-9)
		require.Zero(t, j.Utility.At(j.Deadline.Seconds()+1))
		slacks[int(math.Round(100*(j.Deadline.Seconds()/j.Work.Runtime().Seconds()-1)))]++
		require.Equal(t, 1.5, sched.Stretch(j.Speeds.Least()))
		require.Len(t, nodes.NodesOf(j.Levels()[0].On), 48)
	}
	require.Len(t, slacks, 4)
	for _, slack := range []int{20, 40, 60, 80} {
		require.Greater(t, slacks[slack], w.SLOJobs/8, "slack %d", slack)
	}
}

func TestNothingLeaks(t *testing.T) {
	for _, kind := range []workload.Kind{workload.Window, workload.E2E} {
		s := spec()
		s.Kind = kind
		w, err := workload.Build(synthetic(8000, 4), s)
		require.NoError(t, err)
		for _, j := range w.Jobs {
			require.ElementsMatch(t, []string{"user", "name", "tasks"}, slices.Collect(maps.Keys(j.Attributes)))
		}
		require.NotEmpty(t, w.Train)
		for i, x := range w.Train {
			require.LessOrEqual(t, x.Done, time.Duration(0))
			require.False(t, x.Job.Submitted.After(sim.Epoch()))
			require.ElementsMatch(t, []string{"user", "name", "tasks"}, slices.Collect(maps.Keys(x.Job.Attributes)))
			if i > 0 {
				require.LessOrEqual(t, w.Train[i-1].Done, x.Done)
			}
		}
		known := map[string]bool{}
		for _, x := range w.Train {
			known[x.Job.ID] = true
		}
		for _, j := range w.Jobs {
			require.False(t, known[j.ID], "%s is in its own history", j.ID)
		}
	}
}

func TestSameSeedSameWorkload(t *testing.T) {
	log := synthetic(6000, 5)
	backwards := slices.Clone(log)
	slices.Reverse(backwards)
	for _, kind := range []workload.Kind{workload.Window, workload.E2E, workload.Replay} {
		s := spec()
		s.Kind, s.Load = kind, 1
		a, err := workload.Build(log, s)
		require.NoError(t, err)
		b, err := workload.Build(backwards, s)
		require.NoError(t, err)
		require.Equal(t, a, b, "%s", kind)
		s.Seed++
		c, err := workload.Build(log, s)
		require.NoError(t, err)
		if kind == workload.Replay {
			require.Equal(t, a.Jobs, c.Jobs)
		} else {
			require.NotEqual(t, a.Jobs, c.Jobs, "%s", kind)
		}
	}
}

func TestWindowKeepsTheLog(t *testing.T) {
	log := synthetic(8000, 6)
	byID := map[string]trace.Job{}
	for _, j := range log {
		byID[j.ID] = j
	}
	s := spec()
	s.StartHour, s.TasksPerNode = 60, 4
	w, err := workload.Build(log, s)
	require.NoError(t, err)
	stretch := float64(w.Span) / float64(w.TraceSpan)
	for _, j := range w.Jobs {
		from := byID[j.ID]
		require.Equal(t, from.Runtime, j.Work.Runtime())
		require.Equal(t, int(math.Ceil(float64(from.Tasks)/4)), j.Tasks)
		require.GreaterOrEqual(t, from.Submit, 60*time.Hour)
		at := (from.Submit - 60*time.Hour).Seconds() * stretch
		require.InDelta(t, at, j.Arrive.Seconds(), 0.01*w.Span.Seconds())
	}
	for _, x := range w.Train {
		from := byID[x.Job.ID]
		require.LessOrEqual(t, from.Submit+from.Runtime, 60*time.Hour)
		require.Equal(t, from.Submit+from.Runtime-60*time.Hour, x.Done)
	}
}

func TestWindowLeavesOut(t *testing.T) {
	log := synthetic(8000, 7)
	want := map[string]int{}
	for i := range log {
		switch i % 100 {
		case 0:
			log[i].Outcome = trace.Killed
		case 1:
			log[i].Outcome = trace.Failed
		case 2:
			log[i].Tasks = 65
		case 3:
			log[i].Runtime = 6 * time.Hour
		case 4:
			log[i].Runtime = 0
		case 5:
			log[i].Tasks, log[i].Runtime = 64, 4*time.Hour
		}
	}
	s := spec()
	s.Kind, s.MaxShare = workload.E2E, 0.5
	w, err := workload.Build(log, s)
	require.NoError(t, err)
	for _, why := range []string{
		workload.SkippedKilled, workload.SkippedFailed, workload.SkippedTooWide,
		workload.SkippedTooLong, workload.SkippedNoRuntime, workload.SkippedTooBig,
	} {
		want[why] = 80
	}
	delete(w.Skipped, workload.SkippedTrimmed)
	require.Equal(t, want, w.Skipped)
}

func TestReplayIsTheLog(t *testing.T) {
	log := synthetic(500, 8)
	log[3].Tasks = 1000
	log[4].Deadline = time.Hour
	log[5].Outcome = trace.Killed
	w, err := workload.Build(log, workload.Spec{Kind: workload.Replay, Nodes: 64})
	require.NoError(t, err)
	require.Equal(t, map[string]int{workload.SkippedTooWide: 1}, w.Skipped)
	require.Len(t, w.Jobs, 499)
	require.Equal(t, 1, w.SLOJobs)
	require.Empty(t, w.Train)
	at := 0
	for i, j := range log {
		if i == 3 {
			continue
		}
		got := w.Jobs[at]
		at++
		require.Equal(t, j.ID, got.ID)
		require.Equal(t, j.Submit-log[0].Submit, got.Arrive)
		require.Equal(t, j.Runtime, got.Work.Runtime())
		require.Equal(t, j.Tasks, got.Tasks)
		require.Equal(t, j.Deadline, got.Deadline)
		require.True(t, got.Speeds.Even())
	}
}

func TestReplayOfAStretch(t *testing.T) {
	log := synthetic(2000, 9)
	w, err := workload.Build(log, workload.Spec{Kind: workload.Replay, Nodes: 64, StartHour: 10, Hours: 5})
	require.NoError(t, err)
	n := 0
	for _, j := range log {
		if j.Submit >= 10*time.Hour && j.Submit < 15*time.Hour {
			n++
		}
	}
	require.Len(t, w.Jobs, n)
	require.NotEmpty(t, w.Train)
}

// Zero chooses where a window begins; negative is the log's origin, and the job submitted then belongs to it.
func TestTheOriginOfTheLog(t *testing.T) {
	log := synthetic(4000, 9)
	log[0].Submit = 0
	for _, kind := range []workload.Kind{workload.Window, workload.Replay} {
		s := spec()
		s.Kind, s.Nodes, s.StartHour = kind, 64, -1
		w, err := workload.Build(log, s)
		require.NoError(t, err)
		require.Equal(t, log[0].ID, w.Jobs[0].ID, kind)
		require.Zero(t, w.Jobs[0].Arrive)
		require.Empty(t, w.Train)
	}
}

func TestHistoryLimits(t *testing.T) {
	log := synthetic(8000, 10)
	s := spec()
	s.StartHour = 60
	all, err := workload.Build(log, s)
	require.NoError(t, err)

	s.TrainShare = 0.25
	quarter, err := workload.Build(log, s)
	require.NoError(t, err)
	require.Equal(t, all.Train[len(all.Train)-len(quarter.Train):], quarter.Train)
	require.InDelta(t, 0.25*float64(len(all.Train)), len(quarter.Train), 1)

	s.TrainShare, s.MaxTrainSamples = 0, 5
	five, err := workload.Build(log, s)
	require.NoError(t, err)
	require.Equal(t, all.Jobs, five.Jobs)
	count := map[string]int{}
	for _, x := range five.Train {
		count[x.Job.Attributes["user"]+" "+x.Job.Attributes["name"]]++
	}
	require.Len(t, count, 200)
	for key, n := range count {
		require.LessOrEqual(t, n, 5, key)
	}

	s.MaxTrainSamples, s.NoTrain = 0, true
	none, err := workload.Build(log, s)
	require.NoError(t, err)
	require.Empty(t, none.Train)
	require.Equal(t, all.Jobs, none.Jobs)

	s.NoTrain, s.Train = false, synthetic(1000, 11)
	other, err := workload.Build(log, s)
	require.NoError(t, err)
	require.Len(t, other.Train, 1000)
	require.LessOrEqual(t, other.Train[999].Done, time.Duration(0))
	require.Equal(t, all.Jobs, other.Jobs)
}

func TestFamilies(t *testing.T) {
	base := spec()
	require.Equal(t, []float64{120}, workload.Deadline(base, 20, 120)[1].Slack)
	require.Equal(t, "DEADLINE-120", workload.Deadline(base, 20, 120)[1].Name)
	require.Equal(t, []float64{20, 40, 60, 80}, base.Slack)
	require.Equal(t, 1.6, workload.LoadSweep(base, 1, 1.6)[1].Load)
	require.Equal(t, 25, workload.SampleSweep(base, 5, 25)[1].MaxTrainSamples)
	scal := workload.Scalability(base, 2000, 4000)
	require.Equal(t, workload.E2E, scal[1].Kind)
	require.Equal(t, 4000.0, scal[1].JobsPerHour)
	grid := workload.Perturbations(3, []float64{-0.5, 0, 0.5}, []float64{0, 0.1})
	require.Len(t, grid, 6)
	require.Equal(t, -0.5, grid[1].Shift)
	require.Equal(t, 0.1, grid[1].CoV)
}

func TestScalabilityKeepsLoadAndGangs(t *testing.T) {
	log := synthetic(8000, 12)
	for _, rate := range []float64{10, 100, 1000} {
		s := spec()
		s.Load, s.Kind, s.JobsPerHour = 0.95, workload.E2E, rate
		w, err := workload.Build(log, s)
		require.NoError(t, err)
		require.Len(t, w.Jobs, int(rate*5))
		require.InEpsilon(t, 0.95, w.Load, 0.01)
		for _, j := range w.Jobs {
			require.LessOrEqual(t, j.Tasks, 64)
			require.LessOrEqual(t, j.Work.Runtime(), w.Span)
		}
	}
}

func TestPlanAhead(t *testing.T) {
	for _, factor := range []float64{0.001, 0.1, 1, 30} {
		log := synthetic(8000, 13)
		for i := range log {
			log[i].Runtime = time.Duration(float64(log[i].Runtime) * factor)
		}
		w, err := workload.Build(log, workload.Spec{Kind: workload.Replay, Nodes: 64})
		require.NoError(t, err)
		window, slot := w.PlanAhead()
		require.Zero(t, window%slot)
		require.GreaterOrEqual(t, window/slot, time.Duration(12))
		require.LessOrEqual(t, window/slot, time.Duration(20))
		within := 0
		for _, j := range w.Jobs {
			if j.Work.Runtime() <= window {
				within++
			}
		}
		require.GreaterOrEqual(t, float64(within)/float64(len(w.Jobs)), 0.85)
	}
	window, slot := new(workload.Workload).PlanAhead()
	require.Equal(t, 12*time.Second, window)
	require.Equal(t, time.Second, slot)
}

func TestSpecErrors(t *testing.T) {
	nan := math.NaN()
	for field, change := range map[string]func(*workload.Spec){
		"Kind":            func(s *workload.Spec) { s.Kind = "copy" },
		"Nodes":           func(s *workload.Spec) { s.Nodes = 0 },
		"Racks":           func(s *workload.Spec) { s.Racks = 65 },
		"TasksPerNode":    func(s *workload.Spec) { s.TasksPerNode = -1 },
		"Load":            func(s *workload.Spec) { s.Load = nan },
		"Hours":           func(s *workload.Spec) { s.Hours = math.Inf(1) },
		"StartHour":       func(s *workload.Spec) { s.StartHour = 1e4 },
		"Slack":           func(s *workload.Spec) { s.Slack = []float64{20, -1} },
		"SLOShare":        func(s *workload.Spec) { s.SLOShare = 1.1 },
		"PreferShare":     func(s *workload.Spec) { s.PreferShare = -0.1 },
		"PreferSlowdown":  func(s *workload.Spec) { s.PreferSlowdown = 0.5 },
		"SLOValue":        func(s *workload.Spec) { s.SLOValue = -1 },
		"BEValue":         func(s *workload.Spec) { s.BEValue = math.Inf(1) },
		"JobsPerHour":     func(s *workload.Spec) { s.JobsPerHour = 10 },
		"Classes":         func(s *workload.Spec) { s.Classes = -2 },
		"MaxShare":        func(s *workload.Spec) { s.MaxShare = 2 },
		"TrainShare":      func(s *workload.Spec) { s.TrainShare = -1 },
		"MaxTrainSamples": func(s *workload.Spec) { s.MaxTrainSamples = -1 },
	} {
		s := spec()
		change(&s)
		_, err := workload.Build(synthetic(1000, 1), s)
		var bad *workload.SpecError
		require.ErrorAs(t, err, &bad, field)
		require.Equal(t, field, bad.Field)
		require.ErrorContains(t, err, field)
	}
}

func TestJobErrors(t *testing.T) {
	for field, change := range map[string]func([]trace.Job){
		"id":       func(l []trace.Job) { l[9].ID = l[8].ID },
		"tasks":    func(l []trace.Job) { l[9].Tasks = 0 },
		"submit":   func(l []trace.Job) { l[9].Submit = -1 },
		"deadline": func(l []trace.Job) { l[9].Deadline = -1 },
	} {
		log := synthetic(1000, 1)
		change(log)
		_, err := workload.Build(log, spec())
		var bad *workload.JobError
		require.ErrorAs(t, err, &bad, field)
		require.Equal(t, field, bad.Field)
		require.Equal(t, 10, bad.Line)
		s := spec()
		s.Train = log
		_, err = workload.Build(synthetic(8000, 2), s)
		require.ErrorAs(t, err, &bad)
	}
}

func TestEmptyAndTooLittle(t *testing.T) {
	for _, kind := range []workload.Kind{workload.Window, workload.E2E, workload.Replay} {
		s := spec()
		s.Kind = kind
		_, err := workload.Build(nil, s)
		require.ErrorIs(t, err, workload.ErrEmpty, "%s", kind)
		wide := synthetic(100, 1)
		for i := range wide {
			wide[i].Tasks = 1000
		}
		_, err = workload.Build(wide, s)
		require.ErrorIs(t, err, workload.ErrEmpty, "%s", kind)
	}
	_, err := workload.Build(synthetic(50, 1), spec())
	require.ErrorIs(t, err, workload.ErrTooLittleWork)
}

// TestEveryLogEveryKind builds from random logs; whatever comes out must be
// runnable.
func TestEveryLogEveryKind(t *testing.T) {
	rng := rand.New(rand.NewPCG(99, 1))
	built := 0
	for i := range 150 {
		log := synthetic(1+rng.IntN(2000), uint64(i))
		s := workload.Default()
		s.Kind = []workload.Kind{workload.Window, workload.E2E, workload.Replay}[i%3]
		s.Nodes = 1 + rng.IntN(100)
		s.Racks = 1 + rng.IntN(s.Nodes)
		s.TasksPerNode = 1 + rng.IntN(5)
		s.Hours, s.Load = 0.1+5*rng.Float64(), 0.1+2*rng.Float64()
		s.SLOShare, s.PreferShare = rng.Float64(), rng.Float64()
		s.Seed = int64(i)
		w, err := workload.Build(log, s)
		if err != nil {
			ok := errors.Is(err, workload.ErrEmpty) || errors.Is(err, workload.ErrTooLittleWork)
			require.True(t, ok, "%v", err)
			continue
		}
		built++
		ids := map[string]bool{}
		for _, j := range w.Jobs {
			require.False(t, ids[j.ID])
			ids[j.ID] = true
			require.Positive(t, j.Work.Runtime())
			require.GreaterOrEqual(t, j.Tasks, 1)
			require.LessOrEqual(t, j.Tasks, s.Nodes)
			require.NotNil(t, j.Utility)
			if j.Deadline > 0 {
				require.GreaterOrEqual(t, j.Deadline, j.Work.Runtime())
			}
		}
	}
	require.Greater(t, built, 75)
}

// TestStepsOfALog: in a replay jobs are worth what the log says, the most valuable of them SLOValue.
func TestStepsOfALog(t *testing.T) {
	job := func(id string, steps ...trace.Step) trace.Job {
		return trace.Job{ID: id, Line: 1, Tasks: 1, Runtime: time.Minute, Wait: -1, Steps: steps,
			Deadline: steps[len(steps)-1].By}
	}
	w, err := workload.Build([]trace.Job{
		job("soft", trace.Step{By: 159 * time.Second, Value: 10}, trace.Step{By: 189 * time.Second, Value: 8}),
		job("strict", trace.Step{By: 100 * time.Second, Value: 5}),
	}, workload.Spec{Kind: workload.Replay, Nodes: 4, SLOValue: 200})
	require.NoError(t, err)
	require.Len(t, w.Jobs, 2)
	for _, at := range []struct{ t, soft, strict float64 }{
		{0, 200, 100}, {100, 200, 100}, {101, 200, 0}, {159, 200, 0}, {160, 160, 0}, {189, 160, 0}, {190, 0, 0},
	} {
		assert.InDelta(t, at.soft, w.Jobs[0].Worth().At(at.t), 1e-12, at.t)
		assert.InDelta(t, at.strict, w.Jobs[1].Worth().At(at.t), 1e-12, at.t)
	}
	assert.Equal(t, 189*time.Second, w.Jobs[0].Deadline)
	assert.Equal(t, 1, w.Jobs[0].Priority)
}

// TestSpeedsOfALogInAWindow: jobs with deadlines keep the log's speeds as others do, and prefer no racks.
func TestSpeedsOfALogInAWindow(t *testing.T) {
	var log []trace.Job
	for i := range 400 {
		log = append(log, trace.Job{ID: strconv.Itoa(i), Line: i + 1, Submit: time.Duration(i) * time.Minute, Tasks: 1,
			Runtime: 2 * time.Minute, Wait: -1, Speeds: map[string]float64{"gpu=a100": 1, "gpu=v100": 0.66}})
	}
	spec := workload.Default()
	spec.Nodes, spec.Racks, spec.Hours, spec.Load = 4, 4, 1, 0.4
	w, err := workload.Build(log, spec)
	require.NoError(t, err)
	require.Positive(t, w.SLOJobs)
	for i := range w.Jobs {
		require.Equal(t, "gpu=a100 1; gpu=v100 0.66", w.Jobs[i].Speeds.String())
	}
}

// TestSpeedsOfALog: in a replay jobs are as fast as the log says.
func TestSpeedsOfALog(t *testing.T) {
	log := []trace.Job{{ID: "a", Line: 1, Tasks: 1, Runtime: time.Minute, Wait: -1,
		Speeds: map[string]float64{"gpu=v100": 0.66, "other": 0.39, "gpu=a100": 1}}}
	spec := workload.Default()
	spec.Kind, spec.Nodes, spec.Racks = workload.Replay, 2, 1
	w, err := workload.Build(log, spec)
	require.NoError(t, err)
	assert.Equal(t, "gpu=a100 1; gpu=v100 0.66; other 0.39", w.Jobs[0].Speeds.String())
}
