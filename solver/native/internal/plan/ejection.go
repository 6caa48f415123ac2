package plan

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/search"
)

// How deep chains of moves go, and which part of all work they may take. In rounding, chains of depth none, two and
// three, and 10 and 100 units instead of 40, were tried and were no better.
const (
	ejectionDepth = 1
	ejectionPart  = 4
)

// Ejection places gangs for which there is room in all, but not as it is split, by moving tasks of others from one
// partition to another, in chains (ejection chains). In a good plan hardly any room is left: where one job takes
// another option, most of the others have to be split another way, which takes more than putting a few jobs in again
// finds.
type Ejection struct {
	in     *pack.Instance
	budget *search.Budget
	random *search.Random
	cur    *pack.State
	moves  func(j int) // is told of every job before its tasks are moved, unless it is nil
	taken  int64       // ops, by all ejection of this solve
	until  int64       // the ops to end at
	busy   []bool      // jobs that room is being made for, whose tasks stay where they are
	total  []float64   // scratch: the room of all partitions together
}

// NewEjection places gangs in cur.
func NewEjection(in *pack.Instance, budget *search.Budget, random *search.Random, cur *pack.State) Ejection {
	return Ejection{in: in, budget: budget, random: random, cur: cur}
}

// Reset makes ready for a problem.
func (s *Ejection) Reset() {
	s.taken = 0
	s.busy = pack.Resize(s.busy, len(s.in.P.Jobs))
	clear(s.busy)
}

// Place gives option o's job, which is free, that option, if tasks of others can be moved so that it fits. It spends at
// most a number of units of work. If it fails, some tasks have been moved nevertheless. It calls moved, unless that is
// nil, with every job before its tasks are moved.
func (s *Ejection) Place(o int, units int64, moved func(j int)) bool {
	s.moves = moved
	opt, before := &s.in.Opts[o], s.budget.Spent()
	if opt.Dead || s.taken > before/ejectionPart || !s.roomInAll(opt) {
		return false
	}
	s.until = before + units*pack.OpsPerUnit
	left, n := s.cur.PlacePart(o), opt.P1-opt.P0
	i, misses := s.random.IntN(n), 0
	for left > 0 && misses < n {
		tasks := min(left, 1)
		if !s.makeRoom(opt, i, tasks, ejectionDepth) {
			misses++
			i = (i + 1) % n
			continue
		}
		s.cur.Shift(opt.Job, i, tasks)
		left -= tasks
		misses = 0
	}
	if left > 0 {
		s.cur.Remove(opt.Job)
	}
	s.taken += s.budget.Spent() - before
	return left <= 0
}

// roomInAll says whether all partitions together have room for the gang.
func (s *Ejection) roomInAll(opt *pack.Option) bool {
	in := s.in
	s.total = pack.Resize(s.total, len(opt.Usage))
	for i := range opt.Demand {
		d := &opt.Demand[i]
		clear(s.total)
		for x := range in.Parts {
			lo := (x*in.R+d.R)*in.T + opt.Start
			for t, v := range s.cur.Res[lo : lo+len(s.total)] {
				s.total[t] += v
			}
		}
		s.budget.Spend(int64(in.Parts * len(s.total)))
		for t, u := range opt.Usage {
			if s.total[t] < float64(opt.Count*d.D*u)*(1-fuzz) {
				return false
			}
		}
	}
	return true
}

// makeRoom makes room for that many tasks of an option in its i-th partition: tasks of others go to where there is
// room, or to where it is made in the same way, in chains of the given depth. It reports whether there is.
func (s *Ejection) makeRoom(opt *pack.Option, i int, tasks float64, depth int) bool {
	x := s.in.Part[opt.P0+i]
	if s.budget.Spent() > s.until || s.in.Limit[opt.P0+i] < s.cur.Split[opt.Job*s.in.MaxParts+i]+tasks {
		return false
	}
	s.busy[opt.Job] = true
	fits := s.fits(opt, x, tasks)
	n := len(s.in.P.Jobs)
	first := s.random.IntN(n)
	s.budget.Spend(int64(n))
	for at := 0; at < n && !fits && s.budget.Spent() <= s.until; at++ {
		k := (first + at) % n
		if s.cur.Choice[k] < 0 || s.busy[k] {
			continue
		}
		other := &s.in.Opts[s.cur.Choice[k]]
		from := s.position(other, x)
		if from < 0 || s.cur.Split[k*s.in.MaxParts+from] == 0 {
			continue
		}
		if want := s.wanted(opt, other, x, tasks); want > 0 {
			s.moveOut(other, from, min(want, s.cur.Split[k*s.in.MaxParts+from]), depth)
			fits = s.fits(opt, x, tasks)
		}
	}
	s.busy[opt.Job] = false
	return fits
}

// fits says whether that many tasks of an option fit into partition x.
func (s *Ejection) fits(opt *pack.Option, x int, tasks float64) bool { return s.fit(opt, x) >= tasks }

// fit is how many tasks of an option fit into partition x.
func (s *Ejection) fit(opt *pack.Option, x int) float64 {
	s.budget.Spend(int64(len(opt.Usage) * len(opt.Demand)))
	return s.in.Fit(opt, x, s.cur.Res)
}

// position is which of the option's partitions x is; -1 if it is none of them.
func (s *Ejection) position(opt *pack.Option, x int) int {
	for i, y := range s.in.Part[opt.P0:opt.P1] {
		if y == x {
			return i
		}
	}
	return -1
}

// wanted is how many tasks of another option would have to leave partition x for a number of opt's to fit, as far as
// rows go that both use.
func (s *Ejection) wanted(opt, other *pack.Option, x int, tasks float64) float64 {
	in, most := s.in, 0.0
	from, to := max(opt.Start, other.Start), min(opt.Start+len(opt.Usage), other.Start+len(other.Usage))
	for _, d := range opt.Demand {
		for _, e := range other.Demand {
			if e.R != d.R {
				continue
			}
			lo := (x*in.R + d.R) * in.T
			for t := from; t < to; t++ {
				if short := float64(tasks*d.D*opt.Usage[t-opt.Start]) - s.cur.Res[lo+t]; short > 0 {
					most = max(most, float64(short*e.Inv*other.Inv[t-other.Start]))
				}
			}
			s.budget.Spend(int64(max(0, to-from)))
		}
	}
	if other.Whole {
		return math.Ceil(most - fuzz)
	}
	return most
}

// moveOut moves up to a number of tasks of a placed option out of its from-th partition: to where there is room, and,
// as chains may go on, to where room is made.
func (s *Ejection) moveOut(opt *pack.Option, from int, tasks float64, depth int) {
	n := opt.P1 - opt.P0
	first := s.random.IntN(n)
	for at := 0; at < n && tasks > 0; at++ {
		if to := (first + at) % n; to != from {
			tasks -= s.move(opt, from, to, min(tasks, s.fit(opt, s.in.Part[opt.P0+to])))
		}
	}
	for at := 0; at < n && tasks > 0 && depth > 0; at++ {
		to, one := (first+at)%n, min(tasks, 1)
		if to != from && s.makeRoom(opt, to, one, depth-1) {
			tasks -= s.move(opt, from, to, one)
		}
	}
}

// move moves up to a number of tasks of a placed option from one of its partitions to another. It returns how many it
// has moved.
func (s *Ejection) move(opt *pack.Option, from, to int, tasks float64) float64 {
	if tasks > 0 {
		if s.moves != nil {
			s.moves(opt.Job)
		}
		s.cur.Shift(opt.Job, from, -tasks)
		s.cur.Shift(opt.Job, to, tasks)
	}
	return tasks
}

// fuzz is how far sums and differences of amounts may be off, as a part of the largest sum: what is left of it in the
// end may be no more than its error.
const fuzz = 1e-9
