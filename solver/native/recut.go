package native

import "github.com/hedgesched/hedge/solver/internal/pack"

// keptColumn is a column to be kept: an option, where its split is, and its position in the basis, as in where.
type keptColumn struct{ opt, lo, hi, where int32 }

// recut makes the master anew with cuts k, keeping the columns and, as far as it can, the basis. rowOf is each
// old row's new number, -1 if it is dropped, for which its slack must be basic; broken is by how much the present
// solution breaks each new row, in which a column that costs penalty makes up for it at first. It reports
// whether the basis could be kept; if not, there is none.
func (m *master) recut(k *cuts, rowOf []int32, broken []float64, penalty float64) bool {
	list := m.kept[:0]
	old := append(m.old[:0], m.split...)
	for c, o := range m.opt {
		if o >= 0 {
			list = append(list, keptColumn{o, m.splitOff[c], m.splitOff[c+1], m.where[c]})
		}
	}
	basic, keys := m.remember(rowOf, int32(len(m.key)+len(m.in.P.Running)))
	ops := m.ops
	m.start(m.in, k)
	m.ops = ops
	for _, c := range list {
		m.append(int(c.opt), old[c.lo:c.hi])
	}
	m.kept, m.old = list, old
	m.resetBasis()
	basic = m.cover(basic, rowOf, broken, penalty)
	for s, c := range keys {
		m.rekey(s, c)
	}
	return len(basic) == m.rows && m.install(basic)
}

// cover adds to the basis what the rows need that had none before: slacks, or where they are broken a column that
// makes up for it.
func (m *master) cover(basic, rowOf []int32, broken []float64, penalty float64) []int32 {
	made, spare := 0.0, len(m.key)-1
	for _, v := range broken {
		if v > 0 {
			made++
		}
	}
	m.taken = pack.Resize(m.taken, m.rows)
	clear(m.taken)
	for _, r := range rowOf {
		if r >= 0 {
			m.taken[r] = true
		}
	}
	for r, v := range broken {
		switch {
		case v > 0:
			m.row, m.amt = append(m.row, int32(r)), append(m.amt, -2*v*made)
			basic = append(basic, m.finish(spare, -1, -penalty))
		case !m.taken[r]:
			basic = append(basic, int32(-1-r))
		}
	}
	return basic
}

// remember lists what is basic, and the sets' keys, by the numbers that recut will give them: columns from first
// on are numbered as they come. What made up for broken rows is left out.
func (m *master) remember(rowOf []int32, first int32) (basic, keys []int32) {
	number := make([]int32, len(m.set))
	next := first
	for c := range m.set {
		switch {
		case m.opt[c] >= 0:
			number[c] = next
			next++
		case int32(c) < first:
			number[c] = int32(c)
		default:
			number[c] = -1
		}
	}
	spare := int32(len(m.key) - 1)
	for _, b := range m.basic {
		switch {
		case b < 0:
			if r := rowOf[-1-b]; r >= 0 {
				basic = append(basic, -1-r)
			}
		case m.set[b] != spare:
			basic = append(basic, number[b])
		}
	}
	for _, c := range m.key[:spare] {
		keys = append(keys, number[c])
	}
	return basic, keys
}

// install makes the listed columns basic, and reports whether that is a feasible basis.
func (m *master) install(basic []int32) bool {
	copy(m.basic, basic)
	for _, b := range basic {
		if b >= 0 {
			m.where[b] = 0
		}
	}
	m.refactor()
	worst := 0.0
	for _, v := range m.beta {
		worst = min(worst, v)
	}
	for _, v := range m.keyValue {
		worst = min(worst, v)
	}
	return worst > -1e-6
}
