package milp_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/milptest"
	"github.com/hedgesched/hedge/solver/milp/milptest/reference"
)

// linear is the reference backend as one of linear programs alone. It counts what it is asked, and gives at most as many answers as it is told.
type linear struct {
	milp.Backend
	caps   milp.Caps
	asked  *int
	before func(asked int) error
}

func newLinear(before func(asked int) error) linear {
	if before == nil {
		before = func(int) error { return nil }
	}
	return linear{Backend: reference.New(), caps: milp.Caps{Version: "1", Log: true}, asked: new(int), before: before}
}

func (l linear) Caps() milp.Caps { return l.caps }

func (l linear) Solve(ctx context.Context, m *milp.Model, opts milp.Options) (*milp.Result, error) {
	*l.asked++
	if err := l.before(*l.asked); err != nil {
		return nil, err
	}
	if m.Integers() > 0 {
		return nil, fmt.Errorf("%w: integers", milp.ErrUnsupported)
	}
	return l.Backend.Solve(ctx, m, opts)
}

// lpOnly has no counter, and so is safe for concurrent use.
type lpOnly struct{ milp.Backend }

func (lpOnly) Caps() milp.Caps { return milp.Caps{Version: "1", Log: true} }

func TestDivingConforms(t *testing.T) {
	milptest.Run(t, milp.Diving(lpOnly{reference.New()}), milptest.Config{})
}

// mixed is a random model with some integers; most have points.
func mixed(seed uint64) *milp.Model {
	r := rand.New(rand.NewPCG(seed, 7))
	m := &milp.Model{Name: fmt.Sprintf("seed %d", seed), Maximize: r.IntN(2) == 0, Offset: float64(r.IntN(5))}
	n := 2 + r.IntN(7)
	for range n {
		low := float64(r.IntN(5) - 3)
		m.AddVar(milp.Var{Lower: low, Upper: low + float64(r.IntN(6)), Cost: float64(r.IntN(13) - 6), Integer: r.IntN(4) > 0})
	}
	for range 1 + r.IntN(5) {
		row := milp.Row{Lower: math.Inf(-1), Upper: math.Inf(1)}
		middle := 0.0
		for j := range n {
			if v := float64(r.IntN(11) - 5); v != 0 && r.IntN(3) > 0 {
				row.Index, row.Value = append(row.Index, int32(j)), append(row.Value, v)
				middle += v * math.Round((m.Var(j).Lower+m.Var(j).Upper)/2)
			}
		}
		switch r.IntN(5) {
		case 0:
			row.Lower, row.Upper = middle, middle
		case 1, 2:
			row.Lower = middle - float64(r.IntN(3))
		default:
			row.Upper = middle + float64(r.IntN(3))
		}
		m.AddRow(row)
	}
	return m
}

func TestDivingIsNeverWrongAndSeldomWithoutAPoint(t *testing.T) {
	exact, dive := reference.New(), milp.Diving(newLinear(nil))
	solvable, found, optimal := 0, 0, 0
	for seed := range uint64(1500) {
		m := mixed(seed)
		want, err := milp.Solve(context.Background(), exact, m, milp.Options{Gap: -1})
		require.NoError(t, err, m.Name)
		var told []milp.Point
		got, err := milp.Solve(context.Background(), dive, m, milp.Options{Gap: -1, Incumbent: func(p milp.Point) { told = append(told, p) }})
		require.NoError(t, err, m.Name)
		if want.Stop == milp.StopInfeasible {
			require.Nil(t, got.X, m.Name)
			require.Contains(t, []milp.Stop{milp.StopInfeasible, milp.StopOther}, got.Stop, m.Name)
			continue
		}
		solvable++
		require.Contains(t, []milp.Stop{milp.StopOptimal, milp.StopOther}, got.Stop, m.Name)
		require.False(t, milp.Better(m, want.Objective+slack(m), got.Bound), "%s: bound %v, optimum %v", m.Name, got.Bound, want.Objective)
		if got.X == nil {
			continue
		}
		found++
		require.NoError(t, milp.Check(m, got.X), m.Name)
		require.False(t, milp.Better(m, got.Objective+slack(m), want.Objective), "%s: %v is better than the optimum %v", m.Name, got.Objective, want.Objective)
		require.NotEmpty(t, told, m.Name)
		require.Equal(t, got.Objective, told[len(told)-1].Objective, m.Name)
		if math.Abs(got.Objective-want.Objective) < 1e-6 {
			optimal++
		} else {
			require.Equal(t, milp.StopOther, got.Stop, m.Name)
		}
	}
	t.Logf("%d with a point: found one of %d, the best of %d", solvable, found, optimal)
	assert.Greater(t, solvable, 700)
	assert.GreaterOrEqual(t, float64(found), 0.95*float64(solvable))
	assert.GreaterOrEqual(t, float64(optimal), 0.7*float64(solvable))
}

// slack is rounding, for the better.
func slack(m *milp.Model) float64 {
	if m.Maximize {
		return -1e-6
	}
	return 1e-6
}
