package native

import "github.com/hedgesched/hedge/solver/internal/pack"

// cuts are inequalities that every plan of whole tasks keeps and the linear relaxation does not,
//
//	Σ_entries coef·tasks there + Σ_running coef·preempted ≤ rhs,
//
// an entry being an option's place in in.Part. They are mixed-integer rounding cuts (Nemhauser and Wolsey,
// 1990; Marchand and Wolsey, 2001) of capacity in a slot, in one partition or several; [separator] finds them. Each is a row of the program
// with a price, which makes tasks dearer at its entries: pricing stays as it was.
type cuts struct {
	rhs []float64
	// Entries off[c]:off[c+1] of at and coef are cut c's: at is an index into in.Part, or len(in.Part)+k for
	// running job k.
	off  []int32
	at   []int32
	coef []float64
	// The same by place: head[place] is the first of its entries, next the one after it; of is whose they are.
	head, next []int32
	of         []int32
	// extra is what the cuts' prices add to a task's cost at each place.
	extra []float64
}

// maxCuts bounds the rows that cuts add to the program.
const maxCuts = 300

// reset drops all cuts.
func (k *cuts) reset() {
	k.rhs, k.at, k.coef, k.of, k.next = k.rhs[:0], k.at[:0], k.coef[:0], k.of[:0], k.next[:0]
	k.off = append(k.off[:0], 0)
	k.head = k.head[:0]
}

// add appends the cut whose coefficients are given by place.
func (k *cuts) add(places []int32, dense []float64, rhs float64) {
	for len(k.head) < len(dense) {
		k.head = append(k.head, -1)
	}
	for _, p := range places {
		if v := dense[p]; v != 0 {
			k.next = append(k.next, k.head[p])
			k.head[p] = int32(len(k.at))
			k.at, k.coef, k.of = append(k.at, p), append(k.coef, v), append(k.of, int32(len(k.rhs)))
		}
	}
	k.off = append(k.off, int32(len(k.at)))
	k.rhs = append(k.rhs, rhs)
}

// keep drops the cuts that are not listed.
func (k *cuts) keep(list []bool) {
	n, e := 0, int32(0)
	for i := range k.head {
		k.head[i] = -1
	}
	for c, keep := range list {
		if !keep {
			continue
		}
		lo, hi := k.off[c], k.off[c+1]
		for i := lo; i < hi; i++ {
			p := k.at[i]
			k.at[e], k.coef[e], k.of[e], k.next[e] = p, k.coef[i], int32(n), k.head[p]
			k.head[p] = e
			e++
		}
		k.rhs[n] = k.rhs[c]
		n++
		k.off[n] = e
	}
	k.rhs, k.off = k.rhs[:n], k.off[:n+1]
	k.at, k.coef, k.of, k.next = k.at[:e], k.coef[:e], k.of[:e], k.next[:e]
}

// spread computes extra from the cuts' prices.
func (k *cuts) spread(lam []float64, places int) {
	k.extra = pack.Resize(k.extra, places)
	clear(k.extra)
	for c, l := range lam {
		if l == 0 {
			continue
		}
		for i := k.off[c]; i < k.off[c+1]; i++ {
			k.extra[k.at[i]] += float64(l * k.coef[i])
		}
	}
}

// tighten adds cuts to the relaxation, round by round, as long as they lower the bound and the work spent is less than until.
func (s *separator) tighten(until int64) {
	m, d := s.lp, &s.dual
	s.node.reset()
	s.gather()
	for round, stale := 0, 0; round < maxRoundsOfCuts && stale < 3 && s.Spent() < until && s.proceed(); round++ {
		before := d.bound
		if s.separate(8+m.Rows/8) == 0 {
			break
		}
		s.rebuild()
		bound := s.node.solve(maxRounds)
		if !s.proceed() {
			break
		}
		d.bound = min(d.bound, bound)
		copy(d.best, d.lam)
		s.node.weigh()
		s.rounding.round()
		if stale++; before-d.bound > 0.02*(before-s.best.Value) {
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
	rows := s.in.Rows + len(s.cuts.rhs)
	for _, v := range []*[]float64{&d.lam, &d.best} {
		for len(*v) < rows {
			*v = append(*v, 0)
		}
		*v = (*v)[:rows]
	}
	clear(d.best[s.in.Rows:])
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
	for c := range s.cuts.rhs {
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
	s.cuts.keep(s.tight)
}

// measure is by how much the present solution breaks each of so many rows.
func (s *separator) measure(rows int) []float64 {
	k := s.cuts
	s.broken = pack.Resize(s.broken, rows)
	clear(s.broken)
	for c, b := range k.rhs {
		sum := -b
		for e := k.off[c]; e < k.off[c+1]; e++ {
			sum += float64(k.coef[e] * s.tasks[k.at[e]])
		}
		if sum > 1e-6 {
			s.broken[s.in.Rows+c] = sum
		}
	}
	return s.broken
}
