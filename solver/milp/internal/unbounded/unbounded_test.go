package unbounded_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/internal/unbounded"
	"github.com/hedgesched/hedge/solver/milp/milptest/reference"
)

// truly solves m by the reference backend.
func truly(m *milp.Model) (*milp.Result, error) {
	return milp.Solve(context.Background(), reference.New(), m, milp.Options{Gap: -1})
}

// random is a random model: about half are infeasible, and of the rest half unbounded.
func random(seed uint64) *milp.Model {
	r := rand.New(rand.NewPCG(seed, 7))
	m := &milp.Model{Maximize: r.IntN(2) == 0, Offset: float64(r.IntN(3))}
	bounds := func() (lower, upper float64) {
		lower = float64(r.IntN(9) - 4)
		return [...]float64{lower, lower, math.Inf(-1), math.Inf(-1)}[r.IntN(4)],
			[...]float64{lower + float64(r.IntN(9)), math.Inf(1)}[r.IntN(2)]
	}
	for range 1 + r.IntN(4) {
		lower, upper := bounds()
		whole := r.IntN(3) == 0
		if whole { // the reference backend may branch for ever where there is no end
			lower, upper = math.Max(lower, -9), math.Min(upper, 9)
		}
		m.AddVar(milp.Var{Lower: lower, Upper: upper, Cost: float64(r.IntN(9) - 4), Integer: whole})
	}
	for range 1 + r.IntN(5) {
		row := milp.Row{}
		row.Lower, row.Upper = bounds()
		for j := range m.Vars() {
			if r.IntN(2) == 0 {
				row.Index, row.Value = append(row.Index, int32(j)), append(row.Value, float64(r.IntN(9)-4))
			}
		}
		m.AddRow(row)
	}
	return m
}

// TestSettleFindsTheTruth: whatever a solver says of a model that is infeasible or unbounded, and of one that is
// neither where it says that there is none or that it has failed.
func TestSettleFindsTheTruth(t *testing.T) {
	seen := map[milp.Stop]int{}
	for seed := range uint64(1500) {
		m := random(seed)
		truth, err := truly(m)
		require.NoError(t, err, seed)
		seen[truth.Stop]++
		if truth.Stop == milp.StopUnbounded {
			require.True(t, unbounded.Possible(m), seed)
		}
		for _, claim := range []milp.Stop{milp.StopInfeasible, milp.StopUnbounded, milp.StopInfeasibleOrUnbounded,
			milp.StopOther} {
			want := truth.Stop
			if want == milp.StopOptimal {
				if want = milp.StopOther; claim != milp.StopInfeasible && claim != milp.StopOther {
					continue // it is believed that there is no optimum
				}
			}
			res := &milp.Result{Stop: claim}
			require.NoError(t, unbounded.Settle(m, res, truly), seed)
			require.Equal(t, want, res.Stop, "seed %d, claim %q: %s", seed, claim, res.Raw)
			require.Equal(t, want == milp.StopInfeasible, res.X == nil, seed)
			require.Equal(t, milp.NoBound(m), res.Bound, seed)
			if res.X != nil {
				require.NoError(t, milp.Check(m, res.X), seed)
				require.InDelta(t, m.Objective(res.X), res.Objective, 1e-9, seed)
			}
		}
	}
	for _, stop := range []milp.Stop{milp.StopOptimal, milp.StopInfeasible, milp.StopUnbounded} {
		assert.Greater(t, seen[stop], 100, stop)
	}
}

// endless is unbounded, and has the point 0.
func endless() *milp.Model {
	m := &milp.Model{Maximize: true}
	m.AddVar(milp.Var{Upper: math.Inf(1), Cost: 1})
	return m
}

// TestWhatIsNotFoundOut: a claim stays as far as it goes, and what is a doubt alone ends as the solves behind it do.
func TestWhatIsNotFoundOut(t *testing.T) {
	late := func(*milp.Model) (*milp.Result, error) { return &milp.Result{Stop: milp.StopTime, Raw: "late"}, nil }
	for claim, want := range map[milp.Stop]milp.Stop{
		milp.StopUnbounded: milp.StopInfeasibleOrUnbounded, milp.StopInfeasibleOrUnbounded: milp.StopInfeasibleOrUnbounded,
		milp.StopInfeasible: milp.StopTime, milp.StopOther: milp.StopTime,
	} {
		res := &milp.Result{Stop: claim, Raw: "at first", Nodes: 3, Iterations: -1}
		require.NoError(t, unbounded.Settle(endless(), res, late))
		assert.Equal(t,
			&milp.Result{Stop: want, Raw: "at first; without costs: late", Nodes: 3, Iterations: -1, Bound: math.Inf(1)}, res)
	}
	calls := 0
	res := &milp.Result{Stop: milp.StopInfeasible}
	require.NoError(t, unbounded.Settle(endless(), res, func(m *milp.Model) (*milp.Result, error) {
		if calls++; calls == 1 {
			return truly(m)
		}
		return late(m)
	}))
	assert.Equal(t, milp.StopTime, res.Stop)
	assert.Equal(t, []float64{0}, res.X, "the point is kept")
	gone := errors.New("gone")
	assert.ErrorIs(t, unbounded.Settle(endless(), res, func(*milp.Model) (*milp.Result, error) { return nil, gone }), gone)
}
