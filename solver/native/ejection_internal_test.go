package native

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// gang is a job of one option: a number of tasks, each on a node of one of the given partitions, in the only slot.
func gang(id string, tasks int, partitions ...int) solver.Job {
	return solver.Job{ID: id, Options: []solver.Option{
		{Count: tasks, Demand: []float64{1}, Partitions: partitions, Usage: []float64{1}, Value: 1}}}
}

// ready is a worker that has read a problem and not begun to solve it.
func ready(t *testing.T, p *solver.Problem) *worker {
	t.Helper()
	w := newWorker()
	w.begin(context.Background(), p, solver.Options{Work: 1_000_000, Splits: solver.SplitsInteger}, Config{},
		func(*solver.Solution) {})
	return w
}

func TestEjection(t *testing.T) {
	for name, c := range map[string]struct {
		capacity []float64
		placed   []solver.Job
		splits   [][]float64
		gang     solver.Job
		fits     bool
	}{
		"one moves over": {[]float64{4, 4},
			[]solver.Job{gang("a", 4, 0, 1)}, [][]float64{{3, 1}}, gang("z", 3, 0), true},
		"two move over": {[]float64{4, 4},
			[]solver.Job{gang("a", 2, 0, 1), gang("b", 2, 0, 1)}, [][]float64{{2, 0}, {2, 0}}, gang("z", 4, 0), true},
		"one after the other": {[]float64{2, 2, 2},
			[]solver.Job{gang("a", 2, 0, 1), gang("b", 2, 1, 2)}, [][]float64{{2, 0}, {2, 0}}, gang("z", 2, 0), true},
		"no room in all": {[]float64{4, 4}, []solver.Job{gang("a", 6, 0, 1)}, [][]float64{{3, 3}}, gang("z", 3, 0),
			false},
		"nobody can move": {[]float64{4, 4}, []solver.Job{gang("a", 3, 0)}, [][]float64{{3}}, gang("z", 3, 0), false},
		"one moves, not enough": {[]float64{4, 4}, []solver.Job{gang("a", 2, 0), gang("b", 1, 0, 1)},
			[][]float64{{2}, {1, 0}}, gang("z", 3, 0), false},
		"its own are not in way": {[]float64{2, 1}, []solver.Job{gang("a", 1, 0, 1)}, [][]float64{{0, 1}}, gang("z", 3, 0, 1),
			false},
	} {
		t.Run(name, func(t *testing.T) {
			p := &solver.Problem{SlotSeconds: 1, Slots: 1, Resources: []string{"node"}, Jobs: append(c.placed, c.gang)}
			for _, v := range c.capacity {
				p.Partitions, p.Capacity = append(p.Partitions, solver.Partition{Nodes: int(v)}),
					append(p.Capacity, [][]float64{{v}})
			}
			w := ready(t, p)
			for j, split := range c.splits {
				w.cur.Place(j, split)
			}
			last := len(c.placed)
			require.False(t, w.cur.TryPlace(last), "not as it is split")
			assert.Equal(t, c.fits, w.ejection.place(last, 100))
			assert.Equal(t, c.fits, w.cur.Choice[last] == last)
			require.NoError(t, solver.Verify(p, w.cur.Solution(name, solver.StopNone), solver.SplitsInteger))
		})
	}
}

// TestEjectionKeepsPlans: whatever is placed by ejection, or is not, plans stay plans, and residuals and values right.
func TestEjectionKeepsPlans(t *testing.T) {
	in, out := 0, 0
	for seed := range uint64(40) {
		p := solvertest.Cycle(7000+seed, 8+int(seed), int(seed%3)*3)
		w := ready(t, p)
		for o := range w.in.Opts {
			j := w.in.Opts[o].Job
			if w.cur.Choice[j] >= 0 || w.cur.TryPlace(o) {
				continue
			}
			w.ejection.taken = 0
			if w.ejection.place(o, 100) {
				in++
				require.Equal(t, o, w.cur.Choice[j])
			} else {
				out++
				require.Equal(t, -1, w.cur.Choice[j])
			}
		}
		res, value := append([]float64(nil), w.cur.Res...), w.cur.Value
		w.cur.Rebuild()
		require.InDeltaSlice(t, w.cur.Res, res, 1e-9, "seed %d", seed)
		require.InDelta(t, w.cur.Value, value, 1e-6, "seed %d", seed)
		require.NoError(t, solver.Verify(p, w.cur.Solution("ejection", solver.StopNone), solver.SplitsInteger), "seed %d",
			seed)
	}
	assert.Positive(t, in)
	assert.Positive(t, out)
}
