package native

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// enumerated goes through all of p from the empty plan, with neither greedy plans nor prices to begin with.
func enumerated(p *solver.Problem) (w *worker, bound float64, all bool) {
	w = prepared(p)
	w.best.Reset(&w.in)
	w.rooms.reset()
	w.node.wholeProblem()
	bound, all = w.enumeration.search(5_000_000 * opsPerUnit)
	return w, bound, all
}

// TestEnumeration: of tiny problems, some with running jobs, the enumeration alone finds an optimum that brute force confirms, and proves it.
func TestEnumeration(t *testing.T) {
	through, told := 0, 0
	for seed := range uint64(1500) {
		p := solvertest.Tiny(seed)
		w, bound, all := enumerated(p)
		if !all {
			continue
		}
		through++
		optimum := solvertest.Optimum(p)
		require.GreaterOrEqual(t, bound, optimum-1e-6*math.Max(1, optimum), "seed %d", seed)
		if bound <= w.enough() {
			told++
			require.InDelta(t, optimum, w.top(), 1e-6*math.Max(1, optimum), "seed %d", seed)
		}
	}
	assert.Greater(t, through, 1400)
	assert.Greater(t, told, 1300)
}

// TestEnumerationAgainstTheTree: on cycles that the whole search proves, bounds of the enumeration hold.
func TestEnumerationAgainstTheTree(t *testing.T) {
	through := 0
	for seed := range uint64(60) {
		p := solvertest.Cycle(seed, 3+int(seed)%8, int(seed)%6)
		_, bound, all := enumerated(p)
		if !all {
			continue
		}
		through++
		w := prepared(p)
		w.relaxation.solve(math.MaxInt64)
		w.rounds()
		assert.GreaterOrEqual(t, bound, w.top()*(1-1e-6), "seed %d", seed)
	}
	assert.Greater(t, through, 20)
}

// TestPlansFitIntoRooms: whatever a plan places fits into the rooms of all sets.
func TestPlansFitIntoRooms(t *testing.T) {
	for seed := range uint64(200) {
		p := solvertest.Cycle(seed, 2+int(seed)%30, int(seed)%9)
		w := prepared(p)
		w.greedy.starts()
		w.rooms.reset()
		left := append([]float64(nil), w.rooms.all...)
		for k, off := range w.best.Preempted {
			if !off {
				w.rooms.hold(k, left)
			}
		}
		for _, o := range w.best.Choice {
			if o >= 0 {
				require.True(t, w.rooms.fits(o, left), "seed %d", seed)
				w.rooms.take(o, left)
			}
		}
	}
}

// TestRoomPricesAreBounds: at any prices of rooms the bound is no lower than what is the best plan, and looks leave it as it is.
func TestRoomPricesAreBounds(t *testing.T) {
	for seed := range uint64(300) {
		p := solvertest.Tiny(seed)
		w := prepared(p)
		w.rooms.reset()
		w.node.wholeProblem()
		e := &w.enumeration
		e.until = math.MaxInt64
		if !e.begin() {
			continue
		}
		l, optimum := &e.levels[0], solvertest.Optimum(p)
		for i := range l.price {
			l.price[i] = float64(i%7) * optimum / 20
			require.GreaterOrEqual(t, e.lagrange(l, l.price), optimum*(1-1e-9), "seed %d", seed)
		}
	}
}

// TestEnumerationKeepsToItsShare: neither levels nor programs of leaves take more than their share of the work, however large they are.
func TestEnumerationKeepsToItsShare(t *testing.T) {
	for name, p := range map[string]*solver.Problem{
		"40 gangs in 500 partitions": wide(40, 20, 500),
		"60 partitions":              solvertest.CycleOf(3, solvertest.Shape{Jobs: 40, Running: 10, Partitions: 60, Nodes: 256, Slots: 48, Resources: 2}),
	} {
		w := newWorker()
		w.begin(context.Background(), p, solver.Options{Work: 500_000, Gap: -1}, Config{}, func(*solver.Solution) {})
		w.greedy.starts()
		w.ascent.run()
		w.greedy.planByPrices()
		from, end := w.spent(), w.share(enumerationShare)
		w.enumeration.prove()
		assert.Greater(t, w.spent(), from, name)
		assert.LessOrEqual(t, w.spent(), end+(end-from)/5, name)
	}
}
