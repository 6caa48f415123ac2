package highs_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
)

// knapsacks is a random model with several rows, of either sense, that takes some work.
func knapsacks(random *rand.Rand) *milp.Model {
	m := &milp.Model{Maximize: random.IntN(2) == 0, Offset: float64(random.IntN(2001) - 1000)}
	sign := 1.0
	if !m.Maximize {
		sign = -1
	}
	for range 22 {
		m.AddVar(milp.Var{Upper: 1, Cost: sign * float64(50+random.IntN(50)), Integer: random.IntN(10) > 0})
	}
	for range 4 {
		r := milp.Row{Lower: math.Inf(-1)}
		for j := range 22 {
			weight := float64(20 + random.IntN(80))
			r.Index, r.Value = append(r.Index, int32(j)), append(r.Value, weight)
			r.Upper += math.Floor(weight / 2)
		}
		m.AddRow(r)
	}
	return m
}

// TestNoBoundIsEverWrong looks at all bounds that are told of, with starts of all kinds: to complete one HiGHS solves
// smaller models, whose bounds say nothing of the caller's.
func TestNoBoundIsEverWrong(t *testing.T) {
	b := open(t)
	random := rand.New(rand.NewPCG(5, 6))
	told, infinite := 0, 0
	for range 5 {
		m := knapsacks(random)
		exact, err := milp.Solve(t.Context(), b, m, milp.Options{Gap: -1})
		require.NoError(t, err)
		require.Equal(t, milp.StopOptimal, exact.Stop)
		sound := func(bound float64) {
			slack := 1e-6 * math.Max(1, math.Abs(exact.Objective))
			if m.Maximize {
				slack = -slack
			}
			assert.False(t, milp.Better(m, exact.Objective+slack, bound), "bound %v, but the optimum is %v", bound,
				exact.Objective)
		}
		for _, unknown := range []float64{0, 0.5, 0.95, 1} {
			start := make([]float64, m.Vars())
			for j := range start {
				if start[j] = float64(random.IntN(2)); random.Float64() < unknown {
					start[j] = math.NaN()
				}
			}
			r, err := milp.Solve(t.Context(), b, m,
				milp.Options{Gap: -1, Start: start, Nodes: int64(1 + random.IntN(40)), Incumbent: func(p milp.Point) {
					sound(p.Bound)
					if told++; math.IsInf(p.Bound, 0) {
						infinite++
					}
				}})
			require.NoError(t, err)
			sound(r.Bound)
			if r.Stop == milp.StopOptimal {
				assert.InDelta(t, exact.Objective, r.Objective, 1e-5)
			}
		}
	}
	assert.Positive(t, told)
	assert.Less(t, infinite, told, "no bound was told of: the test shows nothing")
}

// TestSmallCostsCount: HiGHS takes a cost of 1e-7 for none, so that z were at its upper bound, and the objective 0.9.
func TestSmallCostsCount(t *testing.T) {
	m := &milp.Model{}
	m.AddVar(milp.Var{Name: "y", Upper: 1, Cost: -1, Integer: true})
	m.AddVar(milp.Var{Name: "z", Upper: 1e6, Cost: 1e-7})
	m.AddRow(milp.Row{Lower: 0, Upper: math.Inf(1), Index: []int32{0, 1}, Value: []float64{-5e5, 1}})
	r, err := milp.Solve(t.Context(), open(t), m, milp.Options{})
	require.NoError(t, err)
	assert.Equal(t, milp.StopOptimal, r.Stop)
	assert.InDelta(t, -0.95, r.Objective, 1e-6)
	assert.InDelta(t, -0.95, r.Bound, 1e-4)
}
