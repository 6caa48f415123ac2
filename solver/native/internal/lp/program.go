package lp

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// Program is a linear program with one of its bases. At each position, of which there are as many as rows, a column
// or a row's slack is basic, and each set has a key column, which takes what its other columns leave of the set's
// unit.
//
// Where and Slack are the inverse of Basic and Key. Values and KeyValue are the values of what is basic, with all
// else at zero. Prices are the basis's row duals: basic columns have reduced cost 0. Pivots keep all of them up to
// date, but for rounding errors, which Refactor takes out. No value is below zero by more than such errors, but those
// of slacks in a box.
//
// The prices are advice: nothing that is computed here is a bound. Whoever needs one computes it from the prices.
//
// Callers read the fields, and write Val and Ops alone. The zero value has no rows; Begin comes first.
type Program struct {
	columns
	Basic []int32 // at each position a column, or -1-r for row r's slack
	Key   []int32 // of each set
	Where []int32 // of each column: its position, -1 if it is not basic, -2 if it is a key
	Slack []int32 // of each row: its slack's position, -1 if it is not basic

	Values   []float64 // what is basic at each position has this value
	KeyValue []float64 // of each set's key
	Prices   []float64 // of each row
	box
	lu lu // of what is at the positions, each column less its set's key

	number []int32 // scratch for Drop: the columns' new numbers
	// Scratch for Refactor: the columns, slacks and positions of a factorisation, and a vector.
	structural []int32
	places     []int32
	taken      []bool
	matrix     matrix
	dense      []float64
}

// Begin drops all columns but the slacks of the sets, for a program of which limits are the rows' right-hand
// sides; tol is what may be gained by rounding errors alone. There is no basis until one is made, of slacks at first.
func (m *Program) Begin(limits []float64, sets int, tol float64) {
	m.columns.reset(limits, sets, tol)
	m.lu.ops = 0
}

// AllSlacks makes the rows' slacks basic, and the sets' their keys. All duals are 0 and the box is lifted.
func (m *Program) AllSlacks() {
	n, sets := m.Rows, len(m.Head)
	m.lu.reset(n)
	m.Values, m.Prices, m.dense = append(m.Values[:0], m.rhs...), pack.Resize(m.Prices, n), pack.Resize(m.dense, n)
	clear(m.Prices)
	m.Basic, m.Slack = m.Basic[:0], m.Slack[:0]
	for r := range n {
		m.Basic, m.Slack = append(m.Basic, int32(-1-r)), append(m.Slack, int32(r))
	}
	m.Where = pack.Resize(m.Where, len(m.Set))
	for c := range m.Where {
		m.Where[c] = -1
	}
	m.Key, m.KeyValue = m.Key[:0], pack.Resize(m.KeyValue, sets)
	for s := range sets {
		m.Key, m.KeyValue[s], m.Where[s] = append(m.Key, int32(s)), 1, -2
	}
	m.Unbox(n)
}

// Admit takes in column c, which has just been appended.
func (m *Program) Admit(c int32) int32 {
	m.Where = append(m.Where, -1)
	return c
}

// Rekey makes column c, which is not basic, the key of its set s.
func (m *Program) Rekey(s int, c int32) {
	m.Where[m.Key[s]], m.Where[c] = -1, -2
	m.Key[s] = c
}

// Many says whether it is time to drop columns that are not basic, because there are many.
func (m *Program) Many() bool { return len(m.Set) >= m.Stay+2000+12*len(m.Key) }

// Drop drops the columns that are not basic and that are short of paying by more than that part of their value, and
// returns the columns' new numbers, -1 for those that are gone. The list stands until it is called again.
func (m *Program) Drop(within float64) []int32 {
	m.number = m.number[:0]
	next := int32(0)
	for c := range m.Set {
		if c >= m.Stay && m.Where[c] == -1 && m.short(int32(c), within) {
			m.number = append(m.number, -1)
			continue
		}
		m.number = append(m.number, next)
		m.Where[next] = m.Where[c]
		next++
	}
	m.Where = m.Where[:next]
	for p, c := range m.Basic {
		if c >= 0 {
			m.Basic[p] = m.number[c]
		}
	}
	for s, c := range m.Key {
		m.Key[s] = m.number[c]
	}
	m.renumber(m.number)
	return m.number
}

// short says whether column c is short of paying by more than that part of its value; with 0, any is.
func (m *Program) short(c int32, within float64) bool {
	return within == 0 || m.Price(c) < m.Dual(int(m.Set[c]))-float64(within*math.Abs(m.Worth[c]))
}

// Price is column c's value less its rows' prices.
func (m *Program) Price(c int32) float64 {
	lo, hi := m.off[c], m.off[c+1]
	row, amt := m.row[lo:hi], m.amt[lo:hi]
	sum := m.Val[c]
	for i, r := range row {
		sum -= float64(m.Prices[r] * amt[i])
	}
	m.Ops += int64(hi-lo) + 4
	return sum
}

// Dual is the dual of set s.
func (m *Program) Dual(s int) float64 { return m.Price(m.Key[s]) }

// Objective is the program's value.
func (m *Program) Objective() float64 {
	sum := 0.0
	for s, c := range m.Key {
		sum += float64(m.KeyValue[s] * m.Val[c])
	}
	for i, b := range m.Basic {
		if b >= 0 {
			sum += float64(m.Values[i] * m.Val[b])
		} else {
			sum += float64(m.Values[i] * m.worthOf(-1-b))
		}
	}
	return sum
}

// Weight is column c's value in the program.
func (m *Program) Weight(c int32) float64 {
	switch p := m.Where[c]; {
	case p >= 0:
		return m.Values[p]
	case p == -2:
		return m.KeyValue[m.Set[c]]
	default:
		return 0
	}
}

// PrimalFeasible says whether no row uses more room than there is.
func (m *Program) PrimalFeasible() bool {
	for i, b := range m.Basic {
		if b < 0 && m.Values[i] < -overuse {
			return false
		}
	}
	return true
}

// How far below zero a value is for more than rounding errors. A slack is that in a box because the box lets it be,
// whose value is as exact as pivots leave it. A basis that is factorised anew is held to less, as its values have
// gone through another factorisation, and those that are no further below zero count as zero in the ratio tests.
const (
	overuse    = 1e-7
	infeasible = 1e-6
)
