package lp

import (
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// factor factorises the basis of n rows that has slacks in the rows where slack is true, and the columns of a. It
// leaves in pos each column's position, -1 if it depends on others, in whose place slacks come. Columns and rows with
// a single entry left are pivots first, which leaves little (Markowitz, 1957, with nothing to update); what is left
// is done column by column, shortest first, with the pivot in the row that has the fewest of those that are large
// enough.
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

// eliminated eliminates column j by the transformations from first on, and returns where its pivot is, -1 if there is
// none.
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
				x[at] = negligible * negligible // it is listed already
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
		case q == r || (y < negligible && y > -negligible):
		case f.pivoted[q]:
			f.cols.add(r, q, y)
			f.rows.add(q, r, y)
		default:
			f.low.add(q, y/v)
		}
	}
	f.low.finish(r)
}
