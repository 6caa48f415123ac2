package native

import (
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// ratioTest finds what comes in for what leaves: as prices go along its row, what gains something first. If the key is all that is basic of a column's set,
// the set may go over to the column as a whole instead, and prices go on, as long as what leaves is below zero, or barred, behind that too (the long-step
// rule, or bound flipping; Maros, 2003): fewer pivots, and where nothing can come in for the rest, that is known at once.
type ratioTest struct {
	list  []comer
	turns []comer   // what sets go over to, at most one of each
	mixed []bool    // of each set: whether more of it is basic than its key
	left  float64   // of what leaves, behind the turns, without its sign
	lost  float64   // what the turns take off the program's value
	lower []float64 // scratch, of each set: what reduced values are lower by for its turn; else 0
}

// comer is a column, or slack -1-r, that may come in.
type comer struct {
	column, set int32   // set is -1 for slacks
	at          int     // where the column is in live
	size        float64 // what it has in the row, with the sign of what leaves
	red         float64 // its reduced value; this and size are behind its set's turn
}

// leastDualPivot is what an entry must be larger than to enter by.
const leastDualPivot = 1e-7

// enter finds what enters: of those that are the first to gain something, but for rounding, that with the largest entry, which is not one that its set goes over to. ok is false
// if there is none.
func (d *dualSimplex) enter() (c comer, ok bool) {
	_, value := d.leaving()
	x := &d.ratio
	d.listComers()
	x.left, x.lost, x.turns = math.Abs(value), 0, x.turns[:0]
	for {
		limit, most, at := math.Inf(1), leastDualPivot, -1
		for i := range x.list {
			limit = min(limit, (d.tol-x.list[i].red)/x.list[i].size)
		}
		for i := range x.list {
			if y := &x.list[i]; y.size > most && -y.red <= limit*y.size {
				most, at = y.size, i
			}
		}
		d.ops += int64(2 * len(x.list))
		if at < 0 {
			return c, false
		}
		c = x.list[at]
		if c.set < 0 || int(c.set) == d.s || x.mixed[c.set] || x.left-c.size <= leastDualPivot*math.Abs(value) {
			return c, true
		}
		x.turn(c)
		d.ops += int64(len(x.list))
	}
}

// listComers lists what may come in.
func (d *dualSimplex) listComers() {
	m, x := d.basis, &d.ratio
	x.list = x.list[:0]
	for k, c := range d.live {
		if v := d.sign * d.entry[k]; v > leastDualPivot {
			x.list = append(x.list, comer{c, m.set[c], k, v, d.red[c]})
		}
	}
	for r, v := range d.inverse {
		if v *= d.sign; v > leastDualPivot && m.slack[r] < 0 {
			x.list = append(x.list, comer{int32(-1 - r), -1, -1, v, -max(0, m.pi[r])})
		}
	}
	x.mixed = pack.Resize(x.mixed, len(m.key))
	clear(x.mixed)
	for _, b := range m.basic {
		if b >= 0 {
			x.mixed[m.set[b]] = true
		}
	}
	m.ops += int64(len(d.live) + 2*m.rows)
}

// turn lets c's set go over to it. What else may come in of the set does so in its place from then on.
func (x *ratioTest) turn(c comer) {
	x.left, x.lost = x.left-c.size, x.lost-c.red
	if i := slices.IndexFunc(x.turns, func(y comer) bool { return y.set == c.set }); i >= 0 {
		x.turns[i] = c
	} else {
		x.turns = append(x.turns, c)
	}
	n := 0
	for _, y := range x.list {
		if y.set == c.set {
			y.size, y.red = y.size-c.size, y.red-c.red
		}
		if y.size > leastDualPivot {
			x.list[n] = y
			n++
		}
	}
	x.list = x.list[:n]
}

// turnOver makes the turns.
func (d *dualSimplex) turnOver() {
	x, e := &d.ratio, &d.entering
	if len(x.turns) == 0 {
		return
	}
	for _, c := range x.turns {
		old := d.key[c.set]
		d.devex.column[c.column] = d.devex.column[old]
		d.red[old] = 0
	}
	d.value -= x.lost
	e.turnOver(x.turns)
}

// lowerAll makes reduced values what they are when prices have gone on by f times the row.
func (d *dualSimplex) lowerAll(f float64) {
	x := &d.ratio
	x.lower = pack.Resize(x.lower, len(d.key))
	for _, c := range x.turns {
		x.lower[c.set] = d.red[c.column] - float64(f*d.entry[c.at])
	}
	for k, c := range d.live {
		d.red[c] = min(0, d.red[c]-float64(f*d.entry[k])-x.lower[d.set[c]])
	}
	for _, c := range x.turns {
		x.lower[c.set] = 0
	}
	d.ops += int64(len(d.live))
}
