package solver_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/greedy"
	"github.com/hedgesched/hedge/solver/native"
	"github.com/hedgesched/hedge/solver/solvertest"
)

func TestMemory(t *testing.T) {
	var none *solver.Memory
	value, slots := none.Note("x")
	assert.Nil(t, value)
	assert.Zero(t, slots)
	assert.Nil(t, none.Later(3))

	first := new(solver.Memory).With("x", 1)
	second := first.Later(2).With("y", 2).Later(3)
	for engine, want := range map[string][2]any{"x": {1, 5}, "y": {2, 3}, "z": {nil, 0}} {
		value, slots := second.Note(engine)
		assert.Equal(t, want, [2]any{value, slots}, engine)
	}
	value, slots = first.Note("x")
	assert.Equal(t, []any{1, 0}, []any{value, slots}, "a memory is never changed")
	value, slots = second.With("x", 9).Note("x")
	assert.Equal(t, []any{9, 0}, []any{value, slots})
}

// learner counts its solves in its notes.
type learner struct {
	name string
	fail bool
}

func (l learner) Name() string { return l.name }

func (l learner) Solve(_ context.Context, _ *solver.Problem, opts solver.Options,
	_ func(*solver.Solution)) (*solver.Solution, error) {
	n, _ := opts.Memory.Note(l.name)
	seen, _ := n.(int)
	if l.fail && seen > 0 {
		return nil, errors.New("it cannot live with what it knows")
	}
	sol := &solver.Solution{Stop: solver.StopOptimal}
	if opts.Memory != nil {
		sol.Memory = opts.Memory.With(l.name, seen+1)
	}
	return sol, nil
}

// TestSolveHandsMemoryOn: the successor of the given memory comes back, whichever engine answers. What made an engine
// fail is forgotten.
func TestSolveHandsMemoryOn(t *testing.T) {
	p := solvertest.Tiny(1)
	a, b, bad := learner{name: "a"}, learner{name: "b"}, learner{name: "bad", fail: true}
	for _, c := range []struct {
		name   string
		engine solver.Solver
		want   map[string]any // after three solves
	}{
		{"one", a, map[string]any{"a": 3}},
		{"first of a ladder", solver.Ladder(a, b), map[string]any{"a": 3, "b": nil}},
		{"fails every other time", bad, map[string]any{"bad": 1}},
		{"fails with another below", solver.Ladder(bad, b), map[string]any{"bad": 1, "b": 1}},
		{"has none", greedy.New(), map[string]any{"greedy": nil}},
	} {
		t.Run(c.name, func(t *testing.T) {
			opts := solver.Options{Work: 1000, Memory: new(solver.Memory)}
			for range 3 {
				sol, err := solver.Solve(context.Background(), c.engine, p, opts)
				if err != nil {
					require.ErrorIs(t, err, solver.ErrEngine)
					opts.Memory = new(solver.Memory)
					continue
				}
				require.NotNil(t, sol.Memory)
				opts.Memory = sol.Memory
			}
			for engine, want := range c.want {
				got, _ := opts.Memory.Note(engine)
				assert.Equal(t, want, got, engine)
			}
			sol, err := solver.Solve(context.Background(), c.engine, p, solver.Options{Work: 1000})
			require.NoError(t, err)
			assert.Nil(t, sol.Memory, "not requested")
		})
	}
}

// In each cycle the engine gets what it has learned, moved on by the slots that have passed.
func ExampleMemory() {
	engine, memory := native.New(nil), new(solver.Memory)
	p := solvertest.Cycle(3, 12, 0)
	for cycle := range 2 {
		sol, err := solver.Solve(context.Background(), engine, p, solver.Options{Work: 50_000, Memory: memory})
		if err != nil {
			fmt.Println(err)
			return
		}
		memory = sol.Memory.Later(1)
		fmt.Println("cycle", cycle, sol.Stop)
	}
	// Output:
	// cycle 0 optimal
	// cycle 1 optimal
}
