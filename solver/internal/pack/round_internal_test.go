package pack

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
)

func TestCommon(t *testing.T) {
	for _, c := range []struct{ g, a, want float64 }{
		{0, 3, 3}, {3, 0, 3}, {2, 2, 2}, {1, 2, 1}, {2, 1, 1}, {4, 6, 2}, {0.5, 0.75, 0.25}, {0.3, 0.1, 0.1}, {213, 20, 1},
		{1, 0.431922, -1}, {-1, 2, -1},
	} {
		assert.InDelta(t, c.want, common(c.g, c.a), 1e-12, "%v and %v", c.g, c.a)
	}
}

// TestRound: three quarters of a task are of no use now. Later, when tasks run with some probability, they may be.
func TestRound(t *testing.T) {
	p := &solver.Problem{
		SlotSeconds: 1, Slots: 2, Resources: []string{"cpu"}, Partitions: []solver.Partition{{Name: "x", Nodes: 4}},
		Capacity: [][][]float64{{{2.75, 3.75}}},
		Jobs: []solver.Job{{ID: "a", Options: []solver.Option{
			{Start: 0, Count: 1, Demand: []float64{1}, Partitions: []int{0}, Usage: []float64{1, 0.431922}, Value: 1},
			{Start: 1, Count: 1, Demand: []float64{1}, Partitions: []int{0}, Usage: []float64{1}, Value: 1},
		}}},
	}
	for splits, want := range map[solver.SplitRule][]float64{
		solver.SplitsInteger: {2, 3.75}, solver.SplitsNow: {2, 3.75}, solver.SplitsContinuous: {2.75, 3.75},
	} {
		var in Instance
		in.Load(p, splits)
		in.Round()
		assert.InDeltaSlice(t, want, []float64{in.Cap[0] / in.scale[0], in.Cap[1] / in.scale[0]}, 1e-12, "splits %v", splits)
	}
	p.Running = []solver.Running{{ID: "m", PreemptCost: 1, Demand: []float64{0.5}, Usage: []float64{1},
		Alloc: []solver.Alloc{{Partition: 0, Count: 1}}}}
	var in Instance
	in.Load(p, solver.SplitsInteger)
	in.Round()
	assert.InDelta(t, 2.5, in.Cap[0]/in.scale[0], 1e-12, "with a half to be had by preemption")
}

// TestUnitOfNextToNothing: an amount that is almost nothing compared with another one still counts.
func TestUnitOfNextToNothing(t *testing.T) {
	for _, amounts := range [][]float64{{1, 1e-12}, {1e-12, 1}} {
		var u unit
		for _, a := range amounts {
			u.add(a)
		}
		assert.Equal(t, -1.0, u.g)
	}
}

// TestRoundLosesNoPlan: whatever fitted into a row still fits, if amounts are almost multiples of one.
func TestRoundLosesNoPlan(t *testing.T) {
	lowered := 0
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 3))
		jitter := math.Pow(10, -12+float64(4.5*r.Float64()))
		amount := func() float64 {
			return float64(1+r.IntN(4)) * (1 + float64(jitter*(2*r.Float64()-1)))
		}
		p := rack(float64(r.IntN(64))/4*(1+float64(jitter*(2*r.Float64()-1))), 1)
		for range 1 + r.IntN(8) {
			p.Jobs = append(p.Jobs, rack(1, amount(), 1).Jobs...)
		}
		for cost := range r.IntN(4) {
			p.Running = append(p.Running, held(amount(), float64(cost)))
		}
		var in Instance
		in.Load(p, solver.SplitsInteger)
		before := in.Cap[0]
		in.Round()
		if in.Cap[0] < before {
			lowered++
		}
		for set := range 1 << (len(in.Opts) + len(in.RunAmt)) {
			used := 0.0
			for i := range in.Opts {
				used += float64(set>>i&1) * in.Opts[i].Demand[0].D
			}
			for i, a := range in.RunAmt {
				used -= float64(set>>(len(in.Opts)+i)&1) * a
			}
			if used <= before && used > in.Cap[0]*(1+1e-13) {
				require.Fail(t, "a plan is lost", "seed %d, set %b: %v used of %v, rounded to %v", seed, set, used, before,
					in.Cap[0])
			}
		}
	}
	assert.Greater(t, lowered, 1500, "not of those whose amounts differ by too much")
}

// TestRoundDoesNotDrift: of eight containers of about 64 GiB that differ by 64 bytes, four fit into 256 GiB.
func TestRoundDoesNotDrift(t *testing.T) {
	p := rack(4*64<<30, 1)
	for i := range 8 {
		p.Jobs = append(p.Jobs, rack(1, float64(64<<30+64*(i-4)), 1).Jobs...)
	}
	var in Instance
	in.Load(p, solver.SplitsInteger)
	in.Round()
	assert.InEpsilon(t, float64(4*64<<30), in.Cap[0]/in.scale[0], 1e-12)
}
