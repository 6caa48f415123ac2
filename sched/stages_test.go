package sched_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// stage is a job of one task that waits for others.
func stage(id string, after ...string) *sched.Job {
	j := schedtest.Job(id, 1).Job()
	j.After = after
	return j
}

// rejected are the cycle's rejections, by job.
func rejected(c *sched.Cycle) map[string]error {
	out := map[string]error{}
	for _, r := range c.Rejected {
		out[r.Job.ID] = r.Err
	}
	return out
}

func held(s *sched.Snapshot) (ids []string) {
	for i := range s.Held {
		ids = append(ids, s.Held[i].Job.ID)
	}
	return ids
}

func TestStagesWaitForEachOther(t *testing.T) {
	c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(4, 1))
	pr := newLearner()
	l := newLoop(t, c, baseline.NewFIFO(), pr)
	c.Submit(stage("d", "b", "c"), 10) // in any order
	c.Submit(stage("b", "a"), 10)
	c.Submit(stage("c", "a"), 30)
	c.Submit(stage("a"), 20)
	cycle := step(t, l, c, 0)
	assert.Empty(t, cycle.Rejected)
	assert.Equal(t, 3, cycle.Held)
	assert.Equal(t, []string{"b", "c", "d"}, held(cycle.Snapshot), "by submission, then id")
	for i := range cycle.Snapshot.Held {
		assert.NotNil(t, cycle.Snapshot.Held[i].Prediction.Dist, "those held back have a forecast")
	}
	assert.Equal(t, 1, cycle.Started)
	assert.Equal(t, 0, step(t, l, c, 10).Started)
	assert.Equal(t, 2, step(t, l, c, 20).Started, "b and c")
	cycle = step(t, l, c, 30)
	assert.Equal(t, []string{"d"}, held(cycle.Snapshot), "c has not finished")
	assert.Equal(t, 1, step(t, l, c, 50).Started)
	assert.Zero(t, step(t, l, c, 60).Running)
	assert.Equal(t, map[string]float64{"a": 20, "b": 10, "c": 30, "d": 10}, pr.observed)
}

func TestStagesThatCannotStartAreRejected(t *testing.T) {
	long := strings.Repeat("x", sched.MaxName+1)
	for _, c := range []struct {
		name string
		jobs []*sched.Job
		want map[string]string // what the error of each rejected job contains
	}{
		{"unknown", []*sched.Job{stage("a"), stage("b", "a", "ghost"), stage("c", "b"), stage("d", "a")},
			map[string]string{"b": `"ghost"`, "c": `"b"`}},
		{"itself", []*sched.Job{stage("a", "a")}, map[string]string{"a": "which is the job itself"}},
		{"twice", []*sched.Job{stage("a"), stage("b", "a", "a")}, map[string]string{"b": `"a" twice`}},
		{"no name", []*sched.Job{stage("a", "")}, map[string]string{"a": "After[0]"}},
		{"long name", []*sched.Job{stage("a", long)}, map[string]string{"a": "at most 1024"}},
		{"circle", []*sched.Job{stage("a", "c"), stage("b", "a"), stage("c", "b"), stage("d", "b"), stage("e")},
			map[string]string{"a": "circle", "b": "circle", "c": "circle", "d": "circle"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(4, 1))
			l := newLoop(t, cluster, baseline.NewFIFO(), newLearner())
			for _, j := range c.jobs {
				cluster.Submit(j, 10)
			}
			cycle := step(t, l, cluster, 0)
			got := rejected(cycle)
			require.Len(t, got, len(c.want), "%v", got)
			for id, text := range c.want {
				var e *sched.JobError
				require.ErrorAs(t, got[id], &e, id)
				assert.Equal(t, id, e.Job)
				require.ErrorContains(t, got[id], text)
			}
			assert.Empty(t, cycle.Ignored)
		})
	}
}

// A stage goes with what it waits for, however far before it that is, unless it runs already.
func TestStagesGoWithTheirParents(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(4, 1))
		var opts []sched.Option
		if fixed {
			opts = append(opts, sched.WithFixedCluster())
		}
		l := newLoop(t, c, baseline.NewFIFO(), newLearner(), opts...)
		c.Submit(stage("a"), 10)
		c.Submit(stage("b", "a"), 10)
		c.Submit(stage("c", "b"), 10)
		c.Submit(stage("other", "a"), 10)
		wide := schedtest.Job("wide", 9).Job()
		c.Submit(wide, 10)
		c.Submit(stage("after-wide", "wide"), 10)
		cycle := step(t, l, c, 0)
		if fixed {
			got := rejected(cycle)
			require.ErrorIs(t, got["wide"], sched.ErrTooLarge)
			require.ErrorIs(t, got["after-wide"], sched.ErrInvalidJob)
		} else {
			assert.Empty(t, cycle.Rejected)
		}
		c.Withdraw("b")
		cycle = step(t, l, c, 5)
		require.ErrorIs(t, rejected(cycle)["c"], sched.ErrInvalidJob)
		assert.Contains(t, held(cycle.Snapshot), "other")
		cycle = step(t, l, c, 10)
		assert.Equal(t, 1, cycle.Started, "other")
		assert.Empty(t, cycle.Ignored)
	}
}

func TestAParentThatHasJustFinishedIsThere(t *testing.T) {
	c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(4, 1))
	l := newLoop(t, c, baseline.NewFIFO(), newLearner())
	c.Submit(stage("a"), 10)
	step(t, l, c, 0)
	c.Submit(stage("b", "a"), 10)
	cycle := step(t, l, c, 10) // with the end of a
	assert.Empty(t, cycle.Rejected)
	assert.Equal(t, 1, cycle.Started)
	c.Submit(stage("c", "a"), 10)
	require.ErrorIs(t, rejected(step(t, l, c, 20))["c"], sched.ErrInvalidJob, "that was long ago")
}

// A stage that is preempted runs again; those before it do not, and those behind it wait.
func TestAPreemptedStageKeepsWhatHasFinished(t *testing.T) {
	c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(1, 1))
	l := newLoop(t, c, baseline.NewPrio(), newLearner())
	c.Submit(stage("a"), 10)
	c.Submit(stage("b", "a"), 100)
	c.Submit(stage("c", "b"), 10)
	step(t, l, c, 0)
	step(t, l, c, 10)
	c.Submit(schedtest.Job("high", 1).Priority(1).Job(), 10)
	cycle := step(t, l, c, 20)
	require.Equal(t, 1, cycle.Preempted)
	assert.Equal(t, []string{"c"}, held(cycle.Snapshot))
	cycle = step(t, l, c, 30)
	assert.Equal(t, 1, cycle.Started, "b again")
	assert.Equal(t, 1, step(t, l, c, 130).Started, "c")
}

// A stage that somebody starts all the same counts as running, and as held back no more.
func TestAHeldStageMayBeStarted(t *testing.T) {
	c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(2, 1))
	l := newLoop(t, c, baseline.NewFIFO(), newLearner())
	c.Submit(stage("a"), 100)
	c.Submit(stage("b", "a"), 10)
	step(t, l, c, 0)
	on := []sched.NodeTasks{{Node: "n1", Tasks: 1}}
	c.Tell(sched.Event{Kind: sched.Started, ID: "b", Time: schedtest.At(5), Nodes: on})
	cycle := step(t, l, c, 10)
	assert.Empty(t, cycle.Ignored)
	assert.Equal(t, 2, cycle.Running)
	assert.Zero(t, cycle.Held)
	c.Tell(sched.Event{Kind: sched.Preempted, ID: "b"})
	assert.Equal(t, 1, step(t, l, c, 20).Held, "it waits again")
	c.Tell(sched.Event{Kind: sched.Withdrawn, ID: "a"})
	require.ErrorIs(t, rejected(step(t, l, c, 30))["b"], sched.ErrInvalidJob)
}

func TestAPlanMustNotStartAHeldStage(t *testing.T) {
	c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(2, 1))
	p := &spy{Policy: baseline.NewFIFO(), plan: func(*sched.Snapshot) (*sched.Plan, error) {
		return &sched.Plan{Decisions: []sched.Decision{{Job: "b", Kind: sched.Start,
			Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}}}}, nil
	}}
	l := newLoop(t, c, p, newLearner())
	c.Submit(stage("a"), 100)
	c.Submit(stage("b", "a"), 10)
	c.Advance(schedtest.At(0))
	_, err := l.Step(background, schedtest.At(0))
	require.ErrorIs(t, err, sched.ErrInvalidPlan)
}

// Any graph runs to its end, each stage after those before it, whatever is withdrawn on the way.
func TestRandomGraphsRunInOrder(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 5))
		c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(5, 1))
		pr := newLearner()
		l := newLoop(t, c, baseline.NewFIFO(), pr)
		after := map[string][]string{}
		var jobs []*sched.Job
		for i := range 40 {
			j := stage(fmt.Sprintf("j%02d", i))
			for _, p := range jobs[max(0, len(jobs)-6):] {
				if rng.IntN(4) == 0 {
					j.After = append(j.After, p.ID)
				}
			}
			after[j.ID] = j.After
			jobs = append(jobs, j)
		}
		rng.Shuffle(len(jobs), func(i, k int) { jobs[i], jobs[k] = jobs[k], jobs[i] })
		for _, j := range jobs {
			c.Submit(j, 1+float64(rng.IntN(30)))
		}
		gone := map[string]bool{}
		finished := map[string]bool{}
		for now := 0.0; now < 2000; now += 5 {
			if rng.IntN(20) == 0 {
				id := fmt.Sprintf("j%02d", rng.IntN(40))
				if !finished[id] && !gone[id] {
					c.Withdraw(id)
					gone[id] = true
				}
			}
			cycle := step(t, l, c, now)
			for id := range pr.observed {
				finished[id] = true
			}
			for id, err := range rejected(cycle) {
				require.ErrorIs(t, err, sched.ErrInvalidJob)
				gone[id] = true
			}
			for i := range cycle.Snapshot.Pending {
				for _, p := range after[cycle.Snapshot.Pending[i].Job.ID] {
					require.True(t, finished[p], "seed %d: %s waits for %s", seed, cycle.Snapshot.Pending[i].Job.ID, p)
				}
			}
			for _, id := range held(cycle.Snapshot) {
				for _, p := range after[id] {
					require.False(t, gone[p] && !finished[p], "seed %d: %s waits for %s, which is gone", seed, id, p)
				}
			}
		}
		for id := range after {
			require.True(t, finished[id] || gone[id], "seed %d: %s", seed, id)
		}
	}
}
