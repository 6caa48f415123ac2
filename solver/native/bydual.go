package native

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// byDual goes to an optimum of the columns known without those that are barred, by the dual simplex method. As soon as that says that the node
// is not worth searching its prices are asked for a bound that proves it. The bound is returned; +Inf if there is none. Where the
// method does not get there, the basis is astray, unless there is nothing to do by it: the program has its prices then.
func (q *node) byDual() (bound float64) {
	d, m := &q.dualSimplex, q.lp
	bound = math.Inf(1)
	if !q.dually || !q.proceed() || !d.begin() {
		m.reprice()
		return bound
	}
	look := q.enough()
	for d.pivots <= m.rows && q.proceed() { // those that get there take a tenth of that
		along := 0.0
		switch d.pivot() {
		case optimal:
			d.end(true)
			m.reprice()
			return bound
		case inaccurate:
			d.end(false)
			return bound
		case without:
			along = d.further(q.enough())
		}
		if along == 0 && d.value > look {
			continue
		}
		b, added := q.sweepAlong(along)
		bound = min(bound, b)
		if bound <= q.enough() || along != 0 && added == 0 {
			break
		}
		if along == 0 {
			look = d.value - (b - q.enough())
		}
		d.admitNew()
	}
	d.end(false)
	return bound
}

// sweepAlong sweeps over all options at the dual method's prices, and so far along the leaving column's row, for columns that gain more there than
// those that are known and not barred.
func (q *node) sweepAlong(far float64) (bound float64, added int) {
	d, m := &q.dualSimplex, q.lp
	for r, p := range m.pi {
		q.dual.lam[r] = max(0, p+float64(far*d.inverse[r]))
	}
	q.mu = pack.Resize(q.mu, len(m.key))
	d.muAt(q.dual.lam[:m.rows], q.mu)
	return q.relaxation.generate(q.mu)
}
