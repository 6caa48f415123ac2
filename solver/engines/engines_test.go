package engines_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/engines"
	"github.com/hedgesched/hedge/solver/greedy"
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

// TestOpenWithAnAddress: engines outside the program need one, and may not be there.
func TestOpenWithAnAddress(t *testing.T) {
	s, away := engines.Builtin(), errors.New("no answer")
	var asked []string
	s.Add(engines.Info{Name: "milp+far"}, func(spec string) (solver.Solver, error) {
		if asked = append(asked, spec); len(asked) > 1 {
			return nil, away
		}
		return greedy.New(), nil
	})
	e, err := s.Open("milp+far://host:5?solver=x, native")
	require.NoError(t, err)
	assert.Equal(t, "greedy,native", e.Name())
	assert.Equal(t, []string{"milp+far://host:5?solver=x"}, asked)

	_, err = s.Open("native,milp+far")
	var failed *engines.OpenError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, "milp+far", failed.Spec)
	require.ErrorIs(t, err, away)
	assert.NotErrorIs(t, err, engines.ErrUnknown)

	_, err = s.Open("native://host")
	require.ErrorAs(t, err, &failed)
	assert.ErrorContains(t, err, `"host", expected none`)
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
	solvertest.Run(t, e, solvertest.Claims{Caps: solver.Caps{Exact: true, Bound: true, Deterministic: true}, Seeds: 60})
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
