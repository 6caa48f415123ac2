package lp

import (
	"cmp"
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// Primal is the primal simplex method: a column that gains something comes in, as far as what is basic stays above
// zero, until none gains anything more. From one pivot to the next it knows nothing but the candidates.
type Primal struct {
	*Program
	candidates candidates
	entering   entering
	rho        []float64 // a row of the inverse
	soft       []soft    // slacks in a box that become zero as the column comes in
}

// soft is a slack that becomes zero when so much of the entering column has come in.
type soft struct {
	at    int32 // its position
	theta float64
}

// NewPrimal is the method on that basis.
func NewPrimal(m *Program) Primal {
	return Primal{Program: m, candidates: candidates{Program: m}, entering: entering{Program: m}}
}

// Optimize pivots until no column improves the program, or the work, in ops, is
// used up. It reports whether it got there.
func (x *Primal) Optimize(until int64) bool {
	for x.Ops < until {
		x.candidates.choose()
		if len(x.candidates.list) == 0 {
			return true
		}
		for n := len(x.candidates.list); n > 0 && x.Ops < until; n-- {
			c, gain := x.candidates.best()
			if gain <= x.Tol {
				break
			}
			x.enter(c, gain)
		}
	}
	return false
}

// enter brings column c, which gains that much per unit, into the basis.
func (x *Primal) enter(c int32, gain float64) {
	sign := 1.0
	if c < 0 && x.Prices[-1-c] > x.lo[-1-c] {
		sign = -1 // the slack becomes negative
	}
	e := &x.entering
	e.compute(c, sign)
	p, s, theta := x.ratio()
	p, s, theta, gain = x.pass(p, s, theta, gain)
	if p < 0 && s < 0 {
		x.Refactor() // numerically unbounded
		return
	}
	e.move(theta)
	if s >= 0 {
		p = e.partner(s)
	}
	if p >= 0 {
		x.exchange(p, s, c, gain, theta, sign)
		return
	}
	e.replaceKey(s, c, theta)
	if len(x.soft) > 0 {
		x.clearRow()
		x.flipSlacks(1)
		x.shift(1)
	}
}

// minPivot is what a pivot must be larger than, and the entry of what limits a column.
const minPivot = 1e-9

// ratio finds what limits the entering column: a position, or a set whose key
// falls to zero; of equals, the one with the largest pivot.
func (x *Primal) ratio() (p, s int, theta float64) {
	m, e := x.Program, &x.entering
	p, s, theta = -1, -1, math.Inf(1)
	pivot := 0.0
	better := func(v, a float64) bool {
		t := max(v, 0) / a
		return t < theta-1e-12 || (t <= theta+1e-12 && a > pivot)
	}
	for _, i := range e.nonzero {
		b := m.Basic[i]
		if b < 0 && !math.IsInf(m.hi[-1-b], 1) {
			continue
		}
		if a := e.alpha[i]; a > minPivot && better(m.Values[i], a) {
			p, pivot, theta = int(i), a, max(m.Values[i], 0)/a
		}
	}
	for _, k := range e.marked {
		if a := -e.rate[k]; a > minPivot && better(m.KeyValue[k], a) {
			p, s, pivot, theta = -1, int(k), a, max(m.KeyValue[k], 0)/a
		}
	}
	m.Ops += int64(len(e.nonzero))
	return p, s, theta
}

// pass finds how far the entering column goes beyond where slacks change their sign, which makes it gain less: as far
// as it gains. Slacks on the way are left in soft. It returns what limits the column then, and what it gains there.
func (x *Primal) pass(p, s int, theta, gain float64) (int, int, float64, float64) {
	m := x.Program
	x.soft = x.soft[:0]
	if !m.Boxed {
		return p, s, theta, gain
	}
	if total := x.crossed(theta); total < gain {
		return p, s, theta, gain - total
	}
	list := x.soft
	slices.SortFunc(list, func(a, b soft) int {
		return cmp.Or(cmp.Compare(a.theta, b.theta), cmp.Compare(a.at, b.at))
	})
	m.Ops += int64(8 * len(list))
	for k, f := range list {
		r := -1 - m.Basic[f.at]
		less := float64(math.Abs(x.entering.alpha[f.at]) * (m.hi[r] - m.lo[r]))
		if gain-less <= 0 {
			x.soft = list[:k]
			return int(f.at), -1, f.theta, gain
		}
		gain -= less
	}
	return p, s, theta, gain
}

// crossed lists in soft the slacks that change their sign before theta, and returns by how much the column gains less
// behind all of them.
func (x *Primal) crossed(theta float64) (total float64) {
	m, e := x.Program, &x.entering
	for _, i := range e.nonzero {
		b := m.Basic[i]
		if b >= 0 {
			continue
		}
		r := -1 - b
		if math.IsInf(m.hi[r], 1) {
			continue
		}
		v, a := m.Values[i], e.alpha[i]
		if m.over[r] {
			v, a = -v, -a
		}
		if a <= minPivot {
			continue
		}
		if t := max(v, 0) / a; t < theta {
			x.soft = append(x.soft, soft{i, t})
			total += float64(a * (m.hi[r] - m.lo[r]))
		}
	}
	m.Ops += int64(len(e.nonzero))
	return total
}

// flipSlacks turns the signs of the slacks in soft, and adds to rho what that changes of what they are worth, in units
// of f.
func (x *Primal) flipSlacks(f float64) {
	m := x.Program
	for _, s := range x.soft {
		r := -1 - m.Basic[s.at]
		before := m.worthOf(r)
		m.over[r] = !m.over[r]
		x.rho[s.at] += (m.worthOf(r) - before) / f
	}
}

// exchange replaces what is basic at p, or if s is a set its key, by column c, which enters at theta and gains that
// much per unit.
func (x *Primal) exchange(p, s int, c int32, gain, theta, dir float64) {
	e := &x.entering
	x.clearRow()
	x.rho[p] = 1
	pivot, sign := e.alpha[p], dir
	if s >= 0 {
		pivot, sign = e.swapKey(p, s, c), -dir
		x.rho[p] = -1
		for _, i := range e.others {
			x.rho[i] = -1
		}
	}
	f := gain / pivot
	x.flipSlacks(f)
	x.shift(f)
	e.replace(p, s, c, theta, dir, float64(sign*pivot))
}

// clearRow empties rho.
func (x *Primal) clearRow() {
	x.rho = pack.Resize(x.rho, x.Rows)
	clear(x.rho)
}

// shift changes prices by f times what rho, in terms of positions, stands for.
func (x *Primal) shift(f float64) {
	m := x.Program
	m.lu.btran(x.rho)
	for r, v := range x.rho {
		m.Prices[r] += float64(f * v)
	}
	m.Ops += int64(m.Rows)
}
