package native

import (
	"context"
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

// TestCutsKeepPlans holds hundreds of random plans, and the best one found, to the cuts of many problems.
func TestCutsKeepPlans(t *testing.T) {
	Sequential(t)
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

// TestCutsKeepEveryPlan holds all plans of tiny problems, with every split in whole tasks, to the cuts that any
// solution of the relaxation could call for: those of the relaxation itself, and of made-up ones.
func TestCutsKeepEveryPlan(t *testing.T) {
	plans, checked := 0, 0
	for seed := range uint64(1500) {
		w := prepared(solvertest.Tiny(seed))
		if !w.relaxation.exists() {
			continue
		}
		w.relaxation.solve(1 << 60)
		w.subproblem.reset()
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
		w.emptyPlan()
		plans += everyPlan(t, w, 0, seed)
	}
	assert.Greater(t, checked, 500, "cuts that were checked")
	assert.Greater(t, plans, 10_000)
}

// invent separates a solution that no program has: jobs take parts of options, split anyhow.
func invent(w *worker, r *rand.Rand) {
	in := &w.in
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
func everyPlan(t *testing.T, w *worker, j int, seed uint64) int {
	in := &w.in
	if j < len(in.P.Running) {
		n := everyPlan(t, w, j+1, seed)
		w.cur.Preempt(j)
		n += everyPlan(t, w, j+1, seed)
		w.cur.Unpreempt(j)
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
			w.cur.Place(o, split)
			if slices.Min(w.cur.Res) > -1e-9 {
				n += everyPlan(t, w, len(in.P.Running)+j+1, seed)
			}
			w.cur.Remove(j)
		})
	}
	return n
}

// everySplit calls then with every split of left tasks over the option's partitions from i on.
func everySplit(w *worker, opt *pack.Option, split []float64, i int, left float64, then func()) {
	if i == len(split) {
		if left == 0 {
			then()
		}
		return
	}
	for q := 0.0; q <= min(left, w.in.Limit[opt.P0+i]); q++ {
		split[i] = q
		everySplit(w, opt, split, i+1, left-q, then)
	}
	split[i] = 0
}

// randomPlan makes cur a plan that no more jobs fit into, with some running jobs preempted.
func randomPlan(w *worker, r *rand.Rand) {
	w.emptyPlan()
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

// TestCutsTightenTheRelaxation holds the relaxation with cuts between the best plans and its value without.
func TestCutsTightenTheRelaxation(t *testing.T) {
	for name, c := range map[string]struct{ best, reach float64 }{"a-020": {1129.39, 1145}, "c-150": {26_225, 26_850}} {
		p, err := solver.ReadProblemFile("../testdata/" + name + ".json.gz")
		require.NoError(t, err)
		w := prepared(p)
		w.relaxation.solve(1 << 60)
		w.dual.Cuts = &w.pool
		w.cutting.tighten(1 << 60)
		checkBasis(t, w)
		assert.NotEmpty(t, w.pool.RHS)
		assert.Less(t, w.dual.Bound, c.reach, name)
		assert.GreaterOrEqual(t, w.dual.Bound, c.best, name)
	}
}

// TestNoDivisionIsRepeated looks through the trees of many searches.
func TestNoDivisionIsRepeated(t *testing.T) {
	Sequential(t)
	nodes := 0
	for seed := range uint64(24) {
		w := newWorker()
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

// TestCutsThatMakeOptionsCheaper: the option of most reduced value is found at any prices, of cuts too, some of which
// make options worth more than their value.
func TestCutsThatMakeOptionsCheaper(t *testing.T) {
	cheaper := 0
	for seed := range uint64(300) {
		w := prepared(solvertest.Cycle(seed, 6, 2))
		d, r := &w.dual, rand.New(rand.NewPCG(seed, 3))
		d.Cuts = &relax.Cuts{}
		d.Cuts.Reset()
		dense, places := make([]float64, len(w.in.Part)+len(w.in.P.Running)), []int32{}
		for i := range dense {
			places = append(places, int32(i))
			dense[i] = float64(r.IntN(5) - 2)
		}
		d.Cuts.Add(places, dense, 1)
		d.Lam = append(d.Lam[:w.in.Rows], 10*r.Float64())
		for i := range w.in.Rows {
			d.Lam[i] = max(0, r.Float64()-0.5)
		}
		d.Window()
		for j := range w.in.P.Jobs {
			most := 0.0
			for o := w.in.JobOpts[j]; o < w.in.JobOpts[j+1]; o++ {
				if opt := &w.in.Opts[o]; !w.subproblem.decided.Dead[o] {
					red := opt.Value - d.Price(opt, d.Unit)
					if most = max(most, red); red > opt.Value {
						cheaper++
					}
				}
			}
			d.Last[j] = -1
			best, _ := d.Choose(j, 0)
			require.InDelta(t, most, best, 1e-9*(1+most), "seed %d, job %d", seed, j)
		}
	}
	assert.Greater(t, cheaper, 100)
}
