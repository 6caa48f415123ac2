package native

import "github.com/hedgesched/hedge/solver/internal/pack"

// tighten adds cuts to the relaxation, round by round, as long as they lower the bound and the work spent is less than until.
func (s *separator) tighten(until int64) {
	m, d := s.lp, &s.dual
	s.node.reset()
	s.gather()
	for round, stale := 0, 0; round < maxRoundsOfCuts && stale < 3 && s.Spent() < until && s.proceed(); round++ {
		before := d.Bound
		if s.separate(8+m.Rows/8) == 0 {
			break
		}
		s.rebuild()
		bound := s.node.solve(maxRounds)
		if !s.proceed() {
			break
		}
		d.Bound = min(d.Bound, bound)
		copy(d.Best, d.Lam)
		s.node.weigh()
		s.rounding.round()
		if stale++; before-d.Bound > 0.02*(before-s.best.Value) {
			stale = 0
		}
	}
	s.greedy.guide()
}

// maxRoundsOfCuts bounds the rounds: their gains fall.
const maxRoundsOfCuts = 40

// rebuild makes the program anew with the new cuts and without those that are loose, and goes on from its basis.
func (s *separator) rebuild() {
	m, d := s.lp, &s.dual
	s.renumber()
	rows := s.in.Rows + len(s.cuts.Rhs)
	for _, v := range []*[]float64{&d.Lam, &d.Best} {
		for len(*v) < rows {
			*v = append(*v, 0)
		}
		*v = (*v)[:rows]
	}
	clear(d.Best[s.in.Rows:])
	if !s.recut.run(m, s.cuts, s.rowOf, s.measure(rows), s.node.penalty) {
		s.relaxation.crash()
	}
}

// renumber drops the loose cuts, whose slack is basic, and notes the program's rows' new numbers.
func (s *separator) renumber() {
	m := s.lp
	s.tight, s.rowOf = s.tight[:0], s.rowOf[:0]
	for r := range s.in.Rows {
		s.rowOf = append(s.rowOf, int32(r))
	}
	next := int32(s.in.Rows)
	for c := range s.cuts.Rhs {
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
	s.cuts.Keep(s.tight)
}

// measure is by how much the present solution breaks each of so many rows.
func (s *separator) measure(rows int) []float64 {
	k := s.cuts
	s.broken = pack.Resize(s.broken, rows)
	clear(s.broken)
	for c, b := range k.Rhs {
		sum := -b
		for e := k.Off[c]; e < k.Off[c+1]; e++ {
			sum += float64(k.Coef[e] * s.tasks[k.At[e]])
		}
		if sum > 1e-6 {
			s.broken[s.in.Rows+c] = sum
		}
	}
	return s.broken
}
