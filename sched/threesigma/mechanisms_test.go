package threesigma_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/threesigma"
	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native"
	"github.com/hedgesched/hedge/utility"
)

// recorder is an engine that keeps what it is asked.
type recorder struct {
	solver.Solver
	opts  solver.Options
	hints []map[string]int
	// usage and options count, over all problems, consumption terms and placement options.
	usage, options int
	asked, slots   int
	slotSeconds    float64
	// preempted are the ids of the last solution, and worth is its value.
	preempted []string
	worth     float64
}

func record() *recorder { return &recorder{Solver: native.New(nil)} }

func (r *recorder) Solve(ctx context.Context, p *solver.Problem, opts solver.Options,
	report func(*solver.Solution)) (*solver.Solution, error) {
	r.asked++
	r.slots, r.slotSeconds = p.Slots, p.SlotSeconds
	r.opts = opts
	hint := map[string]int{}
	for id, o := range p.Hint {
		hint[id] = o
	}
	r.hints = append(r.hints, hint)
	for _, j := range p.Jobs {
		r.options += len(j.Options)
		for _, o := range j.Options {
			r.usage += len(o.Usage)
		}
	}
	sol, err := r.Solver.Solve(ctx, p, opts, report)
	if sol != nil {
		r.preempted, r.worth = sol.Preempt, solver.Objective(p, sol)
	}
	return sol, err
}

func point(t testing.TB, v float64) dist.Distribution {
	t.Helper()
	d, err := dist.NewPoint(v)
	require.NoError(t, err)
	return d
}

// TestConditioningOff: without it a job in its long mode is believed to end by the odds it began with.
func TestConditioningOff(t *testing.T) {
	d, err := dist.FromSamples([]float64{60, 60, 60, 1200})
	require.NoError(t, err)
	s := cluster(t, 4, epoch.Add(2*time.Minute), sched.Running{
		Job: be(t, "bimodal", 4), Prediction: forecast(d), Started: epoch,
		Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}, {Node: "n1", Tasks: 1}, {Node: "n2", Tasks: 1},
			{Node: "n3", Tasks: 1}},
	})
	s.Pending = []sched.Pending{{Job: be(t, "next", 3), Prediction: forecast(point(t, 30))}}
	cfg := threesigma.Config{Slot: 2 * time.Minute, Window: 30 * time.Minute}
	on := plan(t, policy(t, cfg), s)["next"].Start
	cfg.Without = threesigma.Conditioning
	off := plan(t, policy(t, cfg), s)["next"].Start
	assert.Equal(t, epoch.Add(20*time.Minute), on)
	assert.Equal(t, epoch.Add(4*time.Minute), off)
}

// TestExpIncOff: without it an overdue job is always about to end.
func TestExpIncOff(t *testing.T) {
	cfg := threesigma.Config{Window: 100 * time.Second, Slot: 10 * time.Second, Without: threesigma.ExpInc}
	running := sched.Running{Job: be(t, "late", 1), Prediction: forecast(point(t, 100)), Started: epoch,
		Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}}
	p := policy(t, cfg)
	for i := range 5 {
		now := epoch.Add(time.Duration(100+10*i) * time.Second)
		s := cluster(t, 1, now, running)
		s.Pending = []sched.Pending{{Job: be(t, "next", 1), Prediction: forecast(point(t, 100))}}
		assert.Equal(t, now.Add(10*time.Second), plan(t, p, s)["next"].Start, "cycle %d", i)
	}
}

// TestExpIncIsStateless: a cycle is a function of its snapshot, so cycles that were left out change nothing.
func TestExpIncIsStateless(t *testing.T) {
	cfg := threesigma.Config{Window: 400 * time.Second, Slot: 10 * time.Second}
	running := sched.Running{Job: be(t, "late", 1), Prediction: forecast(point(t, 100)), Started: epoch,
		Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}}
	always := policy(t, cfg)
	for i := range 40 {
		s := cluster(t, 1, epoch.Add(time.Duration(100+10*i)*time.Second), running)
		s.Pending = []sched.Pending{{Job: be(t, "next", 1), Prediction: forecast(point(t, 10))}}
		assert.Equal(t, plan(t, policy(t, cfg), s)["next"].Start, plan(t, always, s)["next"].Start, "cycle %d", i)
	}
}

// TestAdaptiveTail: of a job with a small chance the adaptive policy says what its distribution says, the
// one that is always on says more.
func TestAdaptiveTail(t *testing.T) {
	value := func(cfg threesigma.Config, lo, hi float64) float64 {
		s := cluster(t, 1, epoch)
		s.Pending = []sched.Pending{{Job: slo(t, "slo", 1, 15*time.Minute), Prediction: forecast(uniform(t, lo, hi))}}
		return plan(t, policy(t, cfg), s)["slo"].Reason.Value
	}
	for _, c := range []struct {
		name                  string
		lo, hi                float64
		off, adaptive, always string
	}{
		{"likely", 5 * minute, 20 * minute, "plain", "plain", "tail"},
		{"one in twenty", 14 * minute, 34 * minute, "plain", "plain", "tail"},
		{"less", 14.9 * minute, 24.9 * minute, "plain", "tail", "tail"},
		{"no chance", 20 * minute, 30 * minute, "plain", "tail", "tail"},
	} {
		t.Run(c.name, func(t *testing.T) {
			plain := 100 * max(0, (15*minute-c.lo)/(c.hi-c.lo))
			for mode, want := range map[threesigma.OverEstimate]string{
				threesigma.Off: c.off, threesigma.Adaptive: c.adaptive, threesigma.Always: c.always,
			} {
				got := value(threesigma.Config{OverEstimate: mode}, c.lo, c.hi)
				if want == "plain" {
					assert.InDelta(t, plain, got, 1e-9, "mode %d", mode)
				} else {
					assert.Greater(t, got, plain+1, "mode %d", mode)
					assert.Less(t, got, 100.0)
				}
			}
		})
	}
	t.Run("threshold", func(t *testing.T) {
		assert.Greater(t, value(threesigma.Config{Threshold: 0.9}, 5*minute, 20*minute), 67.0)
		assert.InDelta(t, 1, value(threesigma.Config{Threshold: threesigma.None}, 14.9*minute, 24.9*minute), 1e-9)
		assert.Greater(t, value(threesigma.Config{Threshold: threesigma.None}, 20*minute, 30*minute), 1.0, "no chance at all")
	})
	t.Run("none", func(t *testing.T) {
		assert.Zero(t, value(threesigma.Config{TailWeight: threesigma.None}, 20*minute, 30*minute))
	})
}

// stairs is a utility of another type than Curve.
type stairs struct{ deadline, before, after float64 }

func (u stairs) At(t float64) float64 {
	if t <= u.deadline {
		return u.before
	}
	return u.after
}

// TestTailExtends: the tail is for steps, whatever leads up to them; a utility that itself says what being late
// is worth is left as it is.
func TestTailExtends(t *testing.T) {
	curve := func(points ...utility.Point) utility.Utility {
		c, err := utility.Piecewise(points)
		require.NoError(t, err)
		return c
	}
	const deadline = 15 * minute
	late := forecast(uniform(t, 20*minute, 30*minute))
	for _, c := range []struct {
		name   string
		worth  utility.Utility
		tailed bool
	}{
		{"step", curve(utility.Point{T: deadline, V: 100}, utility.Point{T: deadline}), true},
		{"falling step", curve(utility.Point{V: 300}, utility.Point{T: deadline, V: 100}, utility.Point{T: deadline}), true},
		{"step and zero", curve(utility.Point{T: deadline, V: 100}, utility.Point{T: deadline},
			utility.Point{T: 2 * deadline}), true},
		{"decay past the deadline", curve(utility.Point{V: 100}, utility.Point{T: 25 * minute}), false},
		{"a lower step", curve(utility.Point{T: deadline, V: 100}, utility.Point{T: deadline, V: 1}), false},
		{"a penalty", curve(utility.Point{T: deadline, V: 100}, utility.Point{T: deadline, V: -50}), false},
		{"a short grace", curve(utility.Point{T: deadline, V: 100}, utility.Point{T: deadline + 1}), false},
		{"worth nothing in time", curve(utility.Point{T: minute, V: 100}, utility.Point{T: minute}), false},
		{"another type's step", stairs{deadline, 100, 0}, true},
		{"another type's lower step", stairs{deadline, 100, 2}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := cluster(t, 1, epoch)
			j := slo(t, "slo", 1, 15*time.Minute)
			j.Utility = c.worth
			s.Pending = []sched.Pending{{Job: j, Prediction: late}}
			got := plan(t, policy(t, threesigma.Config{}), s)["slo"].Reason.Value
			own := max(0, utility.Expected(c.worth, late.Dist, 0))
			if c.tailed {
				assert.Greater(t, got, own+1)
				assert.Less(t, got, 25.0)
			} else {
				assert.InDelta(t, own, got, 1e-9)
			}
		})
	}
}

// TestPreemptWeight: the price decides whether a small gain is worth a preemption.
func TestPreemptWeight(t *testing.T) {
	running := sched.Running{Job: be(t, "a", 1), Prediction: forecast(uniform(t, 30*minute, 40*minute)), Started: epoch,
		Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}}
	for weight, kind := range map[float64]sched.Kind{0: sched.Start, threesigma.None: sched.Start, 1000: sched.Defer} {
		s := cluster(t, 1, epoch.Add(time.Minute), running)
		s.Pending = []sched.Pending{
			{Job: slo(t, "slo", 1, 10*time.Minute), Prediction: forecast(uniform(t, 5*minute, 8*minute))}}
		got := plan(t, policy(t, threesigma.Config{PreemptWeight: weight}), s)
		assert.Equal(t, kind, got["slo"].Kind, "weight %v", weight)
		if weight == threesigma.None {
			assert.Zero(t, got["a"].Reason.Value)
		}
	}
}

// TestPreemptionSparesWork: of two jobs the one is preempted that throws less work away, though it earns more.
func TestPreemptionSparesWork(t *testing.T) {
	job := func(id string, value float64) *sched.Job {
		j := be(t, id, 1)
		u, err := utility.LinearDecay(value, 1000*time.Hour)
		require.NoError(t, err)
		j.Utility = u
		return j
	}
	now := epoch.Add(25 * time.Minute)
	for _, lasts := range []float64{30 * minute, 20 * minute} { // nearly done, and overdue
		s := cluster(t, 2, now,
			sched.Running{Job: job("old", 4), Prediction: forecast(point(t, lasts)), Started: epoch,
				Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}},
			sched.Running{Job: job("young", 5), Prediction: forecast(point(t, lasts)), Started: now.Add(-time.Minute),
				Nodes: []sched.NodeTasks{{Node: "n1", Tasks: 1}}})
		urgent := slo(t, "urgent", 1, 10*time.Minute)
		urgent.Submitted = now
		s.Pending = []sched.Pending{{Job: urgent, Prediction: forecast(uniform(t, 5*minute, 8*minute))}}
		got := plan(t, policy(t, threesigma.Config{Slot: 4 * time.Minute, Window: 20 * time.Minute}), s)
		assert.Contains(t, got, "young")
		assert.NotContains(t, got, "old")
		assert.Equal(t, sched.Start, got["urgent"].Kind)
	}
}

// TestHaste: of a job that is worth the same whenever it starts the later starts are worth a little less.
func TestHaste(t *testing.T) {
	for haste, want := range map[float64]float64{threesigma.None: 100, 0: 100 - 0.2*5/12, 0.5: 100 - 50.0*5/12} {
		running := sched.Running{Job: be(t, "a", 1), Prediction: forecast(point(t, 300)), Started: epoch,
			Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}}
		s := cluster(t, 1, epoch, running)
		s.Pending = []sched.Pending{{Job: slo(t, "slo", 1, time.Hour), Prediction: forecast(point(t, 60))}}
		got := plan(t, policy(t, threesigma.Config{Slot: time.Minute, Haste: haste, Without: threesigma.Preemption}),
			s)["slo"]
		assert.Equal(t, epoch.Add(5*time.Minute), got.Start)
		assert.InDelta(t, want, got.Reason.Value, 1e-9, "haste %v", haste)
	}
}

// TestWarmStart: the solver is told the last plan, and not without the mechanism.
func TestWarmStart(t *testing.T) {
	for _, without := range []threesigma.Mechanism{0, threesigma.WarmStart} {
		engine := record()
		p := policy(t, threesigma.Config{Solver: engine, Slot: time.Minute, Without: without})
		running := sched.Running{Job: be(t, "a", 1), Prediction: forecast(point(t, 300)), Started: epoch,
			Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}}
		for i := range 2 {
			s := cluster(t, 1, epoch.Add(time.Duration(i)*time.Minute), running)
			// A host may make the same job and forecast anew in every cycle.
			s.Pending = []sched.Pending{{Job: be(t, "next", 1), Prediction: forecast(uniform(t, 59, 60))}}
			assert.Equal(t, epoch.Add(5*time.Minute), plan(t, p, s)["next"].Start)
		}
		assert.Empty(t, engine.hints[0])
		if without == 0 {
			assert.Equal(t, map[string]int{"next": 4}, engine.hints[1], "four slots are left of five")
		} else {
			assert.Empty(t, engine.hints[1])
		}
	}
}

// TestStopping: what a preempted job has not given back yet is not planned with, and the
// job that waits for it is not called fragmented.
func TestStopping(t *testing.T) {
	engine := record()
	p := policy(t, threesigma.Config{Solver: engine, Slot: time.Minute})
	s := cluster(t, 2, epoch)
	clear(s.Free)
	s.Pending = []sched.Pending{{Job: be(t, "next", 2), Prediction: forecast(point(t, 60))}}
	d := plan(t, p, s)["next"]
	assert.Equal(t, sched.Defer, d.Kind)
	assert.Equal(t, sched.ReasonDeferred, d.Reason.Code)
	assert.Equal(t, epoch.Add(time.Minute), d.Start)
	assert.Equal(t, 1, engine.asked)
}

// TestCutOff: the share of a cycle, the explicit time and the default work bound a solve.
func TestCutOff(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  threesigma.Config
		time time.Duration
		work int64
	}{
		"default":         {threesigma.Config{}, 0, threesigma.DefaultWork},
		"none":            {threesigma.Config{CutOff: threesigma.None}, 0, threesigma.DefaultWork},
		"half of a cycle": {threesigma.Config{CutOff: 0.5}, 2 * time.Second, 0},
		"the lesser":      {threesigma.Config{CutOff: 0.5, Options: solver.Options{Time: time.Second}}, time.Second, 0},
		"the lesser again": {threesigma.Config{CutOff: 0.5, Options: solver.Options{Time: time.Minute, Work: 7}},
			2 * time.Second, 7},
		"work of one's choice": {threesigma.Config{Options: solver.Options{Work: 7}}, 0, 7},
	} {
		t.Run(name, func(t *testing.T) {
			engine := record()
			c.cfg.Solver = engine
			s := cluster(t, 1, epoch)
			s.Cycle = 4 * time.Second
			s.Pending = []sched.Pending{{Job: be(t, "a", 1), Prediction: forecast(point(t, 60))}}
			assert.Equal(t, sched.Start, plan(t, policy(t, c.cfg), s)["a"].Kind)
			assert.Equal(t, c.time, engine.opts.Time)
			assert.Equal(t, c.work, engine.opts.Work)
		})
	}
}

// stubborn never answers before it is told to stop.
type stubborn struct{}

func (stubborn) Name() string { return "stubborn" }

func (stubborn) Solve(ctx context.Context, p *solver.Problem, _ solver.Options,
	_ func(*solver.Solution)) (*solver.Solution, error) {
	<-ctx.Done()
	return &solver.Solution{Stop: solver.StopTime, Choice: map[string]solver.Choice{}}, nil
}

// TestSolverStopped: an engine that found nothing in time is said to be the reason where a job cannot just start, and
// the next cycle is whole.
func TestSolverStopped(t *testing.T) {
	p := policy(t, threesigma.Config{Solver: stubborn{}, CutOff: 0.1})
	for range 2 {
		s := cluster(t, 1, epoch)
		s.Cycle = 10 * time.Millisecond
		s.Pending = []sched.Pending{
			{Job: be(t, "a", 1), Prediction: forecast(point(t, 60))}, {Job: be(t, "b", 1), Prediction: forecast(point(t, 60))},
		}
		got := plan(t, p, s)
		assert.Equal(t, sched.Start, got["a"].Kind)
		assert.Equal(t, sched.ReasonSolverStopped, got["b"].Reason.Code)
		assert.Equal(t, []string{"a"}, got["b"].Reason.Ahead)
	}
}

// TestPruning: what is pruned changes the size of the problem and not what its best plan is worth. Which of two plans
// of one worth the nodes have room for is another matter.
func TestPruning(t *testing.T) {
	for trial := range uint64(40) {
		s, err := schedtest.Random(rand.New(rand.NewPCG(trial, 8)))
		require.NoError(t, err)
		s.Pending = s.Pending[:min(5, len(s.Pending))] // small enough to be solved to the end
		pruned, whole := record(), record()
		opts := solver.Options{Work: 200_000}
		plan(t, policy(t, threesigma.Config{Solver: pruned, Options: opts}), s)
		plan(t, policy(t, threesigma.Config{Solver: whole, Options: opts, Without: threesigma.Pruning}), s)
		require.LessOrEqual(t, pruned.options, whole.options, "trial %d", trial)
		require.LessOrEqual(t, pruned.usage, whole.usage, "trial %d", trial)
		require.InDelta(t, pruned.worth, whole.worth, 1e-3*max(1, whole.worth), "trial %d", trial)
	}
	s := cluster(t, 2, epoch)
	s.Pending = []sched.Pending{
		{Job: slo(t, "hopeless", 2, time.Minute), Prediction: forecast(point(t, 600))},
		{Job: be(t, "sound", 2), Prediction: forecast(point(t, 60))},
	}
	for _, without := range []threesigma.Mechanism{0, threesigma.Pruning} {
		engine := record()
		got := plan(t, policy(t, threesigma.Config{Solver: engine, Without: without, OverEstimate: threesigma.Off}), s)
		assert.Equal(t, sched.Start, got["sound"].Kind)
		assert.Equal(t, sched.ReasonNoUtility, got["hopeless"].Reason.Code)
		assert.Equal(t, map[threesigma.Mechanism]int{0: 12, threesigma.Pruning: 24}[without], engine.options)
	}
}

// packed is a cluster of nodes with that many cpus free each, the rest held by a job that lasts.
func packed(t testing.TB, now time.Time, lasts dist.Distribution, free ...float64) *sched.Snapshot {
	t.Helper()
	const cpus = 4
	var nodes []sched.Node
	running := sched.Running{Job: be(t, "old", 0), Prediction: forecast(lasts), Started: epoch}
	running.Job.Demand = sched.Resources{"cpu": 1}
	for i, f := range free {
		n := sched.Node{Name: fmt.Sprintf("n%d", i), Capacity: sched.Resources{"cpu": cpus}}
		nodes = append(nodes, n)
		if held := int(cpus - f); held > 0 {
			running.Nodes = append(running.Nodes, sched.NodeTasks{Node: n.Name, Tasks: held})
			running.Job.Tasks += held
		}
	}
	set, err := sched.NewNodeSet(nodes)
	require.NoError(t, err)
	return &sched.Snapshot{Now: now, Nodes: set, Free: free, Running: []sched.Running{running}}
}

// eager is a best-effort job that is worth a lot, the more the sooner.
func eager(t testing.TB, id string, tasks int) *sched.Job {
	t.Helper()
	j := be(t, id, tasks)
	u, err := utility.LinearDecay(100, time.Hour)
	require.NoError(t, err)
	j.Utility = u
	return j
}

// TestFragmented: a gang that fits in sum and on no node neither starts nor holds others up, is said to be
// what it is, is planned from the next cycle on for when nodes are expected to have room, and starts when they have.
func TestFragmented(t *testing.T) {
	gang := eager(t, "gang", 2)
	gang.Demand = sched.Resources{"cpu": 3}
	small := be(t, "small", 6)
	small.Demand = sched.Resources{"cpu": 1}
	engine := record()
	p := policy(t, threesigma.Config{Solver: engine, Slot: time.Minute, Without: threesigma.Preemption})
	pending := []sched.Pending{
		{Job: gang, Prediction: forecast(point(t, 600))},
		{Job: small, Prediction: forecast(point(t, 150))},
	}
	lasts := point(t, 300)

	s := packed(t, epoch, lasts, 2, 2, 2)
	s.Pending = pending
	got := plan(t, p, s)
	assert.Equal(t, sched.Start, got["small"].Kind, "six cpus are free and no use to the gang")
	assert.Equal(t, threesigma.ReasonFragmented, got["gang"].Reason.Code)
	assert.Equal(t, 1, engine.asked)

	s = packed(t, epoch.Add(10*time.Second), lasts, 2, 2, 2)
	s.Pending = pending
	got = plan(t, p, s)
	assert.Equal(t, sched.Start, got["small"].Kind)
	assert.Equal(t, threesigma.ReasonFragmented, got["gang"].Reason.Code)
	assert.Equal(t, s.Now.Add(5*time.Minute), got["gang"].Start, "what is known of the gang is not tried again")
	assert.Equal(t, 2, engine.asked)

	s = packed(t, epoch.Add(20*time.Second), lasts, 3, 3, 0)
	s.Pending = pending
	assert.Equal(t, sched.Start, plan(t, p, s)["gang"].Kind)
}

// TestFragmentedForGood: where no node is ever expected to have room the gang has no options, and the others all
// theirs.
func TestFragmentedForGood(t *testing.T) {
	gang := eager(t, "gang", 2)
	gang.Demand = sched.Resources{"cpu": 3}
	p := policy(t, threesigma.Config{Slot: time.Minute, Without: threesigma.Preemption})
	for i := range 20 {
		s := packed(t, epoch.Add(time.Duration(i)*time.Minute), point(t, 1e6), 2, 2, 2)
		small := be(t, fmt.Sprintf("small%d", i), 6)
		small.Demand = sched.Resources{"cpu": 1}
		small.Submitted = s.Now
		s.Pending = []sched.Pending{{Job: gang, Prediction: forecast(point(t, 600))},
			{Job: small, Prediction: forecast(point(t, 600))}}
		got := plan(t, p, s)
		require.Equal(t, sched.Start, got[small.ID].Kind, "cycle %d", i)
		require.Equal(t, threesigma.ReasonFragmented, got["gang"].Reason.Code)
		require.True(t, got["gang"].Start.IsZero())
	}
}

// TestNobodyPaysForEquals: a running best-effort job is not sold for another one that is worth more, which is not
// entitled to it. The node that the latter would have held is used.
func TestNobodyPaysForEquals(t *testing.T) {
	old := sched.Running{Job: be(t, "old", 2), Prediction: forecast(point(t, 3000)), Started: epoch,
		Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}, {Node: "n1", Tasks: 1}}}
	s := cluster(t, 4, epoch, old)
	s.Pending = []sched.Pending{
		// Makes the old one a candidate, and has room.
		{Job: slo(t, "urgent", 1, 10*time.Minute), Prediction: forecast(point(t, 590))},
		{Job: eager(t, "wide", 3), Prediction: forecast(point(t, 60))},
		{Job: be(t, "narrow", 1), Prediction: forecast(point(t, 60))},
	}
	engine := record()
	got := plan(t, policy(t, threesigma.Config{Solver: engine, Slot: time.Minute}), s)
	assert.NotContains(t, got, "old")
	assert.Equal(t, sched.Start, got["urgent"].Kind)
	assert.Equal(t, sched.Start, got["narrow"].Kind)
	assert.Equal(t, sched.ReasonDeferred, got["wide"].Reason.Code)
	assert.Equal(t, 1, engine.asked)
}

// TestNobodyMakesRoomForEquals: the plan may give a free node to a job that may not preempt, and that of a running job
// to one that may. As the latter fits on the free node nobody is preempted. The other job waits, and is not stuck.
func TestNobodyMakesRoomForEquals(t *testing.T) {
	old := sched.Running{Job: be(t, "old", 1), Prediction: forecast(point(t, 3000)), Started: epoch,
		Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}}
	s := cluster(t, 2, epoch, old)
	s.Pending = []sched.Pending{
		{Job: slo(t, "urgent", 1, 10*time.Minute), Prediction: forecast(point(t, 590))},
		{Job: eager(t, "fresh", 1), Prediction: forecast(point(t, 60))},
	}
	engine := record()
	got := plan(t, policy(t, threesigma.Config{Solver: engine, Slot: time.Minute}), s)
	assert.Equal(t, []string{"old"}, engine.preempted)
	assert.Equal(t, sched.Start, got["urgent"].Kind)
	assert.Equal(t, sched.ReasonDeferred, got["fresh"].Reason.Code)
	assert.NotContains(t, got, "old")
	assert.Equal(t, 1, engine.asked)
}

// TestHugeUtility: a job that is worth more than a solver takes is worth that much, and stops nobody.
func TestHugeUtility(t *testing.T) {
	huge := slo(t, "huge", 1, time.Hour)
	u, err := utility.Deadline(time.Hour, 1e300)
	require.NoError(t, err)
	huge.Utility = u
	s := cluster(t, 2, epoch)
	s.Pending = []sched.Pending{{Job: huge, Prediction: forecast(point(t, 60))},
		{Job: be(t, "sound", 1), Prediction: forecast(point(t, 60))}}
	got := plan(t, policy(t, threesigma.Config{}), s)
	assert.Equal(t, sched.Start, got["huge"].Kind)
	assert.Equal(t, sched.Start, got["sound"].Kind)

	// It is worth less later all the same, or it would be put off for ever, and all others behind it.
	s = cluster(t, 1, epoch, sched.Running{Job: be(t, "a", 1), Prediction: forecast(point(t, 300)), Started: epoch,
		Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}})
	s.Pending = []sched.Pending{{Job: huge, Prediction: forecast(point(t, 60))}}
	late := plan(t, policy(t, threesigma.Config{Slot: time.Minute, Haste: 0.5, Without: threesigma.Preemption}), s)["huge"]
	assert.Equal(t, epoch.Add(5*time.Minute), late.Start)
	assert.InDelta(t, 1e15*(1-0.5*5/12), late.Reason.Value, 1)
}

func TestConfigError(t *testing.T) {
	for _, c := range []struct {
		field string
		cfg   threesigma.Config
	}{
		{"Slot", threesigma.Config{Slot: -1}},
		{"Window", threesigma.Config{Window: -1}},
		{"Window", threesigma.Config{Slot: time.Minute, Window: time.Second}},
		{"Window", threesigma.Config{Slot: 1, Window: time.Hour}},
		{"Threshold", threesigma.Config{Threshold: math.NaN()}},
		{"Threshold", threesigma.Config{Threshold: 1.5}},
		{"TailWeight", threesigma.Config{TailWeight: math.Inf(1)}},
		{"TailWeight", threesigma.Config{TailWeight: -0.5}},
		{"LateWeight", threesigma.Config{LateWeight: math.Inf(-1)}},
		{"PreemptWeight", threesigma.Config{PreemptWeight: -2}},
		{"PreemptWeight", threesigma.Config{PreemptWeight: math.MaxFloat64}},
		{"Haste", threesigma.Config{Haste: -0.1}},
		{"CutOff", threesigma.Config{CutOff: 1.01}},
		{"OverEstimate", threesigma.Config{OverEstimate: 7}},
		{"Without", threesigma.Config{Without: 1 << 30}},
		{"Options.Work", threesigma.Config{Options: solver.Options{Work: -1}}},
		{"Options.Time", threesigma.Config{Options: solver.Options{Time: -1}}},
		{"Options.Gap", threesigma.Config{Options: solver.Options{Gap: math.NaN()}}},
		{"Options.Splits", threesigma.Config{Options: solver.Options{Splits: 9}}},
	} {
		_, err := threesigma.New(c.cfg)
		require.ErrorIs(t, err, sched.ErrConfig, c.field)
		var named *sched.ConfigError
		require.ErrorAs(t, err, &named)
		assert.Equal(t, c.field, named.Field)
		assert.NotEmpty(t, named.Want)
	}
}
