package lp

import "github.com/hedgesched/hedge/solver/internal/pack"

// rowIndex is the columns by rows. Few rows have a price, and few entries of a row of the inverse are not zero, so
// that all columns' sums over either take a small part of what they take column by column. Columns come into it when
// sums are asked for.
type rowIndex struct {
	byRow   entries
	indexed int       // how many columns are in byRow; 0 after they have got other numbers
	sums    []float64 // of each column, the last ones asked for
}

// index brings byRow up to date.
func (m *columns) index() {
	if m.indexed == 0 {
		m.byRow.reset(m.Rows)
	}
	from := m.off[m.indexed]
	for ; m.indexed < len(m.Set); m.indexed++ {
		for i := m.off[m.indexed]; i < m.off[m.indexed+1]; i++ {
			m.byRow.add(m.row[i], int32(m.indexed), m.amt[i])
		}
	}
	m.Ops += 4 * int64(m.off[m.indexed]-from)
}

// weighRows computes each column's sum of its entries times v. The sums stand until it is called again.
func (m *columns) weighRows(v []float64) []float64 {
	m.index()
	m.sums = pack.Resize(m.sums, len(m.Set))
	clear(m.sums)
	n := len(m.Set)/4 + len(v)/2
	for r, x := range v {
		if x == 0 {
			continue
		}
		idx, val := m.byRow.list(int32(r))
		for i, c := range idx {
			m.sums[c] += float64(x * val[i])
		}
		n += len(idx)
	}
	m.Ops += int64(n)
	return m.sums
}
