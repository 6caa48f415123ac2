package native

import (
	"math"
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

// anywhere is a tiny problem whose options may all go anywhere, so that there is one cell.
func anywhere(seed uint64) *solver.Problem {
	p := solvertest.Tiny(seed)
	var all []int
	for x := range p.Partitions {
		all = append(all, x)
	}
	for j := range p.Jobs {
		for o := range p.Jobs[j].Options {
			p.Jobs[j].Options[o].Partitions = all
		}
	}
	return p
}

// growCoarse searches the coarse problem of w by its tree, without the enumeration, which would prove tiny problems before.
func growCoarse(w *worker) bool {
	c := &w.coarse
	c.node.wholeProblem()
	if !c.begin() {
		return false
	}
	c.resume()
	in := c.worker
	in.greedy.starts()
	in.ascent.run()
	if in.relaxed() {
		in.cutRoot()
		in.tree.grow()
	}
	c.level()
	return true
}

// TestCoarseByTrying: what the coarse problem alone shows holds for the optimum that brute force finds, with running jobs too, and mostly proves it.
func TestCoarseByTrying(t *testing.T) {
	for name, grow := range map[string]func(w *worker) bool{
		"tree": growCoarse,
		"all":  func(w *worker) bool { w.coarse.grow(1); return w.coarse.state != useless || w.proven },
	} {
		shown, proven, conflicts := 0, 0, 0
		for seed := range uint64(1500) {
			p := anywhere(seed)
			w := prepared(p)
			w.best.Reset(&w.in)
			if !grow(w) {
				continue
			}
			shown++
			optimum := solvertest.Optimum(p)
			require.GreaterOrEqual(t, w.bound(), optimum-1e-6*math.Max(1, optimum), "%s: seed %d", name, seed)
			require.LessOrEqual(t, w.top(), optimum+1e-6*math.Max(1, optimum), "%s: seed %d", name, seed)
			if w.proven {
				proven++
				require.InDelta(t, optimum, w.top(), 1e-6*math.Max(1, optimum), "%s: seed %d", name, seed)
			}
			conflicts += len(w.conflicts.list)
		}
		assert.Greater(t, shown, 300, name)
		assert.Greater(t, proven, 200, name)
		assert.Greater(t, conflicts, 20, name)
	}
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
