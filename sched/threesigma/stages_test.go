package threesigma_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/threesigma"
	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native"
)

// staged is a snapshot of one ready stage and one that waits for it, each forecast by d, with the deadline of both.
func staged(t testing.TB, nodes int, now time.Time, deadline time.Duration, d dist.Distribution) *sched.Snapshot {
	t.Helper()
	s := cluster(t, nodes, now)
	first, second := slo(t, "first", 1, deadline), slo(t, "second", 1, deadline)
	first.Of, second.Of, second.After = "job", "job", []string{"first"}
	s.Pending = append(s.Pending, sched.Pending{Job: first, Prediction: forecast(d)})
	s.Held = append(s.Held, sched.Pending{Job: second, Prediction: forecast(d)})
	return s
}

// Two uniform stages of 0 to 10 minutes take 10 minutes or less half of the time: the triangle's median. A stage by
// itself always does.
func TestAStageIsValuedByTheWholeJob(t *testing.T) {
	d := uniform(t, 0, 10*minute)
	for _, c := range []struct {
		deadline time.Duration
		want     float64
	}{{10 * time.Minute, 50}, {20 * time.Minute, 100}, {5 * time.Minute, 12.5}} {
		p := policy(t, threesigma.Config{OverEstimate: threesigma.Off})
		got := plan(t, p, staged(t, 1, epoch, c.deadline, d))
		require.Equal(t, sched.Start, got["first"].Kind)
		assert.InDelta(t, c.want, got["first"].Reason.Value, 0.4, "deadline %v", c.deadline)
		assert.InDelta(t, c.want/100, got["first"].Reason.Probability, 0.02)
		assert.NotContains(t, got, "second", "what is held back is not decided")
	}
}

// Two nodes have just enough time for a job of two stages and two of one stage, all with the same deadline and
// runtimes, if the first goes first: the others can take turns.
func TestAStageWithMoreBehindItGoesFirst(t *testing.T) {
	for _, point := range []bool{false, true} {
		d := uniform(t, 9*minute, 10*minute)
		p := policy(t, threesigma.Config{OverEstimate: threesigma.Off, Point: point})
		s := staged(t, 2, epoch, 21*time.Minute, d)
		for _, id := range []string{"alone", "lonely"} {
			job := slo(t, id, 1, 21*time.Minute)
			s.Pending = append([]sched.Pending{{Job: job, Prediction: forecast(d)}}, s.Pending...)
		}
		got := plan(t, p, s)
		assert.Equal(t, sched.Start, got["first"].Kind)
		assert.NotEqual(t, got["alone"].Kind, got["lonely"].Kind, "one starts, one waits")
		require.Equal(t, sched.Defer, plan(t, policy(t, threesigma.Config{}), without(s))["first"].Kind,
			"without what is behind it, it would be last")
	}
}

func without(s *sched.Snapshot) *sched.Snapshot {
	c := s.Clone()
	c.Held = nil
	return c
}

// A whole job that cannot be in time is given up at its first stage, which could be.
func TestAJobThatCannotBeInTimeIsGivenUp(t *testing.T) {
	d := uniform(t, 9*minute, 10*minute)
	p := policy(t, threesigma.Config{OverEstimate: threesigma.Off})
	got := plan(t, p, staged(t, 1, epoch, 15*time.Minute, d))
	assert.Equal(t, sched.Defer, got["first"].Kind)
	assert.Equal(t, sched.ReasonNoUtility, got["first"].Reason.Code)
}

// A running stage of a job that cannot be in time any more is cheap to preempt, though the stage itself could be.
func TestAStageIsPricedByTheWholeJob(t *testing.T) {
	d := uniform(t, 9*minute, 10*minute)
	run := func(heldBack bool) sched.Kind {
		stage := slo(t, "stage", 1, 18*time.Minute)
		stage.Priority = 0
		now := epoch.Add(5 * time.Minute)
		s := cluster(t, 1, now, sched.Running{Job: stage, Prediction: forecast(d), Started: epoch,
			Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}})
		urgent := slo(t, "urgent", 1, 12*time.Minute)
		urgent.Submitted = now
		u := be(t, "u", 1)
		urgent.Utility = u.Utility // 5, less than the stage's 100
		s.Pending = []sched.Pending{{Job: urgent, Prediction: forecast(d)}}
		if heldBack {
			behind := slo(t, "behind", 1, 18*time.Minute)
			behind.After = []string{"stage"}
			s.Held = []sched.Pending{{Job: behind, Prediction: forecast(d)}}
		}
		return plan(t, policy(t, threesigma.Config{OverEstimate: threesigma.Off}), s)["stage"].Kind
	}
	assert.Equal(t, sched.Defer, run(false), "it goes on: no decision")
	assert.Equal(t, sched.Preempt, run(true))
}

// spy keeps the problem that it passes on.
type spy struct {
	solver.Solver
	problem *solver.Problem
}

func (s *spy) Solve(
	ctx context.Context, p *solver.Problem, o solver.Options, report func(*solver.Solution),
) (*solver.Solution, error) {
	s.problem = p
	return s.Solver.Solve(ctx, p, o, report)
}

// Stages of 10 minutes in slots of 5: a running stage with one behind it holds its node for four slots, and so do two
// that wait. A stage of two tasks before one of one task holds two nodes for two slots, then one. A stage before a
// wider one holds its own room, and no more.
func TestTheRoomOfLaterStagesIsPlanned(t *testing.T) {
	d, err := dist.NewPoint(10 * minute)
	require.NoError(t, err)
	for _, c := range []struct {
		first, second int
		want          []float64
	}{{1, 1, []float64{1, 1, 1, 1}}, {2, 1, []float64{1, 1, 0.5, 0.5}}, {1, 2, []float64{1, 1, 1, 1}}} {
		watch := &spy{Solver: native.New(nil)}
		p := policy(t, threesigma.Config{OverEstimate: threesigma.Off, Solver: watch, Slot: 5 * time.Minute,
			Window: 30 * time.Minute})
		runs := slo(t, "runs", 1, time.Hour)
		s := staged(t, 4, epoch, time.Hour, d)
		s.Pending[0].Job.Tasks, s.Held[0].Job.Tasks = c.first, c.second
		behind := slo(t, "behind", 1, time.Hour)
		behind.After = []string{"runs"}
		s.Held = append(s.Held, sched.Pending{Job: behind, Prediction: forecast(d)})
		with := cluster(t, 4, epoch, sched.Running{Job: runs, Prediction: forecast(d), Started: epoch,
			Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}})
		with.Pending, with.Held = s.Pending, s.Held
		plan(t, p, with)
		require.Len(t, watch.problem.Jobs, 1)
		assert.Equal(t, c.want, watch.problem.Jobs[0].Options[0].Usage)
		free := watch.problem.Capacity[0][0]
		unit := free[5] / 4
		assert.Equal(t, []float64{3, 3, 3, 3, 4, 4}, []float64{free[0] / unit, free[1] / unit, free[2] / unit,
			free[3] / unit, free[4] / unit, free[5] / unit})
	}
}
