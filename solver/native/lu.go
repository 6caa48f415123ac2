package native

import (
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// lu is a sparse factorisation of the master's basis, L·U = B, in which the column at position r has its pivot in row r, so that
// rows and positions are numbered alike. The slacks come first in the order of U, then the columns as in order. L is column
// transformations of the factorisation, and after those the row transformations of the updates (Forrest and Tomlin, 1972).
type lu struct {
	n        int
	low, row transforms // column, and row transformations
	// U without its diagonal, by columns and by rows.
	cols, rows entries
	diag       []float64
	order      []int32 // positions; -1 where there was one that has moved behind
	at         []int32 // of each position: where it is in order, -1 for slacks
	work       []float64
	ops        int64
	fresh      int // how many entries U and L had when the basis was factorised
	updates    int

	spike  []float64 // the last column of ftran before U: a vector of what is in spikes
	spikes []int32
	// Scratch for factor: the columns by rows, how many columns are to come of each row and rows of each column, and
	// lists of columns, or -1-r for rows.
	byRow            []int32
	rowOff           []int32
	inRow, inColumn  []int32
	pivoted          []bool
	singles, nucleus []int32
	touched          []int32
}

// matrix is columns off[j]:off[j+1] of idx and val.
type matrix struct {
	off, idx []int32
	val      []float64
}

// transforms are elementary transformations: number k has the row head[k] and entries off[k]:off[k+1] of idx and val.
type transforms struct {
	head, off, idx []int32
	val            []float64
}

func (t *transforms) reset() {
	t.head, t.idx, t.val = t.head[:0], t.idx[:0], t.val[:0]
	t.off = append(t.off[:0], 0)
}

func (t *transforms) add(i int32, v float64) { t.idx, t.val = append(t.idx, i), append(t.val, v) }

// finish closes the transformation whose entries have been added, or drops it if there are none.
func (t *transforms) finish(head int32) {
	if int(t.off[len(t.head)]) == len(t.idx) {
		return
	}
	t.head, t.off = append(t.head, head), append(t.off, int32(len(t.idx)))
}

// entries are lists of entries, number k in beg[k]:beg[k]+n[k] of idx and val, with room for more.
type entries struct {
	beg, n, room, idx []int32
	val               []float64
}

func (e *entries) reset(lists int) {
	e.beg, e.n, e.room = pack.Resize(e.beg, lists), pack.Resize(e.n, lists), pack.Resize(e.room, lists)
	clear(e.n)
	clear(e.room)
	e.idx, e.val = e.idx[:0], e.val[:0]
}

// reserve makes an empty list of list k with room for so many entries.
func (e *entries) reserve(k, room int32) {
	e.beg[k], e.room[k] = int32(len(e.idx)), room
	e.idx = slices.Grow(e.idx, int(room))[:len(e.idx)+int(room)]
	e.val = slices.Grow(e.val, int(room))[:len(e.val)+int(room)]
}

// add appends an entry to list k, which moves to the end if there is no room for it.
func (e *entries) add(k, i int32, v float64) {
	if e.n[k] == e.room[k] {
		lo, hi := e.beg[k], e.beg[k]+e.n[k]
		e.reserve(k, 2*e.n[k]+4)
		copy(e.idx[e.beg[k]:], e.idx[lo:hi])
		copy(e.val[e.beg[k]:], e.val[lo:hi])
	}
	at := e.beg[k] + e.n[k]
	e.idx[at], e.val[at] = i, v
	e.n[k]++
}

// remove takes the entry of i out of list k.
func (e *entries) remove(k, i int32) {
	lo, last := e.beg[k], e.beg[k]+e.n[k]-1
	for at := lo; at <= last; at++ {
		if e.idx[at] == i {
			e.idx[at], e.val[at] = e.idx[last], e.val[last]
			e.n[k]--
			return
		}
	}
}

// list is list k.
func (e *entries) list(k int32) ([]int32, []float64) {
	lo, hi := e.beg[k], e.beg[k]+e.n[k]
	return e.idx[lo:hi], e.val[lo:hi]
}

// reset is the factorisation of the identity.
func (f *lu) reset(n int) {
	f.n, f.updates, f.fresh = n, 0, 0
	f.low.reset()
	f.row.reset()
	f.cols.reset(n)
	f.rows.reset(n)
	f.diag, f.at, f.work = pack.Resize(f.diag, n), pack.Resize(f.at, n), pack.Resize(f.work, n)
	f.spike = pack.Resize(f.spike, n)
	clear(f.work)
	clear(f.spike)
	f.spikes = f.spikes[:0]
	for r := range n {
		f.diag[r], f.at[r] = 1, -1
	}
	f.order = f.order[:0]
}

// lower applies L's inverse to x.
func (f *lu) lower(x []float64) {
	for k, r := range f.low.head {
		v := x[r]
		if v == 0 {
			continue
		}
		lo, hi := f.low.off[k], f.low.off[k+1]
		idx, val := f.low.idx[lo:hi], f.low.val[lo:hi]
		for i, at := range idx {
			x[at] -= float64(v * val[i])
		}
		f.ops += int64(len(idx))
	}
	for k, r := range f.row.head {
		lo, hi := f.row.off[k], f.row.off[k+1]
		idx, val := f.row.idx[lo:hi], f.row.val[lo:hi]
		sum := x[r]
		for i, at := range idx {
			sum -= float64(x[at] * val[i])
		}
		x[r] = sum
	}
	f.ops += int64(len(f.low.head)+len(f.row.idx)) / 2
}

// ftran solves B·alpha = x, in place. With keep, x in between is kept for update.
func (f *lu) ftran(x []float64, keep bool) {
	f.lower(x)
	if keep {
		f.keep(x)
	}
	for i := len(f.order) - 1; i >= 0; i-- {
		p := f.order[i]
		if p < 0 || x[p] == 0 {
			continue
		}
		v := x[p] / f.diag[p]
		x[p] = v
		idx, val := f.cols.list(p)
		for i, at := range idx {
			x[at] -= float64(v * val[i])
		}
		f.ops += int64(len(idx)) + 4
	}
	f.ops += int64(len(f.order)) / 2
}

// keep notes x as the column that update is to put in.
func (f *lu) keep(x []float64) {
	f.spikes = f.spikes[:0]
	for r, v := range x {
		if v > tiny || v < -tiny {
			f.spikes = append(f.spikes, int32(r))
			f.spike[r] = v
		}
	}
	f.ops += int64(len(x)) / 4
}

// tiny is what counts as nothing.
const tiny = 1e-14

// btran solves Bᵀ·y = x, in place.
func (f *lu) btran(x []float64) {
	for r, v := range x {
		if v != 0 && f.at[r] < 0 {
			idx, val := f.rows.list(int32(r))
			for i, at := range idx {
				x[at] -= float64(v * val[i])
			}
			f.ops += int64(len(idx)) + 4
		}
	}
	for _, p := range f.order {
		if p < 0 || x[p] == 0 {
			continue
		}
		x[p] /= f.diag[p]
		idx, val := f.rows.list(p)
		v := x[p]
		for i, at := range idx {
			x[at] -= float64(v * val[i])
		}
		f.ops += int64(len(idx)) + 4
	}
	f.ops += int64(len(f.order)+f.n) / 2
	for k := len(f.row.head) - 1; k >= 0; k-- {
		v := x[f.row.head[k]]
		if v == 0 {
			continue
		}
		lo, hi := f.row.off[k], f.row.off[k+1]
		idx, val := f.row.idx[lo:hi], f.row.val[lo:hi]
		for i, at := range idx {
			x[at] -= float64(v * val[i])
		}
		f.ops += int64(len(idx))
	}
	for k := len(f.low.head) - 1; k >= 0; k-- {
		lo, hi := f.low.off[k], f.low.off[k+1]
		idx, val := f.low.idx[lo:hi], f.low.val[lo:hi]
		sum := x[f.low.head[k]]
		for i, at := range idx {
			sum -= float64(x[at] * val[i])
		}
		x[f.low.head[k]] = sum
	}
	f.ops += int64(len(f.low.idx)+len(f.row.head)) / 2
}

// combine makes spike the column of position p less that of position q.
func (f *lu) combine(p, q int32) {
	f.unkeep()
	for _, c := range [...]struct {
		at   int32
		sign float64
	}{{p, 1}, {q, -1}} {
		idx, val := f.cols.list(c.at)
		for i, r := range idx {
			f.mix(r, float64(c.sign*val[i]))
		}
		f.mix(c.at, float64(c.sign*f.diag[c.at]))
	}
}

// mix adds v to the spike in row r.
func (f *lu) mix(r int32, v float64) {
	if f.spike[r] == 0 {
		f.spikes = append(f.spikes, r)
	}
	f.spike[r] += v
	if f.spike[r] == 0 {
		f.spike[r] = tiny // it is listed already
	}
}

// unkeep empties the spike.
func (f *lu) unkeep() {
	for _, r := range f.spikes {
		f.spike[r] = 0
	}
	f.spikes = f.spikes[:0]
}

// update makes the spike the column of position p, and reports whether the factorisation is accurate still:
// pivot is what the new column's alpha has there.
func (f *lu) update(p int32, pivot float64) bool {
	f.updates++
	idx, _ := f.cols.list(p)
	for _, r := range idx {
		f.rows.remove(r, p)
	}
	f.cols.n[p] = 0
	was, lo := f.diag[p], len(f.row.idx)
	f.eliminate(p)
	diag := f.spike[p]
	for i, r := range f.row.idx[lo:] {
		diag -= float64(f.row.val[lo+i] * f.spike[r])
	}
	for _, r := range f.spikes {
		if v := f.spike[r]; r != p && (v > tiny || v < -tiny) {
			f.cols.add(p, r, v)
			f.rows.add(r, p, v)
		}
	}
	f.ops += int64(12*len(f.spikes)) + 20
	f.unkeep()
	f.diag[p] = diag
	if f.at[p] >= 0 {
		f.order[f.at[p]] = -1
	}
	f.at[p] = int32(len(f.order))
	f.order = append(f.order, p)
	return math.Abs(diag-float64(pivot*was)) <= 1e-7*max(1, math.Abs(diag)) && math.Abs(diag) > 1e-11
}

// eliminate empties row p of U by a row transformation.
func (f *lu) eliminate(p int32) {
	z, first, left := f.work, len(f.order), 0
	idx, val := f.rows.list(p)
	for i, c := range idx {
		z[c] = val[i]
		f.cols.remove(c, p)
		first = min(first, int(f.at[c]))
		left++
	}
	f.rows.n[p] = 0
	for i := first; left > 0; i++ {
		c := f.order[i]
		if c < 0 || z[c] == 0 {
			continue
		}
		left--
		m := z[c] / f.diag[c]
		z[c] = 0
		if m < tiny && m > -tiny {
			continue
		}
		f.row.add(c, m)
		idx, val := f.rows.list(c)
		for i, at := range idx {
			if z[at] == 0 {
				left++
			}
			if z[at] -= float64(m * val[i]); z[at] == 0 {
				z[at] = tiny * tiny // it is counted already
			}
		}
		f.ops += int64(2*len(idx)) + 8
	}
	f.row.finish(p)
}

// heavy says that updates have made the factorisation so much larger that a new one pays.
func (f *lu) heavy() bool {
	return f.updates >= maxUpdates || len(f.row.idx)+len(f.cols.idx) > 3*f.fresh+8*f.n
}

// maxUpdates is how many updates a factorisation takes.
const maxUpdates = 40

// factor factorises the basis of n rows that has slacks in the rows where slack is true, and the columns of a. It leaves in pos each
// column's position, -1 if it depends on others, in whose place slacks come. Columns and rows with a single entry left are pivots
// first, which leaves little (Markowitz, 1957, with nothing to update); what is left is done column by column, shortest first, with
// the pivot in the row that has the fewest of those that are large enough.
func (f *lu) factor(n int, a *matrix, slack []bool, pos []int32) {
	f.reset(n)
	f.index(a, slack, pos)
	for len(f.singles) > 0 {
		s := f.singles[len(f.singles)-1]
		f.singles = f.singles[:len(f.singles)-1]
		if s >= 0 {
			f.columnSingle(a, s, pos)
		} else {
			f.rowSingle(a, -1-s, pos)
		}
	}
	f.nucleus = f.nucleus[:0]
	for j := range pos {
		if pos[j] < 0 {
			f.nucleus = append(f.nucleus, int32(j))
		}
	}
	slices.SortStableFunc(f.nucleus, func(i, j int32) int { return int(f.inColumn[i] - f.inColumn[j]) })
	first := len(f.low.head)
	for _, j := range f.nucleus {
		pos[j] = f.eliminated(a, j, first)
	}
	f.fresh = len(f.low.idx) + len(f.cols.idx)
	f.ops += int64(4*len(a.idx) + 2*f.fresh + 4*n)
}

// index makes the lists of rows, and of what is single.
func (f *lu) index(a *matrix, slack []bool, pos []int32) {
	n := f.n
	f.rowOff, f.inRow = pack.Resize(f.rowOff, n+1), pack.Resize(f.inRow, n)
	f.byRow, f.inColumn = pack.Resize(f.byRow, len(a.idx)), pack.Resize(f.inColumn, len(pos))
	f.pivoted = append(f.pivoted[:0], slack...)
	clear(f.inRow)
	for _, r := range a.idx {
		f.inRow[r]++
	}
	f.rowOff[0] = 0
	for r, k := range f.inRow {
		f.rowOff[r+1] = f.rowOff[r] + k
		f.rows.reserve(int32(r), k+2)
		f.inRow[r] = 0
	}
	f.singles = f.singles[:0]
	for j := range pos {
		pos[j], f.inColumn[j] = -1, 0
		for i := a.off[j]; i < a.off[j+1]; i++ {
			r := a.idx[i]
			f.byRow[f.rowOff[r]+f.inRow[r]] = int32(j)
			f.inRow[r]++
			if !slack[r] {
				f.inColumn[j]++
			}
		}
		if f.inColumn[j] == 1 {
			f.singles = append(f.singles, int32(j))
		}
	}
	for r, k := range f.inRow {
		if k == 1 && !slack[r] {
			f.singles = append(f.singles, int32(-1-r))
		}
	}
}

// columnSingle makes the only entry left in column j a pivot.
func (f *lu) columnSingle(a *matrix, j int32, pos []int32) {
	if pos[j] >= 0 || f.inColumn[j] != 1 {
		return
	}
	for i := a.off[j]; i < a.off[j+1]; i++ {
		if r := a.idx[i]; !f.pivoted[r] && math.Abs(a.val[i]) > singular {
			f.place(a, j, r, i)
			pos[j] = r
			return
		}
	}
}

// rowSingle makes the only entry left in row r a pivot.
func (f *lu) rowSingle(a *matrix, r int32, pos []int32) {
	if f.pivoted[r] || f.inRow[r] != 1 {
		return
	}
	for _, j := range f.byRow[f.rowOff[r]:f.rowOff[r+1]] {
		if pos[j] >= 0 {
			continue
		}
		for i := a.off[j]; i < a.off[j+1]; i++ {
			if a.idx[i] == r && math.Abs(a.val[i]) > singular {
				f.place(a, j, r, i)
				pos[j] = r
			}
		}
		return
	}
}

// singular is what is too small for a pivot.
const singular = 1e-10

// place makes entry i of column j, in row r, a pivot; no transformation has to do with the column.
func (f *lu) place(a *matrix, j, r, i int32) {
	v := a.val[i]
	f.pivot(r, v)
	f.cols.reserve(r, a.off[j+1]-a.off[j])
	for k := a.off[j]; k < a.off[j+1]; k++ {
		q := a.idx[k]
		switch {
		case q == r:
		case f.pivoted[q]:
			f.cols.add(r, q, a.val[k])
			f.rows.add(q, r, a.val[k])
		default:
			f.low.add(q, a.val[k]/v)
			if f.inRow[q]--; f.inRow[q] == 1 {
				f.singles = append(f.singles, -1-q)
			}
		}
	}
	f.low.finish(r)
	for _, c := range f.byRow[f.rowOff[r]:f.rowOff[r+1]] {
		if f.inColumn[c]--; f.inColumn[c] == 1 {
			f.singles = append(f.singles, c)
		}
	}
}

// pivot makes r the next row to have a pivot.
func (f *lu) pivot(r int32, v float64) {
	f.pivoted[r], f.diag[r], f.at[r] = true, v, int32(len(f.order))
	f.order = append(f.order, r)
}

// eliminated eliminates column j by the transformations from first on, and returns where its pivot is, -1 if there is none.
func (f *lu) eliminated(a *matrix, j int32, first int) int32 {
	x := f.work
	f.touched = f.touched[:0]
	for i := a.off[j]; i < a.off[j+1]; i++ {
		x[a.idx[i]] = a.val[i]
		f.touched = append(f.touched, a.idx[i])
	}
	for k := first; k < len(f.low.head); k++ {
		v := x[f.low.head[k]]
		if v == 0 {
			continue
		}
		for i := f.low.off[k]; i < f.low.off[k+1]; i++ {
			at := f.low.idx[i]
			if x[at] == 0 {
				f.touched = append(f.touched, at)
			}
			if x[at] -= float64(v * f.low.val[i]); x[at] == 0 {
				x[at] = tiny * tiny // it is listed already
			}
		}
		f.ops += int64(2 * (f.low.off[k+1] - f.low.off[k]))
	}
	f.ops += int64(len(f.low.head)-first) / 2
	r := f.best(x)
	if r >= 0 {
		f.store(x, r)
		for i := a.off[j]; i < a.off[j+1]; i++ {
			f.inRow[a.idx[i]]--
		}
	}
	for _, q := range f.touched {
		x[q] = 0
	}
	return r
}

// best is the row of column x to have the pivot in, -1 if it has nothing left.
func (f *lu) best(x []float64) int32 {
	most, r := singular, int32(-1)
	for _, q := range f.touched {
		if !f.pivoted[q] {
			most = max(most, math.Abs(x[q]))
		}
	}
	for _, q := range f.touched {
		if v := math.Abs(x[q]); !f.pivoted[q] && v > singular && v >= threshold*most &&
			(r < 0 || f.inRow[q] < f.inRow[r] || (f.inRow[q] == f.inRow[r] && v > math.Abs(x[r]))) {
			r = q
		}
	}
	return r
}

// threshold is how large a pivot must be against the largest entry.
const threshold = 0.1

// store makes x, which has its pivot in row r, the next column of the factorisation.
func (f *lu) store(x []float64, r int32) {
	v := x[r]
	f.pivot(r, v)
	f.cols.reserve(r, int32(len(f.touched)))
	for _, q := range f.touched {
		switch y := x[q]; {
		case q == r || (y < tiny && y > -tiny):
		case f.pivoted[q]:
			f.cols.add(r, q, y)
			f.rows.add(q, r, y)
		default:
			f.low.add(q, y/v)
		}
	}
	f.low.finish(r)
}
