package pack

import (
	"testing"

	"github.com/stretchr/testify/assert"

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

// TestRound: three quarters of a task fit nobody now; later, when tasks are there with some probability, they may.
func TestRound(t *testing.T) {
	p := &solver.Problem{
		SlotSeconds: 1, Slots: 2, Resources: []string{"cpu"}, Partitions: []solver.Partition{{Name: "x", Nodes: 4}},
		Capacity: [][][]float64{{{2.75, 3.75}}},
		Jobs: []solver.Job{{ID: "a", Options: []solver.Option{
			{Start: 0, Count: 1, Demand: []float64{1}, Partitions: []int{0}, Usage: []float64{1, 0.431922}, Value: 1},
			{Start: 1, Count: 1, Demand: []float64{1}, Partitions: []int{0}, Usage: []float64{1}, Value: 1},
		}}},
	}
	for splits, want := range map[solver.Splits][]float64{
		solver.SplitsInteger: {2, 3.75}, solver.SplitsNow: {2, 3.75}, solver.SplitsContinuous: {2.75, 3.75},
	} {
		var in Instance
		in.Load(p, splits)
		in.Round()
		assert.InDeltaSlice(t, want, []float64{in.Cap[0] / in.scale[0], in.Cap[1] / in.scale[0]}, 1e-12, "splits %v", splits)
	}
	p.Running = []solver.Running{{ID: "m", PreemptCost: 1, Demand: []float64{0.5}, Usage: []float64{1}, Alloc: []solver.Split{{Partition: 0, Count: 1}}}}
	var in Instance
	in.Load(p, solver.SplitsInteger)
	in.Round()
	assert.InDelta(t, 2.5, in.Cap[0]/in.scale[0], 1e-12, "with a half to be had by preemption")
}
