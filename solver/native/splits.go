package native

import (
	"cmp"
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
			need += float64(in.Opts[c.option].Count * taskUsage(in, c.option, l))
		}
		if need > 0 {
			s.full[l] = total / need
			s.lines = append(s.lines, l)
		}
	}
	slices.SortStableFunc(s.lines, func(a, b int) int { return cmp.Compare(s.full[a], s.full[b]) })
}

// taskUsage is what a task of option o uses of a line, that is a (resource, slot).
func taskUsage(in *pack.Instance, o, line int) float64 {
	opt := &in.Opts[o]
	t := line%in.T - opt.Start
	if t < 0 || t >= len(opt.Usage) {
		return 0
	}
	for i := range opt.Demand {
		if opt.Demand[i].R == line/in.T {
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
			v := taskUsage(s.in, c.option, l)
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
			s.room[p*L+i] = withRounding(s.rows[x*n+l])
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
