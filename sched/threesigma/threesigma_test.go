package threesigma_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/threesigma"
	"github.com/hedgesched/hedge/utility"
)

var epoch = time.Unix(0, 0).UTC()

const minute = 60.0

func uniform(t testing.TB, lo, hi float64) dist.Distribution {
	t.Helper()
	d, err := dist.NewUniform(lo, hi)
	require.NoError(t, err)
	return d
}

func slo(t testing.TB, id string, tasks int, deadline time.Duration) *sched.Job {
	t.Helper()
	u, err := utility.Deadline(deadline, 100)
	require.NoError(t, err)
	return &sched.Job{ID: id, Tasks: tasks, Utility: u, Deadline: deadline, Priority: 1, Submitted: epoch}
}

func be(t testing.TB, id string, tasks int) *sched.Job {
	t.Helper()
	u, err := utility.LinearDecay(5, time.Hour)
	require.NoError(t, err)
	return &sched.Job{ID: id, Tasks: tasks, Utility: u, Submitted: epoch}
}

func forecast(d dist.Distribution) predict.Prediction {
	return predict.Prediction{Dist: d, Point: d.Mean()}
}

// cluster is n whole nodes in racks of two, with what the running jobs leave.
func cluster(t testing.TB, n int, now time.Time, running ...sched.Running) *sched.Snapshot {
	t.Helper()
	nodes := make([]sched.Node, n)
	for i := range nodes {
		nodes[i] = sched.Node{Name: fmt.Sprintf("n%d", i), Labels: map[string]string{"rack": fmt.Sprintf("r%d", i/2)}}
	}
	set, err := sched.NewNodeSet(nodes)
	require.NoError(t, err)
	s := &sched.Snapshot{Now: now, Nodes: set, Free: append([]float64(nil), set.Capacity()...), Running: running}
	for _, r := range running {
		for _, on := range r.Nodes {
			i, ok := set.Index(on.Node)
			require.True(t, ok)
			s.Free[i] -= float64(on.Tasks)
		}
	}
	return s
}

// policy has slots of two minutes unless they are set.
func policy(t testing.TB, cfg threesigma.Config) *threesigma.Policy {
	t.Helper()
	if cfg.Slot == 0 && cfg.Window == 0 {
		cfg.Slot = 2 * time.Minute
	}
	p, err := threesigma.New(cfg)
	require.NoError(t, err)
	return p
}

func plan(t testing.TB, p *threesigma.Policy, s *sched.Snapshot) map[string]sched.Decision {
	t.Helper()
	got, err := p.Plan(context.Background(), s)
	require.NoError(t, err)
	require.NoError(t, sched.CheckPlan(s, got))
	byJob := map[string]sched.Decision{}
	for _, d := range got.Decisions {
		byJob[d.Job] = d
	}
	return byJob
}

// TestFigure5 is the paper's worked example (section 4.3.2): the same mean runtime, and the
// order of the two jobs turns on the distribution alone.
func TestFigure5(t *testing.T) {
	cfg := threesigma.Config{Window: 20 * time.Minute, Slot: 150 * time.Second}
	t.Run("U(0,10): the SLO job first", func(t *testing.T) {
		s := cluster(t, 1, epoch)
		d := forecast(uniform(t, 0, 10*minute))
		s.Pending = []sched.Pending{{Job: be(t, "be", 1), Prediction: d},
			{Job: slo(t, "slo", 1, 15*time.Minute), Prediction: d}}
		got := plan(t, policy(t, cfg), s)
		assert.Equal(t, sched.Start, got["slo"].Kind)
		assert.Equal(t, sched.Defer, got["be"].Kind)
		assert.InDelta(t, 1, got["slo"].Reason.Probability, 1e-12)
		assert.Equal(t, epoch.Add(10*time.Minute), got["be"].Start)
	})
	t.Run("U(2.5,7.5): the BE job first, the SLO job at 7.5", func(t *testing.T) {
		s := cluster(t, 1, epoch)
		d := forecast(uniform(t, 2.5*minute, 7.5*minute))
		s.Pending = []sched.Pending{{Job: be(t, "be", 1), Prediction: d},
			{Job: slo(t, "slo", 1, 15*time.Minute), Prediction: d}}
		got := plan(t, policy(t, cfg), s)
		assert.Equal(t, sched.Start, got["be"].Kind)
		assert.Equal(t, sched.Defer, got["slo"].Kind)
		assert.Equal(t, epoch.Add(450*time.Second), got["slo"].Start)
		assert.Equal(t, sched.ReasonDeferred, got["slo"].Reason.Code)
	})
}

// TestOverEstimate: every past runtime exceeds the time to the deadline.
func TestOverEstimate(t *testing.T) {
	for _, c := range []struct {
		name string
		mode threesigma.OverEstimate
		hist [2]float64
		kind sched.Kind
		code sched.ReasonCode
	}{
		{"off drops it", threesigma.Off, [2]float64{20 * minute, 30 * minute}, sched.Defer, sched.ReasonNoUtility},
		{"adaptive tries it", threesigma.Adaptive, [2]float64{20 * minute, 30 * minute}, sched.Start, sched.ReasonPlaced},
		{"always tries it", threesigma.Always, [2]float64{20 * minute, 30 * minute}, sched.Start, sched.ReasonPlaced},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := cluster(t, 1, epoch)
			s.Pending = []sched.Pending{
				{Job: slo(t, "slo", 1, 15*time.Minute), Prediction: forecast(uniform(t, c.hist[0], c.hist[1]))}}
			got := plan(t, policy(t, threesigma.Config{OverEstimate: c.mode}), s)
			assert.Equal(t, c.kind, got["slo"].Kind)
			assert.Equal(t, c.code, got["slo"].Reason.Code)
		})
	}
	t.Run("a job that can make it goes before one that seems impossible", func(t *testing.T) {
		s := cluster(t, 1, epoch)
		s.Pending = []sched.Pending{
			{Job: slo(t, "impossible", 1, 15*time.Minute), Prediction: forecast(uniform(t, 20*minute, 30*minute))},
			{Job: slo(t, "possible", 1, 15*time.Minute), Prediction: forecast(uniform(t, 12*minute, 14*minute))},
		}
		got := plan(t, policy(t, threesigma.Config{}), s)
		assert.Equal(t, sched.Start, got["possible"].Kind)
	})
}

// TestPreemption: an SLO job that must start now takes the nodes of best-effort jobs, of as few
// as will do, and best-effort jobs never preempt each other.
func TestPreemption(t *testing.T) {
	running := []sched.Running{
		{Job: be(t, "a", 1), Prediction: forecast(uniform(t, 30*minute, 40*minute)), Started: epoch,
			Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}},
		{Job: be(t, "b", 1), Prediction: forecast(uniform(t, 30*minute, 40*minute)), Started: epoch,
			Nodes: []sched.NodeTasks{{Node: "n1", Tasks: 1}}},
	}
	s := cluster(t, 2, epoch.Add(time.Minute), running...)
	s.Pending = []sched.Pending{{Job: slo(t, "slo", 1, 10*time.Minute),
		Prediction: forecast(uniform(t, 5*minute, 8*minute))}}
	p := policy(t, threesigma.Config{})
	got, err := p.Plan(context.Background(), s)
	require.NoError(t, err)
	require.NoError(t, sched.CheckPlan(s, got))
	require.Len(t, got.Decisions, 2)
	assert.Equal(t, sched.Preempt, got.Decisions[0].Kind)
	assert.Equal(t, "slo", got.Decisions[0].Reason.For)
	assert.Equal(t, sched.Start, got.Decisions[1].Kind)

	off := plan(t, policy(t, threesigma.Config{Without: threesigma.Preemption}), s)
	assert.Len(t, off, 1)
	assert.Equal(t, sched.Defer, off["slo"].Kind)

	s.Pending = []sched.Pending{{Job: be(t, "c", 1), Prediction: forecast(uniform(t, 1, 2))}}
	assert.Len(t, plan(t, policy(t, threesigma.Config{}), s), 1, "best effort preempts nothing")
}

// TestExpInc: a job past its longest known runtime is taken to end 1, 2, 4, ... cycles later.
func TestExpInc(t *testing.T) {
	cfg := threesigma.Config{Window: 100 * time.Second, Slot: 10 * time.Second}
	pt, err := dist.NewPoint(100)
	require.NoError(t, err)
	running := sched.Running{Job: be(t, "late", 1), Prediction: forecast(pt), Started: epoch,
		Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}}
	p := policy(t, cfg)
	// The waiting job is planned for when the running one is believed to end.
	wait := []time.Duration{10, 20, 10, 40, 30, 20, 10, 80}
	for i, w := range wait {
		now := epoch.Add(time.Duration(100+10*i) * time.Second)
		s := cluster(t, 1, now, running)
		next := be(t, "next", 1)
		s.Pending = []sched.Pending{{Job: next, Prediction: forecast(pt)}}
		got := plan(t, p, s)
		assert.Equal(t, now.Add(w*time.Second), got["next"].Start, "cycle %d", i)
	}
}

// TestConditioning: what has run longer than its short mode is known to be of the long one.
func TestConditioning(t *testing.T) {
	d, err := dist.FromSamples([]float64{60, 60, 60, 1200})
	require.NoError(t, err)
	running := sched.Running{Job: be(t, "bimodal", 1), Prediction: forecast(d), Started: epoch,
		Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}}
	s := cluster(t, 1, epoch.Add(2*time.Minute), running)
	pt, err := dist.NewPoint(30)
	require.NoError(t, err)
	s.Pending = []sched.Pending{{Job: be(t, "next", 1), Prediction: forecast(pt)}}
	cfg := threesigma.Config{Slot: 2 * time.Minute, Window: 30 * time.Minute}
	assert.Equal(t, epoch.Add(20*time.Minute), plan(t, policy(t, cfg), s)["next"].Start)
}

// TestSoftPreferences: a job waits for its preferred rack when it can, and takes the slower
// nodes when the deadline does not let it wait.
func TestSoftPreferences(t *testing.T) {
	pt, err := dist.NewPoint(300)
	require.NoError(t, err)
	busy := sched.Running{Job: be(t, "busy", 2), Prediction: forecast(pt), Started: epoch,
		Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}, {Node: "n1", Tasks: 1}}}
	for _, c := range []struct {
		name     string
		deadline time.Duration
		without  threesigma.Mechanism
		kind     sched.Kind
	}{
		{"pressed", 8 * time.Minute, threesigma.Preemption, sched.Start},
		{"no preferences", 8 * time.Minute, threesigma.Preemption | threesigma.SoftPreferences, sched.Defer},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := cluster(t, 4, epoch, busy)
			j := slo(t, "slo", 2, c.deadline)
			j.Speeds = sched.SpeedsOf(sched.Speed{On: sched.NodesWith("rack", "r0"), Factor: 1}, sched.Speed{Factor: 1 / 1.5})
			s.Pending = []sched.Pending{{Job: j, Prediction: forecast(pt)}}
			got := plan(t, policy(t, threesigma.Config{Slot: time.Minute, Without: c.without}), s)
			assert.Equal(t, c.kind, got["slo"].Kind)
		})
	}
}

// TestConformance runs the suite every policy has to pass, for every variant.
func TestConformance(t *testing.T) {
	names := threesigma.Variants()
	if testing.Short() {
		t.Log("short: the suite runs for 3sigma and point-real only; without -short for every variant")
		names = []string{"3sigma", "point-real"}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			cfg, err := threesigma.Variant(name)
			require.NoError(t, err)
			cfg.Options.Work = 2000 // small problems, hundreds of cycles
			schedtest.RunPolicy(t, func() sched.Policy { return policy(t, cfg) })
		})
	}
}

// TestNobodyIsPreemptedForNothing: what a victim holds in pieces does not make room for a task
// that needs a whole node.
func TestNobodyIsPreemptedForNothing(t *testing.T) {
	nodes, err := sched.NewNodeSet([]sched.Node{
		{Name: "n0", Capacity: sched.Resources{"cpu": 4}}, {Name: "n1", Capacity: sched.Resources{"cpu": 4}},
	})
	require.NoError(t, err)
	half := func(id string, priority int) sched.Running {
		j := be(t, id, 2)
		j.Demand, j.Priority = sched.Resources{"cpu": 2}, priority
		return sched.Running{Job: j, Prediction: forecast(uniform(t, 3000, 4000)), Started: epoch,
			Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}, {Node: "n1", Tasks: 1}}}
	}
	j := slo(t, "p", 1, 10*time.Minute)
	j.Demand, j.Priority = sched.Resources{"cpu": 4}, 5
	s := &sched.Snapshot{Now: epoch.Add(time.Minute), Nodes: nodes, Free: []float64{0, 0},
		Running: []sched.Running{half("a", 0), half("b", 9)},
		Pending: []sched.Pending{{Job: j, Prediction: forecast(uniform(t, 200, 300))}}}
	got := plan(t, policy(t, threesigma.Config{}), s)
	assert.Len(t, got, 1)
	assert.Equal(t, sched.Defer, got["p"].Kind)
}

// TestFreshPrediction: a new forecast of a waiting job is planned with.
func TestFreshPrediction(t *testing.T) {
	s := cluster(t, 1, epoch)
	j := slo(t, "slo", 1, 15*time.Minute)
	p := policy(t, threesigma.Config{OverEstimate: threesigma.Off})
	s.Pending = []sched.Pending{{Job: j, Prediction: forecast(uniform(t, 60, 120))}}
	assert.Equal(t, sched.Start, plan(t, p, s)["slo"].Kind)
	s.Pending = []sched.Pending{{Job: j, Prediction: forecast(uniform(t, 6000, 12000))}}
	assert.Equal(t, sched.ReasonNoUtility, plan(t, p, s)["slo"].Reason.Code)
}

func TestVariants(t *testing.T) {
	_, err := threesigma.Variant("4sigma")
	require.ErrorIs(t, err, threesigma.ErrVariant)
	assert.ErrorContains(t, err, "3sigma-nodist")
	for _, v := range threesigma.Variants() {
		cfg, err := threesigma.Variant(v)
		require.NoError(t, err)
		assert.Equal(t, v, policy(t, cfg).Name())
	}
}

// BenchmarkPlan is one cycle at the size of the paper's testbed and of its Google cluster: value the
// options, solve, extract.
func BenchmarkPlan(b *testing.B) {
	for _, size := range []struct{ nodes, pending int }{{256, 60}, {12_583, 300}} {
		b.Run(fmt.Sprintf("nodes=%d/pending=%d", size.nodes, size.pending), func(b *testing.B) {
			s := cluster(b, size.nodes, epoch.Add(time.Minute))
			for i := range size.pending {
				lo := float64(30 + 37*i%900)
				j := be(b, fmt.Sprintf("be%d", i), 1+i*7%(size.nodes/8))
				if i%2 == 0 {
					j = slo(b, fmt.Sprintf("slo%d", i), 1+i*5%(size.nodes/8), time.Duration(lo*1.5)*time.Second)
				}
				s.Pending = append(s.Pending, sched.Pending{Job: j, Prediction: forecast(uniform(b, lo, 2*lo))})
			}
			p := policy(b, threesigma.Config{})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Plan(context.Background(), s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
