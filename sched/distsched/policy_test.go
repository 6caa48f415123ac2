package distsched_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/distsched"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/usage"
)

func newPolicy(t testing.TB, name string) *distsched.Policy {
	t.Helper()
	c, err := distsched.Variant(name)
	require.NoError(t, err)
	p, err := distsched.New(c)
	require.NoError(t, err)
	return p
}

func TestConformance(t *testing.T) {
	for _, name := range distsched.Variants() {
		t.Run(name, func(t *testing.T) {
			schedtest.RunPolicy(t, func() sched.Policy { return newPolicy(t, name) })
			assert.Equal(t, name, newPolicy(t, name).Name())
		})
	}
}

// samples is the distribution of these values.
func samples(t testing.TB, values ...float64) dist.Distribution {
	t.Helper()
	d, err := dist.FromSamples(values)
	require.NoError(t, err)
	return d
}

// shared are nodes of 4 cores and 8 of memory, of which 7.6 can be used before tasks are evicted.
func shared(n int) []sched.Node {
	nodes := schedtest.Nodes(n, 1)
	for i := range nodes {
		nodes[i].Capacity = sched.Resources{usage.CPU: 4, usage.Memory: 8}
	}
	return nodes
}

// task is a job whose tasks request 4 cores and 6 of memory, a whole node, and use a quarter of it, by the forecast 1
// core or 1.2 and 1.5 of memory or 1.6, for 100 core-seconds.
func task(t testing.TB, id string, tasks int) *schedtest.JobBuilder {
	return schedtest.Job(id, tasks).Demand(sched.Resources{usage.CPU: 4, usage.Memory: 6}).
		Uses(predict.CPU, samples(t, 1, 1, 1, 1.2)).Uses(predict.Memory, samples(t, 1.5, 1.5, 1.5, 1.6)).
		Uses(predict.CPUTime, samples(t, 100))
}

func plan(t testing.TB, name string, b *schedtest.SnapshotBuilder) *sched.Plan {
	t.Helper()
	s, err := b.Build()
	require.NoError(t, err)
	p, err := newPolicy(t, name).Plan(t.Context(), s)
	require.NoError(t, err)
	schedtest.CheckPlan(t, s, p)
	return p
}

// TestEstimates: users request a node for what needs a quarter of it. Who believes them starts one task; who knows what
// tasks use starts more, and who knows it as a distribution knows how many are too many.
func TestEstimates(t *testing.T) {
	for name, want := range map[string]int{
		// Three tasks use 3.6 cores at most. Four use more than 4 unless each uses 1, and 4.2 by their points.
		"request": 1, "point": 3, "dist": 3, "dist-nopack": 3, "dist-nodist": 3,
	} {
		b := schedtest.Snapshot(shared(1)).Now(10)
		for i := range 6 {
			b.Pending(task(t, string(rune('a'+i)), 1))
		}
		got := plan(t, name, b)
		assert.Len(t, schedtest.Started(got), want, name)
		assert.Equal(t, []string{usage.CPU, usage.Memory}, got.Overpacks)
	}
}

// TestGreedyOrder: the job that is worth most starts first, and is packed where others run.
func TestGreedyOrder(t *testing.T) {
	got := plan(t, "dist", schedtest.Snapshot(shared(2)).Now(10).Running(task(t, "r", 1), 0, "n1").
		Pending(task(t, "be", 3), task(t, "slo", 2).Deadline(300).Priority(1)))
	require.Equal(t, []string{"slo", "be"}, schedtest.Started(got)[:2])
	assert.Equal(t, []sched.NodeTasks{{Node: "n1", Tasks: 2}}, got.Decisions[0].Nodes)
	assert.InDelta(t, 1, got.Decisions[0].Reason.Probability, 1e-9)
	assert.Equal(t, []sched.NodeTasks{{Node: "n0", Tasks: 3}}, got.Decisions[1].Nodes)
}

// TestTail: a job that seems too late starts all the same where over-estimates are handled, after all others.
func TestTail(t *testing.T) {
	for name, want := range map[string][]string{"dist": {"be", "slo"}, "dist-noover": {"be"}, "point": {"be"}} {
		b := schedtest.Snapshot(shared(2)).Now(10).Pending(
			task(t, "slo", 1).Deadline(90).Priority(1), task(t, "be", 1))
		got := plan(t, name, b)
		assert.Equal(t, want, schedtest.Started(got), name)
		if len(want) == 1 {
			assert.Equal(t, sched.ReasonNoUtility, got.Decisions[1].Reason.Code)
		}
	}
}

// TestPreemption: where throttled tasks of higher priority want more than there is, tasks of lower priority stop: those
// over their request first, the largest of them, and no more than it takes.
func TestPreemption(t *testing.T) {
	use := func(index int, cpu float64, throttled bool) usage.Task {
		l := usage.Level{CPU: cpu, Memory: 1}
		return usage.Task{Index: index, Node: "n0", Ran: time.Minute, Now: l, Mean: l, Max: l, Throttled: throttled}
	}
	b := func() *schedtest.SnapshotBuilder {
		small := sched.Resources{usage.CPU: 0.9, usage.Memory: 1}
		return schedtest.Snapshot(shared(1)).Now(100).Overpacks(usage.CPU, usage.Memory).
			Running(task(t, "slo", 1).Priority(1), 0, "n0").Measured(use(0, 0.8, true)).
			Running(task(t, "within", 1), 0, "n0").Measured(use(0, 1.1, false)).
			Running(task(t, "over", 3).Demand(small), 0, "n0", "n0", "n0").
			Measured(use(0, 0.5, false), use(1, 1, false), use(2, 0.7, false))
	}
	got := func() *sched.Plan {
		s, err := b().Build()
		require.NoError(t, err)
		p, err := newPolicy(t, "dist").Plan(t.Context(), s)
		require.NoError(t, err)
		require.NoError(t, sched.CheckPlan(s, p))
		return p
	}()
	require.Equal(t, []string{"over"}, schedtest.Preempted(got))
	assert.Equal(t, []sched.NodeTasks{{Node: "n0", Tasks: 1}}, got.Decisions[0].Nodes, "0.3 cores are wanted, 1 is freed")
	assert.Empty(t, schedtest.Preempted(plan(t, "dist-nopreempt", b())))
}
