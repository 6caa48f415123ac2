package milp_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
)

// TestModelsThatNeedNoSolver: no backend is asked about them, since solvers do not agree.
func TestModelsThatNeedNoSolver(t *testing.T) {
	inf := math.Inf(1)
	one := []int32{0}
	for _, c := range []struct {
		name string
		vars []milp.Var
		rows []milp.Row
		raw  string // "" for an optimum
	}{
		{name: "nothing"},
		{name: "rows that hold, without variables", rows: []milp.Row{{Lower: -1, Upper: 1}, {Upper: inf}, {}}},
		{name: "a row that does not", rows: []milp.Row{{}, {Lower: 1, Upper: 2}},
			raw: `rows[1] (""): no entries but zeros, and 0 is not within 1 and 2`},
		{name: "a row without entries, from above", vars: []milp.Var{{Upper: 1}},
			rows: []milp.Row{{Name: "r", Lower: -inf, Upper: -1}},
			raw:  `rows[0] ("r"): no entries but zeros, and 0 is not within -Inf and -1`},
		{name: "a row of zeros", vars: []milp.Var{{Upper: 1}},
			rows: []milp.Row{{Lower: 1, Upper: 2, Index: []int32{0, 0}, Value: []float64{0, 0}}},
			raw:  `rows[0] (""): no entries but zeros, and 0 is not within 1 and 2`},
		{name: "bounds that cross", vars: []milp.Var{{}, {Name: "x", Lower: 3, Upper: 2}},
			raw: `vars[1] ("x"): bounds 3 and 2 cross`},
		{name: "integer bounds that cross", vars: []milp.Var{{Lower: 3, Upper: 2, Integer: true}},
			raw: `vars[0] (""): bounds 3 and 2 cross`},
		{name: "no whole number", vars: []milp.Var{{Lower: 0.2, Upper: 0.8, Integer: true}},
			raw: `vars[0] (""): no whole number is within 0.2 and 0.8`},
		{name: "a range that crosses", vars: []milp.Var{{Upper: 9}},
			rows: []milp.Row{{Lower: 5, Upper: 4, Index: one, Value: []float64{1}}},
			raw:  `rows[0] (""): bounds 5 and 4 cross`},
	} {
		for _, maximize := range []bool{false, true} {
			m := &milp.Model{Maximize: maximize, Offset: 7.5}
			for _, v := range c.vars {
				m.AddVar(v)
			}
			for _, r := range c.rows {
				m.AddRow(r)
			}
			b := script(func(context.Context, *milp.Model, milp.Options) (*milp.Result, error) {
				assert.Fail(t, "the backend was asked", c.name)
				return nil, milp.ErrBackend
			})
			res, err := run(b, m, milp.Options{Start: make([]float64, len(c.vars))})
			require.NoError(t, err, c.name)
			if c.raw == "" {
				assert.Equal(t, milp.StopOptimal, res.Stop, c.name)
				assert.Equal(t, []float64{}, res.X, c.name)
				assert.Equal(t, []float64{7.5, 7.5}, []float64{res.Objective, res.Bound}, c.name)
				continue
			}
			assert.Equal(t, milp.StopInfeasible, res.Stop, c.name)
			assert.Equal(t, c.raw, res.Raw, c.name)
			assert.Nil(t, res.X, c.name)
			assert.Equal(t, milp.NoBound(m), res.Bound, c.name)
		}
	}
}

// TestModelsThatNeedASolver: what is next to those that need none.
func TestModelsThatNeedASolver(t *testing.T) {
	for name, change := range map[string]func(m *milp.Model){
		"a row without entries that holds": func(m *milp.Model) { m.AddRow(milp.Row{Lower: -1, Upper: 0}) },
		"bounds a hair from a whole number": func(m *milp.Model) {
			m.AddVar(milp.Var{Lower: 1 + 1e-12, Upper: 1 + 1e-12, Integer: true})
		},
		"a row that holds, of a zero": func(m *milp.Model) {
			m.AddRow(milp.Row{Upper: 1, Index: []int32{0}, Value: []float64{0}})
		},
	} {
		m, asked := knapsack(), 0
		change(m)
		_, err := run(script(func(context.Context, *milp.Model, milp.Options) (*milp.Result, error) {
			asked++
			return &milp.Result{Stop: milp.StopOther, Bound: milp.NoBound(m)}, nil
		}), m, milp.Options{})
		require.NoError(t, err, name)
		assert.Equal(t, 1, asked, name)
	}
}
