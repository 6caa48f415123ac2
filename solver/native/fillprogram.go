package native

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// fillProgram is the linear program over the fills of partitions that are known: parts of fills, of one fill for each partition in all, that have the most of the
// tasks needed. What kinds are short of, as parts of what they need, is what it minimises. It has a row for each kind, then one for each partition, and keeps the inverse
// of its basis, as they are few.
//
// Columns are what the kinds are short of, what the partitions leave empty, what there is too much of the kinds, and fills, in this order.
type fillProgram struct {
	kinds, rows int
	need        []float64 // tasks of each kind
	scale       []float64 // what a task that is short counts for: one part of what was needed at first
	fills       []float64 // of each fill and kind: tasks
	of          []int32   // of each fill: its partition
	barred      []bool    // of each fill: whether it is not allowed at present
	basic       []int32
	inverse     []float64
	level       []float64 // of each row: its basic column's
	price       []float64 // of each row
	column      []float64 // scratch: the entering column, by the basis
	steps       int64
}

func (m *fillProgram) reset(need []float64, parts int) {
	m.kinds, m.rows = len(need), len(need)+parts
	m.need, m.scale = append(m.need[:0], need...), m.scale[:0]
	for _, n := range need {
		m.scale = append(m.scale, 1/n)
	}
	m.fills, m.of, m.barred = m.fills[:0], m.of[:0], m.barred[:0]
	m.basic, m.inverse = pack.Resize(m.basic, m.rows), pack.Resize(m.inverse, m.rows*m.rows)
	m.level, m.price, m.column = pack.Resize(m.level, m.rows), pack.Resize(m.price, m.rows), pack.Resize(m.column, m.rows)
}

// add adds a fill of partition x.
func (m *fillProgram) add(x int, fill []float64) {
	m.fills, m.of, m.barred = append(m.fills, fill...), append(m.of, int32(x)), append(m.barred, false)
}

// first is the number of the first fill.
func (m *fillProgram) first() int { return m.rows + m.kinds }

// start is the basis of nothing placed.
func (m *fillProgram) start() {
	clear(m.inverse)
	for i := range m.rows {
		m.basic[i], m.inverse[i*m.rows+i], m.level[i] = int32(i), 1, 1
	}
	copy(m.level, m.need)
}

// mostPivots bounds the pivots of a program, as a multiple of its rows; the tolerance is of prices and pivots.
const (
	mostPivots     = 30
	fillsTolerance = 1e-9
)

// solve minimises what kinds are short of. It reports false if that does not come to an end.
func (m *fillProgram) solve() (short float64, ok bool) {
	for range mostPivots * m.rows {
		m.prices()
		c, gain := m.entering()
		if gain <= fillsTolerance {
			for i, b := range m.basic {
				if int(b) < m.kinds {
					short += float64(m.level[i] * m.scale[b])
				}
			}
			return short, true
		}
		if !m.enter(c) {
			return 0, false
		}
	}
	return 0, false
}

// prices computes the rows' prices.
func (m *fillProgram) prices() {
	clear(m.price)
	for i, b := range m.basic {
		if int(b) >= m.kinds {
			continue
		}
		for r, v := range m.inverse[i*m.rows : (i+1)*m.rows] {
			m.price[r] += float64(m.scale[b] * v)
		}
		m.steps += int64(m.rows)
	}
}

// entering is the column that gains the most for what it is of the needs.
func (m *fillProgram) entering() (column int, gain float64) {
	take := func(c int, g float64) {
		if g > gain {
			column, gain = c, g
		}
	}
	for r, v := range m.price {
		if r < m.kinds {
			take(r, float64(v/m.scale[r])-1)
			take(m.rows+r, -v/m.scale[r])
		} else {
			take(r, v)
		}
	}
	for f, x := range m.of {
		if m.barred[f] {
			continue
		}
		sum := m.price[m.kinds+int(x)]
		for j, n := range m.fills[f*m.kinds : (f+1)*m.kinds] {
			sum += float64(n * m.price[j])
		}
		take(m.first()+f, sum)
	}
	m.steps += int64(2*m.rows + len(m.fills))
	return column, gain
}

// enter takes the column into the basis; false if nothing can leave it.
func (m *fillProgram) enter(c int) bool {
	m.transform(c)
	at, least, largest := -1, math.Inf(1), 0.0
	for i, v := range m.column {
		if v <= fillsTolerance {
			continue
		}
		q := max(0, m.level[i]) / v
		if q < least-fillsTolerance || q <= least+fillsTolerance && v > largest {
			at, least, largest = i, min(q, least), v
		}
	}
	if at < 0 {
		return false
	}
	n, pivot := m.rows, m.column[at]
	row := m.inverse[at*n : (at+1)*n]
	for r := range row {
		row[r] /= pivot
	}
	step := m.level[at] / pivot
	for i, v := range m.column {
		if i == at || v == 0 {
			continue
		}
		m.level[i] -= float64(v * step)
		for r, w := range row {
			m.inverse[i*n+r] -= float64(v * w)
		}
		m.steps += int64(n)
	}
	m.level[at], m.basic[at] = step, int32(c)
	return true
}

// transform computes column c by the basis.
func (m *fillProgram) transform(c int) {
	n := m.rows
	clear(m.column)
	add := func(r int, v float64) {
		for i := range n {
			m.column[i] += float64(m.inverse[i*n+r] * v)
		}
		m.steps += int64(n)
	}
	switch f := c - m.first(); {
	case c < n:
		add(c, 1)
	case f < 0:
		add(c-n, -1)
	default:
		for j, v := range m.fills[f*m.kinds : (f+1)*m.kinds] {
			if v != 0 {
				add(j, v)
			}
		}
		add(m.kinds+int(m.of[f]), 1)
	}
}

// shares adds up the tasks that the program's solution has in each partition, of each kind.
func (m *fillProgram) shares(tasks []float64) {
	clear(tasks)
	for i, b := range m.basic {
		f := int(b) - m.first()
		if f < 0 {
			continue
		}
		at := int(m.of[f]) * m.kinds
		for j, n := range m.fills[f*m.kinds : (f+1)*m.kinds] {
			tasks[at+j] += float64(m.level[i] * n)
		}
	}
	m.steps += int64(m.rows * m.kinds)
}
