package lp

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// lu is a sparse factorisation of the program's basis, L·U = B, in which the column at position r has its pivot in
// row r, so that rows and positions are numbered alike. The slacks come first in the order of U, then the columns as
// in order. L is column transformations of the factorisation, and after those the row transformations of the updates
// (Forrest and Tomlin, 1972).
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
		if v > negligible || v < -negligible {
			f.spikes = append(f.spikes, int32(r))
			f.spike[r] = v
		}
	}
	f.ops += int64(len(x)) / 4
}

// negligible is what counts as nothing.
const negligible = 1e-14

// btran solves Bᵀ·y = x, in place.
func (f *lu) btran(x []float64) {
	f.upperTransposed(x)
	f.lowerTransposed(x)
}

// upperTransposed applies the inverse of U's transpose to x.
func (f *lu) upperTransposed(x []float64) {
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
}

// lowerTransposed applies the inverse of L's transpose to x.
func (f *lu) lowerTransposed(x []float64) {
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
		f.spike[r] = negligible // it is listed already
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
		if v := f.spike[r]; r != p && (v > negligible || v < -negligible) {
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
		if m < negligible && m > -negligible {
			continue
		}
		f.row.add(c, m)
		idx, val := f.rows.list(c)
		for i, at := range idx {
			if z[at] == 0 {
				left++
			}
			if z[at] -= float64(m * val[i]); z[at] == 0 {
				z[at] = negligible * negligible // it is counted already
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
