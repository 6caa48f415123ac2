package lp

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// random is a program of random columns, some of which give rows room at a cost, and so few limits that many bases
// are degenerate.
func random(r *rand.Rand) *Program {
	var limits []float64
	for range 2 + r.IntN(12) {
		limits = append(limits, float64(r.IntN(6)))
	}
	m := &Program{}
	sets := 2 + r.IntN(20)
	m.Begin(limits, sets+1, 1e-9)
	for s := range sets {
		if r.IntN(5) == 0 {
			m.Entry(int32(r.IntN(len(limits))), -float64(1+r.IntN(4)))
			m.Finish(s, -3*r.Float64())
		}
	}
	m.Fix()
	m.AllSlacks()
	for range 4 * sets {
		extend(m, r)
	}
	return m
}

// extend appends a random column.
func extend(m *Program, r *rand.Rand) {
	for _, row := range r.Perm(m.Rows)[:1+r.IntN(min(4, m.Rows))] {
		m.Entry(int32(row), float64(1+r.IntN(8))/4)
	}
	m.Admit(m.Finish(r.IntN(len(m.Head)-1), 5*r.Float64()))
}

// most is what no solution is worth more than, by prices within the box.
func most(m *Program, prices []float64) float64 {
	sum := 0.0
	for r, l := range prices {
		sum += l * m.rhs[r]
	}
	best := slices.Repeat([]float64{math.Inf(-1)}, len(m.Key))
	for c := range m.Set {
		v := m.Val[c]
		for i := m.off[c]; i < m.off[c+1]; i++ {
			v -= prices[m.row[i]] * m.amt[i]
		}
		best[m.Set[c]] = max(best[m.Set[c]], v)
	}
	for _, v := range best {
		sum += v
	}
	return sum
}

// optimised is m at its optimum, which its prices prove.
func optimised(t *testing.T, m *Program, seed uint64) float64 {
	t.Helper()
	x := NewPrimal(m)
	require.True(t, x.Optimize(math.MaxInt64), "seed %d", seed)
	for row, p := range m.Prices {
		require.GreaterOrEqual(t, p, m.lo[row]-1e-6, "seed %d, row %d", seed, row)
		require.LessOrEqual(t, p, m.hi[row]+1e-6, "seed %d, row %d", seed, row)
	}
	require.InDelta(t, most(m, m.Prices), m.Objective(), 1e-6*(1+math.Abs(m.Objective())), "seed %d", seed)
	return m.Objective()
}

// TestOptimum: the solution is feasible and its prices prove it (strong duality), from a basis of slacks, behind new
// columns, behind penalties, and when these are taken back.
func TestOptimum(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := random(r)
		first := optimised(t, m, seed)
		require.NoError(t, m.Check(), "seed %d", seed)
		for range 10 {
			extend(m, r)
		}
		second := optimised(t, m, seed)
		require.NoError(t, m.Check(), "seed %d", seed)
		require.GreaterOrEqual(t, second, first-1e-6, "seed %d: more columns", seed)
		for c := range m.Val {
			if r.IntN(4) == 0 {
				m.Val[c] -= 100
			}
		}
		m.Reprice()
		require.LessOrEqual(t, optimised(t, m, seed), second+1e-6, "seed %d: penalties", seed)
		require.NoError(t, m.Check(), "seed %d", seed)
		copy(m.Val, m.Worth)
		m.Reprice()
		require.InDelta(t, second, optimised(t, m, seed), 1e-6*(1+math.Abs(second)), "seed %d: taken back", seed)
		before := m.Objective()
		m.Refactor()
		require.InDelta(t, before, m.Objective(), 1e-6*(1+math.Abs(before)), "seed %d: a new factorisation", seed)
	}
}

// TestBoxedOptimum: with prices held in a box no others in it prove less than the optimum's, and when they are let go
// the program is the old one.
func TestBoxedOptimum(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		m := random(r)
		for row := range m.Rows {
			lo := 2 * r.Float64()
			m.Hold(row, lo, lo+3*r.Float64())
		}
		m.Reprice()
		value := optimised(t, m, seed)
		prices := make([]float64, m.Rows)
		for range 20 {
			for row := range prices {
				prices[row] = m.lo[row] + r.Float64()*(m.hi[row]-m.lo[row])
			}
			require.GreaterOrEqual(t, most(m, prices), value-1e-6*(1+math.Abs(value)), "seed %d", seed)
		}
		m.AllSlacks()
		require.False(t, m.Boxed)
		optimised(t, m, seed)
		require.NoError(t, m.Check(), "seed %d", seed)
	}
}

// TestSumsByRows are the same as by columns, also when columns have come or gone.
func TestSumsByRows(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for seed := range uint64(20) {
		m := random(rand.New(rand.NewPCG(seed, 3)))
		check := func() {
			v := make([]float64, m.Rows)
			for i := range v {
				if r.IntN(3) == 0 {
					v[i] = r.NormFloat64()
				}
			}
			sums := m.weighRows(v)
			for c := range m.Set {
				want := 0.0
				for i := m.off[c]; i < m.off[c+1]; i++ {
					want += v[m.row[i]] * m.amt[i]
				}
				require.InDelta(t, want, sums[c], 1e-9*(1+math.Abs(want)), "column %d", c)
			}
		}
		check()
		optimised(t, m, seed)
		extend(m, r)
		check()
		m.Drop(0)
		check()
	}
}

// TestDrop leaves the basis and what nearly pays, by their new numbers.
func TestDrop(t *testing.T) {
	dropped := 0
	for seed := range uint64(50) {
		m := random(rand.New(rand.NewPCG(seed, 4)))
		value := optimised(t, m, seed)
		before, worth, where := len(m.Set), slices.Clone(m.Worth), slices.Clone(m.Where)
		short := make([]bool, before)
		for c := range short {
			short[c] = m.short(int32(c), 0.05)
		}
		for c, to := range m.Drop(0.05) {
			gone := c >= m.Stay && where[c] == -1 && short[c]
			require.Equal(t, gone, to < 0, "seed %d, column %d", seed, c)
			if !gone {
				require.Equal(t, worth[c], m.Worth[to], "seed %d, column %d", seed, c)
			}
		}
		dropped += before - len(m.Set)
		require.NoError(t, m.Check(), "seed %d", seed)
		require.InDelta(t, value, m.Objective(), 1e-9, "seed %d", seed)
	}
	assert.Greater(t, dropped, 100)
}

// TestBasesComeBack: a basis that has been kept is the same program when it comes back, unless columns have been
// dropped in between.
func TestBasesComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	m := random(rand.New(rand.NewPCG(3, 5)))
	value := optimised(t, m, 3)
	var b Bases
	first, second := b.Keep(m), b.Keep(m)
	assert.NotEqual(t, first, second)
	disturb := func() {
		for range 40 {
			extend(m, r)
		}
		for c := range m.Val {
			m.Val[c] += 3 * r.Float64()
		}
		m.Reprice()
		optimised(t, m, 3)
		copy(m.Val, m.Worth)
		m.Reprice()
		require.NotEqual(t, value, m.Objective())
	}
	disturb()
	require.True(t, b.Restore(m, first))
	assert.InDelta(t, value, m.Objective(), 1e-9)
	require.NoError(t, m.Check())
	assert.Equal(t, first, b.Keep(m), "its room is used again")

	disturb()
	m.Drop(0)
	changed := m.Objective()
	require.False(t, b.Restore(m, second))
	assert.Equal(t, changed, m.Objective(), "a basis of columns that have gone")
	third := b.Keep(m) // which begins another list
	assert.NotEqual(t, second, third)
	require.False(t, b.Restore(m, second))
	require.False(t, b.Restore(m, Saved{}))
	assert.Empty(t, b.free, "neither is in that list")
	require.True(t, b.Restore(m, third))
	assert.Equal(t, []int32{0}, b.free)
	require.NoError(t, m.Check())
}

// TestCheck: a basis that is not as it should be is told.
func TestCheck(t *testing.T) {
	for name, spoil := range map[string]func(m *Program){
		"a column that is not basic": func(m *Program) { m.Where[len(m.Where)-1] = 0 },
		"a slack elsewhere":          func(m *Program) { m.Slack[0]++ },
		"a value below zero":         func(m *Program) { m.KeyValue[0] = -1 },
		"half of a set":              func(m *Program) { m.KeyValue[0] = 0.5 },
		"a key of another set":       func(m *Program) { m.Key[0], m.Key[1] = m.Key[1], m.Key[0] },
		"too little room":            func(m *Program) { m.rhs[0] = -1 },
		"a position too few":         func(m *Program) { m.Basic = m.Basic[1:] },
	} {
		m := random(rand.New(rand.NewPCG(1, 6)))
		require.NoError(t, m.Check(), name)
		spoil(m)
		assert.Error(t, m.Check(), name)
	}
}
