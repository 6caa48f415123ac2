package cuts

import (
	"cmp"
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
	"github.com/hedgesched/hedge/solver/native/internal/search"
)

// Solution is a solution of the relaxation, in terms of the problem.
type Solution struct {
	Weight []float64 // of each option: how far it is chosen
	Tasks  []float64 // of each entry of the instance's Part: tasks there; then how far each running job is preempted
	Prices []float64 // of each row; no cuts are looked for where there is none. nil has all rows bind
	Tol    float64   // what is no price
}

// Separator finds cuts that the relaxation's solution violates. It begins with an inequality that capacity implies, of
// one (resource, slot) in one partition, or added up over a set of partitions: all of them, or those of an option.
//
//	Σ_options amount·y − Σ_running amount·preempted ≤ room
//
// Here y is how many tasks an option has in the set, z is how far it is chosen, and fewest·z ≤ y ≤ most·z. For each
// option Separator substitutes y, y − fewest·z or most·z − y for the tasks. For some jobs it complements: it counts
// 1 − Σz, how far none of the job's options is chosen. Then it divides by an amount and rounds (mixed-integer
// rounding), and keeps the result that the solution violates the most, in terms of its efficacy.
//
// An example: a partition has 5 free machines. Gangs A and B need 3 each, all of them there, so that y = 3·z and the
// inequality is 3·zA + 3·zB ≤ 5. The relaxation chooses A in full and two thirds of B. Dividing by 3 and rounding
// down gives zA + zB ≤ 1, which every plan keeps and the solution violates by 2/3.
//
// Its memory is used again; it is not safe for concurrent use.
type Separator struct {
	in        *pack.Instance
	pool      *relax.Cuts
	budget    *search.Budget
	recut     recut
	x         Solution
	active    []int32 // the options that the solution takes a part of
	sets      []bool  // of each set and partition: whether it is in the set
	groups    []group
	pieces    []piece
	order     []int
	decided   []float64 // scratch: of each group, how far it is from being chosen by half
	trial     []float64 // scratch: divisors to try
	found     []found
	supposed  []float64 // arena: of each cut found and job or running job, what it is taken to use
	places    []int32
	dense     []float64
	tight     []bool
	rowOf     []int32
	violation []float64
}

// New finds cuts of the instance, whatever it holds when it is asked, and adds them to the list k. It counts its work
// in the budget, and gives up when late says so.
func New(in *pack.Instance, k *relax.Cuts, budget *search.Budget) Separator {
	return Separator{in: in, pool: k, budget: budget}
}

// found is a cut found: of the sum of a set's rows, divided by what, and where in supposed what its groups are taken
// to use is.
type found struct {
	set, row int
	divisor  float64
	efficacy float64
	at       int
}

// Separate finds cuts that the solution violates, by the most at first, and adds at most a number of them. It returns
// how many. Gather comes first.
func (s *Separator) Separate(x Solution, most int) int {
	s.look(x)
	s.found, s.supposed = s.found[:0], s.supposed[:0]
	n := s.in.R * s.in.T
	for set := range len(s.sets) / s.in.Parts {
		for row := range n {
			if s.budget.Late() {
				return 0
			}
			if s.binds(set, row) {
				s.tryRow(set, row)
			}
		}
	}
	slices.SortStableFunc(s.found, func(a, b found) int { return cmp.Compare(b.efficacy, a.efficacy) })
	most = min(most, len(s.found), relax.MaxCuts-len(s.pool.RHS))
	added := 0
	for _, f := range s.found[:max(most, 0)] {
		if s.budget.Late() {
			break
		}
		if s.emit(f) {
			added++
		}
	}
	return added
}

// binds says whether one of the set's rows has a price.
func (s *Separator) binds(set, row int) bool {
	n := s.in.R * s.in.T
	if s.x.Prices == nil {
		return true
	}
	s.budget.Spend(int64(s.in.Parts) / 4)
	for x, in := range s.sets[set*s.in.Parts : (set+1)*s.in.Parts] {
		if in && s.x.Prices[x*n+row] > s.x.Tol {
			return true
		}
	}
	return false
}

// maxSets bounds the sets of partitions whose rows are added up.
const maxSets = 40

// Gather lists the sets of partitions: each alone, all, and those that options go to.
func (s *Separator) Gather() {
	in := s.in
	s.sets = s.sets[:0]
	for x := range in.Parts {
		for y := range in.Parts {
			s.sets = append(s.sets, x == y)
		}
	}
	if in.Parts == 1 {
		return
	}
	for range in.Parts {
		s.sets = append(s.sets, true)
	}
	for i := range in.Opts {
		o := &in.Opts[i]
		at := len(s.sets)
		if at >= maxSets*in.Parts {
			break
		}
		for range in.Parts {
			s.sets = append(s.sets, false)
		}
		set := s.sets[at:]
		for _, x := range in.Part[o.P0:o.P1] {
			set[x] = true
		}
		for k := 0; k < at; k += in.Parts {
			if slices.Equal(s.sets[k:k+in.Parts], set) {
				s.sets = s.sets[:at]
				break
			}
		}
	}
}

// look takes up a solution.
func (s *Separator) look(x Solution) {
	s.x = x
	s.dense = pack.Resize(s.dense, len(x.Tasks))
	clear(s.dense)
	s.active = s.active[:0]
	for o, z := range x.Weight {
		if z > 1e-9 {
			s.active = append(s.active, int32(o))
		}
	}
}

// tryRow looks for the best rounding of the sum of a set's rows.
func (s *Separator) tryRow(set, row int) {
	b := s.inequality(set, row)
	best, from := found{set: set, row: row, efficacy: leastEfficacy, at: -1}, b
	for turn := range 2 {
		if turn == 1 {
			for i := range s.groups {
				if g := &s.groups[i]; g.left < 0.5 && g.other != 0 {
					b -= g.exchange()
				}
			}
			if b == from {
				break
			}
		}
		s.divisors()
		for _, d := range s.trial {
			if v := s.efficacy(b, d); v > best.efficacy {
				best.efficacy, best.divisor = v, d
				s.note(&best)
			}
		}
		s.budget.Spend(int64(6 * len(s.pieces) * len(s.trial)))
	}
	if best.at < 0 {
		return
	}
	s.refine(&best, from)
	s.found = append(s.found, best)
}

// note keeps what the groups are taken to use in cut f.
func (s *Separator) note(f *found) {
	if f.at < 0 {
		f.at = len(s.supposed)
		for range s.groups {
			s.supposed = append(s.supposed, 0, 0)
		}
	}
	for i := range s.groups {
		s.supposed[f.at+2*i], s.supposed[f.at+2*i+1] = float64(s.groups[i].set), s.groups[i].supposed
	}
}

// refine takes single groups to use the other amount, the most undecided ones first, where that makes a better cut.
func (s *Separator) refine(f *found, b float64) {
	s.order, s.decided = s.order[:0], pack.Resize(s.decided, len(s.groups))
	for i := range s.groups {
		g := &s.groups[i]
		if g.supposed != s.supposed[f.at+2*i+1] {
			g.exchange()
		}
		b -= g.supposed
		s.decided[i] = math.Abs(g.left - 0.5)
		if g.other != g.supposed && s.decided[i] < 0.5-1e-6 {
			s.order = append(s.order, i)
		}
	}
	slices.SortStableFunc(s.order, func(a, b int) int { return cmp.Compare(s.decided[a], s.decided[b]) })
	for _, i := range s.order[:min(len(s.order), maxFlips)] {
		g := &s.groups[i]
		b -= g.exchange()
		if v := s.efficacy(b, f.divisor); v > f.efficacy {
			f.efficacy = v
			s.note(f)
			continue
		}
		b -= g.exchange()
	}
	s.budget.Spend(int64(6 * len(s.pieces) * min(len(s.order), maxFlips)))
}

// How many groups are tried to be taken otherwise, and how many amounts to divide by.
const (
	maxFlips    = 10
	maxDivisors = 24
)

// divisors lists the amounts that the solution uses in fractions.
func (s *Separator) divisors() {
	s.trial = s.trial[:0]
	for i := range s.groups {
		g := &s.groups[i]
		if g.left > 1e-5 && g.left < 1-1e-5 {
			s.divisor(g.supposed)
		}
		for _, p := range s.pieces[g.lo:g.hi] {
			if p.z > 1e-5 && p.z < 1-1e-5 {
				s.divisor(float64(p.most*p.amount) - g.supposed)
			}
			if p.fewest == p.most || !p.tasks {
				continue
			}
			if f := p.y - math.Floor(p.y); f > 1e-5 && f < 1-1e-5 {
				s.divisor(p.amount)
			}
		}
	}
}

// divisor adds an amount and its half to those to divide by.
func (s *Separator) divisor(a float64) {
	a = math.Abs(a)
	if a < 1e-12 || len(s.trial) >= maxDivisors {
		return
	}
	for _, d := range s.trial {
		if math.Abs(d-a) < 1e-9*a {
			return
		}
	}
	s.trial = append(s.trial, a, a/2)
}

// leastEfficacy is the least efficacy of a cut that is worth a row.
const leastEfficacy = 0.005

// efficacy is how far, in the space of choices, the solution is beyond the rounding by d of the inequality in groups;
// not above 0 if it keeps that.
func (s *Separator) efficacy(b, d float64) float64 {
	m, rhs, ok := roundBy(b, d)
	if !ok {
		return 0
	}
	sum, norm := -rhs, 1e-9
	for i := range s.groups {
		g := &s.groups[i]
		slack := m.of(-g.supposed)
		sum += float64(slack * g.left)
		for k := g.lo; k < g.hi; k++ {
			p := &s.pieces[k]
			cz, cy := m.coefficients(p, g.supposed, p.z, p.y)
			v := float64(cz*p.z) + float64(cy*p.y)
			sum += v
			v = v/max(p.z, 1e-9) - slack
			norm += float64(v * v)
		}
	}
	return sum / math.Sqrt(norm)
}

// emit adds the cut found. It reports whether it has: the room is summed up in another order than when the cut was
// found, and rounding errors may make its rounding an unsafe one.
func (s *Separator) emit(f found) bool {
	in := s.in
	s.places = s.places[:0]
	b := s.inequality(f.set, f.row)
	for i := range s.groups {
		s.groups[i].supposed = s.supposed[f.at+2*i+1]
		b -= s.groups[i].supposed
	}
	m, rhs, ok := roundBy(b, f.divisor)
	if !ok {
		return false
	}
	for j := range in.P.Jobs {
		g := s.groupOf(j)
		rhs -= m.of(-g.supposed)
		s.emitJob(m, f, j, g.supposed)
	}
	for k := range in.P.Running {
		if a := s.released(k, f.set, f.row); a > 0 {
			g := s.groupOf(len(in.P.Jobs) + k)
			slack := m.of(-g.supposed)
			rhs -= slack
			s.set(len(in.Part)+k, m.of(-a-g.supposed)-slack)
		}
	}
	s.add(rhs + float64(1e-9*(1+math.Abs(rhs))))
	return true
}

// add adds the cut whose coefficients have been set.
func (s *Separator) add(rhs float64) {
	s.pool.Add(s.places, s.dense, rhs)
	for _, p := range s.places {
		s.dense[p] = 0
	}
}

// emitJob gives job j's options their coefficients.
func (s *Separator) emitJob(m mir, f found, j int, supposed float64) {
	in := s.in
	member := s.sets[f.set*in.Parts : (f.set+1)*in.Parts]
	slack := m.of(-supposed)
	for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
		opt := &in.Opts[o]
		p := s.pieceOf(o, f.set, f.row)
		if p.amount == 0 || opt.Dead {
			continue
		}
		if p.z < 1e-9 {
			p.z, p.y = 1, p.most
		}
		cz, cy := m.coefficients(&p, supposed, p.z, p.y)
		cz = (cz - slack) / opt.Count
		for i := opt.P0; i < opt.P1; i++ {
			if v := cz; member[in.Part[i]] {
				s.set(i, v+cy)
			} else if v != 0 {
				s.set(i, v)
			}
		}
	}
	s.budget.Spend(int64(4 * (in.JobOpts[j+1] - in.JobOpts[j])))
}

func (s *Separator) set(place int, v float64) {
	s.places = append(s.places, int32(place))
	s.dense[place] = v
}
