package threesigma_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/threesigma"
)

// TestBytes: the memory of a large cluster may be measured in bytes, and the plan does not depend on the unit.
func TestBytes(t *testing.T) {
	const nodes, gib = 100_000, 1 << 30
	for _, c := range []struct {
		name string
		unit float64
	}{{"bytes", 1}, {"gibibytes", gib}, {"exbibytes", 1 << 60}} {
		t.Run(c.name, func(t *testing.T) {
			amount := func(gibs float64) sched.Resources {
				return sched.Resources{"memory": gibs * gib / c.unit, "cpu": gibs / 4}
			}
			list := make([]sched.Node, nodes)
			for i := range list {
				list[i] = sched.Node{Name: fmt.Sprintf("n%d", i), Capacity: amount(4096)}
			}
			set, err := sched.NewNodeSet(list)
			require.NoError(t, err)
			old := be(t, "old", nodes)
			old.Demand = amount(2048)
			running := sched.Running{Job: old, Prediction: forecast(point(t, 600)), Started: epoch}
			free := append([]float64(nil), set.Capacity()...)
			for i := range list {
				running.Nodes = append(running.Nodes, sched.NodeTasks{Node: list[i].Name, Tasks: 1})
			}
			for i := range free {
				free[i] /= 2
			}
			half, whole, large := be(t, "half", nodes/2), be(t, "whole", nodes/2+1), be(t, "large", 1)
			half.Demand, whole.Demand, large.Demand = amount(2048), amount(4096), amount(4096.5)
			s := &sched.Snapshot{Now: epoch, Nodes: set, Free: free, Running: []sched.Running{running}, Pending: []sched.Pending{
				{Job: half, Prediction: forecast(point(t, 60))}, {Job: whole, Prediction: forecast(point(t, 60))},
				{Job: large, Prediction: forecast(point(t, 60))},
			}}
			got := plan(t, policy(t, threesigma.Config{Slot: 5 * time.Minute}), s)
			assert.Equal(t, sched.Start, got["half"].Kind)
			assert.Equal(t, epoch.Add(10*time.Minute), got["whole"].Start)
			assert.Equal(t, sched.ReasonNoFeasibleSet, got["large"].Reason.Code)
		})
	}
}
