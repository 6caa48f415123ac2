package distsched_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/distsched"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/usage"
)

// story is what one policy is shown, cycle by cycle, of one node, and what it tells.
type story struct {
	*testing.T
	p   *distsched.Policy
	set *sched.NodeSet
}

func newStory(t *testing.T) *story {
	set, err := sched.NewNodeSet(shared(1))
	require.NoError(t, err)
	p, err := distsched.New(distsched.Config{})
	require.NoError(t, err)
	return &story{T: t, p: p, set: set}
}

func (s *story) plan(b *schedtest.SnapshotBuilder, change ...func(*sched.Snapshot)) *sched.Plan {
	s.Helper()
	snapshot, err := b.Overpacks(usage.CPU, usage.Memory).Build()
	require.NoError(s, err)
	for _, c := range change {
		c(snapshot)
	}
	plan, err := s.p.Plan(context.Background(), snapshot)
	require.NoError(s, err)
	return plan
}

func (s *story) empty() *schedtest.SnapshotBuilder { return schedtest.SnapshotOf(s.set) }

// life starts a job alone on the node, and returns what is told of it.
func (s *story) life(j *schedtest.JobBuilder) float64 {
	s.Helper()
	s.plan(s.empty().Pending(j))
	e, ok := s.p.Follow(j.Job().ID)
	require.True(s, ok)
	again, _ := s.p.Follow(j.Job().ID)
	require.InDelta(s, e.Life, again.Life, 0, "following twice changes nothing")
	asked, _ := s.p.Eviction(j.Job().ID)
	require.Equal(s, e, asked)
	return e.Life
}

func light(t *testing.T, id string, priority int, peaks ...float64) *schedtest.JobBuilder {
	return schedtest.Job(id, 1).Priority(priority).Demand(sched.Resources{usage.CPU: 0.5, usage.Memory: 9}).
		Uses(predict.Memory, samples(t, 1)).Uses(predict.MemoryMax, samples(t, peaks...))
}

// TestEvictionLearns: by hand. After n jobs of a priority of which nothing was told and one was evicted, other
// evictions are as likely as 1 in n+10.
func TestEvictionLearns(t *testing.T) {
	for what, tt := range map[string]struct {
		then     func(s *story, a *schedtest.JobBuilder)
		priority int // of the second job
		want     float64
	}{
		"evicted as a whole": {then: func(s *story, a *schedtest.JobBuilder) {
			s.plan(s.empty().Running(a, 0, "n0"))
			s.plan(s.empty().Pending(a))
		}, want: 1. / 11},
		"a part was evicted": {then: func(s *story, a *schedtest.JobBuilder) {
			s.plan(s.empty().Running(a, 0, "n0").Pending(light(s.T, "x", 0, 1)), func(sn *sched.Snapshot) {
				part := *sn.Running[0].Job
				sn.Pending[0].Job = part.Part(1, 1)
			})
		}, want: 1. / 11},
		"evicted twice": {then: func(s *story, a *schedtest.JobBuilder) {
			for range 2 {
				s.plan(s.empty().Running(a, 0, "n0"))
				s.plan(s.empty().Pending(a))
			}
		}, want: 1. / 11},
		"others have another priority": {then: func(s *story, a *schedtest.JobBuilder) {
			s.plan(s.empty().Running(a, 0, "n0"))
			s.plan(s.empty().Pending(a))
		}, priority: 1, want: 0},
		"ended": {then: func(s *story, a *schedtest.JobBuilder) {
			s.plan(s.empty().Running(a, 0, "n0"))
			s.plan(s.empty())
		}, want: 0},
		"not started": {then: func(s *story, a *schedtest.JobBuilder) {
			s.plan(s.empty().Pending(a))
		}, want: 0},
		"its node was lost": {then: func(s *story, a *schedtest.JobBuilder) {
			s.plan(s.empty().Running(a, 0, "n0"))
			s.plan(schedtest.Snapshot(shared(2)).Pending(a))
		}, want: 0},
		"stopped by the policy": {then: func(s *story, a *schedtest.JobBuilder) {
			plan := s.plan(s.empty().Running(a, 0, "n0").Measured(usage.Task{Node: "n0", Now: usage.Level{CPU: 1}}).
				Running(light(s.T, "high", 1, 1), 0, "n0").Measured(usage.Task{Node: "n0", Now: usage.Level{CPU: 3.5},
				Throttled: true}))
			require.Len(s, plan.Decisions, 1)
			require.Equal(s, sched.Preempt, plan.Decisions[0].Kind)
			s.plan(s.empty().Pending(a))
		}, want: 0},
	} {
		t.Run(what, func(t *testing.T) {
			s := newStory(t)
			a := light(t, "a", 0, 1)
			require.Zero(t, s.life(a))
			tt.then(s, a)
			assert.InDelta(t, tt.want, s.life(light(t, "b", tt.priority, 1)), 1e-12)
		})
	}
}

// TestEvictionAloneLearnsNothing: of a job that nobody followed nothing is learnt, though it was asked about.
func TestEvictionAloneLearnsNothing(t *testing.T) {
	s := newStory(t)
	a := light(t, "a", 0, 1)
	s.plan(s.empty().Pending(a))
	e, ok := s.p.Eviction("a")
	require.True(t, ok)
	require.Zero(t, e.Life)
	s.plan(s.empty().Running(a, 0, "n0"))
	s.plan(s.empty().Pending(a))
	require.Zero(t, s.life(light(t, "b", 0, 1)))
}

// TestEvictionLearnsTheDifference: what was told is not learnt again. Of two jobs 0.25 was told each, and both were
// evicted: other evictions are as likely as 1.5 in 1.5+10. Then of a job of which 0.25 is known more is told.
func TestEvictionLearnsTheDifference(t *testing.T) {
	s := newStory(t)
	for _, id := range []string{"a", "b"} {
		j := light(t, id, 0, 1, 1, 1, 7.7)
		s.life(j)
		s.plan(s.empty().Running(j, 0, "n0"))
		s.plan(s.empty().Pending(j))
		s.plan(s.empty())
	}
	assert.InDelta(t, 0.25+0.75*1.5/11.5, s.life(light(t, "c", 0, 1, 1, 1, 7.7)), 1e-9)
}
