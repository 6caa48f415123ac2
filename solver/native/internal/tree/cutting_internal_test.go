package tree

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/cuts"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// TestCutsKeepEveryPlan holds all plans of tiny problems, with every split in whole tasks, to the cuts that any
// solution of the relaxation could call for: those of the relaxation itself, and of made-up ones.
func TestCutsKeepEveryPlan(t *testing.T) {
	plans, checked := 0, 0
	for seed := range uint64(1500) {
		w := prepared(solvertest.Tiny(seed))
		if !w.Relaxation.Exists() {
			continue
		}
		w.Relax(1 << 60)
		w.subproblem.Reset()
		w.cutting.separator.Gather()
		w.subproblem.weigh()
		w.cutting.separator.Separate(w.cutting.solution(), relax.MaxCuts)
		r := rand.New(rand.NewPCG(seed, 2))
		for range 4 {
			invent(w, r)
		}
		checked += len(w.pool.RHS)
		if len(w.pool.RHS) == 0 {
			continue
		}
		w.Cur.Empty()
		plans += everyPlan(t, w, 0, seed)
	}
	assert.Greater(t, checked, 500, "cuts that were checked")
	assert.Greater(t, plans, 10_000)
}

// invent separates a solution that no program has: jobs take parts of options, split anyhow.
func invent(w *bench, r *rand.Rand) {
	in := &w.In
	x := cuts.Solution{Weight: make([]float64, len(in.Opts)), Tasks: make([]float64, len(in.Part)+len(in.P.Running))}
	for j := range in.P.Jobs {
		left := 1.0
		for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
			opt := &in.Opts[o]
			if opt.Dead || r.IntN(3) == 0 {
				continue
			}
			z := left * r.Float64()
			x.Weight[o] = z
			left -= z
			need := opt.Count
			for i := opt.P0; i < opt.P1; i++ {
				q := min(need, in.Limit[i]*r.Float64())
				if i == opt.P1-1 {
					q = min(need, in.Limit[i])
				}
				x.Tasks[i] = z * q
				need -= q
			}
		}
	}
	for k := range in.P.Running {
		x.Tasks[len(in.Part)+k] = r.Float64()
	}
	w.cutting.separator.Separate(x, relax.MaxCuts)
}

// everyPlan holds all plans with those of jobs from j on, added to the one in cur, to the cuts, and returns their
// number.
func everyPlan(t *testing.T, w *bench, j int, seed uint64) int {
	in := &w.In
	if j < len(in.P.Running) {
		n := everyPlan(t, w, j+1, seed)
		w.Cur.Preempt(j)
		n += everyPlan(t, w, j+1, seed)
		w.Cur.Unpreempt(j)
		return n
	}
	j -= len(in.P.Running)
	if j == len(in.P.Jobs) {
		checkCuts(t, w, seed)
		return 1
	}
	n := everyPlan(t, w, len(in.P.Running)+j+1, seed)
	for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
		opt := &in.Opts[o]
		split := make([]float64, opt.P1-opt.P0)
		if opt.Dead {
			continue
		}
		everySplit(w, opt, split, 0, opt.Count, func() {
			w.Cur.Place(o, split)
			if slices.Min(w.Cur.Res) > -1e-9 {
				n += everyPlan(t, w, len(in.P.Running)+j+1, seed)
			}
			w.Cur.Remove(j)
		})
	}
	return n
}

// everySplit calls then with every split of left tasks over the option's partitions from i on.
func everySplit(w *bench, opt *pack.Option, split []float64, i int, left float64, then func()) {
	if i == len(split) {
		if left == 0 {
			then()
		}
		return
	}
	for q := 0.0; q <= min(left, w.In.Limit[opt.P0+i]); q++ {
		split[i] = q
		everySplit(w, opt, split, i+1, left-q, then)
	}
	split[i] = 0
}

// checkCuts holds the plan in cur to all cuts.
func checkCuts(t *testing.T, w *bench, seed uint64) {
	t.Helper()
	level := make([]float64, len(w.In.Part)+len(w.In.P.Running))
	for j, o := range w.Cur.Choice {
		if o < 0 {
			continue
		}
		opt := &w.In.Opts[o]
		copy(level[opt.P0:opt.P1], w.Cur.Split[j*w.In.MaxParts:])
	}
	for k, on := range w.Cur.Preempted {
		if on {
			level[len(w.In.Part)+k] = 1
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

// TestCutsTightenTheRelaxation holds the relaxation with cuts between the best plans and its value without.
func TestCutsTightenTheRelaxation(t *testing.T) {
	for name, c := range map[string]struct{ best, reach float64 }{"a-020": {1129.39, 1145}, "c-150": {26_225, 26_850}} {
		p, err := solver.ReadProblemFile("../../../testdata/" + name + ".json.gz")
		require.NoError(t, err)
		w := prepared(p)
		w.Relax(1 << 60)
		w.Dual.Cuts = &w.pool
		w.cutting.Tighten(1 << 60)
		checkBasis(t, w)
		assert.NotEmpty(t, w.pool.RHS)
		assert.Less(t, w.Dual.Bound, c.reach, name)
		assert.GreaterOrEqual(t, w.Dual.Bound, c.best, name)
	}
}
