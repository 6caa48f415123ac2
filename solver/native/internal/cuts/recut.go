package cuts

import (
	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
)

// recut makes a program anew with other cuts, keeping its columns and, as far as it can, its basis.
type recut struct {
	columns []keptColumn
	splits  []float64
	basic   []int32 // what is basic, and the sets' keys, by their numbers in the new program
	key     []int32
	covered []bool // of each new row: whether it was there before
}

// keptColumn is a column to be kept: an option, and where its split is.
type keptColumn struct{ opt, lo, hi int32 }

// run makes m anew with cuts k. rowOf is each old row's new number, or -1 if it is dropped; a dropped row's slack must
// be basic. violation is by how much the present solution violates each new row: an artificial column, which costs
// penalty, makes up for it at first. run reports whether the basis could be kept; if not, there is none.
func (q *recut) run(m *relax.Master, k *relax.Cuts, rowOf []int32, violation []float64, penalty float64) bool {
	q.note(m, rowOf)
	m.Begin(m.In, k)
	for _, c := range q.columns {
		m.Append(int(c.opt), q.splits[c.lo:c.hi])
	}
	m.AllSlacks()
	q.cover(m, rowOf, violation, penalty)
	for s, c := range q.key {
		m.Rekey(s, c)
	}
	if len(q.basic) != m.Rows {
		return false
	}
	m.Install(q.basic)
	return m.Feasible()
}

// note lists the columns, what is basic and the sets' keys. Artificial columns are left out.
func (q *recut) note(m *relax.Master, rowOf []int32) {
	first, spare := m.Stay, int32(len(m.Key)-1)
	q.columns, q.splits = q.columns[:0], append(q.splits[:0], m.Split...)
	number := make([]int32, len(m.Set))
	for c, o := range m.Opt {
		switch {
		case o >= 0:
			number[c] = int32(first + len(q.columns))
			q.columns = append(q.columns, keptColumn{o, m.SplitOff[c], m.SplitOff[c+1]})
		case c < first:
			number[c] = int32(c)
		default:
			number[c] = -1
		}
	}
	q.basic, q.key = q.basic[:0], q.key[:0]
	for _, b := range m.Basic {
		switch {
		case b < 0:
			if r := rowOf[-1-b]; r >= 0 {
				q.basic = append(q.basic, -1-r)
			}
		case m.Set[b] != spare:
			q.basic = append(q.basic, number[b])
		}
	}
	for _, c := range m.Key[:spare] {
		q.key = append(q.key, number[c])
	}
}

// cover adds to the basis what the rows need that were not there before: an artificial column where a row is violated,
// and its slack where it is not.
func (q *recut) cover(m *relax.Master, rowOf []int32, violation []float64, penalty float64) {
	made := 0.0
	for _, v := range violation {
		if v > 0 {
			made++
		}
	}
	q.covered = pack.Resize(q.covered, m.Rows)
	clear(q.covered)
	for _, r := range rowOf {
		if r >= 0 {
			q.covered[r] = true
		}
	}
	for r, v := range violation {
		switch {
		case v > 0:
			q.basic = append(q.basic, m.AddArtificial(r, 2*v*made, penalty))
		case !q.covered[r]:
			q.basic = append(q.basic, int32(-1-r))
		}
	}
}

// Rebuild makes the program m anew with the cuts that have been found and without those that are loose, and goes on
// from its basis. An artificial column, which costs penalty, makes up for each row that the solution violates. It
// reports whether the basis could be kept; if not, there is none.
func (s *Separator) Rebuild(m *relax.Master, penalty float64) bool {
	s.renumber(m)
	return s.recut.run(m, s.pool, s.rowOf, s.measure(s.in.Rows+len(s.pool.RHS)), penalty)
}

// renumber drops the loose cuts, whose slack is basic, and notes the program's rows' new numbers.
func (s *Separator) renumber(m *relax.Master) {
	s.tight, s.rowOf = s.tight[:0], s.rowOf[:0]
	for r := range s.in.Rows {
		s.rowOf = append(s.rowOf, int32(r))
	}
	next := int32(s.in.Rows)
	for c := range s.pool.RHS {
		row, number := s.in.Rows+c, int32(-1)
		if row >= m.Rows || m.Slack[row] < 0 {
			number = next
			next++
		}
		s.tight = append(s.tight, number >= 0)
		if row < m.Rows {
			s.rowOf = append(s.rowOf, number)
		}
	}
	s.pool.Keep(s.tight)
}

// measure is by how much the present solution violates each row.
func (s *Separator) measure(rows int) []float64 {
	k := s.pool
	s.violation = pack.Resize(s.violation, rows)
	clear(s.violation)
	for c, b := range k.RHS {
		sum := -b
		for e := k.Off[c]; e < k.Off[c+1]; e++ {
			sum += float64(k.Coef[e] * s.x.Tasks[k.At[e]])
		}
		if sum > 1e-6 {
			s.violation[s.in.Rows+c] = sum
		}
	}
	return s.violation
}
