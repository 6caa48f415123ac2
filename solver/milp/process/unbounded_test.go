package process_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/milptest/reference"
)

// open is a random model of few variables, many of which have no end on one side. integer says that some are whole.
func open(seed uint64, integer bool) *milp.Model {
	r := rand.New(rand.NewPCG(seed, 5))
	m := &milp.Model{Maximize: r.IntN(2) == 0}
	bounds := func() (lower, upper float64) {
		lower = float64(r.IntN(9) - 4)
		upper = lower + float64(r.IntN(9))
		switch r.IntN(5) {
		case 0:
			lower = math.Inf(-1)
		case 1:
			upper = math.Inf(1)
		case 2:
			lower, upper = math.Inf(-1), math.Inf(1)
		}
		return lower, upper
	}
	for range 1 + r.IntN(5) {
		lower, upper := bounds()
		whole := integer && r.IntN(2) == 0
		if whole && r.IntN(2) == 0 {
			lower, upper = math.Max(lower, -9), math.Min(upper, 9)
		}
		m.AddVar(milp.Var{Lower: lower, Upper: upper, Cost: float64(r.IntN(9) - 4), Integer: whole})
	}
	for range r.IntN(6) {
		e := milp.Row{}
		e.Lower, e.Upper = bounds()
		for j := range m.Vars() {
			if r.IntN(2) == 0 {
				e.Index, e.Value = append(e.Index, int32(j)), append(e.Value, float64((1+r.IntN(4))*(1-2*r.IntN(2))))
			}
		}
		m.AddRow(e)
	}
	return m
}

// TestUnboundedModelsThatCBCCallsInfeasible: of these, CBC 2.10.8 calls three so, one of them a linear program.
func TestUnboundedModelsThatCBCCallsInfeasible(t *testing.T) {
	b := real(t, "cbc")
	ends := 0
	for seed := range uint64(12) {
		for _, integer := range []bool{false, true} {
			m := open(18+seed, integer)
			want, err := milp.Solve(context.Background(), reference.New(), m, milp.Options{Gap: -1, Nodes: 3000})
			require.NoError(t, err)
			if want.Stop == milp.StopNodes {
				continue
			}
			got, err := milp.Solve(context.Background(), b, m, milp.Options{Gap: -1})
			require.NoError(t, err)
			assert.Equal(t, want.Stop, got.Stop, "seed %d, integers %v: %s", 18+seed, integer, got.Raw)
			if want.Stop == milp.StopUnbounded {
				ends++
			}
		}
	}
	assert.Greater(t, ends, 5)
}
