package native

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// dualSimplex is the dual simplex method. Where a program was optimal before some columns were barred, by a penalty that they
// would be taken at, the prices are as good as before, and a few pivots find those of the program without the columns: what is below zero, or
// barred, leaves, and of what can come in for it that comes whose reduced value falls to zero first. The primal method would go the long way
// from a program that has the penalties. Columns that gain something are taken for such that gain nothing; the primal method finds them afterwards.
//
// From begin until end the columns that were barred and basic have their value without the penalty in the program.
type dualSimplex struct {
	*basis
	entering entering
	devex    devex
	ratio    ratioTest
	value    float64 // of the program, with what is barred at its value
	pivots   int     // how many there have been

	live   []int32   // columns that may enter
	known  int       // columns that have been looked at for that
	red    []float64 // of each column: its reduced value, at most 0
	out    []bool    // of each column: whether it was barred and basic
	barred []barred
	basics []int32 // the basis at the beginning, and its keys
	keys   []int32
	astray bool // whether the basis is one on the way, with values below zero; columns must keep their numbers until it has gone back

	p, s    int       // what leaves: what is basic at p, or if p is negative set s's key
	sign    float64   // 1 if it is above what it may be, -1 if it is below
	inverse []float64 // its row of the inverse
	entry   []float64 // of each of live: its entry in that row of the tableau
}

// barred is a column that was basic when it was barred, and its value with the penalty.
type barred struct {
	column int32
	val    float64
}

// newDualSimplex is the method on that basis.
func newDualSimplex(m *basis) dualSimplex {
	return dualSimplex{basis: m, entering: entering{basis: m}}
}

// begin takes over the basis, and reports whether there is anything barred in it.
func (d *dualSimplex) begin() bool {
	m := d.basis
	d.barred = d.barred[:0]
	most := 0.0
	for s, c := range m.key {
		if m.isBarred(c) {
			d.barred = append(d.barred, barred{c, m.val[c]})
			most = max(most, m.keyValue[s])
		}
	}
	for i, b := range m.basic {
		if b >= 0 && m.isBarred(b) {
			d.barred = append(d.barred, barred{b, m.val[b]})
			most = max(most, m.beta[i])
		}
	}
	m.ops += int64(m.rows + len(m.key))
	if most <= negative || m.boxed {
		return false
	}
	d.basics, d.keys = append(d.basics[:0], m.basic...), append(d.keys[:0], m.key...)
	d.lookAtAll()
	m.reprice()
	d.renew()
	d.pivots = 0
	return true
}

// lookAtAll gives what is barred its value, and lists the columns that may enter.
func (d *dualSimplex) lookAtAll() {
	m := d.basis
	d.known, d.live = len(m.set), d.live[:0]
	d.inverse, d.red, d.out = pack.Resize(d.inverse, m.rows), pack.Resize(d.red, d.known), pack.Resize(d.out, d.known)
	clear(d.out)
	d.devex.reset(d.known, m.rows)
	for _, b := range d.barred {
		m.val[b.column], d.out[b.column] = m.worth[b.column], true
	}
	for _, s := range m.active {
		for c := m.head[s]; c >= 0; c = m.next[c] {
			if !d.out[c] && !m.isBarred(c) {
				d.live = append(d.live, c)
			}
		}
	}
	m.ops += int64(m.rows + 2*d.known)
}

// admitNew makes the columns live that have come since it began.
func (d *dualSimplex) admitNew() {
	for ; d.known < len(d.set); d.known++ {
		d.live = append(d.live, int32(d.known))
		d.red, d.devex.column, d.out = append(d.red, 0), append(d.devex.column, 1), append(d.out, false)
	}
	d.reduce()
}

// reduce computes the reduced values.
func (d *dualSimplex) reduce() {
	m := d.basis
	sums := m.weighRows(m.pi)
	for _, c := range d.live {
		k := m.key[m.set[c]]
		d.red[c] = min(0, m.val[c]-sums[c]-(m.val[k]-sums[k]))
	}
	d.entry = pack.Resize(d.entry, len(d.live))
	m.ops += int64(2 * len(d.live))
}

// renew computes what has drifted, or changed, with the factorisation.
func (d *dualSimplex) renew() {
	d.reduce()
	d.value = d.objective()
	d.ops += int64(d.rows)
}

// end makes the program's values what they were. Its basis is optimal, or astray.
func (d *dualSimplex) end(optimal bool) {
	for _, b := range d.barred {
		d.val[b.column] = b.val
	}
	d.astray = !optimal
}

// goBack makes the basis what it was at the beginning, if it is astray.
func (d *dualSimplex) goBack() {
	if d.astray {
		d.astray = false
		d.rebase(d.basics, d.keys)
	}
}

// outcome is what has come of a pivot.
type outcome int8

const (
	pivoted    outcome = iota
	optimal            // nothing is below zero, or barred, any more
	without            // nothing can come in for what leaves: there is no such program of the columns known
	inaccurate         // the factorisation is not exact enough
)

// pivot exchanges one column for another.
func (d *dualSimplex) pivot() outcome {
	if !d.leave() {
		return optimal
	}
	d.tableau()
	c, ok := d.enter()
	if !ok {
		return without
	}
	d.pivots++
	d.turnOver()
	e := &d.entering
	e.compute(c.column, 1)
	alpha := d.alpha()
	if math.Abs(alpha-float64(d.sign*c.size)) > 1e-6*max(1, c.size) || math.Abs(alpha) < leastDualPivot {
		fresh := d.lu.updates == 0
		d.refactor()
		d.renew()
		if fresh {
			return inaccurate
		}
		return pivoted
	}
	out, value := d.leaving()
	theta, f := value/alpha, c.red/alpha
	d.value += float64(c.red * theta)
	d.devex.lengthen(e, out, alpha)
	e.move(theta)
	d.lowerAll(f)
	d.exchange(c.column, alpha, theta, f)
	return pivoted
}

// alpha is what the entering column has in the leaving one's row.
func (d *dualSimplex) alpha() float64 {
	if d.p < 0 {
		return -d.entering.rate[d.s]
	}
	return d.entering.alpha[d.p]
}

// leaving is the column that leaves, or -1-r for a slack, and its value.
func (d *dualSimplex) leaving() (out int32, value float64) {
	if d.p < 0 {
		return d.key[d.s], d.keyValue[d.s]
	}
	return d.basic[d.p], d.beta[d.p]
}

// negative is how far below zero a value has to be for the dual method to do something about it, in terms of the row's capacity for slacks.
const negative = 1e-9

// leave finds what leaves, and reports whether there is anything.
func (d *dualSimplex) leave() bool {
	m, x := d.basis, &d.devex
	most := 0.0
	for i, b := range m.basic {
		v, length, out, least := m.beta[i], 0.0, false, negative
		if b < 0 {
			length, least = x.slack[-1-b], negative*max(1, math.Abs(m.rhs[-1-b]))
		} else {
			length, out = x.column[b], d.out[b]
		}
		if (v < -least || out && v > least) && v*v > most*length {
			most, d.p, d.s, d.sign = v*v/length, i, -1, math.Copysign(1, v)
		}
	}
	for s, c := range m.key {
		v := m.keyValue[s]
		if (v < -negative || d.out[c] && v > negative) && v*v > most*x.column[c] {
			most, d.p, d.s, d.sign = v*v/x.column[c], -1, s, math.Copysign(1, v)
		}
	}
	m.ops += int64(m.rows + len(m.key))
	return most > 0
}

// tableau computes the leaving column's row.
func (d *dualSimplex) tableau() {
	m := d.basis
	clear(d.inverse)
	if d.p >= 0 {
		d.inverse[d.p] = 1
	} else {
		for i, b := range m.basic {
			if b >= 0 && int(m.set[b]) == d.s {
				d.inverse[i] = -1
			}
		}
	}
	m.lu.btran(d.inverse)
	sums := m.weighRows(d.inverse)
	for k, c := range d.live {
		d.entry[k] = 0
		if m.where[c] != -1 {
			continue
		}
		set := m.set[c]
		d.entry[k] = sums[c] - sums[m.key[set]]
		if int(set) == d.s {
			d.entry[k]++
		}
	}
	m.ops += int64(len(d.live)) + m.lu.ops
	m.lu.ops = 0
}

// exchange brings column c in, at theta, for what leaves, where it has alpha; prices change by f times the row.
func (d *dualSimplex) exchange(c int32, alpha, theta, f float64) {
	m, e := d.basis, &d.entering
	out, _ := d.leaving()
	p, anew := d.p, false
	length := max(*d.devex.of(out)/(alpha*alpha), 1)
	if p < 0 {
		p = e.partner(d.s)
	}
	if p < 0 {
		e.replaceKey(d.s, c, theta)
	} else {
		pivot := e.alpha[p]
		if d.p < 0 {
			pivot = -e.swapKey(p, d.s, c)
		}
		for r, v := range d.inverse {
			m.pi[r] += float64(f * v)
		}
		m.ops += int64(m.rows)
		e.replace(p, d.s, c, theta, 1, pivot)
		anew = m.lu.updates == 0
	}
	if out >= 0 {
		d.red[out] = min(0, -f)
	}
	if *d.devex.of(c) = length; anew {
		d.renew()
	}
}

// further is how far to go along the row for the program to be worth as much less than enough as it is more.
func (d *dualSimplex) further(enough float64) float64 {
	return -d.sign * (float64(2*max(d.value-enough, d.tol)) + d.ratio.lost) / d.ratio.left
}

// muAt leaves in mu what each set's columns gain at prices lam at most, without what is barred; -Inf where there are none.
func (d *dualSimplex) muAt(lam, mu []float64) {
	sums := d.weighRows(lam)
	for s := range mu {
		mu[s] = math.Inf(-1)
	}
	for _, c := range d.live {
		mu[d.set[c]] = max(mu[d.set[c]], d.val[c]-sums[c])
	}
	d.ops += int64(len(d.live) + len(mu))
}
