package tree

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/lp"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
	"github.com/hedgesched/hedge/solver/native/internal/search"
)

// Subproblem is the problem with what the search has decided, and its linear program. A decision puts a penalty on the
// columns that it bars, so that the program's basis stays feasible. There is one subproblem: the search changes it, and
// changes it back.
type Subproblem struct {
	Decided relax.Decisions

	in         *pack.Instance
	budget     *search.Budget
	known      *search.Incumbent
	dual       *relax.Dual
	master     *relax.Master
	relaxation *relax.Relaxation
	// base is the empty plan, and order the jobs by falling reduced value.
	base     pack.State
	order    []int
	penalty  float64
	weight   []float64 // of each option in the subproblem's program
	at       float64   // the bound at prices dual.Lam, if it is known
	fraction []float64 // scratch: an option's tasks per partition in the program
	red      []float64 // scratch: options' reduced values
	places   []int     // scratch: an option's places, the cheapest first
}

// NewSubproblem is the problem in, whatever it holds when it is asked, by the program m and its relaxation at prices d,
// which go by what is decided here from then on.
func NewSubproblem(
	in *pack.Instance, budget *search.Budget, known *search.Incumbent, d *relax.Dual, m *relax.Master,
	rel *relax.Relaxation,
) *Subproblem {
	q := &Subproblem{in: in, budget: budget, known: known, dual: d, master: m, relaxation: rel}
	d.Decided = &q.Decided
	return q
}

// Reset is the root: nothing is decided.
func (q *Subproblem) Reset() {
	q.Decided.Reset(q.in)
	q.weight = pack.Resize(q.weight, len(q.in.Opts))
	q.fraction = pack.Resize(q.fraction, q.in.MaxParts)
	q.penalty = math.Abs(q.dual.Bound) + 1
	for k := range q.in.P.Running {
		q.penalty = max(q.penalty, q.in.P.Running[k].PreemptCost)
	}
}

// forbid takes option o out of the program.
func (q *Subproblem) forbid(o int) {
	if q.Decided.Forbid(o) {
		q.penalize(o)
	}
}

// penalize values option o's columns by whether the subproblem allows them.
func (q *Subproblem) penalize(o int) {
	m := q.master
	for c := m.Head[q.in.Opts[o].Job]; c >= 0; c = m.Next[c] {
		if int(m.Opt[c]) != o {
			continue
		}
		m.Val[c] = m.Worth[c]
		if !q.Decided.Allows(o, m.SplitOf(c)) {
			m.Val[c] -= q.penalty
		}
	}
}

// repenalize values the columns of a program made anew by what has been decided.
func (q *Subproblem) repenalize() {
	for _, d := range q.Decided.Trail {
		switch i := int(d.Index); d.Kind {
		case relax.Required:
			q.master.Val[i] = -q.penalty
		case relax.Fixed:
			q.penalizeRun(i)
		default:
			q.penalize(i)
		}
	}
}

// penalizeRun values what is decided against of running job k's two columns.
func (q *Subproblem) penalizeRun(k int) {
	c := q.master.RunColumn(k)
	if q.Decided.Fix[k] > 0 {
		c = int32(len(q.in.P.Jobs) + k)
	}
	q.master.Val[c] = q.master.Worth[c] - q.penalty
}

// confine makes option o have at least, or at most, that many tasks at an entry of in.Part.
func (q *Subproblem) confine(o, entry int, v float64, atLeast bool) {
	if q.Decided.Bound(o, entry, v, atLeast) {
		q.penalize(o)
	}
}

// require makes job j take option o.
func (q *Subproblem) require(j, o int) {
	q.forbidOthers(o)
	q.oblige(j)
}

// forbidOthers takes the other options of option o's job out of the program.
func (q *Subproblem) forbidOthers(o int) {
	j := q.in.Opts[o].Job
	for i := q.in.JobOpts[j]; i < q.in.JobOpts[j+1]; i++ {
		if i != o {
			q.forbid(i)
		}
	}
}

// oblige makes job j take one of the options left to it.
func (q *Subproblem) oblige(j int) {
	if q.Decided.Oblige(j) {
		q.master.Val[j] = -q.penalty
	}
}

// settleRun decides running job k, if it is not decided.
func (q *Subproblem) settleRun(k int, on bool) {
	if q.Decided.SettleRun(k, on) {
		q.penalizeRun(k)
	}
}

// revert takes back all decisions after the first n.
func (q *Subproblem) revert(n int) {
	for len(q.Decided.Trail) > n {
		switch d := q.Decided.TakeBack(); d.Kind {
		case relax.Required:
			q.master.Val[d.Index] = 0
		case relax.Fixed:
			s, c := len(q.in.P.Jobs)+int(d.Index), q.master.RunColumn(int(d.Index))
			q.master.Val[s], q.master.Val[c] = 0, q.master.Worth[c]
		default:
			q.penalize(int(d.Index))
		}
	}
}

// solve solves the subproblem's program, in at most a number of sweeps, and returns a bound.
func (q *Subproblem) solve(rounds int) float64 { return q.try(rounds, 0) }

// try is solve, but that it stops when program and bound are within loose times the bound's distance from what is
// enough.
func (q *Subproblem) try(rounds int, loose float64) float64 {
	m, d := q.master, q.dual
	m.Compact()
	m.Reprice()
	bound := math.Inf(1)
	if !q.budget.Checkpoint() {
		return bound
	}
	q.at = math.Inf(1)
	for range rounds {
		if !q.budget.Checkpoint() {
			break
		}
		q.relaxation.Pivots(m.Ops + relax.RoundOps*int64(m.Rows))
		for r, p := range m.Prices {
			d.Lam[r] = max(0, p)
		}
		b, added := q.relaxation.Generate()
		bound, q.at = min(bound, b), b
		near := max(search.LeastGain/2*math.Abs(bound), loose*(bound-q.known.Enough()))
		if bound <= q.known.Enough() || added == 0 || bound-m.Objective() <= near {
			break
		}
	}
	return bound
}

// restore goes back to basis s of b if it is there still.
func (q *Subproblem) restore(b *lp.Bases, s lp.Saved) {
	b.Restore(&q.master.Program, s)
}

// weigh computes every option's weight.
func (q *Subproblem) weigh() {
	m := q.master
	clear(q.weight)
	for s, c := range m.Key {
		if s < len(q.in.P.Jobs) && m.Opt[c] >= 0 {
			q.weight[m.Opt[c]] += m.KeyValue[s]
		}
	}
	for i, b := range m.Basic {
		if b >= 0 && m.Opt[b] >= 0 {
			q.weight[m.Opt[b]] += m.Values[i]
		}
	}
	m.Ops += int64(len(q.weight) + m.Rows)
}

// mostFractional returns the fractional option that is worth most by its weight, or the fractional running job whose
// preemption costs more; -1 for what it is not. The options have been weighed.
func (q *Subproblem) mostFractional() (option, running int) {
	option, running = -1, -1
	most := 0.0
	for o, z := range q.weight {
		if z < 1e-6 || z > 1-1e-6 || q.Decided.Dead[o] || q.Decided.Settled(o) {
			continue
		}
		if s := q.in.Opts[o].Value * z; s > most {
			option, most = o, s
		}
	}
	for k := range q.in.P.Running {
		y := q.master.Preempted(k)
		if q.Decided.Fix[k] == 0 && y > 1e-6 && y < 1-1e-6 && q.in.P.Running[k].PreemptCost > most {
			option, running, most = -1, k, q.in.P.Running[k].PreemptCost
		}
	}
	return option, running
}

// Begin takes the plan in hand for what plans are made in, and empties it; jobs is the order in which they are filled
// up.
func (q *Subproblem) Begin(cur *pack.State, jobs []int) {
	cur.Empty()
	q.base.Copy(cur)
	q.order = append(q.order[:0], jobs...)
}

// shares computes how the program splits option o; false if it does not take it.
func (q *Subproblem) shares(o int) bool {
	m := q.master
	opt := &q.in.Opts[o]
	share := q.fraction[:opt.P1-opt.P0]
	clear(share)
	total := 0.0
	for c := m.Head[opt.Job]; c >= 0; c = m.Next[c] {
		if int(m.Opt[c]) != o {
			continue
		}
		if z := m.Weight(c); z > 0 {
			total += z
			for i, v := range m.SplitOf(c) {
				share[i] += float64(z * v)
			}
		}
	}
	for i := range share {
		share[i] /= max(total, 1e-12)
	}
	return total > 1e-9
}
