package warm_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native"
	"github.com/hedgesched/hedge/solver/native/internal/warm"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// TestCorruptedMemory: a memory whose numbers are anything is no more than bad advice.
func TestCorruptedMemory(t *testing.T) {
	for seed := range uint64(60) {
		p := solvertest.Tiny(seed)
		opts := solver.Options{Work: 20_000, Gap: -1, Memory: new(solver.Memory)}
		sol, err := solver.Solve(context.Background(), native.New(nil), p, opts)
		require.NoError(t, err)
		value, _ := sol.Memory.Note("native")
		all, ok := value.(*warm.Memory)
		require.True(t, ok)
		p.Hint = map[string]int{}
		for id, c := range sol.Choice {
			p.Hint[id] = c.Option
		}
		r := rand.New(rand.NewPCG(seed, 5))
		all.Corrupt(r, p.Running)
		opts.Memory = new(solver.Memory).With("native", all).Later(int(seed%4) - 1)
		sol, err = solver.Solve(context.Background(), native.New(nil), p, opts)
		require.NoError(t, err, "Tiny(%d)", seed)
		want := solvertest.Optimum(p)
		require.InDelta(t, want, sol.Objective, 1e-6*max(1, want), "Tiny(%d)", seed)
		require.GreaterOrEqual(t, *sol.Bound, want*(1-1e-9)-1e-9, "Tiny(%d)", seed)
	}
}

// noted is what a solve of p leaves behind.
func noted(t *testing.T, p *solver.Problem) *warm.Memory {
	t.Helper()
	sol, err := solver.Solve(context.Background(), native.New(nil), p,
		solver.Options{Work: 20_000, Gap: -1, Memory: new(solver.Memory)})
	require.NoError(t, err)
	value, _ := sol.Memory.Note("native")
	require.IsType(t, &warm.Memory{}, value)
	return value.(*warm.Memory)
}

// TestMemoryOutlivesItsProblem: a problem may be overwritten once it is solved, as cycle after cycle is made in the
// same place.
func TestMemoryOutlivesItsProblem(t *testing.T) {
	p := solvertest.Cycle(5, 40, 8)
	got, want := noted(t, p), noted(t, solvertest.Cycle(5, 40, 8))
	require.Positive(t, got.Columns())
	require.Equal(t, want, got)
	for i := range p.Resources {
		p.Resources[i] += " of another problem"
	}
	for i := range p.Partitions {
		p.Partitions[i].Name += " of another problem"
	}
	for i := range p.Running {
		p.Running[i].ID += " of another problem"
	}
	for i := range p.Jobs {
		j := &p.Jobs[i]
		j.ID += " of another problem"
		for k := range j.Options {
			j.Options[k].Set += " of another problem"
			j.Options[k].Start++
			j.Options[k].Count++
			clear(j.Options[k].Partitions)
		}
	}
	require.Equal(t, want, got)
}
