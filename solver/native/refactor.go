package native

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// refactor factorises the basis, and computes values and prices anew. Columns that depend on others give way to slacks.
func (m *basis) refactor() {
	m.gather()
	m.places = pack.Resize(m.places, len(m.structural))
	m.lu.factor(m.rows, &m.matrix, m.taken, m.places)
	for r := range m.rows {
		m.basic[r], m.slack[r] = int32(-1-r), int32(r)
	}
	for i, c := range m.structural {
		p := m.places[i]
		if m.where[c] = p; p >= 0 {
			m.basic[p], m.slack[p] = c, -1
		}
	}
	m.revalue()
}

// gather lists what is basic: columns in structural, each less its set's key in matrix, and the rows whose slacks are in taken.
func (m *basis) gather() {
	a, list := &m.matrix, m.structural[:0]
	m.taken = pack.Resize(m.taken, m.rows)
	clear(m.taken)
	clear(m.dense)
	a.off, a.idx, a.val = append(a.off[:0], 0), a.idx[:0], a.val[:0]
	for _, b := range m.basic {
		if b < 0 {
			m.taken[-1-b] = true
			continue
		}
		list = append(list, b)
		k := m.key[m.set[b]]
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

// revalue computes the values and prices that belong to the basis.
func (m *basis) revalue() {
	copy(m.beta, m.rhs)
	for _, c := range m.key {
		m.scatter(c, -1, m.beta)
	}
	m.lu.ftran(m.beta, false)
	for s := range m.keyValue {
		m.keyValue[s] = 1
	}
	for i, b := range m.basic {
		if b >= 0 {
			m.keyValue[m.set[b]] -= m.beta[i]
		} else if r := -1 - b; !math.IsInf(m.hi[r], 1) && math.Abs(m.beta[i]) > 1e-9 {
			m.over[r] = m.beta[i] < 0
		}
	}
	m.ops += int64(4 * len(m.key))
	m.reprice()
}

// reprice computes the prices that belong to the basis.
func (m *basis) reprice() {
	for i, b := range m.basic {
		if b >= 0 {
			m.pi[i] = m.val[b] - m.val[m.key[m.set[b]]]
		} else {
			m.pi[i] = m.worthOf(-1 - b)
		}
	}
	m.lu.btran(m.pi)
	for r, p := range m.slack {
		if p >= 0 {
			m.pi[r] = m.worthOf(int32(r))
		}
	}
	m.ops += int64(m.rows) + m.lu.ops
	m.lu.ops = 0
}

// rebase makes the listed columns basic, and those keys. They have been a feasible basis of the same columns and rows before, and so are one again:
// there is no other to go to if rounding errors say otherwise, and the methods go on from such a one.
func (m *basis) rebase(basic, keys []int32) {
	for _, b := range m.basic {
		if b >= 0 {
			m.where[b] = -1
		}
	}
	for _, c := range m.key {
		m.where[c] = -1
	}
	for s, c := range keys {
		m.key[s], m.where[c] = c, -2
	}
	m.ops += int64(m.rows + len(m.key))
	m.install(basic)
}

// install makes the listed columns, and slacks, basic. No column may be by where.
func (m *basis) install(basic []int32) {
	copy(m.basic, basic)
	for _, b := range basic {
		if b >= 0 {
			m.where[b] = 0
		}
	}
	m.refactor()
}

// feasible says whether no value is below zero by more than rounding errors.
func (m *basis) feasible() bool {
	worst := 0.0
	for _, v := range m.beta {
		worst = min(worst, v)
	}
	for _, v := range m.keyValue {
		worst = min(worst, v)
	}
	return worst > -infeasible
}

// lessKey makes x column c less its set's key, which is what the basis consists of; of a row's slack it is that.
func (m *basis) lessKey(c int32, x []float64) {
	clear(x)
	if c < 0 {
		x[-1-c] = 1
		return
	}
	m.scatter(c, 1, x)
	m.scatter(m.key[m.set[c]], -1, x)
}
