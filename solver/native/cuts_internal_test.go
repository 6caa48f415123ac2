package native

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native/internal/nativetest"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// TestCutsKeepPlans holds hundreds of random plans, and the best one found, to the cuts of many problems.
func TestCutsKeepPlans(t *testing.T) {
	nativetest.Sequential(t)
	total := 0
	for seed := range uint64(30) {
		p := solvertest.Cycle(seed, 8+int(seed), int(seed%5)*2)
		if seed%3 == 0 {
			p = solvertest.Random(seed, 12)
		}
		for _, splits := range []solver.SplitRule{solver.SplitsInteger, solver.SplitsNow, solver.SplitsContinuous} {
			w := newWorker()
			w.begin(context.Background(), p, solver.Options{Work: 60_000, Gap: -1, Splits: splits}, Config{},
				func(*solver.Solution) {})
			w.run()
			total += len(w.pool.RHS)
			w.cur.Copy(&w.known.Best)
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
func randomPlan(w *worker, r *rand.Rand) {
	w.cur.Empty()
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
func checkCuts(t *testing.T, w *worker, seed uint64) {
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
	for c, rhs := range w.pool.RHS {
		sum := 0.0
		for e := w.pool.Off[c]; e < w.pool.Off[c+1]; e++ {
			sum += w.pool.Coef[e] * level[w.pool.At[e]]
		}
		require.LessOrEqual(t, sum, rhs+1e-6*(1+rhs), "seed %d, cut %d", seed, c)
	}
}
