package native

import (
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// columns are what the linear program, the master of the column generation, is made of. A column is an option with a split, or that a running job is
// preempted. Every job and every running job is a set, of which one unit is given out, to its columns or to its slack; there is one set more, for what
// makes up for cuts that are broken. Rows are the instance's, and behind them the cuts'.
//
// First come the slacks, by the numbers of their sets, then the running jobs' columns, then what has been appended. Once it is there a column stays as it is
// but for val, until generation rises: then columns have got other numbers.
type columns struct {
	in   *pack.Instance
	cuts *cuts // nil is none
	rows int
	rhs  []float64 // of each row
	tol  float64   // what may be gained by rounding errors alone
	ops  int64     // spent on the program, by whichever method

	set, opt   []int32   // opt is -1 for all that is no option's
	worth, val []float64 // value, and value less penalty
	off        []int32   // entries off[c]:off[c+1] of row and amt
	row        []int32
	amt        []float64
	splitOff   []int32 // splits splitOff[c]:splitOff[c+1] of split
	split      []float64
	refund     []bool  // whether cuts may make the column worth more than its value
	next, head []int32 // columns of a set, newest first
	generation int     // how many times columns have got other numbers
	rowIndex

	active []int32 // the sets that the program is about; the others' columns stay as they are
	at     int     // where in active the last look for columns that gain something has stopped
}

// reset drops all columns but slacks and running jobs', for a program with cuts k; nil is none.
func (m *columns) reset(in *pack.Instance, k *cuts) {
	m.in, m.cuts, m.at = in, k, 0
	m.set, m.opt, m.worth, m.val = m.set[:0], m.opt[:0], m.worth[:0], m.val[:0]
	m.row, m.amt, m.split, m.next = m.row[:0], m.amt[:0], m.split[:0], m.next[:0]
	m.off, m.splitOff, m.refund = append(m.off[:0], 0), append(m.splitOff[:0], 0), m.refund[:0]
	m.indexed, m.generation = 0, m.generation+1
	m.limitRows()
	m.head = m.head[:0]
	for range len(in.P.Jobs) + len(in.P.Running) + 1 {
		m.head = append(m.head, -1)
	}
	m.activate()
	for s := range m.head {
		m.finish(s, -1, 0)
	}
	largest := 0.0
	for i := range in.Opts {
		largest = max(largest, in.Opts[i].Value)
	}
	m.tol = 1e-9 * largest
	for k := range in.P.Running {
		for i := in.RunOff[k]; i < in.RunOff[k+1]; i++ {
			m.row = append(m.row, int32(in.RunRow[i]))
			m.amt = append(m.amt, -in.RunAmt[i])
		}
		m.appendCuts(len(in.Part)+k, 1)
		m.finish(len(in.P.Jobs)+k, -1, -in.P.Running[k].PreemptCost)
	}
}

// limitRows sets the rows' right-hand sides. A little more room in every row, in no two alike, keeps the simplex
// method from going in circles where many plans fill a row exactly.
func (m *columns) limitRows() {
	m.rhs = append(m.rhs[:0], m.in.Cap[:m.in.Rows]...)
	if m.cuts != nil {
		m.rhs = append(m.rhs, m.cuts.rhs...)
	}
	m.rows = len(m.rhs)
	for r := range m.rhs {
		m.rhs[r] += float64(1e-8 * (1 + math.Mod(float64(r)*0.6180339887, 1)))
	}
}

// activate makes the program about all sets.
func (m *columns) activate() {
	m.active = m.active[:0]
	for s := range len(m.head) - 1 {
		m.active = append(m.active, int32(s))
	}
}

// append appends option o with the given split.
func (m *columns) append(o int, split []float64) int32 {
	opt := &m.in.Opts[o]
	m.split = append(m.split, split...)
	for i, q := range split {
		if q == 0 {
			continue
		}
		for k := range opt.Demand {
			dem := &opt.Demand[k]
			lo := (m.in.Part[opt.P0+i]*m.in.R+dem.R)*m.in.T + opt.Start
			for t, u := range opt.Usage {
				m.row = append(m.row, int32(lo+t))
				m.amt = append(m.amt, q*dem.D*u)
			}
		}
		m.appendCuts(opt.P0+i, q)
	}
	c := m.finish(opt.Job, o, opt.Value)
	m.ops += 3 * int64(m.off[c+1]-m.off[c])
	return c
}

// appendCuts appends the entries that q units at a place have in the cuts' rows.
func (m *columns) appendCuts(place int, q float64) {
	if m.cuts == nil || place >= len(m.cuts.head) {
		return
	}
	for e := m.cuts.head[place]; e >= 0; e = m.cuts.next[e] {
		m.row = append(m.row, int32(m.in.Rows)+m.cuts.of[e])
		m.amt = append(m.amt, q*m.cuts.coef[e])
	}
}

// finish closes the column whose entries and split have been appended.
func (m *columns) finish(set, opt int, value float64) int32 {
	c := int32(len(m.set))
	m.set = append(m.set, int32(set))
	m.opt = append(m.opt, int32(opt))
	m.worth, m.val = append(m.worth, value), append(m.val, value)
	at := m.off[len(m.off)-1]
	m.refund = append(m.refund, slices.ContainsFunc(m.amt[at:], func(v float64) bool { return v < 0 }))
	m.off = append(m.off, int32(len(m.row)))
	m.splitOff = append(m.splitOff, int32(len(m.split)))
	m.next = append(m.next, m.head[set])
	m.head[set] = c
	return c
}

// find is option o's column with the given split; -1 if there is none.
func (m *columns) find(o int, split []float64) int32 {
	for c := m.head[m.in.Opts[o].Job]; c >= 0; c = m.next[c] {
		if m.opt[c] == int32(o) && equal(m.splitOf(c), split) {
			return c
		}
		m.ops += 4
	}
	return -1
}

func equal(a, b []float64) bool {
	for i, v := range a {
		if v != b[i] {
			return false
		}
	}
	return true
}

// renumber gives every column the number that is listed for it, which is in the same order as before; -1 drops it.
func (m *columns) renumber(number []int32) {
	m.indexed, m.generation = 0, m.generation+1
	for s := range m.head {
		m.head[s] = -1
	}
	kept := int32(0)
	for c, to := range number {
		if to >= 0 {
			m.moveColumn(int32(c), to)
			kept = to + 1
		}
	}
	m.set, m.opt, m.worth, m.val = m.set[:kept], m.opt[:kept], m.worth[:kept], m.val[:kept]
	m.next, m.refund = m.next[:kept], m.refund[:kept]
	m.off, m.splitOff = m.off[:kept+1], m.splitOff[:kept+1]
	m.row, m.amt, m.split = m.row[:m.off[kept]], m.amt[:m.off[kept]], m.split[:m.splitOff[kept]]
	m.ops += int64(len(m.row))
}

// moveColumn moves column from down to number to.
func (m *columns) moveColumn(from, to int32) {
	s := m.set[from]
	lo, hi, first, last := m.off[from], m.off[from+1], m.splitOff[from], m.splitOff[from+1]
	copy(m.row[m.off[to]:], m.row[lo:hi])
	copy(m.amt[m.off[to]:], m.amt[lo:hi])
	copy(m.split[m.splitOff[to]:], m.split[first:last])
	m.off[to+1], m.splitOff[to+1] = m.off[to]+hi-lo, m.splitOff[to]+last-first
	m.set[to], m.opt[to], m.worth[to], m.val[to] = s, m.opt[from], m.worth[from], m.val[from]
	m.next[to], m.head[s], m.refund[to] = m.head[s], to, m.refund[from]
}

// fixed is how many columns there always are: slacks and running jobs'.
func (m *columns) fixed() int { return len(m.head) + len(m.in.P.Running) }

// runColumn is running job k's column.
func (m *columns) runColumn(k int) int32 { return int32(len(m.head) + k) }

// splitOf is how column c's tasks are split over its option's partitions.
func (m *columns) splitOf(c int32) []float64 { return m.split[m.splitOff[c]:m.splitOff[c+1]] }

// scatter adds column c's entries to x, or with a sign of -1 takes them off.
func (m *columns) scatter(c int32, sign float64, x []float64) {
	lo, hi := m.off[c], m.off[c+1]
	row, amt := m.row[lo:hi], m.amt[lo:hi]
	for i, r := range row {
		x[r] += float64(sign * amt[i])
	}
}
