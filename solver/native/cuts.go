package native

import (
	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/cuts"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
)

// cutting adds cuts to the relaxation.
type cutting struct {
	*progress
	greedy     *greedy
	relaxation *relaxation
	subproblem *subproblem
	rounding   *rounding
	master     *relax.Master
	pool       *relax.Cuts
	separator  cuts.Separator
	tasks      []float64 // scratch for solution
}

// solution is that of the subproblem's program, which has been weighed.
func (s *cutting) solution() cuts.Solution {
	s.tasks = pack.Resize(s.tasks, len(s.in.Part)+len(s.in.P.Running))
	s.master.Tasks(s.tasks)
	s.Spend(int64(len(s.master.Set) + len(s.tasks)))
	return cuts.Solution{Weight: s.subproblem.weight, Tasks: s.tasks, Prices: s.master.Prices, Tol: s.master.Tol}
}

// tighten adds cuts to the relaxation, round by round, as long as they lower the bound and the work spent is less
// than until.
func (s *cutting) tighten(until int64) {
	m, d := s.master, &s.dual
	s.subproblem.reset()
	s.separator.Gather()
	for round, stale := 0, 0; round < maxRoundsOfCuts && stale < 3 && s.Spent() < until && s.checkpoint(); round++ {
		before := d.Bound
		s.subproblem.weigh()
		if s.separator.Separate(s.solution(), 8+m.Rows/8) == 0 {
			break
		}
		s.rebuild()
		bound := s.subproblem.solve(maxRounds)
		if !s.checkpoint() {
			break
		}
		d.Bound = min(d.Bound, bound)
		copy(d.Best, d.Lam)
		s.subproblem.weigh()
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
func (s *cutting) rebuild() {
	m, d := s.master, &s.dual
	ok := s.separator.Rebuild(m, s.subproblem.penalty)
	rows := s.in.Rows + len(s.pool.RHS)
	for _, v := range []*[]float64{&d.Lam, &d.Best} {
		for len(*v) < rows {
			*v = append(*v, 0)
		}
		*v = (*v)[:rows]
	}
	clear(d.Best[s.in.Rows:])
	if !ok {
		s.relaxation.crash()
	}
}
