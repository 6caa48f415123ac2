package native_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native"
	"github.com/hedgesched/hedge/solver/native/internal/nativetest"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// learned is what a solve of p leaves behind.
func learned(tb testing.TB, p *solver.Problem, work int64) *solver.Memory {
	sol, err := solver.Solve(context.Background(), native.New(nil), p,
		solver.Options{Work: work, Gap: -1, Memory: new(solver.Memory)})
	require.NoError(tb, err)
	return sol.Memory
}

// successor is p as it could be a little later: some jobs are gone and others have come, values and capacities have
// moved.
func successor(p *solver.Problem, seed uint64) *solver.Problem {
	r := rand.New(rand.NewPCG(seed, 99))
	q := *p
	q.Hint = nil
	q.Jobs, q.Capacity = nil, nil
	for _, j := range p.Jobs {
		switch r.IntN(20) {
		case 0:
			continue // it has started
		case 1:
			j.ID += "-new"
		}
		options := make([]solver.Option, len(j.Options))
		for i, o := range j.Options {
			o.Value *= 1 - float64(0.01*r.Float64())
			options[i] = o
		}
		q.Jobs = append(q.Jobs, solver.Job{ID: j.ID, Options: options})
	}
	for _, part := range p.Capacity {
		var rows [][]float64
		for _, row := range part {
			moved := make([]float64, len(row))
			for t, v := range row {
				if moved[t] = v; v != math.Trunc(v) { // else it is nodes that are free for certain
					moved[t] = v * (1 + float64(0.02*(r.Float64()-0.5)))
				}
			}
			rows = append(rows, moved)
		}
		q.Capacity = append(q.Capacity, rows)
	}
	return &q
}

// memories are what may be handed on to a solve of p: what is right, what is stale, and what comes from other problems.
func memories(tb testing.TB, p *solver.Problem, seed uint64) map[string]*solver.Memory {
	foreign := solvertest.Tiny(seed + 1)
	same := *foreign
	same.Slots, same.SlotSeconds, same.Resources, same.Partitions = p.Slots, p.SlotSeconds, p.Resources, p.Partitions
	list := map[string]*solver.Memory{
		"right": learned(tb, p, 20_000), "little": learned(tb, p, 50), "later": learned(tb, p, 20_000).Later(1),
		"much later": learned(tb, p, 20_000).Later(1000), "earlier": learned(tb, p, 20_000).Later(-1),
		"foreign": learned(tb, foreign, 20_000), "successor's": learned(tb, successor(p, seed), 20_000),
		"without names": learned(tb, named(p, ""), 20_000), "one name": learned(tb, named(p, p.Partitions[0].Name), 20_000),
		"another type": new(solver.Memory).With("native", "what is this"),
	}
	if solver.Validate(&same) == nil {
		list["foreign of the same shape"] = learned(tb, &same, 20_000)
	}
	return list
}

// named is p with all partitions of the same name.
func named(p *solver.Problem, name string) *solver.Problem {
	q := *p
	q.Partitions = slices.Clone(p.Partitions)
	for x := range q.Partitions {
		q.Partitions[x].Name = name
	}
	return &q
}

// TestMemoryOfPartitionsWithoutNames: partitions of the same name, or without, are told apart by their order, so that
// what is known of them is of use.
func TestMemoryOfPartitionsWithoutNames(t *testing.T) {
	for _, name := range []string{"", "same"} {
		p := named(solvertest.Cycle(5, 40, 8), name)
		opts := solver.Options{Work: 20_000, Memory: new(solver.Memory)}
		first := solve(t, native.New(nil), p, opts)
		opts.Memory = first.Memory
		opts.Work = 1
		again := solve(t, native.New(nil), hinted(p, first), opts)
		assert.GreaterOrEqual(t, again.Objective, first.Objective*(1-1e-9))
	}
	p := &solver.Problem{SlotSeconds: 1, Slots: 1, Resources: []string{"node"}, Partitions: []solver.Partition{{}, {}},
		Capacity: [][][]float64{{{1}}, {{1}}}}
	p.Jobs = []solver.Job{{ID: "a",
		Options: []solver.Option{{Count: 2, Demand: []float64{1}, Partitions: []int{0, 1}, Usage: []float64{1}, Value: 5}}}}
	first := solve(t, native.New(nil), p, solver.Options{Memory: new(solver.Memory)})
	again := solve(t, native.New(nil), hinted(p, first), solver.Options{Memory: first.Memory})
	assert.Equal(t, 5.0, again.Objective)
}

// TestMemoryIsAdvice: whatever is handed on, the optimum is found and the bound holds.
func TestMemoryIsAdvice(t *testing.T) {
	for seed := range uint64(seeds(60)) {
		p := solvertest.Tiny(seed)
		want := solvertest.Optimum(p)
		for name, m := range memories(t, p, seed) {
			for _, work := range []int64{30, 20_000} {
				sol, err := solver.Solve(context.Background(), native.New(nil), p, solver.Options{Work: work, Gap: -1, Memory: m})
				require.NoError(t, err, "Tiny(%d), %s", seed, name)
				require.GreaterOrEqual(t, *sol.Bound, want*(1-1e-9)-1e-9, "Tiny(%d), %s", seed, name)
				if work > 30 {
					require.InDelta(t, want, sol.Objective, 1e-6*max(1, want), "Tiny(%d), %s", seed, name)
				}
			}
		}
	}
}

// TestMemoryOfLargerProblems holds bounds proven with what was learned elsewhere against plans found without.
func TestMemoryOfLargerProblems(t *testing.T) {
	for seed := range uint64(seeds(10)) {
		p := solvertest.Cycle(seed, 20+5*int(seed), 3*int(seed))
		other := solvertest.Cycle(seed+1, 20+5*int(seed), 3*int(seed))
		other.Slots, other.Resources, other.Partitions = p.Slots, p.Resources, p.Partitions
		handed := []*solver.Memory{learned(t, p, 8000), learned(t, successor(p, seed), 8000),
			learned(t, successor(p, seed), 500).Later(2)}
		if solver.Validate(other) == nil {
			handed = append(handed, learned(t, other, 8000))
		}
		cold, err := solver.Solve(context.Background(), native.New(nil), p, solver.Options{Work: 30_000})
		require.NoError(t, err)
		for i, m := range handed {
			sol, err := solver.Solve(context.Background(), native.New(nil), p, solver.Options{Work: 8000, Memory: m})
			require.NoError(t, err)
			assert.GreaterOrEqual(t, *sol.Bound, cold.Objective*(1-1e-9), "Cycle(%d), memory %d", seed, i)
			assert.GreaterOrEqual(t, *cold.Bound, sol.Objective*(1-1e-9), "Cycle(%d), memory %d", seed, i)
		}
	}
}

// TestMemoryIsAllThatIsHandedOn: the same problem, options and memory give the same solution, on an engine that has
// solved others and while it solves others.
func TestMemoryIsAllThatIsHandedOn(t *testing.T) {
	p := solvertest.Cycle(5, 40, 8)
	opts := solver.Options{Work: 4000, Memory: learned(t, successor(p, 1), 4000)}
	want, err := solver.Solve(context.Background(), native.New(nil), p, opts)
	require.NoError(t, err)
	e := native.New(nil)
	got := make([]*solver.Solution, 6)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			_, _ = solver.Solve(context.Background(), e, solvertest.Cycle(uint64(i), 30, 3), opts)
			got[i], _ = solver.Solve(context.Background(), e, p, opts)
		})
	}
	wg.Wait()
	for _, sol := range got {
		require.NotNil(t, sol)
		assert.Equal(t, want.Choice, sol.Choice)
		assert.Equal(t, *want.Bound, *sol.Bound)
		assert.Equal(t, want.Work, sol.Work)
		value, _ := sol.Memory.Note("native")
		expected, _ := want.Memory.Note("native")
		assert.Equal(t, expected, value)
	}
}

// hinted is p with the plan as its hint.
func hinted(p *solver.Problem, plan *solver.Solution) *solver.Problem {
	q := *p
	q.Hint = map[string]int{}
	for id, c := range plan.Choice {
		q.Hint[id] = c.Option
	}
	return &q
}

// TestUnchangedCyclesCostLittle: the same problems again take a fraction of the work to the same gap, in sum, as the
// work that a single one takes depends on which plan happens to be found when.
func TestUnchangedCyclesCostLittle(t *testing.T) {
	nativetest.Sequential(t)
	var cold, warm int64
	for _, q := range problems(t) {
		if jobs := len(q.p.Jobs); jobs < 40 || jobs > 300 {
			continue // proven at once, or far from the gap for long
		}
		opts := solver.Options{Work: 400_000, Gap: 0.05, Memory: new(solver.Memory)}
		first, err := solver.Solve(context.Background(), native.New(nil), q.p, opts)
		require.NoError(t, err)
		opts.Memory = first.Memory
		again, err := solver.Solve(context.Background(), native.New(nil), hinted(q.p, first), opts)
		require.NoError(t, err)
		assert.Equal(t, solver.StopGap, again.Stop, q.name)
		cold, warm = cold+first.Work, warm+again.Work
	}
	assert.LessOrEqual(t, 4*warm, cold)
}
