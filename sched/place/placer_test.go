package place_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/place"
	"github.com/hedgesched/hedge/sched/schedtest"
)

func build(t testing.TB, b *schedtest.SnapshotBuilder) *sched.Snapshot {
	t.Helper()
	s, err := b.Build()
	require.NoError(t, err)
	return s
}

func TestPlaceWholeNodes(t *testing.T) {
	s := build(t, schedtest.Snapshot(schedtest.Nodes(5, 1)).Running(schedtest.Job("r", 1), 0, "n1"))
	p := place.NewPlacer(s)
	one := []float64{1}
	assert.Equal(t, 4, p.Fits(one, s.Nodes.All()))
	got, ok := p.Place(one, s.Nodes.All(), 2)
	assert.True(t, ok)
	assert.Equal(t, []sched.NodeTasks{{Node: "n0", Tasks: 1}, {Node: "n2", Tasks: 1}}, got)
	_, ok = p.Place(one, s.Nodes.All(), 3)
	assert.False(t, ok)
	assert.Equal(t, 2, p.Short())
	assert.Equal(t, 2, p.Fits(one, s.Nodes.All()), "a failed placement takes nothing")
	p.Release(&s.Running[0])
	got, ok = p.Place(one, s.Nodes.All(), 3)
	assert.True(t, ok)
	assert.Len(t, got, 3)
	p.Give(got, one)
	assert.Equal(t, 3, p.Fits(one, s.Nodes.All()))
	p.Reset(s)
	assert.Equal(t, s.Free, p.Free())
}

func TestPlaceFillsFullestFirst(t *testing.T) {
	cpu := func(c float64) sched.Resources { return sched.Resources{"cpu": c, "mem": 100} }
	s := build(t, schedtest.Snapshot([]sched.Node{
		{Name: "roomy", Capacity: cpu(16)}, {Name: "three", Capacity: cpu(6)}, {Name: "one", Capacity: cpu(3)},
	}))
	p := place.NewPlacer(s)
	demand, err := s.Nodes.Demand(sched.Resources{"cpu": 2, "mem": 1})
	require.NoError(t, err)
	got, ok := p.Place(demand, s.Nodes.All(), 5)
	assert.True(t, ok)
	assert.Equal(t, []sched.NodeTasks{{Node: "one", Tasks: 1}, {Node: "three", Tasks: 3}, {Node: "roomy", Tasks: 1}}, got)
}

func TestFitsToleratesRounding(t *testing.T) {
	s := build(t, schedtest.Snapshot([]sched.Node{{Name: "a", Capacity: sched.Resources{"cpu": 1}}}))
	p := place.NewPlacer(s)
	tenth := []float64{0.1}
	for range 10 {
		_, ok := p.Place(tenth, s.Nodes.All(), 1)
		require.True(t, ok)
	}
	_, ok := p.Place(tenth, s.Nodes.All(), 1)
	assert.False(t, ok)
}

// Nodes that hold any number of tasks add up to no more than there can be, where int has 32 bits, too.
func TestFitsSaturates(t *testing.T) {
	s := build(t, schedtest.Snapshot(schedtest.Nodes(3, 1)))
	p, tiny := place.NewPlacer(s), []float64{1e-300}
	assert.Equal(t, math.MaxInt32, s.Nodes.Holds(tiny, s.Nodes.All()))
	assert.Equal(t, math.MaxInt32, p.Fits(tiny, s.Nodes.All()))
	assert.True(t, p.FitsAtLeast(tiny, s.Nodes.All(), math.MaxInt32))
	placed, ok := p.Place(tiny, s.Nodes.All(), math.MaxInt32)
	require.True(t, ok)
	assert.Equal(t, []sched.NodeTasks{{Node: "n0", Tasks: math.MaxInt32}}, placed)
}

// TestOneTolerance fills nodes with odd amounts up to their edge and a little over: whatever the placer takes, checks
// of the plan let through, and what they let through, so does a cluster's own account.
func TestOneTolerance(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	placed, over := 0, 0
	for range 20_000 {
		tasks := 1 + rng.IntN(40)
		demand := math.Exp(60*rng.Float64() - 20)
		off := math.Exp(-16*rng.Float64()-14) * float64(2*rng.IntN(2)-1) // of a task, e^-30 to e^-14
		capacity := float64(demand * (float64(tasks) - off))
		set, err := sched.NewNodeSet([]sched.Node{{Name: "n0", Capacity: sched.Resources{"cpu": capacity}}})
		require.NoError(t, err)
		job := schedtest.Job("a", tasks).Demand(sched.Resources{"cpu": demand})
		s := build(t, schedtest.SnapshotOf(set).Pending(job))
		left := capacity
		for range tasks {
			left -= demand
		}
		plan := &sched.Plan{Decisions: []sched.Decision{
			{Job: "a", Kind: sched.Start, Nodes: []sched.NodeTasks{{Node: "n0", Tasks: tasks}}}}}
		_, ok := place.NewPlacer(s).Place([]float64{demand}, set.All(), tasks)
		checked := sched.CheckPlan(s, plan)
		if ok {
			placed++
			require.NoError(t, checked, "%d of %g in %g", tasks, demand, capacity)
			require.False(t, sched.Overcommits(left, capacity), "%d of %g in %g", tasks, demand, capacity)
		}
		if over := left / capacity; over < -1.001e-9 {
			require.ErrorIs(t, checked, sched.ErrInvalidPlan)
		}
		if checked != nil {
			over++
		}
	}
	assert.Greater(t, placed, 5000)
	assert.Greater(t, over, 1000)
}

// TestPlacerNeverOvercommits places, gives back and takes at random; Fits
// and Place must agree and nothing may go below zero.
func TestPlacerNeverOvercommits(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 4))
		s, err := schedtest.Random(rng)
		require.NoError(t, err)
		p := place.NewPlacer(s)
		type held struct {
			nodes  []sched.NodeTasks
			demand []float64
		}
		var holds []held
		for range 60 {
			if len(holds) > 0 && rng.IntN(3) == 0 {
				i := rng.IntN(len(holds))
				p.Give(holds[i].nodes, holds[i].demand)
				holds = append(holds[:i], holds[i+1:]...)
				continue
			}
			demand := make([]float64, len(s.Nodes.Resources()))
			for r := range demand {
				demand[r] = float64(1 + rng.IntN(3))
			}
			k := 1 + rng.IntN(8)
			fits := p.Fits(demand, s.Nodes.All())
			require.Equal(t, fits >= k, p.FitsAtLeast(demand, s.Nodes.All(), k))
			nodes, ok := p.Place(demand, s.Nodes.All(), k)
			require.Equal(t, fits >= k, ok)
			if ok {
				holds = append(holds, held{nodes, demand})
				require.Equal(t, fits-k, p.Fits(demand, s.Nodes.All()))
			}
			for _, f := range p.Free() {
				require.GreaterOrEqual(t, f, -1e-6)
			}
		}
		for _, h := range holds {
			p.Give(h.nodes, h.demand)
		}
		require.InDeltaSlice(t, s.Free, p.Free(), 1e-9)
	}
}

// google is a cluster of the size of the Google trace's.
func google(b *testing.B) *sched.NodeSet {
	b.Helper()
	ns, err := sched.NewNodeSet(schedtest.Nodes(12583, 8))
	require.NoError(b, err)
	return ns
}

func BenchmarkPlacer(b *testing.B) {
	s := build(b, schedtest.SnapshotOf(google(b)))
	p := place.NewPlacer(s)
	one := []float64{1}
	b.ReportAllocs()
	for b.Loop() {
		p.Reset(s)
		p.Fits(one, s.Nodes.All())
	}
}

func BenchmarkRefineNewSets(b *testing.B) {
	ns := google(b)
	sets := make([]sched.EquivalenceSet, 28)
	i := 0
	for x := range 8 {
		for y := range x {
			var racks []string
			for r := range 8 {
				if r != x && r != y {
					racks = append(racks, fmt.Sprintf("r%d", r))
				}
			}
			sets[i] = sched.NodesWith("rack", racks...)
			i++
		}
	}
	b.Run("fresh", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			place.Refine(ns, sets)
		}
	})
	b.Run("kept", func(b *testing.B) {
		var r place.Refiner
		b.ReportAllocs()
		for b.Loop() {
			r.Refine(ns, sets)
		}
	})
}
