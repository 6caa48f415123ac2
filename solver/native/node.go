package native

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// node is a node of the search through the linear program: what has been decided
// about jobs and running jobs on the way there, as penalties on the program's
// columns, so that its basis stays feasible. There is one, changed and changed back.
type node struct {
	*progress
	greedy     *greedy
	relaxation *relaxation
	lp         *basis
	// undo is what has been decided on the way to the node, newest last.
	undo []decision
	// base is the plan without what the program is about, and order the jobs it
	// is about, by falling reduced value.
	base  pack.State
	order []int
	// upper and lower bound options' tasks per entry of in.Part.
	lower, upper []float64
	penalty      float64

	weight []float64 // of each option in the node's program
	at     float64   // the bound at prices dual.lam, if it is known

	dually      bool // whether what is barred is driven out by the dual simplex method: in large problems a node's program is often left unsolved, and what the primal method has done by then is of use
	dualSimplex dualSimplex
}

// decision is one thing decided, for taking it back.
type decision struct {
	kind  int8
	index int32
	entry int32   // of in.Part
	was   float64 // its bound before
}

// Kinds of decisions.
const (
	forbade = iota
	required
	fixed
	lowered // an upper bound on an option's tasks in a partition
	raised  // a lower one
)

// reset is the root: nothing is decided.
func (q *node) reset() {
	n := len(q.in.P.Jobs)
	q.dual.must = pack.Resize(q.dual.must, n)
	clear(q.dual.must)
	q.dual.fix = q.dual.fix[:0]
	for range q.in.P.Running {
		q.dual.fix = append(q.dual.fix, 0)
	}
	q.undo, q.dually = q.undo[:0], !q.relaxation.large()
	q.upper, q.lower = append(q.upper[:0], q.in.Limit...), pack.Resize(q.lower, len(q.in.Limit))
	clear(q.lower)
	q.dual.limit, q.dual.low, q.dual.raised = q.upper, q.lower, 0
	q.weight = pack.Resize(q.weight, len(q.in.Opts))
	q.penalty = math.Abs(q.dual.bound) + 1
	for k := range q.in.P.Running {
		q.penalty = max(q.penalty, q.in.P.Running[k].PreemptCost)
	}
}

// forbid takes option o out of the program.
func (q *node) forbid(o int) {
	if q.dual.dead[o] {
		return
	}
	q.dual.dead[o] = true
	q.penalize(o)
	q.undo = append(q.undo, decision{kind: forbade, index: int32(o)})
}

// penalize values option o's columns by whether the node allows them.
func (q *node) penalize(o int) {
	m := q.lp
	for c := m.head[q.in.Opts[o].Job]; c >= 0; c = m.next[c] {
		if int(m.opt[c]) != o {
			continue
		}
		m.val[c] = m.worth[c]
		if q.dual.dead[o] || !q.allows(o, m.splitOf(c)) {
			m.val[c] -= q.penalty
		}
	}
}

// repenalize values the columns of a program made anew by what has been decided.
func (q *node) repenalize() {
	m := q.lp
	for _, d := range q.undo {
		switch i := int(d.index); d.kind {
		case required:
			m.val[i] = -q.penalty
		case fixed:
			c := q.lp.runColumn(i)
			if q.dual.fix[i] > 0 {
				c = int32(len(q.in.P.Jobs) + i)
			}
			m.val[c] = m.worth[c] - q.penalty
		default:
			q.penalize(i)
		}
	}
}

// allows says whether option o's split keeps to the node's bounds on it.
func (q *node) allows(o int, split []float64) bool {
	at := q.in.Opts[o].P0
	for i, v := range split {
		if v > q.upper[at+i]+1e-9 || v < q.lower[at+i]-1e-9 {
			return false
		}
	}
	return true
}

// confine makes option o have at least, or at most, that many tasks at an entry of in.Part.
func (q *node) confine(o, entry int, v float64, atLeast bool) {
	if q.bound(o, entry, v, atLeast) {
		q.penalize(o)
	}
}

// bound is confine without valuing columns anew. It reports whether the bound was not as tight before.
func (q *node) bound(o, entry int, v float64, atLeast bool) bool {
	d := decision{kind: lowered, index: int32(o), entry: int32(entry), was: q.upper[entry]}
	switch {
	case atLeast && v <= q.lower[entry] || !atLeast && v >= q.upper[entry]:
		return false
	case atLeast:
		d.kind, d.was = raised, q.lower[entry]
		q.lower[entry] = v
		q.dual.raised++
	default:
		q.upper[entry] = v
	}
	q.undo = append(q.undo, d)
	return true
}

// require makes job j take option o.
func (q *node) require(j, o int) {
	q.forbidOthers(o)
	q.oblige(j)
}

// forbidOthers takes the other options of option o's job out of the program.
func (q *node) forbidOthers(o int) {
	j := q.in.Opts[o].Job
	for i := q.in.JobOpts[j]; i < q.in.JobOpts[j+1]; i++ {
		if i != o {
			q.forbid(i)
		}
	}
}

// oblige makes job j take one of the options left to it.
func (q *node) oblige(j int) {
	if !q.dual.must[j] {
		q.dual.must[j] = true
		q.lp.val[j] = -q.penalty
		q.undo = append(q.undo, decision{kind: required, index: int32(j)})
	}
}

// settled says whether option o is all that is left to its job, which has to run.
func (q *node) settled(o int) bool {
	j := q.in.Opts[o].Job
	for i := q.in.JobOpts[j]; i < q.in.JobOpts[j+1]; i++ {
		if i != o && !q.dual.dead[i] {
			return false
		}
	}
	return q.dual.must[j]
}

// settleRun decides running job k, if it is not decided.
func (q *node) settleRun(k int, on bool) {
	if q.dual.fix[k] != 0 {
		return
	}
	s := int32(len(q.in.P.Jobs) + k)
	q.dual.fix[k] = -1
	c := q.lp.runColumn(k)
	if on {
		q.dual.fix[k] = 1
		c = s
	}
	q.lp.val[c] = q.lp.worth[c] - q.penalty
	q.undo = append(q.undo, decision{kind: fixed, index: int32(k)})
}

// revert takes back all decisions after the first n.
func (q *node) revert(n int) {
	for len(q.undo) > n {
		d := q.undo[len(q.undo)-1]
		q.undo = q.undo[:len(q.undo)-1]
		i := int(d.index)
		switch d.kind {
		case forbade:
			q.dual.dead[i] = false
			q.penalize(i)
		case required:
			q.dual.must[i] = false
			q.lp.val[i] = 0
		case fixed:
			q.dual.fix[i] = 0
			s, c := len(q.in.P.Jobs)+i, q.lp.runColumn(i)
			q.lp.val[s], q.lp.val[c] = 0, q.lp.worth[c]
		case lowered:
			q.upper[d.entry] = d.was
			q.penalize(i)
		case raised:
			q.lower[d.entry] = d.was
			q.dual.raised--
			q.penalize(i)
		}
	}
}

// solve solves the node's program and returns a bound. It stops when program and bound are within loose times
// the bound's distance from what is enough.
func (q *node) solve(rounds int, loose float64) float64 {
	m, d := q.lp, &q.dual
	m.compact()
	bound := q.byDual()
	if bound <= q.enough() || !q.proceed() {
		return bound
	}
	q.at = math.Inf(1)
	for range rounds {
		if !q.proceed() {
			break
		}
		q.relaxation.pivots(m.ops + roundOps*int64(m.rows))
		for r, p := range m.pi {
			d.lam[r] = max(0, p)
		}
		b, added := q.relaxation.generate()
		bound, q.at = min(bound, b), b
		if bound <= q.enough() || added == 0 || bound-m.objective() <= max(leastGain/2*math.Abs(bound), loose*(bound-q.enough())) {
			break
		}
	}
	return bound
}

// weigh computes every option's weight and returns the fractional one, or the
// fractional running job, to branch on; -1 if there is none.
func (q *node) weigh() (option, running int) {
	m := q.lp
	clear(q.weight)
	for s, c := range m.key {
		if s < len(q.in.P.Jobs) && m.opt[c] >= 0 {
			q.weight[m.opt[c]] += m.keyValue[s]
		}
	}
	for i, b := range m.basic {
		if b >= 0 && m.opt[b] >= 0 {
			q.weight[m.opt[b]] += m.beta[i]
		}
	}
	option, running = -1, -1
	most := 0.0
	for o, z := range q.weight {
		if z < 1e-6 || z > 1-1e-6 || q.dual.dead[o] || q.settled(o) {
			continue
		}
		if s := q.in.Opts[o].Value * z; s > most {
			option, most = o, s
		}
	}
	for k := range q.in.P.Running {
		y := m.preempted(k)
		if q.dual.fix[k] == 0 && y > 1e-6 && y < 1-1e-6 && q.in.P.Running[k].PreemptCost > most {
			option, running, most = -1, k, q.in.P.Running[k].PreemptCost
		}
	}
	m.ops += int64(len(q.weight) + m.rows)
	return option, running
}

// wholeProblem makes the program about all jobs and running jobs.
func (q *node) wholeProblem() {
	m := q.lp
	m.activate()
	q.clear()
	q.base.Copy(&q.cur)
	q.order = append(q.order[:0], q.greedy.jobs...)
	q.dual.cap, q.dual.base = q.in.Cap, 0
}
