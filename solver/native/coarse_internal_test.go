package native

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// TestCells: two partitions are in one cell if every option goes to both of them or to none.
func TestCells(t *testing.T) {
	for name, c := range map[string]struct {
		sets  [][]int
		cells []int
	}{
		"any":       {[][]int{{0, 1, 2, 3}}, []int{0, 0, 0, 0}},
		"one apart": {[][]int{{0, 1, 2, 3}, {2}}, []int{0, 0, 1, 0}},
		"halves":    {[][]int{{3, 2}, {0, 1}}, []int{0, 0, 1, 1}},
		"overlap":   {[][]int{{0, 1}, {1, 2}}, []int{1, 3, 2, 0}},
		"unused":    {[][]int{{1}}, []int{0, 1, 0, 0}},
	} {
		p := &solver.Problem{SlotSeconds: 1, Slots: 1, Resources: []string{"cpu"}}
		for range 4 {
			p.Partitions = append(p.Partitions, solver.Partition{Nodes: 2})
			p.Capacity = append(p.Capacity, [][]float64{{2}})
		}
		for _, set := range c.sets {
			p.Jobs = append(p.Jobs, solver.Job{Options: []solver.Option{{Count: 1, Demand: []float64{1}, Usage: []float64{1}, Value: 1, Partitions: set}}})
		}
		var in pack.Instance
		in.Load(p, solver.SplitsInteger)
		var cells cells
		cells.find(&in)
		assert.Equal(t, c.cells, cells.of, name)
		q := cells.join(&in)
		assert.Len(t, q.Partitions, cells.n, name)
		for k := range cells.n {
			assert.InDelta(t, float64(q.Partitions[k].Nodes), q.Capacity[k][0][0], 1e-12, name)
		}
	}
}

// begunCoarse is w's coarse problem up to its tree, without the enumeration, which would prove tiny problems before; nil if it is no use. It tells whether the relaxation could be solved.
func begunCoarse(w *worker) (in *worker, solved bool) {
	c := &w.coarse
	c.node.wholeProblem()
	if !c.load() {
		return nil, false
	}
	c.resume()
	in = c.worker
	in.greedy.starts()
	in.ascent.run()
	if solved = in.relaxed(); solved {
		in.cutRoot()
	}
	return in, solved
}

// growCoarse searches the coarse problem of w by its tree.
func growCoarse(w *worker) bool {
	in, solved := begunCoarse(w)
	if in == nil {
		return false
	}
	if solved {
		in.tree.grow()
	}
	w.coarse.level()
	return true
}

// TestCoarseByTrying: what the coarse problem alone shows holds for the optimum that brute force finds, with running jobs too, and mostly proves it.
func TestCoarseByTrying(t *testing.T) {
	all := func(w *worker) bool { w.coarse.grow(1); return w.coarse.state != unseen }
	for name, c := range map[string]struct {
		grow  func(w *worker) bool
		of    func(seed uint64) *solver.Problem
		seeds int
	}{
		"tree": {growCoarse, cut, 1000}, "tree, flat": {growCoarse, flat, 300}, "tree, steep": {growCoarse, steep, 300},
		"all": {all, cut, 1000}, "all, flat": {all, flat, 300}, "all, steep": {all, steep, 300},
	} {
		shown, proven, several, conflicts := 0, 0, 0, 0
		for seed := range uint64(c.seeds) {
			p := c.of(seed)
			w := prepared(p)
			w.best.Reset(&w.in)
			if !c.grow(w) {
				continue
			}
			shown++
			optimum := solvertest.Optimum(p)
			require.GreaterOrEqual(t, w.bound(), optimum-1e-6*math.Max(1, optimum), "%s: seed %d", name, seed)
			require.NoError(t, solver.Verify(p, w.best.Solution(name, solver.StopNone), solver.SplitsInteger), "%s: seed %d", name, seed)
			require.LessOrEqual(t, w.top(), optimum+1e-6*math.Max(1, optimum), "%s: seed %d", name, seed)
			if w.proven {
				proven++
				require.InDelta(t, optimum, w.top(), 1e-6*math.Max(1, optimum), "%s: seed %d", name, seed)
			}
			if w.coarse.cells.n > 1 {
				several++
			}
			conflicts += len(w.conflicts.list)
		}
		assert.Greater(t, shown, c.seeds/3, name)
		assert.Greater(t, proven, c.seeds/5, name)
		assert.Greater(t, several, c.seeds/20, name)
		assert.Greater(t, conflicts, c.seeds/50, name)
	}
}

// TestCoarseInParts: tasks that may be split in any way may be so in the coarse problem.
func TestCoarseInParts(t *testing.T) {
	p, err := solver.ReadProblemFile("testdata/small/joined-in-parts.json")
	require.NoError(t, err)
	for _, splits := range []solver.SplitRule{solver.SplitsContinuous, solver.SplitsNow} {
		sol, err := solver.Solve(context.Background(), New(nil), p, solver.Options{Work: 20_000, Gap: -1, Splits: splits})
		require.NoError(t, err)
		assert.InDelta(t, 52, sol.Objective, 1e-6)
		assert.GreaterOrEqual(t, *sol.Bound, 52-1e-6)
	}
}

// TestCoarseWithoutTime: a coarse problem that could not be loaded to the end is of no use, and does no harm.
func TestCoarseWithoutTime(t *testing.T) {
	p := &solver.Problem{SlotSeconds: 1, Slots: 64, Resources: []string{"cpu", "mem"}}
	ones := slices.Repeat([]float64{1}, p.Slots)
	for range 4 {
		full := slices.Repeat([]float64{8}, p.Slots)
		p.Partitions = append(p.Partitions, solver.Partition{Nodes: 8})
		p.Capacity = append(p.Capacity, [][]float64{full, full})
	}
	for j := range 49 {
		job := solver.Job{ID: fmt.Sprint(j)}
		for i := range 120 {
			job.Options = append(job.Options, solver.Option{
				Count: 1 + j%8, Demand: []float64{1, 1}, Partitions: []int{0, 1, 2, 3}, Usage: ones, Value: 1000 - float64(i),
			})
		}
		p.Jobs = append(p.Jobs, job)
	}
	w := prepared(p)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w.ctx = ctx
	assert.False(t, w.coarse.load())
	assert.Less(t, len(w.coarse.worker.in.Opts), len(w.in.Opts))
}

// TestCoarseBudget: the problem has spent what its coarse problem has, and that ends with the problem's work.
func TestCoarseBudget(t *testing.T) {
	p, err := solver.ReadProblemFile("../testdata/captured/cycle-00200.json.gz")
	require.NoError(t, err)
	w := prepared(p)
	from := w.spent()
	w.limit = from + 1000*opsPerUnit
	require.True(t, growCoarse(w))
	assert.Equal(t, w.spent(), w.coarse.worker.spent())
	assert.Greater(t, w.spent(), from+900*opsPerUnit)
	assert.Less(t, w.spent(), w.limit+300*opsPerUnit)
}
