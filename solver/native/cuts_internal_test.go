package native

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// TestCutsKeepPlans holds hundreds of random plans, and the best one found, to the cuts of many problems.
func TestCutsKeepPlans(t *testing.T) {
	total := 0
	for seed := range uint64(30) {
		p := solvertest.Cycle(seed, 8+int(seed), int(seed%5)*2)
		if seed%3 == 0 {
			p = solvertest.Random(seed, 12)
		}
		for _, splits := range []solver.Splits{solver.SplitsInteger, solver.SplitsNow, solver.SplitsContinuous} {
			w := &workspace{}
			w.begin(context.Background(), p, solver.Options{Work: 60_000, Gap: -1, Splits: splits}, Config{}, func(*solver.Solution) {})
			w.run()
			total += len(w.cuts.rhs)
			w.cur.Copy(&w.best)
			checkCuts(t, w, seed)
			r := rand.New(rand.NewPCG(seed, 1))
			for range 100 {
				randomPlan(w, r)
				checkCuts(t, w, seed)
			}
		}
	}
	assert.Greater(t, total, 200, "cuts that were checked")
}

// randomPlan makes cur a plan that no more jobs fit into, with some running jobs preempted.
func randomPlan(w *workspace, r *rand.Rand) {
	w.clear()
	for k := range w.in.P.Running {
		if r.IntN(3) == 0 {
			w.cur.Preempt(k)
		}
	}
	for i := range w.in.Opts { // partitions in any order
		o := &w.in.Opts[i]
		list := w.cur.Order[o.P0:o.P1]
		r.Shuffle(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
	}
	for _, o := range r.Perm(len(w.in.Opts)) {
		if w.cur.Choice[w.in.Opts[o].Job] < 0 {
			w.cur.TryPlace(o)
		}
	}
}

// checkCuts holds the plan in cur to all cuts.
func checkCuts(t *testing.T, w *workspace, seed uint64) {
	t.Helper()
	level := make([]float64, len(w.in.Part)+len(w.in.P.Running))
	for j, o := range w.cur.Choice {
		if o < 0 {
			continue
		}
		opt := &w.in.Opts[o]
		copy(level[opt.P0:opt.P1], w.cur.Split[j*w.in.MaxParts:])
	}
	for k, on := range w.cur.Preempted {
		if on {
			level[len(w.in.Part)+k] = 1
		}
	}
	for c, rhs := range w.cuts.rhs {
		sum := 0.0
		for e := w.cuts.off[c]; e < w.cuts.off[c+1]; e++ {
			sum += w.cuts.coef[e] * level[w.cuts.at[e]]
		}
		require.LessOrEqual(t, sum, rhs+1e-6*(1+rhs), "seed %d, cut %d", seed, c)
	}
}

// TestCutsTightenTheRelaxation holds the relaxation with cuts between the best plans and its value without.
func TestCutsTightenTheRelaxation(t *testing.T) {
	for name, c := range map[string]struct{ best, reach float64 }{"a-020": {1129.39, 1145}, "c-150": {26_225, 26_800}} {
		p, err := solver.ReadProblemFile("../testdata/" + name + ".json.gz")
		require.NoError(t, err)
		w := prepared(p)
		w.relax(1 << 60)
		w.dual.cuts = &w.cuts
		w.tighten(1 << 60)
		checkMaster(t, w)
		assert.NotEmpty(t, w.cuts.rhs)
		assert.Less(t, w.dual.bound, c.reach, name)
		assert.GreaterOrEqual(t, w.dual.bound, c.best, name)
	}
}

// TestNoDivisionIsRepeated looks through the trees of many searches.
func TestNoDivisionIsRepeated(t *testing.T) {
	nodes := 0
	for seed := range uint64(24) {
		w := &workspace{}
		p := solvertest.Cycle(seed, 10+int(seed), int(seed%4)*3)
		w.begin(context.Background(), p, solver.Options{Work: 50_000, Gap: -1}, Config{}, func(*solver.Solution) {})
		w.run()
		nodes += len(w.tree.nodes)
		for n := range w.tree.nodes {
			b := &w.tree.nodes[n]
			if b.parent >= 0 {
				require.False(t, w.tree.divided(b.parent, b.c), "seed %d, node %d", seed, n)
				require.LessOrEqual(t, b.bound, w.tree.nodes[0].bound*(1+1e-9))
			}
		}
	}
	assert.Greater(t, nodes, 500)
}
