package reference

import (
	"context"
	"math"

	"github.com/hedgesched/hedge/solver/milp"
)

const (
	costTolerance  = 1e-9 // of reduced costs, with the largest cost at 1
	pivotTolerance = 1e-9
	rowTolerance   = 2e-7 // well within milp.Tolerance
	refactorEvery  = 60   // pivots
)

// ending is how a linear program ended.
type ending int

const (
	optimal ending = iota
	infeasible
	unbounded
	interrupted
	stuck // numerical trouble
)

// program is a linear program: minimise cost·x, where columns·x equals the logical variables. The variables are
// numbered: vars structural ones, then one logical variable per row, whose bounds are the row's, then as many
// artificial ones.
type program struct {
	vars, rows   int
	columns      milp.Matrix
	cost         []float64 // of the structural variables; the largest is 1 or all are 0
	lower, upper []float64 // of structural and logical variables
}

func newProgram(m *milp.Model) *program {
	p := &program{vars: m.Vars(), rows: m.Rows(), columns: m.ByColumn(), cost: make([]float64, m.Vars())}
	lower, upper := m.Bounds()
	rowLower, rowUpper := m.RowBounds()
	p.lower = append(append(p.lower, lower...), rowLower...)
	p.upper = append(append(p.upper, upper...), rowUpper...)
	largest := 0.0
	for _, c := range m.Costs() {
		largest = math.Max(largest, math.Abs(c))
	}
	for j, c := range m.Costs() {
		if m.Maximize {
			c = -c
		}
		if c != 0 {
			p.cost[j] = c / largest
		}
	}
	return p
}

// simplex is the state of the method. The basis has one variable per row.
type simplex struct {
	*program
	lower, upper []float64 // of all variables
	sign         []float64 // of the artificial variables' columns
	now          []float64 // the phase's costs
	x            []float64
	basis        []int     // by row
	place        []int     // a variable's row in the basis, -1 outside
	inverse      []float64 // of the basis, row by row
	price, step  []float64 // by row: the dual values; the entering column in the basis
	pivots       int
	stalled      int // consecutive steps that changed nothing
	iterations   int64
}

// solve solves p between lower and upper, the bounds of the structural variables.
func (p *program) solve(ctx context.Context, lower, upper []float64) (ending, *simplex) {
	s := newSimplex(p, lower, upper)
	for v := range p.vars + p.rows {
		if s.lower[v] > s.upper[v] {
			return infeasible, s
		}
	}
	s.begin()
	for v := p.vars + p.rows; v < len(s.x); v++ {
		s.now[v] = 1
	}
	switch end := s.run(ctx); end {
	case optimal:
	case unbounded: // impossible for a sum of artificial variables
		return stuck, s
	default:
		return end, s
	}
	if !s.feasible() {
		return infeasible, s
	}
	for v := p.vars + p.rows; v < len(s.x); v++ {
		s.now[v], s.upper[v] = 0, 0
	}
	copy(s.now, p.cost)
	s.stalled = 0
	return s.run(ctx), s
}

func newSimplex(p *program, lower, upper []float64) *simplex {
	all := p.vars + 2*p.rows
	s := &simplex{program: p, lower: make([]float64, all), upper: make([]float64, all), sign: make([]float64, p.rows),
		now: make([]float64, all), x: make([]float64, all), basis: make([]int, p.rows), place: make([]int, all),
		inverse: make([]float64, p.rows*p.rows), price: make([]float64, p.rows), step: make([]float64, p.rows)}
	copy(s.lower, p.lower)
	copy(s.upper, p.upper)
	copy(s.lower, lower)
	copy(s.upper, upper)
	return s
}

// begin puts each structural variable at a bound, and the logical or an artificial variable of each row into the basis.
func (s *simplex) begin() {
	for v := range s.x {
		s.place[v] = -1
	}
	for j := range s.vars {
		s.x[j] = nearest(0, s.lower[j], s.upper[j])
		if s.x[j] == 0 && s.lower[j] < 0 && s.upper[j] > 0 && !(math.IsInf(s.lower[j], -1) && math.IsInf(s.upper[j], 1)) {
			s.x[j] = s.lower[j]
			if math.IsInf(s.lower[j], -1) || s.upper[j] < -s.lower[j] {
				s.x[j] = s.upper[j]
			}
		}
	}
	activity := s.activities()
	for i, a := range activity {
		logical, artificial := s.vars+i, s.vars+s.rows+i
		s.x[logical] = nearest(a, s.lower[logical], s.upper[logical])
		s.sign[i] = 1
		if a > s.x[logical] {
			s.sign[i] = -1
		}
		in, pivot := logical, -1.0
		if a != s.x[logical] {
			in, pivot = artificial, s.sign[i]
			s.x[artificial], s.upper[artificial] = math.Abs(a-s.x[logical]), math.Inf(1)
		}
		s.basis[i], s.place[in], s.inverse[i*s.rows+i] = in, i, pivot
	}
}

func nearest(v, lower, upper float64) float64 { return math.Min(math.Max(v, lower), upper) }

// activities are the rows' values at x.
func (s *simplex) activities() []float64 {
	a := make([]float64, s.rows)
	for j := range s.vars {
		if s.x[j] != 0 {
			s.each(j, func(i int, c float64) { a[i] += float64(c * s.x[j]) })
		}
	}
	return a
}

// each calls f for the entries of v's column.
func (s *simplex) each(v int, f func(i int, value float64)) {
	switch {
	case v < s.vars:
		for k := s.columns.Begin[v]; k < s.columns.Begin[v+1]; k++ {
			f(int(s.columns.Index[k]), s.columns.Value[k])
		}
	case v < s.vars+s.rows:
		f(v-s.vars, -1)
	default:
		f(v-s.vars-s.rows, s.sign[v-s.vars-s.rows])
	}
}

// feasible reports whether the artificial variables are zero up to rounding.
func (s *simplex) feasible() bool {
	size := make([]float64, s.rows)
	for j := range s.vars {
		s.each(j, func(i int, c float64) { size[i] += math.Abs(c * s.x[j]) })
	}
	for i := range s.rows {
		if s.x[s.vars+s.rows+i] > rowTolerance*math.Max(1, size[i]) {
			return false
		}
	}
	return true
}

// run makes steps until none reduces the phase's costs.
func (s *simplex) run(ctx context.Context) ending {
	for {
		if ctx.Err() != nil {
			return interrupted
		}
		s.iterations++
		s.setPrices()
		in, direction := s.entering()
		if in < 0 {
			return optimal
		}
		s.setStep(in)
		row, length := s.leaving(in, direction)
		if math.IsInf(length, 1) {
			return unbounded
		}
		s.move(in, row, direction, length)
		if row < 0 {
			continue
		}
		if s.pivot(in, row); s.pivots%refactorEvery == 0 && !s.refactor() {
			return stuck
		}
	}
}

// setPrices sets price to the basis's costs times its inverse.
func (s *simplex) setPrices() {
	clear(s.price)
	for i, v := range s.basis {
		if c := s.now[v]; c != 0 {
			for k, e := range s.inverse[i*s.rows : (i+1)*s.rows] {
				s.price[k] += float64(c * e)
			}
		}
	}
}

// entering is the variable to change and its direction: the one with the steepest reduced cost or, while steps change
// nothing, the first (Bland's rule, which prevents cycling). It is -1 at the optimum.
func (s *simplex) entering() (variable int, direction float64) {
	bland := s.stalled > s.rows
	best, variable := costTolerance, -1
	for v := range s.x {
		if s.place[v] >= 0 || s.lower[v] == s.upper[v] {
			continue
		}
		d := s.reduced(v)
		if size := math.Abs(d); size > best && (d < 0 && s.x[v] < s.upper[v] || d > 0 && s.x[v] > s.lower[v]) {
			best, variable, direction = size, v, -math.Copysign(1, d)
			if bland {
				break
			}
		}
	}
	return variable, direction
}

// reduced is v's reduced cost.
func (s *simplex) reduced(v int) float64 {
	d := s.now[v]
	if v >= s.vars {
		s.each(v, func(i int, c float64) { d -= float64(c * s.price[i]) })
		return d
	}
	for k := s.columns.Begin[v]; k < s.columns.Begin[v+1]; k++ {
		d -= float64(s.columns.Value[k] * s.price[s.columns.Index[k]])
	}
	return d
}

// setStep sets step to what each basic variable loses per unit of v.
func (s *simplex) setStep(v int) {
	for i := range s.step {
		sum := 0.0
		s.each(v, func(k int, c float64) { sum += float64(c * s.inverse[i*s.rows+k]) })
		s.step[i] = sum
	}
}

// leaving is the row of the variable that first meets a bound when in moves, -1 if that is in itself, and how far in
// can move. Of several, the steepest leaves, or by Bland's rule the first.
func (s *simplex) leaving(in int, direction float64) (row int, length float64) {
	row, length = -1, s.upper[in]-s.lower[in]
	for i, v := range s.basis {
		rate := -float64(direction * s.step[i])
		if math.Abs(rate) <= pivotTolerance {
			continue
		}
		bound := s.upper[v]
		if rate < 0 {
			bound = s.lower[v]
		}
		at := math.Max(0, (bound-s.x[v])/rate)
		tie := row >= 0 && math.Abs(at-length) <= 1e-12*math.Max(1, length)
		switch {
		case tie && s.stalled > s.rows && v > s.basis[row]:
		case tie && s.stalled <= s.rows && math.Abs(s.step[i]) <= math.Abs(s.step[row]):
		case tie || at < length:
			row, length = i, math.Min(at, length)
		}
	}
	return row, length
}

// move changes in by length in its direction, and the basis with it. The variable of row, or in itself if row is -1,
// comes to lie on its bound.
func (s *simplex) move(in, row int, direction, length float64) {
	s.stalled++
	if length > 1e-12 {
		s.stalled = 0
	}
	amount := float64(direction * length)
	for i, v := range s.basis {
		s.x[v] -= float64(s.step[i] * amount)
	}
	s.x[in] += amount
	out, up := in, direction > 0
	if row >= 0 {
		out, up = s.basis[row], float64(direction*s.step[row]) < 0
	}
	s.x[out] = s.lower[out]
	if up {
		s.x[out] = s.upper[out]
	}
}

// pivot replaces row's variable in the basis by in.
func (s *simplex) pivot(in, row int) {
	s.place[s.basis[row]], s.place[in], s.basis[row] = -1, row, in
	n := s.rows
	pivotRow := s.inverse[row*n : (row+1)*n]
	for k := range pivotRow {
		pivotRow[k] /= s.step[row]
	}
	for i := range n {
		if f := s.step[i]; i != row && f != 0 {
			to := s.inverse[i*n : (i+1)*n]
			for k, e := range pivotRow {
				to[k] -= float64(f * e)
			}
		}
	}
	s.pivots++
}

// refactor recomputes the inverse and the basic variables, to get rid of rounding errors. It reports false if the basis
// has become singular.
func (s *simplex) refactor() bool {
	n := s.rows
	basis := make([]float64, n*n)
	for k, v := range s.basis {
		s.each(v, func(i int, c float64) { basis[i*n+k] = c })
	}
	clear(s.inverse)
	for i := range n {
		s.inverse[i*n+i] = 1
	}
	for k := range n {
		at := k
		for i := k + 1; i < n; i++ {
			if math.Abs(basis[i*n+k]) > math.Abs(basis[at*n+k]) {
				at = i
			}
		}
		pivot := basis[at*n+k]
		if math.Abs(pivot) < 1e-13 {
			return false
		}
		for c := range n {
			basis[k*n+c], basis[at*n+c] = basis[at*n+c], basis[k*n+c]
			s.inverse[k*n+c], s.inverse[at*n+c] = s.inverse[at*n+c], s.inverse[k*n+c]
		}
		for c := range n {
			basis[k*n+c] /= pivot
			s.inverse[k*n+c] /= pivot
		}
		for i := range n {
			if f := basis[i*n+k]; i != k && f != 0 {
				for c := range n {
					basis[i*n+c] -= float64(f * basis[k*n+c])
					s.inverse[i*n+c] -= float64(f * s.inverse[k*n+c])
				}
			}
		}
	}
	s.setBasics()
	return true
}

// setBasics computes the basic variables from the others.
func (s *simplex) setBasics() {
	rest := make([]float64, s.rows)
	for v := range s.x {
		if s.place[v] < 0 && s.x[v] != 0 {
			s.each(v, func(i int, c float64) { rest[i] -= float64(c * s.x[v]) })
		}
	}
	for i, v := range s.basis {
		s.x[v] = 0
		for k, r := range rest {
			s.x[v] += float64(s.inverse[i*s.rows+k] * r)
		}
	}
}
