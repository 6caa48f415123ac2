package threesigma_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/threesigma"
)

// crowded runs two hours of a cluster of 4 nodes on which two new jobs of one node come each minute, for 2 to 3 minutes
// each. A job of all nodes comes at the beginning. It returns when that starts, 0 for never, and how it was decided of.
func crowded(t *testing.T, reserve time.Duration, seed uint64) (start time.Duration, told []sched.Decision) {
	t.Helper()
	p := policy(t, threesigma.Config{Slot: time.Minute, Reserve: reserve})
	c := schedtest.NewCluster(epoch, schedtest.Nodes(4, 2))
	history, err := predict.NewHistory(nil)
	require.NoError(t, err)
	seen := sched.WithObserver(func(cycle *sched.Cycle) {
		for _, d := range cycle.Plan.Decisions {
			if d.Job == "wide" {
				told = append(told, d)
			}
		}
	})
	loop, err := sched.NewLoop(c, p, history, seen)
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(seed, 7))
	wide := be(t, "wide", 4)
	c.Submit(wide, 300)
	for at := time.Duration(0); at < 2*time.Hour; at += 30 * time.Second {
		now := epoch.Add(at)
		c.Advance(now)
		narrow := eager(t, fmt.Sprintf("narrow%v", at), 1)
		narrow.Submitted, narrow.Attributes = now, map[string]string{"user": "u"}
		c.Submit(narrow, 120+60*rng.Float64())
		_, err := loop.Step(context.Background(), now)
		require.NoError(t, err)
		if n := len(told); n > 0 && told[n-1].Kind == sched.Start {
			return at, told
		}
	}
	return 0, told
}

// TestWideJobsDoNotStarve: a wide job starves behind narrow ones for as long as these come. With a reservation it
// starts soon after the time that it may wait, when those that ran on its nodes have ended.
func TestWideJobsDoNotStarve(t *testing.T) {
	for seed := range uint64(3) {
		never, _ := crowded(t, 0, seed)
		assert.Zero(t, never, "without reservations the narrow jobs always come first")
		start, told := crowded(t, 20*time.Minute, seed)
		require.Positive(t, start)
		assert.LessOrEqual(t, start, 24*time.Minute)
		promised := time.Time{}
		for _, d := range told {
			if d.Reason.Code == threesigma.ReasonReserved {
				promised = d.Start
				assert.Equal(t, sched.Defer, d.Kind)
			}
		}
		assert.False(t, promised.IsZero(), "it waits for its nodes to become free")
	}
}

// TestReservationKeepsNodes: nothing else starts on what is kept, not even what would fit.
func TestReservationKeepsNodes(t *testing.T) {
	run := func(id string, node string, ends float64) sched.Running {
		return sched.Running{Job: be(t, id, 1), Started: epoch, Prediction: forecast(point(t, ends)),
			Nodes: []sched.NodeTasks{{Node: node, Tasks: 1}}}
	}
	now := epoch.Add(time.Hour)
	s := cluster(t, 5, now, run("soon", "n1", 3700), run("late", "n2", 9000), run("last", "n3", 9900))
	wide, fresh := be(t, "wide", 3), []*sched.Job{be(t, "a", 1), be(t, "b", 1)}
	s.Pending = append(s.Pending, sched.Pending{Job: wide, Prediction: forecast(point(t, 600))})
	for _, j := range fresh {
		j.Submitted = now
		s.Pending = append(s.Pending, sched.Pending{Job: j, Prediction: forecast(point(t, 600))})
	}
	p := policy(t, threesigma.Config{Reserve: 30 * time.Minute})
	whole, err := p.Plan(context.Background(), s)
	require.NoError(t, err)
	schedtest.CheckPlan(t, s, whole)
	got := map[string]sched.Decision{}
	for _, d := range whole.Decisions {
		got[d.Job] = d
	}
	assert.Equal(t, threesigma.ReasonReserved, got["wide"].Reason.Code)
	assert.Equal(t, epoch.Add(3700*time.Second), got["wide"].Start, "n0 and n4 are free, n1 will be")
	assert.Equal(t, sched.Defer, got["a"].Kind)
	assert.Equal(t, sched.Defer, got["b"].Kind)

	// With one node more it need not wait.
	s = cluster(t, 6, now, s.Running...)
	s.Pending = append(s.Pending, sched.Pending{Job: wide, Prediction: forecast(point(t, 600))})
	got = plan(t, policy(t, threesigma.Config{Reserve: 30 * time.Minute}), s)
	assert.Equal(t, sched.Start, got["wide"].Kind, "there is room now")
}

// TestReservationsKeepThePromisesOfPolicies: the suite of policies holds with reservations, too.
func TestReservationsKeepThePromisesOfPolicies(t *testing.T) {
	schedtest.RunPolicy(t, func() sched.Policy { return policy(t, threesigma.Config{Reserve: time.Second}) })
}
