package tree

import (
	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/cuts"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
	"github.com/hedgesched/hedge/solver/native/internal/search"
)

// Cutting adds cuts to the relaxation.
type Cutting struct {
	in         *pack.Instance
	budget     *search.Budget
	known      *search.Incumbent
	dual       *relax.Dual
	master     *relax.Master
	relaxation *relax.Relaxation
	pool       *relax.Cuts
	subproblem *Subproblem
	rounding   *Rounding
	separator  cuts.Separator
	tasks      []float64 // scratch for solution
}

// NewCutting adds cuts to those in pool and to q's program.
func NewCutting(pool *relax.Cuts, q *Subproblem, r *Rounding) *Cutting {
	return &Cutting{
		in: q.in, budget: q.budget, known: q.known, dual: q.dual, master: q.master, relaxation: q.relaxation, pool: pool,
		subproblem: q, rounding: r, separator: cuts.New(q.in, pool, q.budget),
	}
}

// solution is that of the subproblem's program, which has been weighed.
func (s *Cutting) solution() cuts.Solution {
	s.tasks = pack.Resize(s.tasks, len(s.in.Part)+len(s.in.P.Running))
	s.master.Tasks(s.tasks)
	s.budget.Spend(int64(len(s.master.Set) + len(s.tasks)))
	return cuts.Solution{Weight: s.subproblem.weight, Tasks: s.tasks, Prices: s.master.Prices, Tol: s.master.Tol}
}

// Tighten adds cuts to the relaxation, round by round, as long as they lower the bound and the work spent is less
// than until.
func (s *Cutting) Tighten(until int64) {
	m, d := s.master, s.dual
	s.subproblem.Reset()
	s.separator.Gather()
	stale := 0
	for round := 0; round < maxRoundsOfCuts && stale < 3; round++ {
		if s.budget.Spent() >= until || !s.budget.Checkpoint() {
			break
		}
		before := d.Bound
		s.subproblem.weigh()
		if s.separator.Separate(s.solution(), 8+m.Rows/8) == 0 {
			break
		}
		s.rebuild()
		bound := s.subproblem.solve(maxRounds)
		if !s.budget.Checkpoint() {
			break
		}
		d.Bound = min(d.Bound, bound)
		copy(d.Best, d.Lam)
		s.subproblem.weigh()
		s.rounding.Round()
		if stale++; before-d.Bound > 0.02*(before-s.known.Best.Value) {
			stale = 0
		}
	}
}

// maxRoundsOfCuts bounds the rounds: their gains fall.
const maxRoundsOfCuts = 40

// rebuild makes the program anew with the new cuts and without those that are loose, and goes on from its basis.
func (s *Cutting) rebuild() {
	m, d := s.master, s.dual
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
		s.relaxation.Crash()
	}
}
