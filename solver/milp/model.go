package milp

import (
	"errors"
	"fmt"
	"math"
)

// Var is a variable of a [Model].
type Var struct {
	// Name is for files and messages; it may be empty.
	Name string
	// Lower and Upper are its bounds; -Inf and +Inf are none. If they are equal, the variable is fixed.
	Lower, Upper float64
	// Cost is its coefficient in the objective.
	Cost float64
	// Integer says that its values must be whole numbers.
	Integer bool
}

// Row is a linear constraint of a [Model]: Lower <= Σ Value[i]·x[Index[i]] <= Upper.
type Row struct {
	// Name is for files and messages; it may be empty.
	Name string
	// Lower and Upper are its bounds; -Inf and +Inf are none. If they are equal, the row is an equation. If they are
	// finite and differ, it is a range.
	Lower, Upper float64
	// Index are the variables. If one occurs twice, its values are added up.
	Index []int32
	// Value are the variables' coefficients.
	Value []float64
}

// Model is a mixed-integer linear program: variables, rows, and an objective. The objective is minimised or, with
// Maximize, maximised. The zero Model is empty, minimises, and is ready to use.
//
// Rows are stored one after another in flat slices, so adding a row only copies its entries. Mistakes are reported by
// [Model.Validate], which [Solve] calls, and not where they are made. A model is not safe for concurrent use while it
// is being built; afterwards it is.
type Model struct {
	// Name is for files.
	Name string
	// Maximize says that the objective is maximised.
	Maximize bool
	// Offset is added to the objective.
	Offset float64

	cost, lower, upper []float64
	integer            []bool
	varNames           []string // nil, or one per variable

	rowLower, rowUpper []float64
	rowNames           []string // nil, or one per row
	begin              []int    // row i's entries begin at begin[i] and end where those of the next row begin
	index              []int32
	value              []float64

	fault error // the first mistake that is not visible in the slices
}

// Grow makes room for more variables, rows and entries, to avoid copies.
func (m *Model) Grow(vars, rows, entries int) {
	m.cost, m.lower, m.upper = grown(m.cost, vars), grown(m.lower, vars), grown(m.upper, vars)
	m.integer = grown(m.integer, vars)
	m.rowLower, m.rowUpper, m.begin = grown(m.rowLower, rows), grown(m.rowUpper, rows), grown(m.begin, rows)
	m.index, m.value = grown(m.index, entries), grown(m.value, entries)
}

func grown[T any](s []T, more int) []T {
	if more <= cap(s)-len(s) {
		return s
	}
	return append(make([]T, 0, len(s)+more), s...)
}

// AddVar adds a variable and returns its index, from 0.
func (m *Model) AddVar(v Var) int {
	j := len(m.cost)
	m.cost = append(m.cost, v.Cost)
	m.lower, m.upper = append(m.lower, v.Lower), append(m.upper, v.Upper)
	m.integer = append(m.integer, v.Integer)
	m.varNames = named(m.varNames, j, v.Name)
	return j
}

// AddRow adds a row and returns its index, from 0. It copies the entries.
func (m *Model) AddRow(r Row) int {
	i := len(m.rowLower)
	if len(r.Index) != len(r.Value) && m.fault == nil {
		m.fault = fmt.Errorf("%w: rows[%d] (%q): %d indices and %d values", ErrInvalid, i, r.Name, len(r.Index), len(r.Value))
	}
	n := min(len(r.Index), len(r.Value))
	m.rowLower, m.rowUpper = append(m.rowLower, r.Lower), append(m.rowUpper, r.Upper)
	m.begin = append(m.begin, len(m.index))
	m.index, m.value = append(m.index, r.Index[:n]...), append(m.value, r.Value[:n]...)
	m.rowNames = named(m.rowNames, i, r.Name)
	return i
}

// named sets the name at index i of names, which stays nil while all names are empty.
func named(names []string, i int, name string) []string {
	if names == nil && name == "" {
		return nil
	}
	for len(names) < i {
		names = append(names, "")
	}
	return append(names, name)
}

// SetVar replaces variable j, which must exist.
func (m *Model) SetVar(j int, v Var) {
	m.cost[j], m.lower[j], m.upper[j], m.integer[j] = v.Cost, v.Lower, v.Upper, v.Integer
	if m.varNames == nil && v.Name != "" {
		m.varNames = make([]string, j, len(m.cost))
	}
	for m.varNames != nil && len(m.varNames) < len(m.cost) {
		m.varNames = append(m.varNames, "")
	}
	if m.varNames != nil {
		m.varNames[j] = v.Name
	}
}

// Vars is the number of variables.
func (m *Model) Vars() int { return len(m.cost) }

// Rows is the number of rows.
func (m *Model) Rows() int { return len(m.rowLower) }

// Entries is the number of coefficients in the rows, as they were added.
func (m *Model) Entries() int { return len(m.index) }

// Integers is the number of integer variables.
func (m *Model) Integers() int {
	n := 0
	for _, is := range m.integer {
		if is {
			n++
		}
	}
	return n
}

// Var is variable j.
func (m *Model) Var(j int) Var {
	v := Var{Lower: m.lower[j], Upper: m.upper[j], Cost: m.cost[j], Integer: m.integer[j]}
	if j < len(m.varNames) {
		v.Name = m.varNames[j]
	}
	return v
}

// Row is row i. Its slices belong to the model and must not be modified.
func (m *Model) Row(i int) Row {
	end := len(m.index)
	if i+1 < len(m.begin) {
		end = m.begin[i+1]
	}
	from := m.begin[i]
	r := Row{Lower: m.rowLower[i], Upper: m.rowUpper[i], Index: m.index[from:end:end], Value: m.value[from:end:end]}
	if i < len(m.rowNames) {
		r.Name = m.rowNames[i]
	}
	return r
}

// Costs are the variables' coefficients in the objective. Like Bounds and RowBounds it returns the model's own slices,
// for backends that pass them on. They must not be modified.
func (m *Model) Costs() []float64 { return m.cost }

// Bounds are the variables' lower and upper bounds; see [Model.Costs].
func (m *Model) Bounds() (lower, upper []float64) { return m.lower, m.upper }

// RowBounds are the rows' lower and upper bounds; see [Model.Costs].
func (m *Model) RowBounds() (lower, upper []float64) { return m.rowLower, m.rowUpper }

// Clone is a copy that shares nothing with m.
func (m *Model) Clone() *Model {
	c := *m
	c.cost, c.lower, c.upper = append([]float64(nil), m.cost...), append([]float64(nil), m.lower...),
		append([]float64(nil), m.upper...)
	c.integer, c.varNames = append([]bool(nil), m.integer...), append([]string(nil), m.varNames...)
	c.rowLower, c.rowUpper = append([]float64(nil), m.rowLower...), append([]float64(nil), m.rowUpper...)
	c.rowNames, c.begin = append([]string(nil), m.rowNames...), append([]int(nil), m.begin...)
	c.index, c.value = append([]int32(nil), m.index...), append([]float64(nil), m.value...)
	return &c
}

// Objective is the value of point x, which has one number per variable.
func (m *Model) Objective(x []float64) float64 {
	sum := m.Offset
	for j, c := range m.cost {
		sum += float64(c * x[j])
	}
	return sum
}

// Validate returns an error unless the model is well formed: numbers are not NaN, costs and coefficients are finite,
// indices exist, and no bound is an infinity of the wrong sign. Crossing bounds are allowed: such a model is
// infeasible. The error is [ErrInvalid] and names the first mistake.
func (m *Model) Validate() error {
	if m.fault != nil {
		return m.fault
	}
	if math.IsNaN(m.Offset) || math.IsInf(m.Offset, 0) {
		return fmt.Errorf("%w: offset: found %v, expected a finite number", ErrInvalid, m.Offset)
	}
	for j, c := range m.cost {
		if err := checkBounds(m.lower[j], m.upper[j]); err != nil {
			return fmt.Errorf("%w: vars[%d] (%q): %w", ErrInvalid, j, m.Var(j).Name, err)
		}
		if math.IsNaN(c) || math.IsInf(c, 0) {
			return fmt.Errorf("%w: vars[%d] (%q): cost: found %v, expected a finite number", ErrInvalid, j, m.Var(j).Name, c)
		}
	}
	for i := range m.rowLower {
		if err := m.validateRow(i); err != nil {
			return fmt.Errorf("%w: rows[%d] (%q): %w", ErrInvalid, i, m.Row(i).Name, err)
		}
	}
	return nil
}

func (m *Model) validateRow(i int) error {
	r := m.Row(i)
	if err := checkBounds(r.Lower, r.Upper); err != nil {
		return err
	}
	for k, j := range r.Index {
		if j < 0 || int(j) >= len(m.cost) {
			return fmt.Errorf("index[%d]: found variable %d, expected one of %d", k, j, len(m.cost))
		}
		if v := r.Value[k]; math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("value[%d]: found %v, expected a finite number", k, v)
		}
	}
	return nil
}

var errBounds = errors.New("a lower bound of +Inf or an upper one of -Inf holds for no number")

func checkBounds(lower, upper float64) error {
	if math.IsNaN(lower) || math.IsNaN(upper) {
		return fmt.Errorf("bounds: found %v and %v, expected numbers", lower, upper)
	}
	if math.IsInf(lower, 1) || math.IsInf(upper, -1) {
		return fmt.Errorf("bounds: found %v and %v: %w", lower, upper, errBounds)
	}
	return nil
}
