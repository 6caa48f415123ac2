package native

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// splits decides whether jobs whose options are chosen can be split over partitions in whole tasks. The node's program
// knows it of fractions of tasks only, and dividing tasks one by one hardly ever ends where next to nothing is to spare.
//
// A partition's fill is whole tasks that it has room for. Weights of the jobs' tasks prove that there are no splits, if the partitions' heaviest fills weigh less together than all
// tasks do. The linear program over fills finds such weights, or parts of fills that have all tasks (the decomposition of Dantzig and Wolfe, 1960, by partitions, as Gilmore
// and Gomory's of cutting stock, 1961). Few of those that parts of fills can have cannot be had in whole fills; for them a partition's tasks of a job are divided.
//
// Only the fullest line, that is a resource in a slot, is looked at first, in which many jobs are alike and count as one kind. Lines that are too full in what has been found are looked at, too,
// one after the other, until there is an answer.
type splits struct {
	*progress
	jobs  []int     // the chosen options
	rows  []float64 // capacity of each of the instance's rows
	lines []int     // that the jobs use; those first that are looked at
	used  int       // how many these are
	use   []float64 // of each job and line: what a task uses at least
	need  []float64 // tasks of each job
	most  []float64 // of each partition and job: how many tasks it has room for
	room  []float64 // of each partition and line
	tasks []float64 // of each partition and job: the splits, if there are any
	spare []float64 // scratch: what is left of the rooms

	kindOf  []int // of each job
	kinds   kinds
	worth   []float64 // of each kind: the weight of a task
	blamed  []bool    // of each kind: whether the proof depends on it
	simple  bool      // whether the weights alone are the proof, without dividing anything
	program fillProgram
	sack    knapsack
	share   []float64 // of each partition and kind: tasks in the program
	effort  int64     // steps for a fill
	until   int64     // in ops, where the search is given up
	took    int64     // ops that the last answer has taken
}

// kinds are jobs that are alike in the lines looked at, and go to the same partitions.
type kinds struct {
	first       []int     // of each: a job
	need        []float64 // of each: tasks
	use         []float64 // of each and line: what a task uses
	least, most []float64 // of each partition and kind: tasks there
}

// verdict is an answer, if there is one.
type verdict int8

const (
	unknown verdict = iota
	possible
	impossible
	again // as another line has to be looked at
)

// Limits: of jobs and partitions together whose splits are asked about; of the steps for one fill, at first and with all the times more that they are if no
// better ones are found.
const (
	mostFillRows = 160
	fillSteps    = 4000
	moreSteps    = 5
	mostSteps    = 20_000
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
	defer func(from int64) { s.took = s.spent() - from }(s.spent())
	s.until = until
	s.arrange()
	if len(s.jobs)+s.in.Parts > mostFillRows {
		return unknown
	}
	s.rooms()
	if len(s.lines) > 0 {
		s.look(s.fullest())
	}
	for v = again; v == again; {
		s.sort()
		s.program.reset(s.kinds.need, s.in.Parts)
		s.simple = true
		v = s.search()
	}
	return v
}

// late says whether the search is to be given up.
func (s *splits) late() bool { return s.spent() >= s.until || s.progress.late() }

// search answers within the least and most tasks at hand.
func (s *splits) search() verdict {
	if v := s.relax(); v != possible {
		return v
	}
	s.program.shares(s.share)
	at := s.divisible()
	s.assign()
	line := s.broken()
	switch {
	case s.complete():
		return possible
	case line >= 0:
		s.look(line)
		return again
	case at < 0:
		return unknown // for rounding errors
	}
	return s.divide(at)
}

// divide answers for one more and one less of the kind's tasks in a partition than there are parts of.
func (s *splits) divide(at int) verdict {
	q := &s.kinds
	s.simple = false
	s.blamed[at%len(q.need)] = true
	least, most, part := q.least[at], q.most[at], s.share[at]
	down := math.Floor(part)
	v := impossible
	for _, up := range [...]bool{part-down > 0.5, part-down <= 0.5} {
		if up {
			q.least[at] = down + 1
		} else {
			q.most[at] = down
		}
		s.bar()
		v = s.search()
		if q.least[at], q.most[at] = least, most; v != impossible {
			return v
		}
	}
	s.bar()
	return v
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
		case !ok || s.late():
			return unknown
		case short <= fillsTolerance:
			return possible
		}
		light, added := s.weigh(m.price[:m.kinds])
		switch {
		case light:
			return impossible
		case added:
		case s.effort < mostSteps:
			s.effort *= moreSteps
		default:
			return unknown
		}
	}
}

// weigh weighs the heaviest fills, and adds those to the program that better it. It reports whether they weigh less than all tasks.
func (s *splits) weigh(weights []float64) (light, added bool) {
	m, total := &s.program, 0.0
	for k, w := range weights {
		s.worth[k] = max(0, w)
		total += float64(s.worth[k] * s.kinds.need[k])
	}
	left := float64(total * (1 - lighter))
	for x := range s.in.Parts {
		bound := s.heaviest(x)
		if left -= bound; math.IsInf(bound, -1) {
			return true, false
		}
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
	for k, w := range s.worth {
		s.blamed[k] = s.blamed[k] || float64(w*s.kinds.need[k]) > fuzz*total
	}
	return true, added
}

// holds says whether the weights are a proof still, of what the jobs use and there is room for now.
func (s *splits) holds() bool {
	total := 0.0
	for k, w := range s.worth {
		total += float64(w * s.kinds.need[k])
	}
	left := float64(total * (1 - lighter))
	for x := 0; x < s.in.Parts && left > 0; x++ {
		left -= s.heaviest(x)
	}
	return left > 0
}

// heaviest finds the heaviest fill of partition x, and returns what none weighs more than; -Inf if the least tasks do not fit.
func (s *splits) heaviest(x int) float64 {
	q, n := &s.sack, len(s.kinds.need)
	q.resize(n, s.used)
	copy(q.worth, s.worth)
	copy(q.least, s.kinds.least[x*n:(x+1)*n])
	copy(q.most, s.kinds.most[x*n:(x+1)*n])
	copy(q.room, s.room[x*len(s.lines):])
	q.use = s.kinds.use
	from := q.steps
	bound := q.solve(s.effort)
	s.spend(q.steps - from)
	return bound
}

// bar bars the fills that are not within the least and most tasks.
func (s *splits) bar() {
	m, n := &s.program, len(s.kinds.need)
	for f, x := range m.of {
		m.barred[f] = false
		for k, v := range m.fills[f*n : (f+1)*n] {
			if at := int(x)*n + k; v < s.kinds.least[at] || v > s.kinds.most[at] {
				m.barred[f] = true
				break
			}
		}
	}
	s.spend(int64(len(m.fills)))
}

// divisible is the partition and kind whose tasks in the program are furthest from whole; -1 if all are.
func (s *splits) divisible() int {
	at, furthest := -1, 1e-6
	for i, v := range s.share {
		if d := math.Abs(v - math.Round(v)); d > furthest {
			at, furthest = i, d
		}
	}
	return at
}
