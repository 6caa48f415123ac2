package plan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native/internal/nativetest"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// ready is a bench that has read a problem.
func ready(p *solver.Problem) *nativetest.Bench {
	return nativetest.Ready(p, solver.Options{Work: 1_000_000, Splits: solver.SplitsInteger})
}

// gang is a job of one option: a number of tasks, each on a node of one of the given partitions, in the only slot.
func gang(id string, tasks int, partitions ...int) solver.Job {
	return solver.Job{ID: id, Options: []solver.Option{
		{Count: tasks, Demand: []float64{1}, Partitions: partitions, Usage: []float64{1}, Value: 1}}}
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
			w := ready(p)
			for j, split := range c.splits {
				w.Cur.Place(j, split)
			}
			last := len(c.placed)
			require.False(t, w.Cur.TryPlace(last), "not as it is split")
			assert.Equal(t, c.fits, w.Ejection.Place(last, 100, nil))
			assert.Equal(t, c.fits, w.Cur.Choice[last] == last)
			require.NoError(t, solver.Verify(p, w.Cur.Solution(name, solver.StopNone), solver.SplitsInteger))
		})
	}
}

// TestEjectionKeepsPlans: whatever is placed by ejection, or is not, plans stay plans, and residuals and values right.
func TestEjectionKeepsPlans(t *testing.T) {
	in, out := 0, 0
	for seed := range uint64(40) {
		p := solvertest.Cycle(7000+seed, 8+int(seed), int(seed%3)*3)
		w := ready(p)
		for o := range w.In.Opts {
			j := w.In.Opts[o].Job
			if w.Cur.Choice[j] >= 0 || w.Cur.TryPlace(o) {
				continue
			}
			w.Ejection.Reset()
			if w.Ejection.Place(o, 100, nil) {
				in++
				require.Equal(t, o, w.Cur.Choice[j])
			} else {
				out++
				require.Equal(t, -1, w.Cur.Choice[j])
			}
		}
		res, value := append([]float64(nil), w.Cur.Res...), w.Cur.Value
		w.Cur.Rebuild()
		require.InDeltaSlice(t, w.Cur.Res, res, 1e-9, "seed %d", seed)
		require.InDelta(t, w.Cur.Value, value, 1e-6, "seed %d", seed)
		require.NoError(t, solver.Verify(p, w.Cur.Solution("ejection", solver.StopNone), solver.SplitsInteger), "seed %d",
			seed)
	}
	assert.Positive(t, in)
	assert.Positive(t, out)
}
