package threesigma_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/threesigma"
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

// Of two ready stages of the same deadline and runtime, the one with more behind it goes first: the other can wait.
func TestAStageWithMoreBehindItGoesFirst(t *testing.T) {
	for _, point := range []bool{false, true} {
		d := uniform(t, 9*minute, 10*minute)
		p := policy(t, threesigma.Config{OverEstimate: threesigma.Off, Point: point})
		s := staged(t, 1, epoch, 21*time.Minute, d)
		alone := slo(t, "alone", 1, 21*time.Minute)
		s.Pending = append([]sched.Pending{{Job: alone, Prediction: forecast(d)}}, s.Pending...)
		got := plan(t, p, s)
		assert.Equal(t, sched.Start, got["first"].Kind)
		assert.Equal(t, sched.Defer, got["alone"].Kind)
		require.Equal(t, sched.Defer, plan(t, policy(t, threesigma.Config{}), without(s))["first"].Kind,
			"without what is behind it, it would be second")
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
