package native

import (
	"cmp"
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// primal is the primal simplex method: a column that gains something comes in, as far as what is basic stays above zero, until none gains anything
// more. From one pivot to the next it knows nothing but the candidates.
type primal struct {
	*basis
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

// newPrimal is the method on that basis.
func newPrimal(m *basis) primal {
	return primal{basis: m, candidates: candidates{basis: m}, entering: entering{basis: m}}
}

// optimize pivots until no column improves the program, or the work, in ops, is
// used up. It reports whether it got there.
func (x *primal) optimize(until int64) bool {
	for x.ops < until {
		x.candidates.choose()
		if len(x.candidates.list) == 0 {
			return true
		}
		for n := len(x.candidates.list); n > 0 && x.ops < until; n-- {
			c, gain := x.candidates.best()
			if gain <= x.tol {
				break
			}
			x.enter(c, gain)
		}
	}
	return false
}

// enter brings column c, which gains that much per unit, into the basis.
func (x *primal) enter(c int32, gain float64) {
	sign := 1.0
	if c < 0 && x.pi[-1-c] > x.lo[-1-c] {
		sign = -1 // the slack becomes negative
	}
	e := &x.entering
	e.compute(c, sign)
	p, s, theta := x.ratio()
	p, s, theta, gain = x.pass(p, s, theta, gain)
	if p < 0 && s < 0 {
		x.refactor() // numerically unbounded
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
		x.turnSigns(1)
		x.shift(1)
	}
}

// minPivot is what a pivot must be larger than, and the entry of what limits a column.
const minPivot = 1e-9

// ratio finds what limits the entering column: a position, or a set whose key
// falls to zero; of equals, the one with the largest pivot.
func (x *primal) ratio() (p, s int, theta float64) {
	m, e := x.basis, &x.entering
	p, s, theta = -1, -1, math.Inf(1)
	pivot := 0.0
	better := func(v, a float64) bool {
		t := max(v, 0) / a
		return t < theta-1e-12 || (t <= theta+1e-12 && a > pivot)
	}
	for _, i := range e.nonzero {
		b := m.basic[i]
		if b < 0 && !math.IsInf(m.hi[-1-b], 1) {
			continue
		}
		if a := e.alpha[i]; a > minPivot && better(m.beta[i], a) {
			p, pivot, theta = int(i), a, max(m.beta[i], 0)/a
		}
	}
	for _, k := range e.marked {
		if a := -e.rate[k]; a > minPivot && better(m.keyValue[k], a) {
			p, s, pivot, theta = -1, int(k), a, max(m.keyValue[k], 0)/a
		}
	}
	m.ops += int64(len(e.nonzero))
	return p, s, theta
}

// pass finds how far the entering column goes beyond where slacks change their sign, which makes it gain less: as far as it gains. Slacks on the way
// are left in soft. It returns what limits the column then, and what it gains there.
func (x *primal) pass(p, s int, theta, gain float64) (int, int, float64, float64) {
	m := x.basis
	x.soft = x.soft[:0]
	if !m.boxed {
		return p, s, theta, gain
	}
	if total := x.crossed(theta); total < gain {
		return p, s, theta, gain - total
	}
	list := x.soft
	slices.SortFunc(list, func(a, b soft) int {
		return cmp.Or(cmp.Compare(a.theta, b.theta), cmp.Compare(a.at, b.at))
	})
	m.ops += int64(8 * len(list))
	for k, f := range list {
		r := -1 - m.basic[f.at]
		less := float64(math.Abs(x.entering.alpha[f.at]) * (m.hi[r] - m.lo[r]))
		if gain-less <= 0 {
			x.soft = list[:k]
			return int(f.at), -1, f.theta, gain
		}
		gain -= less
	}
	return p, s, theta, gain
}

// crossed lists in soft the slacks that change their sign before theta, and returns by how much the column gains less behind all of them.
func (x *primal) crossed(theta float64) (total float64) {
	m, e := x.basis, &x.entering
	for _, i := range e.nonzero {
		b := m.basic[i]
		if b >= 0 {
			continue
		}
		r := -1 - b
		if math.IsInf(m.hi[r], 1) {
			continue
		}
		v, a := m.beta[i], e.alpha[i]
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
	m.ops += int64(len(e.nonzero))
	return total
}

// turnSigns turns the signs of the slacks in soft, and adds to rho what that changes of what they are worth, in units of f.
func (x *primal) turnSigns(f float64) {
	m := x.basis
	for _, s := range x.soft {
		r := -1 - m.basic[s.at]
		before := m.worthOf(r)
		m.over[r] = !m.over[r]
		x.rho[s.at] += (m.worthOf(r) - before) / f
	}
}

// exchange replaces what is basic at p, or if s is a set its key, by column c, which enters at theta and gains that much per unit.
func (x *primal) exchange(p, s int, c int32, gain, theta, dir float64) {
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
	x.turnSigns(f)
	x.shift(f)
	e.replace(p, s, c, theta, dir, float64(sign*pivot))
}

// clearRow empties rho.
func (x *primal) clearRow() {
	x.rho = pack.Resize(x.rho, x.rows)
	clear(x.rho)
}

// shift changes prices by f times what rho, in terms of positions, stands for.
func (x *primal) shift(f float64) {
	m := x.basis
	m.lu.btran(x.rho)
	for r, v := range x.rho {
		m.pi[r] += float64(f * v)
	}
	m.ops += int64(m.rows)
}
