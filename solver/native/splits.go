package native

import (
	"cmp"
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// splits decides whether jobs whose options are chosen can be split over partitions in whole tasks. The program
// knows it of fractions of tasks only, and dividing tasks one by one hardly ever ends where next to nothing is to spare.
//
// Partitions are filled one after the other, in all the ways to which no task could be added: less is never better. What a
// partition leaves over in a slot counts against what may be left over there in all of them. Only the fullest lines, that is
// resources in a slot, are looked at first: many jobs are alike in them and count as one kind. More lines are added until
// there is an answer.
type splits struct {
	in    *pack.Instance
	jobs  []chosen
	rows  []float64 // capacity of each of the instance's rows
	lines []int     // by how full they are, the fullest first
	full  []float64 // scratch: how full each line is
	used  int       // how many lines are looked at
	apart bool      // whether jobs that go to different partitions are of different kinds

	kinds []kind
	use   []float64 // of each kind and line looked at, per task
	order []int     // partitions in the order of filling
	pos   []int     // of each partition: its position there
	size  []float64
	room  []float64 // of each position in that order, and line
	later []float64 // of each position and line: what can be used there and at later ones
	least []float64 // scratch: what a position leaves over at least, by line

	left   []float64 // of each kind: tasks not placed yet
	demand []float64 // of each line: what they use
	fuzz   []float64 // of each line: how far sums and differences of amounts there may be off
	at     []bool    // of each position and kind: whether some may go there
	fill   []float64 // of each position and kind: tasks there
	stack  []float64 // of each position and kind: room, and what kinds from there on use at most, by line
	allow  []float64 // of each position: what may be left over, by line
	probe  bool      // looks for what is left over at least only
	steps  int64
	took   int64 // steps of the last answer
	until  int64
	failed memo
}

// chosen is a job's chosen option, and whether it is left out of the question.
type chosen struct {
	option int
	kind   int // -1 if it uses none of the lines looked at
	out    bool
}

// kind is jobs that are alike in the lines looked at.
type kind struct {
	count  float64
	option int // the first one's
}

// verdict is an answer, if there is one.
type verdict int8

const (
	unknown verdict = iota
	possible
	impossible
)

// rank orders the lines that the jobs use by what they would leave over, as a part of the line's capacity.
func (s *splits) rank() {
	in := s.in
	n := in.R * in.T
	s.full = pack.Resize(s.full, n)
	s.lines = s.lines[:0]
	for l := range n {
		total, need := 0.0, 0.0
		for x := range in.Parts {
			total += s.rows[x*n+l]
		}
		for _, c := range s.jobs {
			need += float64(in.Opts[c.option].Count * s.usage(c.option, l))
		}
		if need > 0 {
			s.full[l] = total / need
			s.lines = append(s.lines, l)
		}
	}
	slices.SortStableFunc(s.lines, func(a, b int) int { return cmp.Compare(s.full[a], s.full[b]) })
}

// usage is what a task of option o uses of line l.
func (s *splits) usage(o, l int) float64 {
	opt := &s.in.Opts[o]
	t := l%s.in.T - opt.Start
	if t < 0 || t >= len(opt.Usage) {
		return 0
	}
	for i := range opt.Demand {
		if opt.Demand[i].R == l/s.in.T {
			return float64(opt.Demand[i].D * opt.Usage[t])
		}
	}
	return 0
}

// solve answers for the jobs that are not out and the lines looked at. The answer that it is impossible holds for all lines.
func (s *splits) solve() verdict {
	s.sort()
	s.widestLast()
	s.arrange()
	s.expect()
	if !s.spare() {
		return impossible
	}
	s.failed.reset(len(s.kinds) + 1)
	return s.place(0)
}

// sort puts jobs that are alike into kinds.
func (s *splits) sort() {
	s.kinds, s.use = s.kinds[:0], s.use[:0]
	for i := range s.jobs {
		c := &s.jobs[i]
		c.kind = -1
		if c.out {
			continue
		}
		at, used := len(s.use), false
		for _, l := range s.lines[:s.used] {
			v := s.usage(c.option, l)
			s.use = append(s.use, v)
			used = used || v > 0
		}
		if used {
			c.kind = s.kindOf(c.option, s.use[at:])
		}
		if !used || c.kind < len(s.kinds) {
			s.use = s.use[:at]
		}
		if c.kind == len(s.kinds) {
			s.kinds = append(s.kinds, kind{option: c.option})
		}
		if used {
			s.kinds[c.kind].count += s.in.Opts[c.option].Count
		}
	}
}

// kindOf is the kind that option o, with that use of the lines, is of; a new one if there is none.
func (s *splits) kindOf(o int, use []float64) int {
	in, L := s.in, s.used
	p := &in.Opts[o]
	for k := range s.kinds {
		q := &in.Opts[s.kinds[k].option]
		if equal(s.use[k*L:k*L+L], use) && (!s.apart || slices.Equal(in.Part[p.P0:p.P1], in.Part[q.P0:q.P1])) {
			return k
		}
	}
	return len(s.kinds)
}

// widestLast makes the kind of the most tasks the last: of it as much is taken as fits.
func (s *splits) widestLast() {
	L, last, most := s.used, len(s.kinds)-1, 0
	if last < 0 {
		return
	}
	for k := range s.kinds {
		if s.kinds[k].count >= s.kinds[most].count {
			most = k
		}
	}
	s.kinds[most], s.kinds[last] = s.kinds[last], s.kinds[most]
	for l := range L {
		a, b := most*L+l, last*L+l
		s.use[a], s.use[b] = s.use[b], s.use[a]
	}
	for i := range s.jobs {
		switch s.jobs[i].kind {
		case most:
			s.jobs[i].kind = last
		case last:
			s.jobs[i].kind = most
		}
	}
}

// arrange orders the partitions, small ones first, and notes what fits there.
func (s *splits) arrange() {
	in, L, K := s.in, s.used, len(s.kinds)
	P, n := in.Parts, in.R*in.T
	s.order, s.size = s.order[:0], pack.Resize(s.size, P)
	for x := range P {
		s.size[x] = 0
		for _, l := range s.lines[:L] {
			s.size[x] += s.rows[x*n+l]
		}
		s.order = append(s.order, x)
	}
	sortIndices(s.order, s.size, 1)
	s.pos = pack.Resize(s.pos, P)
	for p, x := range s.order {
		s.pos[x] = p
	}
	s.room, s.later, s.least = pack.Resize(s.room, P*L), pack.Resize(s.later, (P+1)*L), pack.Resize(s.least, L)
	s.left, s.demand, s.fuzz, s.at = pack.Resize(s.left, K), pack.Resize(s.demand, L), pack.Resize(s.fuzz, L), pack.Resize(s.at, P*K)
	s.fill, s.stack, s.allow = pack.Resize(s.fill, P*K), pack.Resize(s.stack, P*(2*K+2)*L), pack.Resize(s.allow, P*L)
	for p, x := range s.order {
		for i, l := range s.lines[:L] {
			s.room[p*L+i] = roomOf(s.rows[x*n+l])
		}
	}
}

// expect notes what is to be placed, and where.
func (s *splits) expect() {
	in, L, K := s.in, s.used, len(s.kinds)
	clear(s.at)
	for _, c := range s.jobs {
		if c.kind < 0 {
			continue
		}
		o := &in.Opts[c.option]
		for _, x := range in.Part[o.P0:o.P1] {
			s.at[s.pos[x]*K+c.kind] = true
		}
	}
	clear(s.demand)
	for k := range s.kinds {
		s.left[k] = s.kinds[k].count
		for i := range L {
			s.demand[i] += float64(s.left[k] * s.use[k*L+i])
		}
	}
}

// fuzz is how far sums and differences of amounts may be off, as a part of the largest sum: what is left of it in the end may be no more than its error.
const fuzz = 1e-9

// spareSteps bounds the search for what a partition leaves over at least.
const spareSteps = 2000

// spare finds what every partition leaves over at least, of what may be left over in all, and sums up what can be used
// from each position on. It reports false if a partition cannot but leave over too much.
func (s *splits) spare() bool {
	L, P := s.used, len(s.order)
	total := s.later[P*L:]
	clear(total)
	for p := range P {
		for i := range L {
			total[i] += s.room[p*L+i]
		}
	}
	for i, d := range s.demand {
		s.fuzz[i] = fuzz * (total[i] + d)
	}
	s.probe = true
	ok := true
	for p := 0; p < P && ok; p++ {
		for i := range L {
			s.allow[p*L+i] = total[i] - s.demand[i] + s.fuzz[i]
			ok = ok && s.allow[p*L+i] >= 0
			s.least[i] = math.Inf(1)
		}
		if !ok {
			break
		}
		until := s.until
		s.until = min(until, s.steps+spareSteps)
		s.begin(p)
		v := s.choose(p, 0)
		s.until = until
		for i := range L {
			switch {
			case v != impossible:
				s.least[i] = 0
			case math.IsInf(s.least[i], 1):
				ok = false
			default:
				s.least[i] = max(0, s.least[i])
				total[i] -= s.least[i]
			}
		}
		copy(s.later[p*L:], s.least)
	}
	s.probe = false
	clear(total)
	for p := P - 1; p >= 0 && ok; p-- {
		for i := range L {
			s.later[p*L+i] = s.later[(p+1)*L+i] + s.room[p*L+i] - s.later[p*L+i]
		}
	}
	return ok
}

// begin makes ready to fill position p.
func (s *splits) begin(p int) {
	L, K := s.used, len(s.kinds)
	at := p * (2*K + 2) * L
	copy(s.stack[at:at+L], s.room[p*L:])
	rest := s.stack[at+(K+1)*L : at+(2*K+2)*L]
	clear(rest[K*L:])
	for k := K - 1; k >= 0; k-- {
		n := 0.0
		if s.at[p*K+k] {
			n = s.left[k]
		}
		for i := range L {
			rest[k*L+i] = rest[(k+1)*L+i] + float64(n*s.use[k*L+i])
		}
	}
	s.steps += int64(K)
}

// place fills positions from p on with what is left.
func (s *splits) place(p int) verdict {
	L, P := s.used, len(s.order)
	if p == P {
		for _, n := range s.left {
			if n > 0 {
				return impossible
			}
		}
		return possible
	}
	for i, d := range s.demand {
		can := s.later[p*L+i]
		if d > can+s.fuzz[i] {
			return impossible
		}
		s.allow[p*L+i] = s.room[p*L+i] + s.later[(p+1)*L+i] - d + s.fuzz[i]
	}
	if s.failed.has(p, s.left) {
		return impossible
	}
	s.begin(p)
	v := s.choose(p, 0)
	if v == impossible {
		s.failed.add(p, s.left)
	}
	return v
}

// choose decides how many tasks of kinds from k on position p takes, and fills those behind it.
func (s *splits) choose(p, k int) verdict {
	L, K := s.used, len(s.kinds)
	if s.steps++; s.steps > s.until {
		return unknown
	}
	if k == K {
		return s.filled(p)
	}
	at := p * (2*K + 2) * L
	room, next := s.stack[at+k*L:at+k*L+L], s.stack[at+(k+1)*L:at+(k+2)*L]
	rest := s.stack[at+(K+2+k)*L : at+(K+3+k)*L]
	use, allow := s.use[k*L:k*L+L], s.allow[p*L:p*L+L]
	for n := s.fits(p, k, room, s.left[k]); n >= 0; n-- {
		much := false
		for i, v := range room {
			next[i] = v - float64(n*use[i])
			much = much || next[i]-rest[i] > allow[i]
		}
		if much {
			break // and more is left over with fewer
		}
		s.fill[p*K+k] = n
		if v := s.choose(p, k+1); v != impossible {
			return v
		}
		if k == K-1 {
			break
		}
	}
	return impossible
}

// fits is how many of n tasks of kind k fit into room at position p.
func (s *splits) fits(p, k int, room []float64, n float64) float64 {
	if !s.at[p*len(s.kinds)+k] {
		return 0
	}
	for i, u := range s.use[k*len(room) : (k+1)*len(room)] {
		if u > 0 && room[i] < float64(n*u) {
			n = math.Floor(room[i]/u + fuzz)
		}
	}
	return max(n, 0)
}

// filled goes on behind position p, which has been filled, unless another task would fit.
func (s *splits) filled(p int) verdict {
	L, K := s.used, len(s.kinds)
	at := p * (2*K + 2) * L
	room := s.stack[at+K*L : at+K*L+L]
	fill := s.fill[p*K : p*K+K]
	for k, n := range fill {
		if s.left[k] > n && s.fits(p, k, room, 1) >= 1 {
			return impossible
		}
	}
	if s.probe {
		for i, v := range room {
			s.least[i] = min(s.least[i], v)
		}
		return impossible
	}
	s.commit(fill, -1)
	v := s.place(p + 1)
	s.commit(fill, 1)
	return v
}

// commit takes the tasks from what is left, or puts them back.
func (s *splits) commit(fill []float64, sign float64) {
	L := s.used
	for k, n := range fill {
		if n == 0 {
			continue
		}
		s.left[k] += float64(sign * n)
		for i, u := range s.use[k*L : k*L+L] {
			s.demand[i] += float64(sign * n * u)
		}
	}
}

// memo is a set of what is left at positions from which it leads nowhere.
type memo struct {
	width int
	keys  []int32
	slots []int32 // indices of keys, plus one
	n     int
}

// memoMost bounds the set.
const memoMost = 1 << 18

func (m *memo) reset(width int) {
	m.width, m.n, m.keys = width, 0, m.keys[:0]
	m.slots = pack.Resize(m.slots, 1<<10)
	clear(m.slots)
}

// slot is where the key is or belongs.
func (m *memo) slot(p int, left []float64) int {
	h := uint64(14695981039346656037) ^ uint64(p)
	for _, v := range left {
		h = (h ^ uint64(v)) * 1099511628211
		h ^= h >> 29
	}
	mask := len(m.slots) - 1
	for i := int(h>>1) & mask; ; i = (i + 1) & mask {
		e := int(m.slots[i]) - 1
		if e < 0 || m.equal(e, p, left) {
			return i
		}
	}
}

func (m *memo) equal(e, p int, left []float64) bool {
	key := m.keys[e*m.width : e*m.width+m.width]
	if int(key[0]) != p {
		return false
	}
	for i, v := range left {
		if float64(key[1+i]) != v {
			return false
		}
	}
	return true
}

func (m *memo) has(p int, left []float64) bool { return m.slots[m.slot(p, left)] > 0 }

func (m *memo) add(p int, left []float64) {
	if m.n == memoMost {
		return
	}
	if 2*m.n >= len(m.slots) {
		m.grow()
	}
	i := m.slot(p, left)
	if m.slots[i] > 0 {
		return
	}
	m.keys = append(m.keys, int32(p))
	for _, v := range left {
		m.keys = append(m.keys, int32(v))
	}
	m.n++
	m.slots[i] = int32(m.n)
}

// grow doubles the table.
func (m *memo) grow() {
	m.slots = pack.Resize(m.slots, 2*len(m.slots))
	clear(m.slots)
	left := make([]float64, m.width-1)
	for e := range m.n {
		key := m.keys[e*m.width : e*m.width+m.width]
		for i, v := range key[1:] {
			left[i] = float64(v)
		}
		m.slots[m.slot(int(key[0]), left)] = int32(e + 1)
	}
}
