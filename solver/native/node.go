package native

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// node is a node of the search through the linear program: what has been decided
// about jobs and running jobs on the way there, as penalties on the master's
// columns, so that its basis stays feasible. There is one, changed and changed back.
type node struct {
	// must are jobs that have to be placed, fix running jobs that have to be
	// preempted (1) or kept (-1).
	must []bool
	fix  []int8
	// undo is what has been decided on the way to the node, newest last.
	undo []decision
	// base is the plan without what the program is about, and order the jobs it
	// is about, by falling reduced value.
	base  pack.State
	order []int
	// limit and low bound options' tasks per entry of in.Part.
	limit, low []float64
	penalty    float64

	weight       []float64 // of each option in the node's program
	share, round []float64 // scratch: an option's tasks per partition, and in whole tasks
	jobs         []int     // scratch for rounding
	key          []float64
	near         []int   // scratch for a plunge: options nearly decided
	sets         []int32 // scratch for choosing a core
	score        []float64
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

// resetNode is the root: nothing is decided.
func (w *workspace) resetNode() {
	q := &w.node
	n := len(w.in.P.Jobs)
	q.must = pack.Resize(q.must, n)
	clear(q.must)
	q.fix = q.fix[:0]
	for range w.in.P.Running {
		q.fix = append(q.fix, 0)
	}
	q.undo = q.undo[:0]
	q.limit, q.low = append(q.limit[:0], w.in.Limit...), pack.Resize(q.low, len(w.in.Limit))
	clear(q.low)
	w.dual.limit, w.dual.low, w.dual.raised = q.limit, q.low, 0
	q.weight = pack.Resize(q.weight, len(w.in.Opts))
	q.share, q.round = pack.Resize(q.share, w.in.MaxParts), pack.Resize(q.round, w.in.MaxParts)
	q.key = pack.Resize(q.key, n)
	q.penalty = math.Abs(w.dual.bound) + 1
	for k := range w.in.P.Running {
		q.penalty = max(q.penalty, w.in.P.Running[k].PreemptCost)
	}
}

// forbid takes option o out of the program.
func (w *workspace) forbid(o int) {
	if w.dual.dead[o] {
		return
	}
	w.dual.dead[o] = true
	w.penalize(o)
	w.node.undo = append(w.node.undo, decision{kind: forbade, index: int32(o)})
}

// penalize values option o's columns by whether the node allows them.
func (w *workspace) penalize(o int) {
	m := &w.lp
	for c := m.head[w.in.Opts[o].Job]; c >= 0; c = m.next[c] {
		if int(m.opt[c]) != o {
			continue
		}
		m.val[c] = m.worth[c]
		if w.dual.dead[o] || !w.within(o, m.split[m.cut[c]:m.cut[c+1]]) {
			m.val[c] -= w.node.penalty
		}
	}
}

// repenalize values the columns of a master made anew by what has been decided.
func (w *workspace) repenalize() {
	q, m := &w.node, &w.lp
	for _, d := range q.undo {
		switch i := int(d.index); d.kind {
		case required:
			m.val[i] = -q.penalty
		case fixed:
			c := w.runColumn(i)
			if q.fix[i] > 0 {
				c = int32(len(w.in.P.Jobs) + i)
			}
			m.val[c] = m.worth[c] - q.penalty
		default:
			w.penalize(i)
		}
	}
}

// within says whether option o's split keeps to the node's bounds on it.
func (w *workspace) within(o int, split []float64) bool {
	at := w.in.Opts[o].P0
	for i, q := range split {
		if q > w.node.limit[at+i]+1e-9 || q < w.node.low[at+i]-1e-9 {
			return false
		}
	}
	return true
}

// confine makes option o have at least, or at most, that many tasks at an entry of in.Part.
func (w *workspace) confine(o, entry int, v float64, atLeast bool) {
	q := &w.node
	d := decision{kind: lowered, index: int32(o), entry: int32(entry), was: q.limit[entry]}
	if atLeast {
		d.kind, d.was = raised, q.low[entry]
		q.low[entry] = v
		w.dual.raised++
	} else {
		q.limit[entry] = v
	}
	q.undo = append(q.undo, d)
	w.penalize(o)
}

// require makes job j take option o.
func (w *workspace) require(j, o int) {
	w.forbidOthers(o)
	w.oblige(j)
}

// forbidOthers takes the other options of option o's job out of the program.
func (w *workspace) forbidOthers(o int) {
	j := w.in.Opts[o].Job
	for i := w.in.JobOpts[j]; i < w.in.JobOpts[j+1]; i++ {
		if i != o {
			w.forbid(i)
		}
	}
}

// oblige makes job j take one of the options left to it.
func (w *workspace) oblige(j int) {
	if !w.node.must[j] {
		w.node.must[j] = true
		w.lp.val[j] = -w.node.penalty
		w.node.undo = append(w.node.undo, decision{kind: required, index: int32(j)})
	}
}

// settleRun decides running job k.
func (w *workspace) settleRun(k int, on bool) {
	s := int32(len(w.in.P.Jobs) + k)
	w.node.fix[k] = -1
	c := w.runColumn(k)
	if on {
		w.node.fix[k] = 1
		c = s
	}
	w.lp.val[c] = w.lp.worth[c] - w.node.penalty
	w.node.undo = append(w.node.undo, decision{kind: fixed, index: int32(k)})
}

// runColumn is running job k's column.
func (w *workspace) runColumn(k int) int32 { return int32(len(w.lp.key) + k) }

// revert takes back all decisions after the first n.
func (w *workspace) revert(n int) {
	q := &w.node
	for len(q.undo) > n {
		d := q.undo[len(q.undo)-1]
		q.undo = q.undo[:len(q.undo)-1]
		i := int(d.index)
		switch d.kind {
		case forbade:
			w.dual.dead[i] = false
			w.penalize(i)
		case required:
			q.must[i] = false
			w.lp.val[i] = 0
		case fixed:
			q.fix[i] = 0
			s, c := len(w.in.P.Jobs)+i, w.runColumn(i)
			w.lp.val[s], w.lp.val[c] = 0, w.lp.worth[c]
		case lowered:
			q.limit[d.entry] = d.was
			w.penalize(i)
		case raised:
			q.low[d.entry] = d.was
			w.dual.raised--
			w.penalize(i)
		}
	}
}

// least is the relative gain worth searching for: a plan called optimal may be short of the optimum by that part of its value, and the bound
// says by how much. Less costs proofs where preemptions cost far more than the plan is worth, for rounding errors of the nodes' programs.
const least = 3e-7

// enough is what a node's bound must exceed to be searched. Where the best plan is worth nothing, that is more than
// rounding errors: a small part of the least valuable option.
func (w *workspace) enough() float64 {
	v := w.top()
	if v == 0 {
		return least * w.smallest
	}
	return v + float64(least*math.Abs(v))
}

// solveNode solves the node's program and returns a bound. It stops when program and bound are within loose times
// the bound's distance from what is enough.
func (w *workspace) solveNode(rounds int, loose float64) float64 {
	m, d := &w.lp, &w.dual
	m.reprice()
	m.compact()
	bound := math.Inf(1)
	for range rounds {
		if w.over() {
			break
		}
		w.pivots(m.ops + roundOps*int64(m.rows))
		for r, p := range m.pi {
			d.lam[r] = max(0, p)
		}
		b, added := w.generate(m, d)
		bound = min(bound, b)
		if bound <= w.enough() || added == 0 || bound-m.objective() <= max(least/2*math.Abs(bound), loose*(bound-w.enough())) {
			break
		}
	}
	return bound
}
