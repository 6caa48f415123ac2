package milp_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
)

func knapsack() *milp.Model {
	m := &milp.Model{Maximize: true}
	for _, c := range []float64{3, 4, 5} {
		m.AddVar(milp.Var{Upper: 1, Cost: c, Integer: true})
	}
	m.AddRow(milp.Row{Name: "weight", Lower: math.Inf(-1), Upper: 5, Index: []int32{0, 1, 2}, Value: []float64{2, 3, 4}})
	return m
}

func TestCoefficientsOfDuplicatesAreAddedAndZerosLeftOut(t *testing.T) {
	m := &milp.Model{}
	for range 3 {
		m.AddVar(milp.Var{Upper: 1})
	}
	m.AddRow(milp.Row{Upper: 1, Index: []int32{2, 0, 2}, Value: []float64{1, 5, 2}})
	m.AddRow(milp.Row{Upper: 1})
	m.AddRow(milp.Row{Upper: 1, Index: []int32{1, 0, 1}, Value: []float64{4, 0, -4}})
	require.NoError(t, m.Validate())
	assert.Equal(t, milp.Matrix{Begin: []int{0, 1, 1, 2}, Index: []int32{0, 0}, Value: []float64{5, 3}}, m.ByColumn())
	assert.Equal(t, milp.Matrix{Begin: []int{0, 2, 2, 2}, Index: []int32{0, 2}, Value: []float64{5, 3}}, m.ByRow())
	assert.Equal(t, 6, m.Entries())
}

func TestValidateNamesTheOffender(t *testing.T) {
	for _, c := range []struct {
		name string
		add  func(m *milp.Model)
		want string
	}{
		{"NaN cost", func(m *milp.Model) {
			m.AddVar(milp.Var{Name: "x", Cost: math.NaN()})
		}, `vars[3] ("x"): cost: found NaN`},
		{"infinite cost", func(m *milp.Model) { m.SetVar(1, milp.Var{Cost: math.Inf(1)}) }, `vars[1] (""): cost: found +Inf`},
		{"NaN bound", func(m *milp.Model) { m.AddVar(milp.Var{Lower: math.NaN()}) }, "vars[3]"},
		{"impossible bound", func(m *milp.Model) { m.AddVar(milp.Var{Upper: math.Inf(-1)}) }, "holds for no number"},
		{"no such variable", func(m *milp.Model) { m.AddRow(milp.Row{Index: []int32{3}, Value: []float64{1}}) }, "rows[1]"},
		{"negative index", func(m *milp.Model) {
			m.AddRow(milp.Row{Index: []int32{-1}, Value: []float64{1}})
		}, "found variable -1"},
		{"NaN value", func(m *milp.Model) {
			m.AddRow(milp.Row{Name: "r", Index: []int32{0, 1}, Value: []float64{1, math.NaN()}})
		}, `rows[1] ("r"): value[1]: found NaN`},
		{"lengths", func(m *milp.Model) {
			m.AddRow(milp.Row{Index: []int32{0, 1}, Value: []float64{1}})
		}, "2 indices and 1 values"},
		{"NaN row bound", func(m *milp.Model) { m.AddRow(milp.Row{Upper: math.NaN()}) }, "bounds: found 0 and NaN"},
		{"offset", func(m *milp.Model) { m.Offset = math.Inf(1) }, "offset"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := knapsack()
			c.add(m)
			err := m.Validate()
			require.ErrorIs(t, err, milp.ErrInvalid)
			assert.ErrorContains(t, err, c.want)
		})
	}
	require.NoError(t, knapsack().Validate())
}

func TestNamesCostNothingUntilThereIsOne(t *testing.T) {
	m := knapsack()
	assert.Empty(t, m.Var(1).Name)
	m.SetVar(1, milp.Var{Name: "middle", Upper: 1})
	m.AddVar(milp.Var{Name: "last"})
	assert.Equal(t, []string{"", "middle", "", "last"},
		[]string{m.Var(0).Name, m.Var(1).Name, m.Var(2).Name, m.Var(3).Name})
	c := m.Clone()
	c.SetVar(0, milp.Var{Cost: 9})
	assert.Equal(t, 3.0, m.Var(0).Cost, "a clone shares nothing")
	assert.Equal(t, "weight", c.Row(0).Name)
}

func TestCheck(t *testing.T) {
	m := knapsack()
	require.NoError(t, milp.Check(m, []float64{1, 1, 0}))
	require.NoError(t, milp.Check(m, []float64{1 + 1e-7, 1 - 1e-7, 0}))
	for want, x := range map[string][]float64{
		"found 2 numbers":       {1, 1},
		"is NaN":                {1, math.NaN(), 0},
		"expected a whole":      {0.5, 0, 0},
		"expected 0 to 1":       {2, 0, 0},
		`rows[0] ("weight") is`: {1, 1, 1},
	} {
		assert.ErrorContains(t, milp.Check(m, x), want)
	}
}

// BenchmarkBuild: the size the package promises, 100,000 variables and 10 million entries.
func BenchmarkBuild(b *testing.B) {
	index, value := make([]int32, 1000), make([]float64, 1000)
	for b.Loop() {
		m := &milp.Model{}
		m.Grow(100_000, 10_000, 10_000_000)
		for range 100_000 {
			m.AddVar(milp.Var{Upper: 1, Integer: true})
		}
		for i := range 10_000 {
			for k := range index {
				index[k], value[k] = int32((i*7+k*97)%100_000), 1
			}
			m.AddRow(milp.Row{Upper: 1, Index: index, Value: value})
		}
	}
	b.ReportAllocs()
}

func TestWholeBounds(t *testing.T) {
	inf := math.Inf(1)
	up, down := math.Nextafter(3, 4), math.Nextafter(3, 2)
	for _, c := range []struct{ lower, upper, low, high float64 }{
		{0, 1, 0, 1},
		{-inf, inf, -inf, inf},
		{0.5, 3.7, 1, 3},
		{-1.5, -0.2, -1, -1},
		{0.2, 0.8, 1, 0},
		{up, up, 3, 3},
		{down, down, 3, 3},
		{-up, -down, -3, -3},
		{3 + 1e-8, 5 - 1e-8, 4, 4},
		{1e6 + 1e-4, 1e6 + 2 - 1e-4, 1e6 + 1, 1e6 + 1},
		{1e6 + 1e-7, 1e6 + 2 - 1e-7, 1e6, 1e6 + 2},
		{5e9, 5e9 + 1, 5e9, 5e9 + 1},
		{5e9 + 0.5, 5e9 + 1.5, 5e9 + 1, 5e9 + 1},
		{-1e15, 1e15, -1e15, 1e15},
	} {
		m := &milp.Model{}
		m.AddVar(milp.Var{Lower: c.lower, Upper: c.upper, Integer: true})
		m.AddVar(milp.Var{Lower: c.lower, Upper: c.upper})
		lower, upper := m.WholeBounds()
		assert.Equal(t, []float64{c.low, c.lower}, lower, "%v to %v", c.lower, c.upper)
		assert.Equal(t, []float64{c.high, c.upper}, upper, "%v to %v", c.lower, c.upper)
		assert.Equal(t, c.lower, m.Var(0).Lower, "the model is left alone")
	}
}
