package highs_test

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/highs"
)

// open is the backend. Without the library the test is skipped, unless HEDGE_REQUIRE_SOLVERS says that it
// must be there.
func open(tb testing.TB) *highs.Backend {
	tb.Helper()
	b, err := highs.Open(highs.Config{})
	if err != nil && os.Getenv("HEDGE_REQUIRE_SOLVERS") == "" {
		tb.Skipf("HiGHS is not installed: %v", err)
	}
	require.NoError(tb, err)
	return b
}

// hard is a knapsack with several rows: HiGHS does not solve it within a few nodes.
func hard() *milp.Model {
	random := rand.New(rand.NewPCG(1, 2))
	m := &milp.Model{Maximize: true}
	for range 30 {
		m.AddVar(milp.Var{Upper: 1, Cost: float64(50 + random.IntN(50)), Integer: true})
	}
	for range 5 {
		r := milp.Row{Lower: math.Inf(-1)}
		for j := range 30 {
			weight := float64(20 + random.IntN(80))
			r.Index, r.Value = append(r.Index, int32(j)), append(r.Value, weight)
			r.Upper += math.Floor(weight / 2)
		}
		m.AddRow(r)
	}
	return m
}

// small is a model that is solved at once: 14 with the first two of three.
func small() *milp.Model {
	m := &milp.Model{Maximize: true, Offset: 7}
	for _, cost := range []float64{3, 4, 5} {
		m.AddVar(milp.Var{Upper: 1, Cost: cost, Integer: true})
	}
	m.AddRow(milp.Row{Lower: math.Inf(-1), Upper: 5, Index: []int32{0, 1, 2}, Value: []float64{2, 3, 4}})
	return m
}

func TestWhatHiGHSDoesNotLookInto(t *testing.T) {
	b := open(t)
	inf := math.Inf(1)
	for _, c := range []struct {
		name string
		vars []milp.Var
		rows []milp.Row
		max  bool
		stop milp.Stop
		x    []float64
	}{
		{name: "fractional bounds", vars: []milp.Var{{Lower: 0.5, Upper: 2.5, Integer: true, Cost: 1}}, max: true,
			stop: milp.StopOptimal, x: []float64{2}},
		{name: "unbounded", vars: []milp.Var{{Lower: -inf, Upper: inf, Cost: 1}}, stop: milp.StopUnbounded, x: []float64{0}},
		{name: "unbounded, integer", vars: []milp.Var{{Upper: inf, Cost: 1, Integer: true}}, max: true,
			stop: milp.StopUnbounded, x: []float64{0}},
		{
			name: "unbounded if it were feasible",
			vars: []milp.Var{{Lower: -inf, Upper: inf, Cost: 1}, {Upper: 9, Integer: true}, {Upper: 9, Integer: true}},
			rows: []milp.Row{{Lower: 3, Upper: 3, Index: []int32{1, 2}, Value: []float64{2, 4}}}, stop: milp.StopInfeasible,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &milp.Model{Maximize: c.max}
			for _, v := range c.vars {
				m.AddVar(v)
			}
			for _, r := range c.rows {
				m.AddRow(r)
			}
			r, err := milp.Solve(t.Context(), b, m, milp.Options{})
			require.NoError(t, err)
			assert.Equal(t, c.stop, r.Stop, r.Raw)
			assert.Equal(t, c.x, r.X)
		})
	}
}

func TestNumbersThatHiGHSTakesForOthersAreNotSupported(t *testing.T) {
	b := open(t)
	m := small()
	m.AddRow(milp.Row{Name: "huge", Upper: 1, Index: []int32{1}, Value: []float64{2e15}})
	_, err := milp.Solve(t.Context(), b, m, milp.Options{})
	require.ErrorIs(t, err, milp.ErrUnsupported)
	assert.ErrorContains(t, err, `rows[1] ("huge"): value[0]: found 2e+15`)
	m = small()
	m.AddVar(milp.Var{Name: "dear", Upper: 1, Cost: 1e20})
	_, err = milp.Solve(t.Context(), b, m, milp.Options{})
	require.ErrorIs(t, err, milp.ErrUnsupported)
	assert.ErrorContains(t, err, `vars[3] ("dear"): cost: found 1e+20`)
}

// covering is a random model whose optimum is not zero, of either sense and with an offset of either sign.
func covering(random *rand.Rand) *milp.Model {
	m := &milp.Model{Maximize: random.IntN(2) == 0, Offset: float64(random.IntN(41) - 20)}
	for range 16 {
		cost := float64(10+random.IntN(20)) + random.Float64()
		if m.Maximize {
			cost = -cost
		}
		m.AddVar(milp.Var{Upper: 3, Cost: cost, Integer: true})
	}
	for range 8 {
		r := milp.Row{Lower: 30, Upper: math.Inf(1)}
		for j := range 16 {
			if random.IntN(3) > 0 {
				r.Index, r.Value = append(r.Index, int32(j)), append(r.Value, float64(1+random.IntN(9)))
			}
		}
		m.AddRow(r)
	}
	return m
}

func TestGapIsTheCallersAndNotHiGHS(t *testing.T) {
	b := open(t)
	random := rand.New(rand.NewPCG(3, 4))
	apart := 0
	for range 10 {
		m := covering(random)
		exact, err := milp.Solve(t.Context(), b, m, milp.Options{Gap: -1})
		require.NoError(t, err)
		require.Equal(t, milp.StopOptimal, exact.Stop)
		assert.InDelta(t, exact.Objective, exact.Bound, 1e-6)
		for _, gap := range []float64{0.02, 0.3, 2} {
			r, err := milp.Solve(t.Context(), b, m, milp.Options{Gap: gap})
			require.NoError(t, err)
			require.Equal(t, milp.StopOptimal, r.Stop)
			assert.LessOrEqual(t, r.Gap(), gap+1e-9)
			assert.False(t, milp.Better(m, exact.Objective, r.Bound+1e-6) && milp.Better(m, exact.Objective, r.Bound-1e-6),
				"bound %v is wrong, the optimum is %v", r.Bound, exact.Objective)
			if r.Gap() > 1e-6 {
				apart++
			}
		}
	}
	assert.Positive(t, apart, "no solve stopped at a gap: the test shows nothing")
}

func TestStart(t *testing.T) {
	b := open(t)
	m := hard()
	zero := make([]float64, m.Vars())
	ones := make([]float64, m.Vars())
	hole := make([]float64, m.Vars())
	for j := range ones {
		ones[j] = 1
		if j%2 == 0 {
			hole[j] = math.NaN()
		}
	}
	for _, c := range []struct {
		name  string
		start []float64
		want  milp.StartUse
	}{
		{"none", nil, milp.StartNone},
		{"feasible", zero, milp.StartAccepted},
		{"incomplete", hole, milp.StartAccepted},
		{"infeasible", ones, milp.StartRejected},
		{"out of bounds", []float64{0: 5, 29: math.NaN()}, milp.StartAccepted},
		{"nothing", nan(m.Vars()), milp.StartRejected},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := milp.Solve(t.Context(), b, m, milp.Options{Nodes: 1, Start: c.start})
			require.NoError(t, err)
			assert.Equal(t, c.want, r.Start)
		})
	}
	t.Run("kept if nothing better is found", func(t *testing.T) {
		best, err := milp.Solve(t.Context(), b, m, milp.Options{Nodes: 1})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r, err := b.Solve(ctx, m, milp.Options{Start: best.X, Log: func(line string) {
			if strings.HasPrefix(line, "MIP start solution is feasible") {
				cancel()
			}
		}})
		require.NoError(t, err)
		assert.Equal(t, milp.StopCanceled, r.Stop)
		assert.GreaterOrEqual(t, m.Objective(r.X), best.Objective-1e-6)
	})
}

// TestStartIsNotLostToALimit: one that is over before HiGHS begins, or looks at the start.
func TestStartIsNotLostToALimit(t *testing.T) {
	b, m := open(t), hard()
	zero, ones := make([]float64, m.Vars()), make([]float64, m.Vars())
	for j := range ones {
		ones[j] = 1 // which breaks the rows
	}
	past, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Hour))
	defer cancel()
	for name, ctx := range map[string]context.Context{"a nanosecond": t.Context(), "a deadline long ago": past} {
		var told [][]float64
		opts := milp.Options{Time: 1, Start: zero, Incumbent: func(p milp.Point) { told = append(told, slices.Clone(p.X)) }}
		res, err := b.Solve(ctx, m, opts)
		require.NoError(t, err, name)
		assert.Equal(t, milp.StopTime, res.Stop, name)
		assert.Equal(t, milp.StartAccepted, res.Start, name)
		assert.NoError(t, milp.Check(m, res.X), name)
		assert.Equal(t, zero, told[0], "%s: milp.Solve keeps it even if it does not wait", name)
		opts.Start, told = ones, nil
		res, err = b.Solve(ctx, m, opts)
		require.NoError(t, err, name)
		assert.Empty(t, told, name)
		assert.Nil(t, res.X, name)
	}
}

func nan(n int) []float64 {
	x := make([]float64, n)
	for j := range x {
		x[j] = math.NaN()
	}
	return x
}

func TestSameSeedSameSearch(t *testing.T) {
	b := open(t)
	counts := map[[2]int64]bool{}
	for _, seed := range []int64{1, -1, math.MinInt64, math.MaxInt64} {
		var first *milp.Result
		for range 2 {
			r, err := milp.Solve(t.Context(), b, hard(), milp.Options{Nodes: 2, Seed: seed})
			require.NoError(t, err)
			require.Equal(t, milp.StopNodes, r.Stop)
			r.SetUp, r.Wall = 0, 0
			if first != nil {
				assert.Equal(t, first, r)
			}
			first = r
		}
		counts[[2]int64{first.Nodes, first.Iterations}] = true
	}
	assert.Greater(t, len(counts), 1, "the seed changes nothing")
}

func TestPanicsOfCallersFunctionsStayOutOfHiGHS(t *testing.T) {
	b := open(t)
	for name, opts := range map[string]milp.Options{
		"log":       {Log: func(string) { panic("boom") }},
		"incumbent": {Incumbent: func(milp.Point) { panic("boom") }},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := b.Solve(t.Context(), hard(), opts)
			require.ErrorIs(t, err, milp.ErrBackend)
			assert.ErrorContains(t, err, "boom")
		})
	}
}

// BenchmarkSetUp is the transfer of a model of 10,000 variables and 100,000 coefficients: everything before HiGHS' own
// work.
func BenchmarkSetUp(b *testing.B) {
	backend := open(b)
	m := &milp.Model{}
	for range 10_000 {
		m.AddVar(milp.Var{Upper: 1, Cost: 1, Integer: true})
	}
	index, value := make([]int32, 100), make([]float64, 100)
	for i := range 1000 {
		for k := range index {
			index[k], value[k] = int32((i*7+k*97)%10_000), 1
		}
		m.AddRow(milp.Row{Upper: 1, Index: index, Value: value})
	}
	sum := 0.0
	for b.Loop() {
		// Every solve ends with the first line of its log.
		ctx, cancel := context.WithCancel(b.Context())
		r, err := backend.Solve(ctx, m, milp.Options{Log: func(string) { cancel() }})
		cancel()
		if err != nil {
			b.Fatal(err)
		}
		sum += r.SetUp.Seconds()
	}
	b.ReportMetric(sum*1e3/float64(b.N), "setup-ms/op")
}
