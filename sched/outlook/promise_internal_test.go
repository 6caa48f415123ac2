package outlook

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/internal/odds"
)

// TestReview: a job teaches once whether it met its deadline, after the deadline. A job that has disappeared teaches
// nothing.
func TestReview(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(0, 0).UTC().Add(time.Duration(s) * time.Second) }
	j := &sched.Job{ID: "j", Tasks: 1, Submitted: at(0), Deadline: 100 * time.Second}
	waits := func(s int) *sched.Snapshot { return &sched.Snapshot{Now: at(s), Pending: []sched.Pending{{Job: j}}} }
	runs := func(s int) *sched.Snapshot { return &sched.Snapshot{Now: at(s), Running: []sched.Running{{Job: j}}} }
	done := func(s, when int) *sched.Snapshot {
		return &sched.Snapshot{Now: at(s), Completed: []sched.Completion{{Job: "j", At: at(when)}}}
	}
	away := func(s int) *sched.Snapshot { return &sched.Snapshot{Now: at(s)} }
	for name, c := range map[string]struct {
		seen      []*sched.Snapshot
		jobs, met float64
	}{
		"in time, not yet":    {[]*sched.Snapshot{waits(1), runs(10), done(20, 15), away(100)}, 0, 0},
		"in time":             {[]*sched.Snapshot{waits(1), runs(10), done(20, 15), away(30), away(101), away(102)}, 1, 1},
		"at the deadline":     {[]*sched.Snapshot{runs(95), done(105, 100)}, 1, 1},
		"late":                {[]*sched.Snapshot{runs(95), done(105, 101)}, 1, 0},
		"waits past its time": {[]*sched.Snapshot{waits(95), waits(101), waits(110), done(200, 190)}, 1, 0},
		"runs past its time":  {[]*sched.Snapshot{runs(95), runs(101), done(105, 104)}, 1, 0},
		"not over":            {[]*sched.Snapshot{runs(95), runs(100)}, 0, 0},
		"withdrawn":           {[]*sched.Snapshot{waits(10), away(20), away(200)}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := New(Config{})
			require.NoError(t, err)
			e.origin = at(0)
			e.promises.add("j", 100, 0, waited, odds.Foretold{Chance: 0.5})
			for _, s := range c.seen {
				e.round++
				e.review(&cycle{snap: s, now: s.Now.Sub(at(0)).Seconds()})
			}
			jobs, met := e.odds[waited].Learnt()
			assert.Equal(t, []float64{c.jobs, c.met}, []float64{jobs, met})
		})
	}
}

// TestBatches: what was told in one cycle to jobs of one stage weighs as much as one job, if it was told to many.
func TestBatches(t *testing.T) {
	e, err := New(Config{})
	require.NoError(t, err)
	now := time.Unix(100, 0).UTC()
	e.origin = time.Unix(0, 0).UTC()
	s := &sched.Snapshot{Now: now}
	tell := func(job string, round, stage int) {
		e.promises.add(job, 50, round, stage, odds.Foretold{Chance: 0.5})
		s.Pending = append(s.Pending, sched.Pending{Job: &sched.Job{ID: job, Tasks: 1, Deadline: 50 * time.Second}})
	}
	for i := range 4 {
		tell(fmt.Sprint("together", i), 1, arriving)
	}
	tell("beside them", 1, waited)
	tell("later", 2, arriving)
	tell("together0", 2, waited)
	e.round = 3
	e.review(&cycle{snap: s, now: 100})
	for stage, want := range map[int]float64{arriving: 2, waited: 2, starting: 0} {
		jobs, met := e.odds[stage].Learnt()
		assert.InDelta(t, want, jobs, 1e-12, stage)
		assert.Zero(t, met)
	}
}

// TestStagesLearnApart: jobs that start at once and meet their deadlines teach nothing about those that wait.
func TestStagesLearnApart(t *testing.T) {
	e, err := New(Config{})
	require.NoError(t, err)
	nodes, err := sched.NewNodeSet([]sched.Node{{Name: "n", Capacity: sched.Resources{"cpu": 2}}})
	require.NoError(t, err)
	runtime, err := dist.NewUniform(10, 100)
	require.NoError(t, err)
	pending := func(id string, now time.Time) sched.Pending {
		return sched.Pending{Prediction: predict.Prediction{Dist: runtime, Point: runtime.Mean()}, Job: &sched.Job{ID: id,
			Tasks: 1, Demand: sched.Resources{"cpu": 1}, Submitted: now, Deadline: 50 * time.Second}}
	}
	for i := range 40 {
		now := time.Unix(int64(i)*10, 0).UTC()
		starts, waits := fmt.Sprint("starts", i), fmt.Sprint("waits", i)
		s := &sched.Snapshot{Now: now, Cycle: 10 * time.Second, Nodes: nodes, Free: nodes.Capacity(),
			Pending: []sched.Pending{pending(starts, now), pending(waits, now)}}
		if i > 1 {
			s.Completed = []sched.Completion{{Job: fmt.Sprint("starts", i-1), At: now}}
		}
		_, err = e.Look(s, &sched.Plan{Decisions: []sched.Decision{{Job: starts, Kind: sched.Start,
			Nodes: []sched.NodeTasks{{Node: "n", Tasks: 1}}}}, Rest: sched.Reason{Code: sched.ReasonWaiting}})
		require.NoError(t, err)
	}
	jobs, met := e.odds[starting].Learnt()
	assert.Greater(t, met, 20.0)
	assert.Equal(t, jobs, met)
	jobs, _ = e.odds[arriving].Learnt()
	assert.Zero(t, jobs, "what waits has been withdrawn in the next cycle")
	told := e.odds[arriving].Tell(odds.Foretold{Chance: 0.3})
	assert.InDelta(t, 0.3, told, 1e-12)
}

// TestStage: a job has just come in the first cycle that it is seen to wait in, and in no later one.
func TestStage(t *testing.T) {
	for cycles, want := range []int{1: arriving, 2: waited, 3: waited} {
		if cycles > 0 {
			assert.Equal(t, want, (&waiting{cycles: cycles}).stage(), cycles)
		}
	}
}
