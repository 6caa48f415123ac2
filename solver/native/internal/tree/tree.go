package tree

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/lp"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
	"github.com/hedgesched/hedge/solver/native/internal/search"
)

// Tree is the search for a proof, branch and price, best bound first. An open node is only the list of decisions on the
// way to it: the program's basis stays feasible whatever is decided, so that the search can jump from any node to any
// other, and has a bound at any time, that of the best open one. From each node that it jumps to it follows the
// program's advice down until that leads nowhere.
type Tree struct {
	in              *pack.Instance
	budget          *search.Budget
	known           *search.Incumbent
	subproblem      *Subproblem
	rounding        *Rounding
	branching       branching
	begun           bool
	nodes           []treeNode
	open            []int32 // a heap of nodes, by falling bound
	path            []int32 // from the root to the present node
	marks           []int   // of each node on the path: how many decisions had been made before its own
	way             []int32 // scratch: the path to go
	unbranchedBound float64 // the largest bound of a node with nothing left to divide
	prunedBound     float64 // the largest bound of a node that was left for promising too little
	bases           lp.Bases
	reduced         []relax.Decision // what the nodes' prices have decided; Was is the bound it has come to
}

// New is the tree whose nodes are what q becomes.
func New(q *Subproblem, r *Rounding) *Tree {
	return &Tree{in: q.in, budget: q.budget, known: q.known, subproblem: q, rounding: r,
		branching: branching{in: q.in, master: q.master, subproblem: q}}
}

// treeNode is a node of the tree: one side of a division of its parent.
type treeNode struct {
	parent int32
	depth  int32
	c      division
	side   bool
	bound  float64
	unit   float64  // by how much the program has to give way
	basis  lp.Saved // its parent's, in bases; none if it is not known, or at hand
	lo, hi int32    // what its prices have decided is in reduced from lo to hi
}

// Bounds of the tree's memory: nodes, and decisions by prices, beyond which they are forgotten when the search goes
// elsewhere.
const (
	maxNodes   = 1 << 20
	maxReduced = 1 << 19
)

// Reset is the empty tree, of another problem.
func (t *Tree) Reset() {
	t.branching.costs.reset(len(t.in.P.Jobs) + len(t.in.P.Running))
	t.clear()
}

// clear is the empty tree.
func (t *Tree) clear() {
	t.begun = false
	t.bases.Reset()
	t.nodes, t.open, t.path, t.marks, t.reduced = t.nodes[:0], t.open[:0], t.path[:0], t.marks[:0], t.reduced[:0]
	t.unbranchedBound, t.prunedBound = math.Inf(-1), math.Inf(-1)
}

// plant begins the tree with its root.
func (t *Tree) plant() {
	t.clear()
	t.begun = true
	t.nodes = append(t.nodes, treeNode{parent: -1, bound: t.known.Bound()})
	t.push(0)
}

// before orders the heap: by bound, deeper ones first among equals, then older ones.
func (t *Tree) before(a, b int32) bool {
	x, y := &t.nodes[a], &t.nodes[b]
	if x.bound != y.bound {
		return x.bound > y.bound
	}
	if x.depth != y.depth {
		return x.depth > y.depth
	}
	return a < b
}

func (t *Tree) push(n int32) {
	t.open = append(t.open, n)
	for i := len(t.open) - 1; i > 0; {
		up := (i - 1) / 2
		if !t.before(t.open[i], t.open[up]) {
			break
		}
		t.open[i], t.open[up] = t.open[up], t.open[i]
		i = up
	}
}

func (t *Tree) pop() int32 {
	n, last := t.open[0], len(t.open)-1
	t.open[0] = t.open[last]
	t.open = t.open[:last]
	for i := 0; ; {
		c := 2*i + 1
		if c >= last {
			break
		}
		if c+1 < last && t.before(t.open[c+1], t.open[c]) {
			c++
		}
		if !t.before(t.open[c], t.open[i]) {
			break
		}
		t.open[i], t.open[c] = t.open[c], t.open[i]
		i = c
	}
	return n
}

// Grow searches the tree on until the limits are reached, or the phase ends, or the best plan is proven.
func (t *Tree) Grow() {
	if !t.budget.Checkpoint() {
		return
	}
	t.subproblem.Reset()
	t.path, t.marks = t.path[:0], t.marks[:0]
	if !t.begun {
		t.plant()
	}
	t.replay(0)
	for len(t.nodes) < maxNodes && t.budget.Checkpoint() {
		if len(t.open) > 0 && t.nodes[t.open[0]].bound <= t.known.Enough() {
			t.prunedBound = max(t.prunedBound, t.nodes[t.open[0]].bound)
			t.open = t.open[:0]
		}
		if len(t.open) == 0 {
			t.conclude()
			break
		}
		t.known.TreeBound = min(t.known.TreeBound, max(t.unbranchedBound, t.nodes[t.open[0]].bound))
		for n := t.pop(); n >= 0; {
			t.visit(n)
			n = t.expand(n)
		}
	}
	t.subproblem.revert(0)
}

// conclude makes the tree's bound, and whether the best plan is proven, what a tree without open nodes says.
func (t *Tree) conclude() {
	rest := max(t.unbranchedBound, t.prunedBound)
	if t.known.Proven = t.unbranchedBound <= t.known.Enough(); t.known.Proven && t.known.Top() == 0 {
		rest = 0 // but for rounding errors
	}
	t.known.TreeBound = min(t.known.TreeBound, max(rest, t.known.Top()))
}

// visit makes the decisions that lead to node n, taking back those that do not, and goes back to its parent's basis
// if it is known.
func (t *Tree) visit(n int32) {
	t.way = t.way[:0]
	for at := n; at > 0; at = t.nodes[at].parent {
		t.way = append(t.way, at)
	}
	same := 0
	for same < len(t.path) && same < len(t.way) && t.path[same] == t.way[len(t.way)-1-same] {
		same++
	}
	if same < len(t.path) {
		t.subproblem.revert(t.marks[same])
		t.path, t.marks = t.path[:same], t.marks[:same]
	}
	for i := len(t.way) - 1 - same; i >= 0; i-- {
		at := t.way[i]
		t.path, t.marks = append(t.path, at), append(t.marks, len(t.subproblem.Decided.Trail))
		t.branching.divide(t.nodes[at].c, t.nodes[at].side)
		t.replay(at)
	}
	t.subproblem.restore(&t.bases, t.nodes[n].basis)
	t.nodes[n].basis = lp.Saved{}
}

// treeLoose is how exactly nodes are solved, as a part of what is left to prove.
const treeLoose = 0.05

// expand solves node n, at which the decisions are, and opens its two sides, but for the one it returns
// for going on with; -1 if there is none.
func (t *Tree) expand(n int32) int32 {
	penalty := t.subproblem.penalty
	decisions := len(t.subproblem.Decided.Trail)
	bound, c := t.decided(n)
	t.note(n, decisions)
	if penalty != t.subproblem.penalty {
		t.subproblem.penalty = penalty
		t.subproblem.repenalize()
	}
	if t.budget.Checkpoint() {
		t.observe(&t.nodes[n], bound)
	}
	t.nodes[n].bound = bound
	switch {
	case !t.budget.Checkpoint():
		t.push(n)
		return -1
	case bound <= t.known.Enough():
		t.prunedBound = max(t.prunedBound, bound)
		return -1
	case c.job < 0 && c.running < 0:
		t.unbranchedBound = max(t.unbranchedBound, bound)
		return -1
	}
	depth := t.nodes[n].depth + 1
	next := int32(len(t.nodes))
	there, away := c.part, 1-c.part
	if c.first {
		there, away = away, there
	}
	first := treeNode{parent: n, depth: depth, c: c, side: c.first, bound: bound, unit: there}
	other := treeNode{parent: n, depth: depth, c: c, side: !c.first, bound: bound, unit: away}
	other.basis = t.bases.Keep(&t.subproblem.master.Program)
	t.nodes = append(t.nodes, first, other)
	t.push(next + 1)
	return next
}

// decided solves node n and finds what to divide it by. Where the program still leans on what has been decided
// against, which shows in that it would have the same decided again or nothing, doing so is made dearer: that is the
// way to find out that nothing else is left.
func (t *Tree) decided(n int32) (bound float64, c division) {
	bound = t.nodes[n].bound
	for _, loose := range [...]float64{treeLoose, 0, 0, 0, 0} {
		bound = min(bound, t.subproblem.try(maxRounds, loose))
		if !t.budget.Checkpoint() || bound <= t.known.Enough() {
			break
		}
		t.subproblem.weigh()
		t.rounding.Round()
		t.subproblem.reduce()
		if c = t.branching.division(); c.job < 0 && c.running < 0 {
			c = t.branching.splitDivision()
		}
		none := c.job < 0 && c.running < 0
		switch {
		case none && loose > 0:
			continue
		case !none && !t.divided(n, c):
			return bound, c
		}
		t.subproblem.penalty *= 100
		t.subproblem.repenalize()
	}
	return bound, division{job: -1, running: -1}
}

// divided says whether c has been decided already on the way to node n. Only rounding errors can bring it up
// again, and to decide it once more would not end.
func (t *Tree) divided(n int32, c division) bool {
	for at := n; at > 0; at = t.nodes[at].parent {
		if c.same(t.nodes[at].c) {
			return true
		}
	}
	return false
}

// observe learns from tree node b, whose bound has been found.
func (t *Tree) observe(b *treeNode, bound float64) {
	if b.unit == 0 || b.c.entry >= 0 || b.c.only {
		return
	}
	set, side := b.c.job, 0
	if set < 0 {
		set = len(t.in.P.Jobs) + b.c.running
	}
	if b.side {
		side = 1
	}
	if t.branching.worth(set) <= 0 {
		return
	}
	fall := max(0, t.nodes[b.parent].bound-bound)
	t.branching.costs.learn(set, side, min(1, fall/(t.branching.worth(set)*b.unit)))
}

// note keeps what prices have decided at node n beside what has been noted before. It leaves out the first decisions,
// of which the number is given.
func (t *Tree) note(n int32, decisions int) {
	q := &t.subproblem.Decided
	before, list, at := t.reduced[t.nodes[n].lo:t.nodes[n].hi], q.Trail[decisions:], len(t.reduced)
	if len(list) == 0 || at+len(before)+len(list) > maxReduced {
		return
	}
	t.reduced = append(append(t.reduced, before...), list...)
	t.nodes[n].lo, t.nodes[n].hi = int32(at), int32(len(t.reduced))
	for i := range t.reduced[at:] {
		switch d := &t.reduced[at+i]; d.Kind {
		case relax.Lowered:
			d.Was = q.Upper[d.Entry]
		case relax.Raised:
			d.Was = q.Lower[d.Entry]
		case relax.Fixed:
			d.Was = float64(q.Fix[d.Index])
		}
	}
}

// replay decides what has been noted at node n.
func (t *Tree) replay(n int32) {
	q := t.subproblem
	for _, d := range t.reduced[t.nodes[n].lo:t.nodes[n].hi] {
		switch i := int(d.Index); d.Kind {
		case relax.Forbade:
			q.forbid(i)
		case relax.Required:
			q.oblige(i)
		case relax.Fixed:
			q.settleRun(i, d.Was > 0)
		default:
			q.confine(i, int(d.Entry), d.Was, d.Kind == relax.Raised)
		}
	}
}
