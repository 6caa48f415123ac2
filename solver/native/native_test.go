package native_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native"
	"github.com/hedgesched/hedge/solver/native/internal/nativetest"
	"github.com/hedgesched/hedge/solver/solvertest"
)

func TestConformance(t *testing.T) {
	solvertest.Run(t, native.New(nil),
		solvertest.Claims{Caps: solver.Caps{Exact: true, Bound: true, Deterministic: true, Anytime: true}, Seeds: seeds(200)})
}

// seeds is how many random problems to try of n; fewer with -short, for the race detector.
func seeds(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}

func TestConformanceOfVariants(t *testing.T) {
	nativetest.Sequential(t)
	for name, cfg := range map[string]native.Config{
		"NoExact":     {NoExact: true},
		"DefaultWork": {DefaultWork: 3000},
	} {
		t.Run(name, func(t *testing.T) {
			caps := solver.Caps{Exact: !cfg.NoExact, Bound: true, Deterministic: true, Anytime: true}
			solvertest.Run(t, native.New(&cfg), solvertest.Claims{Caps: caps, Seeds: seeds(60)})
		})
	}
}

// TestReferenceProblems holds plans and bounds to what is known of the problems.
func TestReferenceProblems(t *testing.T) {
	for _, c := range []struct {
		name           string
		atLeast, bound float64
	}{
		{"a-020", 1129.3932, 1129.51},
		{"b-060", 25_700, 26_263.2},
		{"c-150", 25_400, 27_600},
		{"d-300-multi", 500_000, 627_000},
		{"e-400-google", 3_500_000, 5_100_000},
		{"f-1000-google", 2_400_000, 6_500_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			sol, err := solver.Solve(context.Background(), native.New(nil), load(t, c.name), solver.Options{Work: 60_000})
			require.NoError(t, err)
			assert.GreaterOrEqual(t, sol.Objective, c.atLeast)
			assert.LessOrEqual(t, *sol.Bound, c.bound)
		})
	}
}

// TestSmallProblemsAreProven: twenty jobs are no more than a few milliseconds' work.
func TestSmallProblemsAreProven(t *testing.T) {
	sol, err := solver.Solve(context.Background(), native.New(nil), load(t, "a-020"),
		solver.Options{Work: 10_000, Gap: -1})
	require.NoError(t, err)
	assert.Equal(t, solver.StopOptimal, sol.Stop)
	assert.InDelta(t, 1129.393284, sol.Objective, 1e-6)
}

// TestBoundsHold sets bounds from little work against plans from much.
func TestBoundsHold(t *testing.T) {
	for seed := range uint64(seeds(8)) {
		p := solvertest.Cycle(seed, 15+10*int(seed), 4*int(seed))
		var plan, bound float64
		for i, work := range []int64{1000, 8000, 60_000} {
			sol, err := solver.Solve(context.Background(), native.New(nil), p, solver.Options{Work: work})
			require.NoError(t, err)
			if plan = max(plan, sol.Objective); i == 0 {
				bound = *sol.Bound
			}
			bound = min(bound, *sol.Bound)
		}
		assert.GreaterOrEqual(t, bound, plan*(1-1e-9), "seed %d", seed)
	}
}

func TestConfig(t *testing.T) {
	p := load(t, "b-060")
	less := native.New(&native.Config{DefaultWork: 2000, NoExact: true})
	a, err := solver.Solve(context.Background(), less, p, solver.Options{})
	require.NoError(t, err)
	b, err := solver.Solve(context.Background(), less, p, solver.Options{Work: 2000})
	require.NoError(t, err)
	assert.Equal(t, a.Choice, b.Choice)
	assert.Equal(t, solver.StopWork, a.Stop)
}

// The package comment's example: the relaxation alone proves 12.5, the search that A by itself is best.
func Example_bound() {
	job := func(id string, nodes int, worth float64) solver.Job {
		return solver.Job{ID: id, Options: []solver.Option{
			{Count: nodes, Demand: []float64{1}, Partitions: []int{0}, Usage: []float64{1}, Value: worth}}}
	}
	p := &solver.Problem{
		SlotSeconds: 60, Slots: 1, Resources: []string{"node"},
		Partitions: []solver.Partition{{Name: "all", Nodes: 4}},
		Capacity:   [][][]float64{{{4}}},
		Jobs:       []solver.Job{job("A", 3, 10), job("B", 2, 5), job("C", 2, 4)},
	}
	for _, engine := range []*native.Engine{native.New(&native.Config{Relaxation: true}), native.New(nil)} {
		sol, err := solver.Solve(context.Background(), engine, p, solver.Options{Gap: -1})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("worth %v, and no plan more than %.4g\n", sol.Objective, *sol.Bound)
	}
	// Output:
	// worth 10, and no plan more than 12.5
	// worth 10, and no plan more than 10
}

// Two gangs of four want the same two racks of three nodes, and one may wait.
func Example() {
	gang := func(values ...float64) []solver.Option {
		var opts []solver.Option
		for start, v := range values {
			opts = append(opts, solver.Option{Set: "any", Start: start, Count: 4, Demand: []float64{1},
				Partitions: []int{0, 1}, Usage: []float64{1}, Value: v})
		}
		return opts
	}
	p := &solver.Problem{
		SlotSeconds: 60, Slots: 2, Resources: []string{"node"},
		Partitions: []solver.Partition{{Name: "rack-a", Nodes: 3}, {Name: "rack-b", Nodes: 3}},
		Capacity:   [][][]float64{{{3, 3}}, {{3, 3}}},
		Jobs:       []solver.Job{{ID: "urgent", Options: gang(10, 2)}, {ID: "patient", Options: gang(11, 9)}},
	}
	sol, err := solver.Solve(context.Background(), native.New(nil), p, solver.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, j := range p.Jobs {
		fmt.Println(j.ID, "starts in slot", j.Options[sol.Choice[j.ID].Option].Start)
	}
	fmt.Printf("%s %.4f, gap %.4f %%\n", sol.Stop, sol.Objective, 100**sol.Gap)
	// Output:
	// urgent starts in slot 0
	// patient starts in slot 1
	// optimal 19.0000, gap 0.0000 %
}

// TestSeedsThatOnceFailed: a job that must be placed had no option left, the best plan was worth nothing, and an
// option that cannot fit was worth far more than all others.
func TestSeedsThatOnceFailed(t *testing.T) {
	for _, seed := range []uint64{1919, 2227, 3088, 101592} {
		p := solvertest.Tiny(seed)
		sol, err := solver.Solve(context.Background(), native.New(nil), p, solver.Options{Work: 20_000, Gap: -1})
		require.NoError(t, err, "Tiny(%d)", seed)
		assert.Equal(t, solver.StopOptimal, sol.Stop, "Tiny(%d)", seed)
		assert.InDelta(t, solvertest.Optimum(p), sol.Objective, 1e-6, "Tiny(%d)", seed)
	}
	for _, seed := range []uint64{272, 459} {
		p := solvertest.Mixed(seed)
		proof, err := solver.Solve(context.Background(), native.New(nil), p, solver.Options{Work: 3000, Gap: -1})
		require.NoError(t, err, "Mixed(%d)", seed)
		plan, err := solver.Solve(context.Background(), native.New(&native.Config{NoExact: true}), p,
			solver.Options{Work: 6000, Gap: -1})
		require.NoError(t, err, "Mixed(%d)", seed)
		assert.GreaterOrEqual(t, *proof.Bound, plan.Objective*(1-1e-6), "Mixed(%d)", seed)
	}
}

// TestPastSolvesDoNotMatter: an engine answers as a new one does, to the last unit of work, whatever its pooled
// memory has been used for.
func TestPastSolvesDoNotMatter(t *testing.T) {
	nativetest.Sequential(t)
	for _, cfg := range []native.Config{{}, {NoExact: true}} {
		for seed := range uint64(5) {
			p := solvertest.Random(61+seed, 60)
			if seed > 2 { // small enough to be gone through
				p = solvertest.Random(15+3*(seed%2), 20+3*int(seed%2))
			}
			for _, work := range []int64{1000, 1500, 5000, 20_000} {
				e := native.New(&cfg)
				opts := solver.Options{Work: work, Seed: 1, Threads: 1 + int(seed)%2, Gap: -1}
				want := solve(t, e, p, opts)
				solve(t, e, solvertest.Random(13, 12), solver.Options{Work: 20_000, Gap: -1})
				solve(t, e, solvertest.Random(15, 12), solver.Options{Work: 20_000, Threads: 3, Gap: -1})
				solve(t, e, solvertest.Cycle(99, 45, 8), solver.Options{Work: 20_000, Gap: -1})
				got := solve(t, e, p, opts)
				want.WallMS = got.WallMS
				assert.Equal(t, want, got, "problem %d within %d units, %+v", seed, work, cfg)
			}
		}
	}
}

// The work limit is kept on what the engine is measured on, whose larger problems are not through with the first
// plans by then.
func TestWorkLimitIsKept(t *testing.T) {
	nativetest.Sequential(t)
	for _, q := range problems(t) {
		for _, limit := range []int64{10_000, 20_000} {
			sol := solve(t, native.New(nil), q.p, solver.Options{Work: limit, Gap: -1})
			assert.LessOrEqual(t, sol.Work, limit*11/10, "%s within %d", q.name, limit)
			assert.NotEmpty(t, sol.Choice, "%s within %d", q.name, limit)
		}
	}
}

// jittered is p with amounts that differ by little from what they were.
func jittered(p *solver.Problem, seed uint64) *solver.Problem {
	r := rand.New(rand.NewPCG(seed, 5))
	by := math.Pow(10, -12+float64(4.5*r.Float64()))
	jitter := func(list []float64) {
		for i := range list {
			list[i] *= 1 + float64(by*(2*r.Float64()-1))
		}
	}
	for _, byResource := range p.Capacity {
		for _, bySlot := range byResource {
			jitter(bySlot)
		}
	}
	for j := range p.Jobs {
		for i := range p.Jobs[j].Options {
			jitter(p.Jobs[j].Options[i].Demand)
		}
	}
	for k := range p.Running {
		jitter(p.Running[k].Demand)
	}
	return p
}

// TestAmountsThatDifferByLittle: rounding of capacities must not lose what fits exactly.
func TestAmountsThatDifferByLittle(t *testing.T) {
	p := &solver.Problem{SlotSeconds: 1, Slots: 1, Resources: []string{"byte"},
		Partitions: []solver.Partition{{Name: "x"}}, Capacity: [][][]float64{{{4 * 64 << 30}}}}
	for i := range 8 {
		p.Jobs = append(p.Jobs, solver.Job{ID: fmt.Sprint(i), Options: []solver.Option{
			{Count: 1, Demand: []float64{float64(64<<30 + 64*(i-4))}, Partitions: []int{0}, Usage: []float64{1}, Value: 1}}})
	}
	sol := solve(t, native.New(nil), p, solver.Options{Gap: -1})
	assert.Equal(t, 4.0, sol.Objective)
	for seed := range uint64(seeds(500)) {
		p := jittered(solvertest.Tiny(seed), seed)
		sol := solve(t, native.New(nil), p, solver.Options{Work: 20_000, Gap: -1})
		want := solvertest.Optimum(p)
		require.GreaterOrEqual(t, *sol.Bound, want*(1-1e-6), "Tiny(%d)", seed)
		require.GreaterOrEqual(t, sol.Objective, want*(1-1e-6), "Tiny(%d)", seed)
	}
}

// TestOptimalIsOptimal: nothing is worth more than the bound of what is called optimal, and next to nothing more than
// the plan, where one job is worth so much that the others are a small part of the value.
func TestOptimalIsOptimal(t *testing.T) {
	const most = 1e7
	for seed := range uint64(seeds(300)) {
		p := solvertest.Random(seed, 6)
		base := solve(t, native.New(nil), p, solver.Options{Work: 200_000, Gap: -1})
		rows := make([][]float64, len(p.Resources))
		for r := range rows {
			rows[r] = make([]float64, p.Slots)
			rows[r][0] = 1
		}
		demand := make([]float64, len(p.Resources))
		demand[0] = 1
		p.Partitions, p.Capacity = append(p.Partitions, solver.Partition{Name: "own"}), append(p.Capacity, rows)
		p.Jobs = append(p.Jobs, solver.Job{ID: "most", Options: []solver.Option{
			{Count: 1, Demand: demand, Partitions: []int{len(p.Partitions) - 1}, Usage: []float64{1}, Value: most}}})
		sol := solve(t, native.New(nil), p, solver.Options{Work: 200_000, Gap: -1})
		assert.GreaterOrEqual(t, *sol.Bound*(1+1e-13), base.Objective+most, "seed %d: %s", seed, sol.Stop)
		if sol.Stop == solver.StopOptimal {
			assert.GreaterOrEqual(t, sol.Objective, (base.Objective+most)*(1-4e-7), "seed %d", seed)
		}
	}
}

// TestTheLongestTime: the largest limits there are do no worse than large ones.
func TestTheLongestTime(t *testing.T) {
	for seed := range uint64(10) {
		p := solvertest.Cycle(seed, 6, 2)
		want := solve(t, native.New(nil), p, solver.Options{Work: 1_000_000_000, Gap: -1})
		for _, opts := range []solver.Options{{Time: math.MaxInt64, Gap: -1}, {Work: math.MaxInt64, Gap: -1},
			{Time: math.MaxInt64, Work: math.MaxInt64, Gap: -1}} {
			ctx, cancel := context.WithCancel(context.Background())
			hung := time.AfterFunc(time.Minute, cancel) // not a deadline, which engines plan by
			sol, err := solver.Solve(ctx, native.New(nil), p, opts)
			hung.Stop()
			cancel()
			require.NoError(t, err)
			require.Equal(t, solver.StopOptimal, sol.Stop, "seed %d, %+v", seed, opts)
			require.InEpsilon(t, want.Objective, sol.Objective, 1e-6, "seed %d, %+v", seed, opts)
		}
	}
}

// TestNoHintIsAnEmptyOne: a problem that is written and read has no hint where it had an empty one.
func TestNoHintIsAnEmptyOne(t *testing.T) {
	for seed := range uint64(10) {
		p := solvertest.Cycle(seed, 30, 6)
		p.Hint = nil
		want := solve(t, native.New(nil), p, solver.Options{Work: 3000})
		p.Hint = map[string]int{}
		got := solve(t, native.New(nil), p, solver.Options{Work: 3000})
		want.WallMS = got.WallMS
		assert.Equal(t, want, got, "seed %d", seed)
	}
}
