package distsched_test

import (
	"context"
	"fmt"
	"math"
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

// TestContention: what a job is expected to get of a machine of 4 cores, worked out by hand (section 5.2.1).
func TestContention(t *testing.T) {
	point := func(x float64) dist.Distribution { return samples(t, x) }
	for _, tt := range []struct {
		why            string
		wants, request float64 // of the job, which needs 100 core-seconds
		running        dist.Distribution
		requested      float64 // by what runs
		tasks          int
		ends           map[float64]float64 // probability by time
	}{
		{"nothing else runs", 2, 1, nil, 0, 1, map[float64]float64{50: 1}},
		{"it wants no more than its share", 2, 1, point(4), 1, 1, map[float64]float64{50: 1}},
		{"the others leave enough idle", 3, 1, point(1), 3, 1, map[float64]float64{100. / 3: 1}},
		{"it gets what is idle", 3, 1, point(2.5), 3, 1, map[float64]float64{100 / 1.5: 1}},
		{"the others use more than their share", 3, 1, point(3.5), 3, 1, map[float64]float64{100: 1}},
		{"one or the other", 3, 1, samples(t, 1, 1, 1, 3.5), 3, 1, map[float64]float64{100. / 3: 0.75, 100: 0.25}},
		{"two tasks share what is idle", 3, 1, point(1), 2, 2, map[float64]float64{100 / 1.5: 1}},
		{"and their share", 3, 1, point(4), 2, 2, map[float64]float64{100: 1}},
	} {
		linear := func(t float64) float64 { return 1000 - t }
		want := 0.0
		for end, chance := range tt.ends {
			want += chance * linear(end)
		}
		node := schedtest.Nodes(1, 1)
		node[0].Capacity = sched.Resources{usage.CPU: 4, usage.Memory: 8}
		b := schedtest.Snapshot(node).Overpacks(usage.CPU).Pending(schedtest.Job("a", tt.tasks).
			Demand(sched.Resources{usage.CPU: tt.request}).Uses(predict.CPU, point(tt.wants)).
			Uses(predict.CPUTime, point(100)).Utility(falling{}))
		if tt.running != nil {
			b.Running(schedtest.Job("r", 1).Demand(sched.Resources{usage.CPU: tt.requested}).
				Uses(predict.CPU, tt.running), 0, "n0")
		}
		s, err := b.Build()
		require.NoError(t, err)
		p, err := distsched.New(distsched.Config{CPURisk: 1})
		require.NoError(t, err)
		got, err := p.Plan(context.Background(), s)
		require.NoError(t, err)
		require.Equal(t, []string{"a"}, schedtest.Started(got), tt.why)
		// Idle CPU is divided into steps of an eighth of what the job wants.
		assert.InDelta(t, want, got.Stats.Value, 0.12*(1000-want), tt.why)
	}
}

// falling is worth 1000 at first, and a unit less each second.
type falling struct{}

func (falling) At(t float64) float64 { return 1000 - t }

// TestEvictionProbability: equation 5.1 by hand. The evictions of a machine of 8 begin at 7.6.
func TestEvictionProbability(t *testing.T) {
	memory := func(values ...float64) dist.Distribution { return samples(t, values...) }
	for _, tt := range []struct {
		task, running dist.Distribution
		tasks         int
		want          float64
	}{
		{memory(1), memory(6.5), 1, 0},
		{memory(1), memory(6.7), 1, 1},
		{memory(1, 2), memory(6, 5), 1, 0.25},
		{memory(1, 2), memory(3, 4), 2, 0.25}, // the tasks of a job count as twice one of them
		{memory(1, 1, 1, 7), memory(1), 1, 0.25},
	} {
		s, err := schedtest.Snapshot(shared(1)).
			Running(schedtest.Job("r", 1).Demand(sched.Resources{usage.CPU: 1}).Uses(predict.Memory, tt.running), 0, "n0").
			Pending(schedtest.Job("a", tt.tasks).Demand(sched.Resources{usage.CPU: 1}).Uses(predict.Memory, tt.task)).Build()
		require.NoError(t, err)
		p, err := distsched.New(distsched.Config{MemoryRisk: 1})
		require.NoError(t, err)
		_, err = p.Plan(context.Background(), s)
		require.NoError(t, err)
		_, _, eviction := p.OptionOf("a")
		assert.InDelta(t, tt.want, eviction, 1e-9)
	}
}

// TestRisks: a machine takes what is risky unless a task there, or the job itself, should not be exposed to that.
func TestRisks(t *testing.T) {
	risky := func(id string, priority int) *schedtest.JobBuilder {
		return schedtest.Job(id, 1).Demand(sched.Resources{usage.CPU: 0.5}).Priority(priority).
			Uses(predict.Memory, samples(t, 1, 1, 1, 7)) // with the other: more than 7.6 with probability 0.4375
	}
	for _, tt := range []struct {
		runs, waits int
		starts      bool
	}{{0, 0, true}, {1, 0, false}, {0, 1, false}} {
		s, err := schedtest.Snapshot(shared(1)).Running(risky("r", tt.runs), 0, "n0").
			Pending(risky("a", tt.waits)).Build()
		require.NoError(t, err)
		p, err := distsched.New(distsched.Config{MemoryRisk: 0.5, Risks: map[int]float64{1: 0.1}})
		require.NoError(t, err)
		got, err := p.Plan(context.Background(), s)
		require.NoError(t, err)
		assert.Len(t, schedtest.Started(got), map[bool]int{true: 1}[tt.starts], "%+v", tt)
	}
}

// TestWholeLife: tasks whose average fits and whose maxima do not are apart where no moment may be too much.
func TestWholeLife(t *testing.T) {
	for name, want := range map[string]int{"dist": 2, "dist-chance": 1, "dist-max": 1} {
		b := schedtest.Snapshot(shared(1))
		for _, id := range []string{"a", "b"} {
			b.Pending(schedtest.Job(id, 1).Demand(sched.Resources{usage.CPU: 0.5}).
				Uses(predict.Memory, samples(t, 1)).Uses(predict.MemoryMax, samples(t, 4)))
		}
		assert.Len(t, schedtest.Started(plan(t, name, b)), want, name)
	}
}

// TestConditioning: a task that was evicted needs at least what it has had (section 5.3.2): of two modes the larger,
// and past the history as much again. Without conditioning it is expected to be as short as before.
func TestConditioning(t *testing.T) {
	for _, tt := range []struct {
		name     string
		attained float64
		want     float64
	}{
		{"dist", 0, 200}, {"dist", 100, 500}, {"dist", 600, 1200},
		{"dist-nocond", 100, 200}, {"dist-nodist", 100, 200}, {"dist-nodist", 300, 600}, {"point", 300, 200},
	} {
		s, err := schedtest.Snapshot(shared(1)).
			Pending(task(t, "a", 1).Uses(predict.CPUTime, samples(t, 100, 100, 100, 500))).Build()
		require.NoError(t, err)
		s.Pending[0].Attained = tt.attained
		p := newPolicy(t, tt.name)
		_, err = p.Plan(context.Background(), s)
		require.NoError(t, err)
		assert.InDelta(t, tt.want, p.WorkOf("a"), 1e-9, "%s after %v", tt.name, tt.attained)
	}
}

// TestObservation: a task that uses more than was predicted takes the room that it is seen to use. One that uses less
// takes what was predicted, unless the policy trusts what it sees for long.
func TestObservation(t *testing.T) {
	started := func(name string, cycles int, cpu, memory float64) int {
		p := newPolicy(t, name)
		n := 0
		for i := range cycles {
			l := usage.Level{CPU: cpu, Memory: memory}
			b := schedtest.Snapshot(shared(1)).Now(float64(100+15*i)).Overpacks(usage.CPU, usage.Memory).
				Running(task(t, "r", 1), 0, "n0").
				Measured(usage.Task{Node: "n0", Ran: time.Duration(100+15*i) * time.Second, Now: l, Mean: l, Max: l})
			for k := range 4 {
				b.Pending(task(t, fmt.Sprint("p", k), 1))
			}
			s, err := b.Build()
			require.NoError(t, err)
			s.Cycle = 15 * time.Second
			got, err := p.Plan(context.Background(), s)
			require.NoError(t, err)
			n = len(schedtest.Started(got))
		}
		return n
	}
	for _, cycles := range []int{1, 5} {
		assert.Equal(t, 2, started("dist", cycles, 1, 1.5), "as predicted")
		assert.Equal(t, 2, started("dist", cycles, 0.1, 0.1), "less")
		assert.Equal(t, 1, started("dist", cycles, 2.5, 1.5), "1.5 cores are left")
		assert.Equal(t, 1, started("dist", cycles, 1, 5), "2.6 of memory are left")
		assert.Equal(t, 2, started("dist-noobs", cycles, 2.5, 5))
		assert.Equal(t, 2, started("dist-trust", cycles, 0.1, 0.1), "less, but not for long yet")
		assert.Equal(t, 1, started("dist-trust", cycles, 1, 5))
	}
	assert.Equal(t, 2, started("dist", 20, 0.1, 0.1))
	assert.Equal(t, 3, started("dist-trust", 20, 0.1, 0.1), "what it is seen to use for more than five minutes")
}

// TestOthersTakeRoom: so does work that is not ours.
func TestOthersTakeRoom(t *testing.T) {
	b := schedtest.Snapshot(shared(1)).Others(usage.Level{CPU: 2.5, Memory: 1})
	for k := range 4 {
		b.Pending(task(t, fmt.Sprint("p", k), 1))
	}
	assert.Len(t, schedtest.Started(plan(t, "dist", b)), 1)
}

// TestOrders: which of two jobs starts if only one fits.
func TestOrders(t *testing.T) {
	for order, want := range map[distsched.Order]string{
		distsched.ByUtility: "worthy", distsched.ByDensity: "small", distsched.ByDeadline: "soon",
		distsched.ByRuntime: "short",
	} {
		job := func(id string, cpu, work, deadline float64, u int) *schedtest.JobBuilder {
			return schedtest.Job(id, 1).Demand(sched.Resources{usage.CPU: 1}).Uses(predict.CPU, samples(t, cpu)).
				Uses(predict.CPUTime, samples(t, work*cpu)).Utility(worth(u)).Deadline(deadline)
		}
		s, err := schedtest.Snapshot(shared(1)).Pending(
			job("worthy", 3.9, 100, 1000, 10), job("small", 2.2, 100, 1000, 8), job("soon", 3.9, 100, 500, 5),
			job("short", 3.9, 50, 1000, 5)).Build()
		require.NoError(t, err)
		p, err := distsched.New(distsched.Config{Order: order})
		require.NoError(t, err)
		got, err := p.Plan(context.Background(), s)
		require.NoError(t, err)
		require.Equal(t, []string{want}, schedtest.Started(got))
	}
}

// worth is the same at all times.
type worth float64

func (w worth) At(float64) float64 { return float64(w) }

// TestReservedResources: what is neither CPU nor memory is not promised twice.
func TestReservedResources(t *testing.T) {
	nodes := shared(1)
	nodes[0].Capacity["gpu"] = 2
	b := schedtest.Snapshot(nodes)
	for k := range 4 {
		b.Pending(task(t, fmt.Sprint("p", k), 1).Demand(sched.Resources{usage.CPU: 1, "gpu": 1}))
	}
	got := plan(t, "dist", b)
	assert.Len(t, schedtest.Started(got), 2)
	assert.NotContains(t, got.Overpacks, "gpu")
}

// TestOddForecasts cost the job that has them and no other.
func TestOddForecasts(t *testing.T) {
	s, err := schedtest.Snapshot(shared(2)).Pending(task(t, "good", 1), task(t, "bad", 1), task(t, "odd", 1)).Build()
	require.NoError(t, err)
	for i := range s.Pending {
		switch p := &s.Pending[i]; p.Job.ID {
		case "bad":
			p.Prediction.Usage = predict.NewUsage(map[predict.Quantity]predict.Prediction{predict.CPU: {Point: math.NaN()}})
		case "odd":
			job := *p.Job
			job.Utility = panicking{}
			p.Job = &job
		}
	}
	for _, name := range distsched.Variants() {
		p := newPolicy(t, name)
		got, err := p.Plan(context.Background(), s)
		require.NoError(t, err)
		require.NoError(t, sched.CheckPlan(s, got))
		assert.Contains(t, schedtest.Started(got), "good", name)
		assert.NotContains(t, schedtest.Started(got), "odd", name)
	}
}

type panicking struct{}

func (panicking) At(float64) float64 { panic("no") }

func TestConfigRefused(t *testing.T) {
	for field, c := range map[string]distsched.Config{
		"MemoryRisk": {MemoryRisk: 1.5}, "CPURisk": {CPURisk: -0.5}, "EvictAt": {EvictAt: distsched.None},
		"PreemptTo": {PreemptTo: math.NaN()}, "TailWeight": {TailWeight: 2}, "Cells": {Cells: 10}, "Atoms": {Atoms: 1000},
		"Estimate": {Estimate: 7}, "Order": {Order: -1}, "Without": {Without: 1 << 20},
		"Risks": {Risks: map[int]float64{1: 2}},
	} {
		_, err := distsched.New(c)
		var e *sched.ConfigError
		require.ErrorAs(t, err, &e, field)
		require.ErrorIs(t, err, sched.ErrConfig)
		assert.Equal(t, field, e.Field)
	}
	_, err := distsched.Variant("best")
	require.ErrorIs(t, err, distsched.ErrVariant)
}

// Two tasks that request a machine each, and use a quarter of it as far as is known, share one.
func ExampleNew() {
	policy, err := distsched.New(distsched.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	quarter, err := dist.NewUniform(0.8, 1.2)
	if err != nil {
		fmt.Println(err)
		return
	}
	node := sched.Node{Name: "n", Capacity: sched.Resources{usage.CPU: 4, usage.Memory: 16}}
	job := func(id string) *schedtest.JobBuilder {
		return schedtest.Job(id, 1).Demand(sched.Resources{usage.CPU: 4, usage.Memory: 8}).
			Uses(predict.CPU, quarter).Uses(predict.Memory, quarter)
	}
	s, err := schedtest.Snapshot([]sched.Node{node}).Pending(job("a"), job("b")).Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := policy.Plan(context.Background(), s)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(schedtest.Started(plan), plan.Overpacks)
	// Output: [a b] [cpu memory]
}

// TestLeastShare: beside a task that takes all four cores, one that requests no CPU gets 2/262,144 of the machine over
// the weights of both: 4/131,073 of a core. Its 100 core-seconds take 3,276,825 s.
func TestLeastShare(t *testing.T) {
	for deadline, want := range map[float64]float64{3.2e6: 0, 3.3e6: 1} {
		s, err := schedtest.Snapshot(shared(1)).
			Running(schedtest.Job("r", 1).Demand(sched.Resources{usage.CPU: 4}).Uses(predict.CPU, samples(t, 4)), 0, "n0").
			Pending(schedtest.Job("a", 1).Demand(sched.Resources{usage.Memory: 1}).Uses(predict.CPU, samples(t, 1)).
				Uses(predict.CPUTime, samples(t, 100)).Deadline(deadline)).Build()
		require.NoError(t, err)
		p, err := distsched.New(distsched.Config{MemoryRisk: 1, CPURisk: 1})
		require.NoError(t, err)
		plan, err := p.Plan(context.Background(), s)
		require.NoError(t, err)
		require.Len(t, schedtest.Started(plan), 1, plan)
		_, inTime, _ := p.OptionOf("a")
		assert.InDelta(t, want, inTime, 1e-9, deadline)
	}
}
