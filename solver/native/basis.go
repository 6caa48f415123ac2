package native

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// basis is the linear program with one of its bases. At each position, of which there are as many as rows, a column or a row's slack is basic, and each set
// has a key column, which takes what its other columns leave of the set's unit. So the basis has a row for each row of the program only, and none for the
// sets (generalised upper bounds; Dantzig and Van Slyke, 1967).
//
// where and slack are the inverse of basic and key: where a column, or a row's slack, is. lu factorises what is at the positions, each column less its
// set's key. beta and keyValue are the values of what is basic, with all else at zero, and pi the prices at which nothing basic gains anything. Pivots keep all of them up
// to date, but for rounding errors, which refactor takes out. By no more than such errors are values below zero, but those of slacks in a box. What is decided leaves it so: it bars columns by penalties in val, which change no value.
//
// The prices are advice. Nothing that is computed here is trusted as a bound: that comes from [dual], for whatever prices it is given.
type basis struct {
	columns
	basic []int32 // at each position a column, or -1-r for row r's slack
	key   []int32 // of each set
	where []int32 // of each column: its position, -1 if it is not basic, -2 if it is a key
	slack []int32 // of each row: its slack's position, -1 if it is not basic

	beta     []float64 // what is basic at each position has this value
	keyValue []float64 // of each set's key
	pi       []float64 // of each row
	box
	lu lu

	number []int32 // scratch for drop: the columns' new numbers
	// Scratch for refactor: the columns, slacks and positions of a factorisation, and a vector.
	structural []int32
	places     []int32
	taken      []bool
	matrix     matrix
	dense      []float64
}

// reset starts with the empty plan of the instance, and no cuts.
func (m *basis) reset(in *pack.Instance) {
	m.columns.reset(in, nil)
	m.ops, m.lu.ops = 0, 0
	m.allSlacks()
}

// allSlacks makes the rows' slacks basic, and the sets' their keys. Nothing has a price then, and rows may have any.
func (m *basis) allSlacks() {
	n, sets := m.rows, len(m.head)
	m.lu.reset(n)
	m.beta, m.pi, m.dense = append(m.beta[:0], m.rhs...), pack.Resize(m.pi, n), pack.Resize(m.dense, n)
	clear(m.pi)
	m.basic, m.slack = m.basic[:0], m.slack[:0]
	for r := range n {
		m.basic, m.slack = append(m.basic, int32(-1-r)), append(m.slack, int32(r))
	}
	m.where = pack.Resize(m.where, len(m.set))
	for c := range m.where {
		m.where[c] = -1
	}
	m.key, m.keyValue = m.key[:0], pack.Resize(m.keyValue, sets)
	for s := range sets {
		m.key, m.keyValue[s], m.where[s] = append(m.key, int32(s)), 1, -2
	}
	m.unbox(n)
}

// add appends option o with the given split unless it is there already, and
// returns the column and whether it is new.
func (m *basis) add(o int, split []float64) (c int32, fresh bool) {
	opt := &m.in.Opts[o]
	split = split[:opt.P1-opt.P0]
	if c = m.find(o, split); c >= 0 {
		return c, false
	}
	return m.admit(m.append(o, split)), true
}

// admit takes in column c, which has just been appended.
func (m *basis) admit(c int32) int32 {
	m.where = append(m.where, -1)
	return c
}

// rekey makes column c, which is not basic, the key of its set s.
func (m *basis) rekey(s int, c int32) {
	m.where[m.key[s]], m.where[c] = -1, -2
	m.key[s] = c
}

// compact drops the columns that are not basic once there are very many.
func (m *basis) compact() {
	if len(m.set) >= m.fixed()+2000+12*len(m.key) {
		m.drop(0)
	}
}

// drop drops the columns that are not basic and that are short of paying by more than that part of their value.
func (m *basis) drop(within float64) {
	m.number = m.number[:0]
	fixed, next := m.fixed(), int32(0)
	for c := range m.set {
		if c >= fixed && m.where[c] == -1 && m.short(int32(c), within) {
			m.number = append(m.number, -1)
			continue
		}
		m.number = append(m.number, next)
		m.where[next] = m.where[c]
		next++
	}
	m.where = m.where[:next]
	for p, c := range m.basic {
		if c >= 0 {
			m.basic[p] = m.number[c]
		}
	}
	for s, c := range m.key {
		m.key[s] = m.number[c]
	}
	m.renumber(m.number)
}

// short says whether column c is short of paying by more than that part of its value; with 0, any is.
func (m *basis) short(c int32, within float64) bool {
	return within == 0 || m.price(c) < m.mu(int(m.set[c]))-float64(within*math.Abs(m.worth[c]))
}

// price is column c's value less its rows' prices.
func (m *basis) price(c int32) float64 {
	lo, hi := m.off[c], m.off[c+1]
	row, amt := m.row[lo:hi], m.amt[lo:hi]
	sum := m.val[c]
	for i, r := range row {
		sum -= float64(m.pi[r] * amt[i])
	}
	m.ops += int64(hi-lo) + 4
	return sum
}

// mu is the dual of set s.
func (m *basis) mu(s int) float64 { return m.price(m.key[s]) }

// objective is the program's value.
func (m *basis) objective() float64 {
	sum := 0.0
	for s, c := range m.key {
		sum += float64(m.keyValue[s] * m.val[c])
	}
	for i, b := range m.basic {
		if b >= 0 {
			sum += float64(m.beta[i] * m.val[b])
		} else {
			sum += float64(m.beta[i] * m.worthOf(-1-b))
		}
	}
	return sum
}

// weight is column c's value in the program.
func (m *basis) weight(c int32) float64 {
	switch p := m.where[c]; {
	case p >= 0:
		return m.beta[p]
	case p == -2:
		return m.keyValue[m.set[c]]
	default:
		return 0
	}
}

// preempted is how far the program preempts running job k.
func (m *basis) preempted(k int) float64 { return m.weight(m.runColumn(k)) }

// fitting says whether no row uses more room than there is.
func (m *basis) fitting() bool {
	for i, b := range m.basic {
		if b < 0 && m.beta[i] < -overuse {
			return false
		}
	}
	return true
}

// How far below zero a value is for more than rounding errors. A slack is that in a box because the box lets it be, whose value is as exact as pivots
// leave it. A basis that is factorised anew is held to less, as its values have gone through another factorisation, and those that are no further
// below zero count as zero in the ratio tests.
const (
	overuse    = 1e-7
	infeasible = 1e-6
)
