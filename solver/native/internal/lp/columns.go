package lp

import (
	"math"
	"slices"
)

// columns are what the linear program is made of. A column is in a set, of which one unit is given out, to its
// columns or to its slack, and has entries in rows. The last set is for artificial columns, which make up for
// rows that are violated; it is given out to nothing else.
//
// First come the slacks, by the numbers of their sets, then what has been appended. Up to Stay, columns are there for
// good. The others stay as they are but for Val, until generation rises: then columns have got other numbers.
type columns struct {
	Rows int
	rhs  []float64 // of each row
	Tol  float64   // what may be gained by rounding errors alone
	Ops  int64     // spent on the program, by whichever method

	Set        []int32
	Worth, Val []float64 // value, and value less penalty
	off        []int32   // entries off[c]:off[c+1] of row and amt
	row        []int32
	amt        []float64
	refund     []bool  // whether the column has entries below zero, which may make it worth more than its value
	Next, Head []int32 // columns of a set, newest first
	Stay       int     // how many columns there always are
	generation int     // how many times columns have got other numbers
	rowIndex

	at int // the set at which the last look for columns that gain something has stopped
}

// reset drops all columns but the slacks of the sets, for a program of which limits are the rows' right-hand
// sides. A little more room in every row, in no two alike, keeps the simplex method from going in circles where many
// plans fill a row exactly.
func (m *columns) reset(limits []float64, sets int, tol float64) {
	m.at, m.Tol = 0, tol
	m.Set, m.Worth, m.Val = m.Set[:0], m.Worth[:0], m.Val[:0]
	m.row, m.amt, m.Next = m.row[:0], m.amt[:0], m.Next[:0]
	m.off, m.refund = append(m.off[:0], 0), m.refund[:0]
	m.indexed, m.generation = 0, m.generation+1
	m.rhs = append(m.rhs[:0], limits...)
	m.Rows = len(m.rhs)
	for r := range m.rhs {
		m.rhs[r] += float64(1e-8 * (1 + math.Mod(float64(r)*0.6180339887, 1)))
	}
	m.Head = m.Head[:0]
	for range sets {
		m.Head = append(m.Head, -1)
	}
	for s := range m.Head {
		m.Finish(s, 0)
	}
	m.Fix()
}

// Fix makes all columns that there are stay.
func (m *columns) Fix() { m.Stay = len(m.Set) }

// Sets is the number of sets, without the one that is for artificial columns.
func (m *columns) Sets() int { return len(m.Head) - 1 }

// Entry appends an entry of the next column, which Finish closes.
func (m *columns) Entry(row int32, amt float64) {
	m.row, m.amt = append(m.row, row), append(m.amt, amt)
}

// Finish closes the column whose entries have been appended, and returns its number.
func (m *columns) Finish(set int, value float64) int32 {
	c := int32(len(m.Set))
	m.Set = append(m.Set, int32(set))
	m.Worth, m.Val = append(m.Worth, value), append(m.Val, value)
	at := m.off[len(m.off)-1]
	m.refund = append(m.refund, slices.ContainsFunc(m.amt[at:], func(v float64) bool { return v < 0 }))
	m.off = append(m.off, int32(len(m.row)))
	m.Next = append(m.Next, m.Head[set])
	m.Head[set] = c
	return c
}

// renumber gives every column the number that is listed for it, which is in the same order as before; -1 drops it.
func (m *columns) renumber(number []int32) {
	m.indexed, m.generation = 0, m.generation+1
	for s := range m.Head {
		m.Head[s] = -1
	}
	kept := int32(0)
	for c, to := range number {
		if to >= 0 {
			m.moveColumn(int32(c), to)
			kept = to + 1
		}
	}
	m.Set, m.Worth, m.Val = m.Set[:kept], m.Worth[:kept], m.Val[:kept]
	m.Next, m.refund = m.Next[:kept], m.refund[:kept]
	m.off = m.off[:kept+1]
	m.row, m.amt = m.row[:m.off[kept]], m.amt[:m.off[kept]]
	m.Ops += int64(len(m.row))
}

// moveColumn moves column from down to number to.
func (m *columns) moveColumn(from, to int32) {
	s := m.Set[from]
	lo, hi := m.off[from], m.off[from+1]
	copy(m.row[m.off[to]:], m.row[lo:hi])
	copy(m.amt[m.off[to]:], m.amt[lo:hi])
	m.off[to+1] = m.off[to] + hi - lo
	m.Set[to], m.Worth[to], m.Val[to] = s, m.Worth[from], m.Val[from]
	m.Next[to], m.Head[s], m.refund[to] = m.Head[s], to, m.refund[from]
}

// scatter adds column c's entries to x, or with a sign of -1 takes them off.
func (m *columns) scatter(c int32, sign float64, x []float64) {
	lo, hi := m.off[c], m.off[c+1]
	row, amt := m.row[lo:hi], m.amt[lo:hi]
	for i, r := range row {
		x[r] += float64(sign * amt[i])
	}
}

// Length is the number of column c's entries.
func (m *columns) Length(c int32) int { return int(m.off[c+1] - m.off[c]) }
