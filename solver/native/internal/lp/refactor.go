package lp

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// Refactor factorises the basis, and computes values and prices anew. Columns that depend on others give way to slacks.
func (m *Program) Refactor() {
	m.gather()
	m.places = pack.Resize(m.places, len(m.structural))
	m.lu.factor(m.Rows, &m.matrix, m.taken, m.places)
	for r := range m.Rows {
		m.Basic[r], m.Slack[r] = int32(-1-r), int32(r)
	}
	for i, c := range m.structural {
		p := m.places[i]
		if m.Where[c] = p; p >= 0 {
			m.Basic[p], m.Slack[p] = c, -1
		}
	}
	m.Revalue()
}

// gather lists what is basic: columns in structural, each less its set's key in matrix, and the rows whose slacks are
// in taken.
func (m *Program) gather() {
	a, list := &m.matrix, m.structural[:0]
	m.taken = pack.Resize(m.taken, m.Rows)
	clear(m.taken)
	clear(m.dense)
	a.off, a.idx, a.val = append(a.off[:0], 0), a.idx[:0], a.val[:0]
	for _, b := range m.Basic {
		if b < 0 {
			m.taken[-1-b] = true
			continue
		}
		list = append(list, b)
		k := m.Key[m.Set[b]]
		m.scatter(b, 1, m.dense)
		m.scatter(k, -1, m.dense)
		for _, c := range [...]int32{b, k} {
			for _, r := range m.row[m.off[c]:m.off[c+1]] {
				if v := m.dense[r]; v > 1e-13 || v < -1e-13 {
					a.idx, a.val = append(a.idx, r), append(a.val, v)
				}
				m.dense[r] = 0
			}
		}
		a.off = append(a.off, int32(len(a.idx)))
	}
	m.structural = list
}

// Revalue computes the values and prices that belong to the basis.
func (m *Program) Revalue() {
	copy(m.Values, m.rhs)
	for _, c := range m.Key {
		m.scatter(c, -1, m.Values)
	}
	m.lu.ftran(m.Values, false)
	for s := range m.KeyValue {
		m.KeyValue[s] = 1
	}
	for i, b := range m.Basic {
		if b >= 0 {
			m.KeyValue[m.Set[b]] -= m.Values[i]
		} else if r := -1 - b; !math.IsInf(m.hi[r], 1) && math.Abs(m.Values[i]) > 1e-9 {
			m.over[r] = m.Values[i] < 0
		}
	}
	m.Ops += int64(4 * len(m.Key))
	m.Reprice()
}

// Reprice computes the prices that belong to the basis.
func (m *Program) Reprice() {
	for i, b := range m.Basic {
		if b >= 0 {
			m.Prices[i] = m.Val[b] - m.Val[m.Key[m.Set[b]]]
		} else {
			m.Prices[i] = m.worthOf(-1 - b)
		}
	}
	m.lu.btran(m.Prices)
	for r, p := range m.Slack {
		if p >= 0 {
			m.Prices[r] = m.worthOf(int32(r))
		}
	}
	m.Ops += int64(m.Rows) + m.lu.ops
	m.lu.ops = 0
}

// rebase makes the listed columns basic, and those keys. They have been a feasible basis of the same columns and rows
// before, and so are one again: there is no other to go to if rounding errors say otherwise, and the methods go on
// from such a one.
func (m *Program) rebase(basic, keys []int32) {
	for _, b := range m.Basic {
		if b >= 0 {
			m.Where[b] = -1
		}
	}
	for _, c := range m.Key {
		m.Where[c] = -1
	}
	for s, c := range keys {
		m.Key[s], m.Where[c] = c, -2
	}
	m.Ops += int64(m.Rows + len(m.Key))
	m.Install(basic)
}

// Install makes the listed columns, and slacks, basic. Before it, Where must say of no column that it is basic.
func (m *Program) Install(basic []int32) {
	copy(m.Basic, basic)
	for _, b := range basic {
		if b >= 0 {
			m.Where[b] = 0
		}
	}
	m.Refactor()
}

// Feasible says whether no value is below zero by more than rounding errors.
func (m *Program) Feasible() bool {
	worst := 0.0
	for _, v := range m.Values {
		worst = min(worst, v)
	}
	for _, v := range m.KeyValue {
		worst = min(worst, v)
	}
	return worst > -infeasible
}

// lessKey makes x column c less its set's key, which is what the basis consists of; of a row's slack it is that.
func (m *Program) lessKey(c int32, x []float64) {
	clear(x)
	if c < 0 {
		x[-1-c] = 1
		return
	}
	m.scatter(c, 1, x)
	m.scatter(m.Key[m.Set[c]], -1, x)
}
