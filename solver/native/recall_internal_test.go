package native

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// TestCorruptedMemory: a memory whose numbers are anything is no more than bad advice.
func TestCorruptedMemory(t *testing.T) {
	anything := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 1e-300, 1e300, 0.3, 7}
	for seed := range uint64(60) {
		p := solvertest.Tiny(seed)
		opts := solver.Options{Work: 20_000, Gap: -1, Memory: new(solver.Memory)}
		sol, err := solver.Solve(context.Background(), New(nil), p, opts)
		require.NoError(t, err)
		value, _ := sol.Memory.Note(name)
		all, ok := value.(*memory)
		require.True(t, ok)
		past := all.root
		if past == nil {
			past = &root{} // proven without a relaxation
		}
		p.Hint = map[string]int{}
		for id, c := range sol.Choice {
			p.Hint[id] = c.Option
		}
		r := rand.New(rand.NewPCG(seed, 5))
		some := func() float64 { return anything[r.IntN(len(anything))] }
		for i := range past.prices {
			past.prices[i] = some()
		}
		for i := range past.splits {
			past.splits[i] = solver.Split{Partition: r.IntN(9) - 3, Count: some()}
		}
		for i := range all.plan.splits {
			all.plan.splits[i] = solver.Split{Partition: r.IntN(4), Count: some()}
		}
		for _, run := range p.Running {
			all.plan.preempted = append(all.plan.preempted, run.ID, run.ID)
		}
		for i := range past.columns {
			past.columns[i].start += r.IntN(3) - 1
			past.columns[i].count += r.IntN(3) - 1
		}
		for _, parts := range [][]string{past.parts, all.plan.parts} {
			for i := range parts {
				parts[i] = parts[r.IntN(len(parts))] // some twice
			}
		}
		opts.Memory = new(solver.Memory).With(name, all).Later(int(seed%4) - 1)
		sol, err = solver.Solve(context.Background(), New(nil), p, opts)
		require.NoError(t, err, "Tiny(%d)", seed)
		want := solvertest.Optimum(p)
		require.InDelta(t, want, sol.Objective, 1e-6*max(1, want), "Tiny(%d)", seed)
		require.GreaterOrEqual(t, *sol.Bound, want*(1-1e-9)-1e-9, "Tiny(%d)", seed)
	}
}

// noted is what a solve of p leaves behind.
func noted(t *testing.T, p *solver.Problem) *memory {
	t.Helper()
	sol, err := solver.Solve(context.Background(), New(nil), p,
		solver.Options{Work: 20_000, Gap: -1, Memory: new(solver.Memory)})
	require.NoError(t, err)
	value, _ := sol.Memory.Note(name)
	require.IsType(t, &memory{}, value)
	return value.(*memory)
}

// TestMemoryOutlivesItsProblem: a problem may be overwritten once it is solved, as cycle after cycle is made in the
// same place.
func TestMemoryOutlivesItsProblem(t *testing.T) {
	p := solvertest.Cycle(5, 40, 8)
	got, want := noted(t, p), noted(t, solvertest.Cycle(5, 40, 8))
	require.NotNil(t, got.root)
	require.NotEmpty(t, got.root.columns)
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
