package baseline_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/schedtest"
)

var policies = map[string]func() sched.Policy{
	"fifo": baseline.NewFIFO, "edf": baseline.NewEDF, "sjf": baseline.NewSJF, "prio": baseline.NewPrio,
}

func TestConformance(t *testing.T) {
	for name, newPolicy := range policies {
		t.Run(name, func(t *testing.T) {
			schedtest.RunPolicy(t, newPolicy)
			schedtest.RunPermutation(t, newPolicy)
			assert.Equal(t, name, newPolicy().Name())
		})
	}
}

func plan(t *testing.T, p sched.Policy, b *schedtest.SnapshotBuilder) *sched.Plan {
	t.Helper()
	s, err := b.Build()
	require.NoError(t, err)
	got, err := p.Plan(context.Background(), s)
	require.NoError(t, err)
	schedtest.CheckPlan(t, s, got)
	return got
}

func decision(t *testing.T, p *sched.Plan, job string) sched.Decision {
	t.Helper()
	for _, d := range p.Decisions {
		if d.Job == job {
			return d
		}
	}
	require.NotEmpty(t, p.Rest.Code, "no decision on %s", job)
	return sched.Decision{Job: job, Reason: p.Rest}
}

func TestOrders(t *testing.T) {
	job := schedtest.Job
	queue := func() *schedtest.SnapshotBuilder {
		return schedtest.Snapshot(schedtest.Nodes(4, 2)).Now(10).Pending(
			job("first", 3).Submitted(0).Runs(500),
			job("wide", 4).Submitted(1).Runs(400).Deadline(1000).Priority(1),
			job("late", 1).Submitted(2).Runs(300).Deadline(5000).Priority(1),
			job("soon", 1).Submitted(3).Runs(200).Deadline(900).Priority(2),
			job("short", 2).Submitted(4).Runs(10),
		)
	}
	for _, tt := range []struct {
		policy sched.Policy
		want   []string
		why    string
	}{
		{baseline.NewFIFO(), []string{"first"}, "wide blocks the rest"},
		{baseline.NewEDF(), []string{"soon", "late", "short"},
			"wide (at 1001) does not fit beside soon (903), first not beside late"},
		{baseline.NewSJF(), []string{"short", "soon", "late"}, "10 s, 200 s, 300 s"},
		{baseline.NewPrio(), []string{"soon", "late", "short"}, "wide does not fit beside soon"},
	} {
		t.Run(tt.policy.Name(), func(t *testing.T) {
			assert.Equal(t, tt.want, schedtest.Started(plan(t, tt.policy, queue())), tt.why)
		})
	}
}

func TestFIFOSaysWhoBlocks(t *testing.T) {
	p := plan(t, baseline.NewFIFO(), schedtest.Snapshot(schedtest.Nodes(2, 1)).
		Running(schedtest.Job("r", 1), 0, "n0").
		Pending(schedtest.Job("a", 2), schedtest.Job("b", 1).Submitted(1)))
	assert.Equal(t, sched.ReasonWaiting, decision(t, p, "a").Reason.Code)
	assert.Equal(t, []string{"r"}, decision(t, p, "a").Reason.Ahead)
	assert.Equal(t, []string{"a"}, decision(t, p, "b").Reason.Ahead)
	assert.Equal(t, "waits, behind a", decision(t, p, "b").Reason.String())
}

func TestTooLargeIsPassedOver(t *testing.T) {
	for name, newPolicy := range policies {
		p := plan(t, newPolicy(), schedtest.Snapshot(schedtest.Nodes(2, 1)).
			Pending(schedtest.Job("huge", 3), schedtest.Job("b", 1).Submitted(1)))
		assert.Equal(t, sched.ReasonTooLarge, decision(t, p, "huge").Reason.Code, name)
		assert.Equal(t, []string{"b"}, schedtest.Started(p), name)
	}
}

func TestUnknownDemand(t *testing.T) {
	p := plan(t, baseline.NewFIFO(), schedtest.Snapshot(schedtest.Nodes(2, 1)).
		Pending(schedtest.Job("gpu", 1).Demand(sched.Resources{"gpu": 1}), schedtest.Job("b", 1).Submitted(1)))
	assert.Equal(t, sched.ReasonNoFeasibleSet, decision(t, p, "gpu").Reason.Code)
	assert.Equal(t, []string{"b"}, schedtest.Started(p))
}

func TestPreferredNodesFirst(t *testing.T) {
	r1 := sched.NodesWith("rack", "r1")
	for name, newPolicy := range policies {
		p := plan(t, newPolicy(), schedtest.Snapshot(schedtest.Nodes(4, 2)).Pending(schedtest.Job("a", 2).Prefers(r1, 1.5)))
		assert.Equal(t, []sched.NodeTasks{{Node: "n2", Tasks: 1}, {Node: "n3", Tasks: 1}}, decision(t, p, "a").Nodes, name)
		p = plan(t, newPolicy(), schedtest.Snapshot(schedtest.Nodes(4, 2)).Pending(schedtest.Job("a", 3).Prefers(r1, 1.5)))
		assert.Len(t, decision(t, p, "a").Nodes, 3, "%s: does not fit there, so anywhere", name)
	}
}

func TestPrioPreempts(t *testing.T) {
	job := schedtest.Job
	for _, tt := range []struct {
		name string
		b    *schedtest.SnapshotBuilder
		want []string
		runs []string
	}{
		{"the latest started", schedtest.Snapshot(schedtest.Nodes(3, 1)).Now(10).
			Running(job("old", 1), 1, "n0").Running(job("new", 1), 3, "n1").Running(job("mid", 1), 2, "n2").
			Pending(job("slo", 2).Priority(1)), []string{"new", "mid"}, []string{"slo"}},
		{"the lowest priority first", schedtest.Snapshot(schedtest.Nodes(2, 1)).Now(10).
			Running(job("low", 1), 1, "n0").Running(job("high", 1).Priority(1), 3, "n1").
			Pending(job("slo", 1).Priority(2)), []string{"low"}, []string{"slo"}},
		{"none of equal priority", schedtest.Snapshot(schedtest.Nodes(1, 1)).Now(10).
			Running(job("low", 1), 1, "n0").Pending(job("be", 1)), nil, nil},
		{"none in vain", schedtest.Snapshot(schedtest.Nodes(2, 1)).Now(10).
			Running(job("low", 1), 1, "n0").Running(job("high", 1).Priority(1), 3, "n1").
			Pending(job("slo", 2).Priority(1)), nil, nil},
		{"no more than needed", schedtest.Snapshot(schedtest.Nodes(4, 1)).Now(10).
			Running(job("wide", 3), 1, "n0", "n1", "n2").Running(job("new", 1), 3, "n3").
			Pending(job("slo", 3).Priority(1)), []string{"wide"}, []string{"slo"}},
		{"not where it may not run", schedtest.Snapshot(schedtest.Nodes(2, 2)).Now(10).
			Running(job("in", 1), 1, "n1").Running(job("out", 1), 3, "n0").
			Pending(job("slo", 1).Priority(1).Requires(sched.NodesWith("rack", "r1"))), []string{"in"}, []string{"slo"}},
		{"several that only together make room",
			schedtest.Snapshot([]sched.Node{{Name: "n0", Capacity: sched.Resources{"cpu": 4}}}).Now(10).
				Running(job("a", 2).Demand(sched.Resources{"cpu": 1}), 1, "n0", "n0").
				Running(job("b", 2).Demand(sched.Resources{"cpu": 1}), 2, "n0", "n0").
				Pending(job("slo", 1).Demand(sched.Resources{"cpu": 4}).Priority(1)), []string{"b", "a"}, []string{"slo"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := plan(t, baseline.NewPrio(), tt.b)
			assert.Equal(t, tt.want, schedtest.Preempted(p))
			assert.Equal(t, tt.runs, schedtest.Started(p))
			for _, id := range tt.want {
				assert.Equal(t, "slo", decision(t, p, id).Reason.For)
			}
		})
	}
}

// witness lets a policy with history and one without decide the same cycle.
type witness struct {
	sched.Policy
	t     *testing.T
	fresh func() sched.Policy
	busy  int
}

func (w *witness) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	before := s.Clone()
	plan, err := w.Policy.Plan(ctx, s)
	require.NoError(w.t, err)
	want, err := w.fresh().Plan(ctx, before)
	require.NoError(w.t, err)
	require.Equal(w.t, want, plan)
	schedtest.CheckPlan(w.t, s, plan)
	if len(s.Pending) > 20 && len(plan.Decisions) > 0 {
		w.busy++
	}
	return plan, nil
}

// TestHistoryChangesNothing drives each policy through cycles in which jobs come, go and are forecast anew,
// and nodes come and go: what it keeps between cycles must not show.
func TestHistoryChangesNothing(t *testing.T) {
	for name, newPolicy := range policies {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(8, 8))
			nodes := schedtest.Nodes(12, 3)
			c := schedtest.NewCluster(schedtest.At(0), nodes)
			c.Refuse = func(string) bool { return rng.IntN(10) == 0 }
			w := &witness{Policy: newPolicy(), t: t, fresh: newPolicy}
			loop, err := sched.NewLoop(c, w, &moody{rng: rng}, sched.WithFreshPredictions())
			require.NoError(t, err)
			for i := range 150 {
				for k := range rng.IntN(3) {
					j := schedtest.Job(fmt.Sprintf("j%d-%d", i, k), 1+rng.IntN(5)).Submitted(float64(4 * i)).Priority(rng.IntN(3))
					if rng.IntN(2) == 0 {
						j.Deadline(float64(50 + rng.IntN(500)))
					}
					switch rng.IntN(4) {
					case 0:
						j.Prefers(sched.NodesWith("rack", "r1"), 2)
					case 1:
						j.Requires(sched.NodesWith("rack", "r0", "r2"))
					}
					c.Submit(j.Job(), float64(20+rng.IntN(60)))
				}
				switch rng.IntN(20) {
				case 0:
					c.NodeDown("n5")
				case 1:
					c.NodeUp(nodes[5])
				case 2:
					c.Withdraw(fmt.Sprintf("j%d-0", rng.IntN(i+1)))
				}
				now := schedtest.At(float64(4*i + 1))
				c.Advance(now)
				_, err := loop.Step(context.Background(), now)
				require.NoError(t, err)
			}
			require.Greater(t, w.busy, 20, "the workload must queue")
		})
	}
}

// moody forecasts something else every time.
type moody struct{ rng *rand.Rand }

func (m *moody) Predict(j predict.Job) predict.Prediction {
	return schedtest.Job(j.ID, 1).Runs(float64(m.rng.IntN(100))).Prediction()
}

func (*moody) Observe(predict.Observation) error { return nil }

// A greedy queue says once what many jobs wait for.
func TestRestSpeaksForAllThatWaitAlike(t *testing.T) {
	r1 := sched.NodesWith("rack", "r1")
	b := schedtest.Snapshot(schedtest.Nodes(2, 2)).Now(10).
		Running(schedtest.Job("r0", 1), 0, "n0").Running(schedtest.Job("r1", 1), 0, "n1")
	for i := range 50 {
		b.Pending(schedtest.Job(fmt.Sprintf("any%d", i), 1).Submitted(float64(i)))
	}
	b.Pending(schedtest.Job("there", 1).Submitted(9).Requires(r1))
	for _, p := range []sched.Policy{baseline.NewEDF(), baseline.NewSJF(), baseline.NewPrio()} {
		got := plan(t, p, b)
		require.Len(t, got.Decisions, 1)
		assert.Equal(t, "waits on rack=r1, behind r1", decision(t, got, "there").Reason.String())
		assert.Equal(t, "waits on any, behind r0, r1", got.Rest.String())
	}
}

func ExampleNewPrio() {
	s, err := schedtest.Snapshot(schedtest.Nodes(2, 1)).Now(60).
		Running(schedtest.Job("batch", 2), 0, "n0", "n1").
		Pending(schedtest.Job("urgent", 1).Submitted(60).Priority(1), schedtest.Job("more", 2).Submitted(60)).
		Build()
	if err != nil {
		panic(err)
	}
	plan, err := baseline.NewPrio().Plan(context.Background(), s)
	if err != nil {
		panic(err)
	}
	for d := range plan.All(s) {
		fmt.Printf("%s %s: %s\n", d.Kind, d.Job, d.Reason)
	}
	// Output:
	// preempt batch: preempted for urgent
	// start urgent: starts now on any
	// defer more: waits on any, behind urgent
}
