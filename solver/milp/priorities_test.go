package milp_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/milp"
)

// TestPrioritiesAreRows: two low jobs fit only into the room of a running job, which they may not take. The row that all
// jobs share allows it; the row of the jobs that may not does not.
func TestPrioritiesAreRows(t *testing.T) {
	one := func(tasks int) []solver.Option {
		return []solver.Option{{Count: tasks, Demand: []float64{1}, Partitions: []int{0}, Usage: []float64{1}, Value: 5}}
	}
	p := &solver.Problem{
		SlotSeconds: 1, Slots: 1, Resources: []string{"node"},
		Partitions: []solver.Partition{{Name: "a"}}, Capacity: [][][]float64{{{1}}},
		Jobs: []solver.Job{{ID: "high", Priority: 2, Options: one(2)},
			{ID: "low", Priority: 1, Options: one(1)}, {ID: "also low", Priority: 1, Options: one(1)}},
		Running: []solver.Running{{ID: "m", PreemptCost: 1, MinPriority: 2, Demand: []float64{1}, Usage: []float64{1},
			Alloc: []solver.Alloc{{Partition: 0, Count: 2}}}},
	}
	broken := func() (rows []string) {
		c, err := milp.CompileNamed(p, solver.SplitsInteger, milp.RelaxNone)
		require.NoError(t, err)
		for i := range c.Model.Rows() {
			use, row := 0.0, c.Model.Row(i)
			for k, v := range row.Index {
				if name := c.Model.Var(int(v)).Name; name != "choose_0_0" {
					use += row.Value[k]
				}
			}
			if use > row.Upper {
				rows = append(rows, row.Name)
			}
		}
		return rows
	}
	assert.Equal(t, []string{"room_0_1_0"}, broken())
	p.Jobs[1].Priority = 2
	assert.Empty(t, broken(), "it takes what is preempted")
	p.Jobs[2].Priority = 2
	assert.Empty(t, broken())
}
