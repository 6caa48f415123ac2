package native

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/lp"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
)

// subproblem is the problem with what the search has decided, and its linear program. A decision puts a penalty on the
// columns that it bars, so that the program's basis stays feasible. There is one subproblem: the search changes it, and
// changes it back.
type subproblem struct {
	*progress
	greedy     *greedy
	relaxation *relaxation
	master     *relax.Master
	decided    relax.Decisions
	// base is the empty plan, and order the jobs by falling reduced value.
	base    pack.State
	order   []int
	penalty float64

	weight []float64 // of each option in the subproblem's program
	at     float64   // the bound at prices dual.Lam, if it is known
}

// reset is the root: nothing is decided.
func (q *subproblem) reset() {
	q.decided.Reset(&q.in)
	q.weight = pack.Resize(q.weight, len(q.in.Opts))
	q.penalty = math.Abs(q.dual.Bound) + 1
	for k := range q.in.P.Running {
		q.penalty = max(q.penalty, q.in.P.Running[k].PreemptCost)
	}
}

// forbid takes option o out of the program.
func (q *subproblem) forbid(o int) {
	if q.decided.Forbid(o) {
		q.penalize(o)
	}
}

// penalize values option o's columns by whether the subproblem allows them.
func (q *subproblem) penalize(o int) {
	m := q.master
	for c := m.Head[q.in.Opts[o].Job]; c >= 0; c = m.Next[c] {
		if int(m.Opt[c]) != o {
			continue
		}
		m.Val[c] = m.Worth[c]
		if !q.decided.Allows(o, m.SplitOf(c)) {
			m.Val[c] -= q.penalty
		}
	}
}

// repenalize values the columns of a program made anew by what has been decided.
func (q *subproblem) repenalize() {
	for _, d := range q.decided.Trail {
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
func (q *subproblem) penalizeRun(k int) {
	c := q.master.RunColumn(k)
	if q.decided.Fix[k] > 0 {
		c = int32(len(q.in.P.Jobs) + k)
	}
	q.master.Val[c] = q.master.Worth[c] - q.penalty
}

// confine makes option o have at least, or at most, that many tasks at an entry of in.Part.
func (q *subproblem) confine(o, entry int, v float64, atLeast bool) {
	if q.decided.Bound(o, entry, v, atLeast) {
		q.penalize(o)
	}
}

// require makes job j take option o.
func (q *subproblem) require(j, o int) {
	q.forbidOthers(o)
	q.oblige(j)
}

// forbidOthers takes the other options of option o's job out of the program.
func (q *subproblem) forbidOthers(o int) {
	j := q.in.Opts[o].Job
	for i := q.in.JobOpts[j]; i < q.in.JobOpts[j+1]; i++ {
		if i != o {
			q.forbid(i)
		}
	}
}

// oblige makes job j take one of the options left to it.
func (q *subproblem) oblige(j int) {
	if q.decided.Oblige(j) {
		q.master.Val[j] = -q.penalty
	}
}

// settleRun decides running job k, if it is not decided.
func (q *subproblem) settleRun(k int, on bool) {
	if q.decided.SettleRun(k, on) {
		q.penalizeRun(k)
	}
}

// revert takes back all decisions after the first n.
func (q *subproblem) revert(n int) {
	for len(q.decided.Trail) > n {
		switch d := q.decided.TakeBack(); d.Kind {
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
func (q *subproblem) solve(rounds int) float64 { return q.try(rounds, 0) }

// try is solve, but that it stops when program and bound are within loose times the bound's distance from what is
// enough.
func (q *subproblem) try(rounds int, loose float64) float64 {
	m, d := q.master, &q.dual
	m.Compact()
	m.Reprice()
	bound := math.Inf(1)
	if !q.checkpoint() {
		return bound
	}
	q.at = math.Inf(1)
	for range rounds {
		if !q.checkpoint() {
			break
		}
		q.relaxation.pivots(m.Ops + roundOps*int64(m.Rows))
		for r, p := range m.Prices {
			d.Lam[r] = max(0, p)
		}
		b, added := q.relaxation.generate()
		bound, q.at = min(bound, b), b
		near := max(leastGain/2*math.Abs(bound), loose*(bound-q.enough()))
		if bound <= q.enough() || added == 0 || bound-m.Objective() <= near {
			break
		}
	}
	return bound
}

// restore goes back to basis s of b if it is there still.
func (q *subproblem) restore(b *lp.Bases, s lp.Saved) {
	b.Restore(&q.master.Program, s)
}

// weigh computes every option's weight.
func (q *subproblem) weigh() {
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
func (q *subproblem) mostFractional() (option, running int) {
	option, running = -1, -1
	most := 0.0
	for o, z := range q.weight {
		if z < 1e-6 || z > 1-1e-6 || q.decided.Dead[o] || q.decided.Settled(o) {
			continue
		}
		if s := q.in.Opts[o].Value * z; s > most {
			option, most = o, s
		}
	}
	for k := range q.in.P.Running {
		y := q.master.Preempted(k)
		if q.decided.Fix[k] == 0 && y > 1e-6 && y < 1-1e-6 && q.in.P.Running[k].PreemptCost > most {
			option, running, most = -1, k, q.in.P.Running[k].PreemptCost
		}
	}
	return option, running
}

// wholeProblem begins with the empty plan, and with the jobs in the order of the last prices.
func (q *subproblem) wholeProblem() {
	q.emptyPlan()
	q.base.Copy(&q.cur)
	q.order = append(q.order[:0], q.greedy.jobs...)
}
