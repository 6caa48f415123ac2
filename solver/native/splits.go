package native

import (
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// splits decides whether jobs whose options are chosen can be split over partitions in whole tasks. The node's program
// knows it of fractions of tasks only, and dividing tasks one by one hardly ever ends where next to nothing is to spare.
//
// A partition's fill is whole tasks that it has room for. Weights of the jobs' tasks prove that there are no splits, if the partitions' heaviest fills weigh less together than all
// tasks do. The linear program over fills finds such weights, or parts of fills that have all tasks (the decomposition of Dantzig and Wolfe, 1960, by partitions, as Gilmore
// and Gomory's of cutting stock, 1961). What parts of fills can hold whole fills mostly can, too; where rounding does not show that, a partition's tasks of a job are divided.
//
// Only the fullest line, that is a resource in a slot, is looked at first, in which many jobs are alike and count as one kind. Lines that are too full in what has been found are looked at, too,
// one after the other, until there is an answer.
type splits struct {
	*progress
	jobs  []int     // the chosen options
	rows  []float64 // capacity of each of the instance's rows
	lines []int     // that the jobs use; those first that are looked at
	seen  int       // how many these are
	use   []float64 // of each job and line: what a task uses at least
	need  []float64 // tasks of each job
	most  []float64 // of each partition and job: how many tasks it has room for
	room  []float64 // of each partition and line
	tasks []float64 // of each partition and job: the splits, if there are any
	spare []float64 // scratch: what is left of the rooms

	kindOf    []int // of each job
	kinds     kinds
	worth     []float64 // of each kind: the weight of a task
	program   fillProgram
	sack      knapsack
	share     []float64 // of each partition and kind: tasks in the program
	effort    int64     // steps for a fill
	exact     bool      // whether they have been enough
	divisions int       // so far
	until     int64     // in ops, where the search is given up
}

// kinds are jobs that are alike in the lines looked at, and go to the same partitions.
type kinds struct {
	first []int     // of each: a job
	need  []float64 // of each: tasks
	use   []float64 // of each and line: what a task uses
	most  []float64 // of each partition and kind: tasks there at most
	given []float64 // of each partition and kind: tasks that it has got in any case; fills are what comes on top
}

// verdict is an answer, if there is one.
type verdict int8

const (
	unknown verdict = iota
	possible
	impossible
)

// lighter is by how much, relatively, fills have to weigh less than all tasks for a proof.
const lighter = 1e-7

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

// solve answers for the jobs and rows, before so many ops are spent.
func (s *splits) solve(until int64) (v verdict) {
	s.until = until
	if len(s.jobs)*s.in.Parts > mostFillPlaces {
		return unknown
	}
	s.arrange()
	s.measure()
	for line := s.fullest(); line >= 0; {
		s.look(line)
		s.group()
		if len(s.kinds.need)+s.in.Parts > mostFillRows {
			return unknown
		}
		s.program.reset(s.kinds.need, s.in.Parts)
		s.divisions = 0
		v, line = s.search()
	}
	return v
}

// over says whether the search is to be given up.
func (s *splits) over() bool { return s.spent() >= s.until || s.late() }

// search answers with what has been given. If there is no answer without looking at another line, too, it returns that instead of -1.
func (s *splits) search() (v verdict, line int) {
	if v := s.relax(); v != possible {
		return v, -1
	}
	s.program.shares(s.share)
	at, part := s.divisible()
	s.dealOut()
	line = s.broken()
	switch {
	case s.complete():
		return possible, -1
	case line >= 0:
		return unknown, line
	case at < 0: // rounding errors
		return unknown, -1
	}
	return s.divide(at, part)
}

// divide answers for no more of a kind's tasks in a partition than the whole part of what the program has there, and for more.
func (s *splits) divide(at int, part float64) (v verdict, line int) {
	if s.divisions++; s.divisions > mostDivisions {
		return unknown, -1
	}
	q, k := &s.kinds, at%len(s.kinds.need)
	most, given, need := q.most[at], q.given[at], s.program.need[k]
	down := math.Floor(part)
	for _, up := range [...]bool{part-down > 0.5, part-down <= 0.5} {
		if up {
			q.given[at] += down + 1
			s.program.need[k] = max(0, need-(down+1))
		} else {
			q.most[at] = given + down
		}
		s.bar(at / len(q.need))
		v, line = s.search()
		q.most[at], q.given[at], s.program.need[k] = most, given, need
		if v != impossible {
			return v, line
		}
	}
	s.bar(at / len(q.need))
	return v, -1
}

// relax solves the program by column generation. It is possible in parts of fills, or impossible.
func (s *splits) relax() verdict {
	m := &s.program
	s.effort = fillSteps
	for m.start(); ; {
		from := m.steps
		short, ok := m.solve()
		s.spend(m.steps - from)
		switch {
		case !ok || s.over():
			return unknown
		case short <= fillsTolerance:
			return possible
		}
		light, added := s.weigh()
		switch {
		case light:
			return impossible
		case added:
		case s.exact:
			return unknown // for rounding errors
		default:
			s.effort *= moreFillSteps
		}
	}
}

// weigh weighs the heaviest fills by the program's prices, and adds those to the program that better it. It reports whether they weigh less than all tasks.
func (s *splits) weigh() (light, added bool) {
	m := &s.program
	for k, w := range m.price[:m.kinds] {
		s.worth[k] = max(0, w)
	}
	total := s.total()
	left := float64(total * (1 - lighter))
	s.exact = true
	for x := range s.in.Parts {
		if s.over() {
			return false, true
		}
		left -= s.heaviest(x)
		sum := m.price[m.kinds+x]
		for k, v := range s.sack.fill {
			sum += float64(v * m.price[k])
		}
		if sum > fillsTolerance {
			m.add(x, s.sack.fill)
			added = true
		}
	}
	if left <= 0 {
		return false, added
	}
	return true, added
}

// total is what all tasks weigh that are needed.
func (s *splits) total() (sum float64) {
	for k, w := range s.worth {
		sum += float64(w * s.program.need[k])
	}
	return sum
}

// heaviest finds the heaviest fill of partition x, and returns what none weighs more than.
func (s *splits) heaviest(x int) float64 {
	q, n := &s.sack, len(s.kinds.need)
	q.resize(n, s.seen)
	q.use = s.kinds.use
	copy(q.worth, s.worth)
	s.onTop(x, q.most, q.room)
	from := q.steps
	bound := q.solve(s.effort)
	s.exact = s.exact && q.unsearched <= q.value
	s.spend(q.steps - from)
	return bound
}

// onTop is what fills of partition x can have: so much of each kind, and so much room in each line looked at.
func (s *splits) onTop(x int, most, room []float64) {
	n := len(s.kinds.need)
	copy(room, s.room[x*len(s.lines):])
	for k := range n {
		given := s.kinds.given[x*n+k]
		if most[k] = s.kinds.most[x*n+k] - given; given == 0 {
			continue
		}
		for l, u := range s.kinds.use[k*s.seen : (k+1)*s.seen] {
			room[l] -= float64(given * u)
		}
	}
	s.spend(int64(n))
}

// bar bars the fills of partition x that do not go on top of what has been given.
func (s *splits) bar(x int) {
	m, n, q := &s.program, len(s.kinds.need), &s.sack
	q.resize(n, s.seen)
	s.onTop(x, q.most, q.room)
	for f, of := range m.of {
		if int(of) == x {
			m.barred[f] = !s.goesIn(m.fills[f*n:(f+1)*n], q.most, append(s.spare[:0], q.room...))
		}
	}
	s.spend(int64(len(m.fills)*s.seen)/int64(s.in.Parts) + int64(len(m.of)))
}

// goesIn says whether a fill goes into so much room, of which it leaves what is left, with so many tasks at most.
func (s *splits) goesIn(fill, most, room []float64) bool {
	for k, v := range fill {
		if v > most[k] {
			return false
		}
		for l, u := range s.kinds.use[k*s.seen : (k+1)*s.seen] {
			room[l] -= float64(v * u)
		}
	}
	return !slices.ContainsFunc(room, func(v float64) bool { return v < -splitFuzz })
}

// divisible is the partition and kind whose tasks in the program are furthest from whole, -1 if all are, and how many there are in parts.
func (s *splits) divisible() (at int, part float64) {
	at, furthest := -1, splitFuzz
	for i, v := range s.share {
		if d := math.Abs(v - math.Round(v)); d > furthest {
			at, furthest, part = i, d, v
		}
	}
	return at, part
}
