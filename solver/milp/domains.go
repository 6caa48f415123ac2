package milp

import "math"

// lock is the number of rows that a variable may violate by rising, and by falling.
type lock struct{ up, down int }

// locksOf are the locks of m's variables. cols are m's columns.
func locksOf(m *Model, cols Matrix) []lock {
	locks := make([]lock, m.Vars())
	for j := range locks {
		for k := cols.Begin[j]; k < cols.Begin[j+1]; k++ {
			i := cols.Index[k]
			low, high := !math.IsInf(m.rowLower[i], 0), !math.IsInf(m.rowUpper[i], 0)
			if cols.Value[k] < 0 {
				low, high = high, low
			}
			if high {
				locks[j].up++
			}
			if low {
				locks[j].down++
			}
		}
	}
	return locks
}

// domains are narrowed bounds of the variables: those that were fixed, and what follows for other integers, one row at
// a time. Every change can be undone.
type domains struct {
	m            *Model
	rows, cols   Matrix
	lower, upper []float64 // changed in place
	trail        []change
	queue        []int32 // rows to check
	queued       []bool
}

// change is a variable's bounds before a change.
type change struct {
	j            int
	lower, upper float64
}

// newDomains narrows lower and upper in place. First it permanently cuts the bounds of integers to whole numbers.
func newDomains(m *Model, lower, upper []float64) *domains {
	cols := m.ByColumn()
	d := &domains{m: m, rows: transpose(cols, m.Rows()), cols: cols, lower: lower, upper: upper,
		queued: make([]bool, m.Rows())}
	for j, whole := range m.integer {
		if whole {
			lower[j], upper[j] = math.Ceil(lower[j]-IntegerTolerance), math.Floor(upper[j]+IntegerTolerance)
		}
	}
	return d
}

func (d *domains) fixed(j int) bool { return d.lower[j] == d.upper[j] }

// mark is a position for undo; 0 is the beginning.
func (d *domains) mark() int { return len(d.trail) }

// undo undoes everything since mark.
func (d *domains) undo(mark int) {
	for len(d.trail) > mark {
		c := d.trail[len(d.trail)-1]
		d.lower[c.j], d.upper[c.j] = c.lower, c.upper
		d.trail = d.trail[:len(d.trail)-1]
	}
	for _, i := range d.queue {
		d.queued[i] = false
	}
	d.queue = d.queue[:0]
}

// fix sets j to v and propagates. It reports false if there is no such point. Then the caller must undo it.
func (d *domains) fix(j int, v float64) bool {
	if v < d.lower[j] || v > d.upper[j] {
		return false
	}
	if d.fixed(j) {
		return true
	}
	d.set(j, v, v)
	return d.propagate()
}

// set narrows j and queues its rows.
func (d *domains) set(j int, lower, upper float64) {
	d.trail = append(d.trail, change{j, d.lower[j], d.upper[j]})
	d.lower[j], d.upper[j] = lower, upper
	for k := d.cols.Begin[j]; k < d.cols.Begin[j+1]; k++ {
		if i := d.cols.Index[k]; !d.queued[i] {
			d.queued[i] = true
			d.queue = append(d.queue, i)
		}
	}
}

// propagate checks the queued rows and narrows integers until nothing more follows. With wide bounds that can take
// long, so it stops after five times as many entries as the model has. It reports false if a row cannot be satisfied.
// Then the caller must undo it.
func (d *domains) propagate() bool {
	work := 1000 + 5*len(d.cols.Value)
	for at := 0; at < len(d.queue); { // the queue grows
		i := d.queue[at]
		at++
		d.queued[i] = false
		if work -= d.rows.Begin[i+1] - d.rows.Begin[i]; work < 0 {
			for _, left := range d.queue[at:] {
				d.queued[left] = false
			}
			break
		}
		if !d.row(int(i)) {
			return false
		}
	}
	d.queue = d.queue[:0]
	return true
}

// activity is the sum of the smallest or the largest terms of a row: the finite ones, their magnitude, and the number
// of infinite ones.
type activity struct {
	sum, size float64
	infinite  int
}

func (a *activity) add(term float64) {
	if math.IsInf(term, 0) {
		a.infinite++
		return
	}
	a.sum += term
	a.size += math.Abs(term)
}

// without is the sum without one of its terms. It reports false if that is infinite.
func (a *activity) without(term float64) (float64, bool) {
	if math.IsInf(term, 0) {
		return a.sum, a.infinite == 1
	}
	return a.sum - term, a.infinite == 0
}

// row narrows the integers of row i. It reports false if the row cannot be satisfied.
func (d *domains) row(i int) bool {
	var low, high activity
	begin, end := d.rows.Begin[i], d.rows.Begin[i+1]
	for k := begin; k < end; k++ {
		least, most := d.terms(k)
		low.add(least)
		high.add(most)
	}
	lower, upper := d.m.rowLower[i], d.m.rowUpper[i]
	if low.infinite == 0 && outside(low.sum, math.Inf(-1), upper, low.size) ||
		high.infinite == 0 && outside(high.sum, lower, math.Inf(1), high.size) {
		return false
	}
	for k := begin; k < end; k++ {
		j := int(d.rows.Index[k])
		if !d.m.integer[j] || d.fixed(j) {
			continue
		}
		least, most := d.terms(k)
		from, to := d.lower[j], d.upper[j]
		if rest, ok := low.without(least); ok {
			from, to = narrow(from, to, d.rows.Value[k], upper-rest)
		}
		if rest, ok := high.without(most); ok {
			from, to = narrow(from, to, -d.rows.Value[k], rest-lower)
		}
		if from > to {
			return false
		}
		if from > d.lower[j] || to < d.upper[j] {
			d.set(j, from, to)
		}
	}
	return true
}

// terms are the smallest and the largest value of entry k of the rows. No value is zero.
func (d *domains) terms(k int) (least, most float64) {
	j, a := d.rows.Index[k], d.rows.Value[k]
	least, most = float64(a*d.lower[j]), float64(a*d.upper[j])
	if a < 0 {
		least, most = most, least
	}
	return least, most
}

// narrow is the part of from to to in which a·x is at most room, for whole x.
func narrow(from, to, a, room float64) (float64, float64) {
	if math.IsInf(room, 0) {
		return from, to
	}
	at := room / a
	slack := float64(IntegerTolerance * math.Max(1, math.Abs(at)))
	if a > 0 {
		return from, math.Min(to, math.Floor(at+slack))
	}
	return math.Max(from, math.Ceil(at-slack)), to
}
