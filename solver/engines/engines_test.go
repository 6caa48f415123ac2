package engines_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/engines"
	"github.com/hedgesched/hedge/solver/solvertest"
)

func TestOpen(t *testing.T) {
	for spec, name := range map[string]string{"native": "native", "greedy": "greedy", "native, greedy": "native,greedy"} {
		e, err := engines.Open(spec)
		require.NoError(t, err, spec)
		assert.Equal(t, name, e.Name())
	}
}

func TestOpenUnknown(t *testing.T) {
	for _, spec := range []string{"", "cplex", "native,", "native,cplex"} {
		_, err := engines.Open(spec)
		require.ErrorIs(t, err, engines.ErrUnknown, spec)
		assert.ErrorContains(t, err, "greedy, native")
	}
}

func TestListIsSortedAndOpens(t *testing.T) {
	list := engines.List()
	require.Len(t, list, 2)
	for i, info := range list {
		e, err := engines.Open(info.Name)
		require.NoError(t, err)
		assert.Equal(t, info.Name, e.Name())
		if i > 0 {
			assert.Less(t, list[i-1].Name, info.Name)
		}
	}
}

func TestConformanceOfLadder(t *testing.T) {
	e, err := engines.Open("native,greedy")
	require.NoError(t, err)
	solvertest.Run(t, e, solvertest.Caps{Exact: true, Bound: true, Deterministic: true, Seeds: 60})
}

func ExampleOpen() {
	engine, err := engines.Open("native,greedy")
	if err != nil {
		fmt.Println(err)
		return
	}
	p := &solver.Problem{
		SlotSeconds: 60, Slots: 2, Resources: []string{"node"},
		Partitions: []solver.Partition{{Name: "rack", Nodes: 2}},
		Capacity:   [][][]float64{{{2, 2}}},
		Jobs: []solver.Job{{ID: "a", Options: []solver.Option{
			{Set: "any", Count: 2, Demand: []float64{1}, Partitions: []int{0}, Usage: []float64{1}, Value: 10},
		}}},
	}
	sol, err := solver.Solve(context.Background(), engine, p, solver.Options{})
	fmt.Println(sol.Engine, sol.Stop, sol.Objective, err)
	// Output: native optimal 10 <nil>
}
