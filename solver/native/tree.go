package native

import "math"

// tree is the search for a proof, branch and price, best bound first. Every open node is no more than what
// was decided on the way to it: the master's basis stays feasible whatever is decided, so that the
// search can jump from any node to any other and has a bound at any time, that of the best open one.
// From each node that it jumps to it follows the program's advice down until that leads nowhere.
type tree struct {
	begun bool
	nodes []branch
	open  []int32 // a heap of nodes, by falling bound
	path  []int32 // from the root to the present node
	marks []int   // of each node on the path: how many decisions had been made before its own
	way   []int32 // scratch: the path to go
	stuck float64 // the largest bound of a node with nothing left to divide
	spare float64 // the largest bound of a node that was left for promising too little
	costs pseudo
}

// branch is a node of the tree: one side of a division of its parent.
type branch struct {
	parent int32
	depth  int32
	c      division
	side   bool
	bound  float64
	unit   float64 // by how much the program has to give way
}

// maxNodes bounds the tree's memory.
const maxNodes = 1 << 20

// reset is the empty tree.
func (t *tree) reset(sets int) {
	t.begun, t.nodes, t.open = false, t.nodes[:0], t.open[:0]
	t.path, t.marks = t.path[:0], t.marks[:0]
	t.stuck, t.spare = math.Inf(-1), math.Inf(-1)
	t.costs.reset(sets)
}

// before orders the heap: by bound, deeper ones first among equals, then older ones.
func (t *tree) before(a, b int32) bool {
	x, y := &t.nodes[a], &t.nodes[b]
	if x.bound != y.bound {
		return x.bound > y.bound
	}
	if x.depth != y.depth {
		return x.depth > y.depth
	}
	return a < b
}

func (t *tree) push(n int32) {
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

func (t *tree) pop() int32 {
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

// grow searches the tree on until the limits are reached, or the phase ends, or the best plan is proven.
func (w *workspace) grow() {
	t := &w.tree
	if w.cfg.NoExact || w.over() {
		return
	}
	w.resetNode()
	t.path, t.marks = t.path[:0], t.marks[:0]
	if !t.begun {
		t.begun = true
		t.nodes = append(t.nodes, branch{parent: -1, bound: w.dual.bound})
		t.push(0)
	}
	for len(t.nodes) < maxNodes && !w.over() {
		if len(t.open) > 0 && t.nodes[t.open[0]].bound <= w.enough() {
			t.spare = max(t.spare, t.nodes[t.open[0]].bound)
			t.open = t.open[:0]
		}
		if len(t.open) == 0 {
			rest := max(t.stuck, t.spare)
			if w.proven = t.stuck <= w.enough(); w.proven && w.top() == 0 {
				rest = 0 // but for rounding errors
			}
			w.dual.bound = min(w.dual.bound, max(rest, w.top()))
			break
		}
		w.dual.bound = min(w.dual.bound, max(t.stuck, t.nodes[t.open[0]].bound))
		for n := t.pop(); n >= 0; {
			w.visit(n)
			n = w.expand(n)
		}
	}
	w.revert(0)
}

// visit makes the decisions that lead to node n, taking back those that do not.
func (w *workspace) visit(n int32) {
	t := &w.tree
	t.way = t.way[:0]
	for at := n; at > 0; at = t.nodes[at].parent {
		t.way = append(t.way, at)
	}
	same := 0
	for same < len(t.path) && same < len(t.way) && t.path[same] == t.way[len(t.way)-1-same] {
		same++
	}
	if same < len(t.path) {
		w.revert(t.marks[same])
		t.path, t.marks = t.path[:same], t.marks[:same]
	}
	for i := len(t.way) - 1 - same; i >= 0; i-- {
		at := t.way[i]
		t.path, t.marks = append(t.path, at), append(t.marks, len(w.node.undo))
		w.divide(t.nodes[at].c, t.nodes[at].side)
	}
}

// treeLoose is how exactly nodes are solved, as a part of what is left to prove.
const treeLoose = 0.05

// expand solves node n, at which the decisions are, and opens its two sides, but for the one it returns
// for going on with; -1 if there is none.
func (w *workspace) expand(n int32) int32 {
	t := &w.tree
	penalty := w.node.penalty
	bound, c := w.decided(n)
	if penalty != w.node.penalty {
		w.node.penalty = penalty
		w.repenalize()
	}
	if !w.over() {
		w.observe(&t.nodes[n], bound)
	}
	t.nodes[n].bound = bound
	switch {
	case w.over():
		t.push(n)
		return -1
	case bound <= w.enough():
		t.spare = max(t.spare, bound)
		return -1
	case c.job < 0 && c.running < 0:
		t.stuck = max(t.stuck, bound)
		return -1
	}
	depth := t.nodes[n].depth + 1
	next := int32(len(t.nodes))
	there, away := c.part, 1-c.part
	if c.first {
		there, away = away, there
	}
	t.nodes = append(t.nodes, branch{parent: n, depth: depth, c: c, side: c.first, bound: bound, unit: there},
		branch{parent: n, depth: depth, c: c, side: !c.first, bound: bound, unit: away})
	t.push(next + 1)
	return next
}

// decided solves node n and finds what to divide it by. Where the program still leans on what has been decided
// against, which shows in that it would have the same decided again or nothing, doing so is made dearer: that is the way
// to find out that nothing else is left.
func (w *workspace) decided(n int32) (bound float64, c division) {
	bound = w.tree.nodes[n].bound
	for _, loose := range [...]float64{treeLoose, 0, 0, 0, 0} {
		bound = min(bound, w.solveNode(maxRounds, loose))
		if w.over() || bound <= w.enough() {
			break
		}
		w.weigh()
		w.roundProgram()
		if c = w.division(); c.job < 0 && c.running < 0 {
			d, v := w.unsplit()
			switch {
			case v == impossible && d.job < 0 && d.running < 0:
				return math.Inf(-1), d
			case v == impossible && !w.tree.divided(n, d):
				return bound, d
			case bound <= w.enough():
				return bound, d
			}
			c = w.splitDivision()
		}
		none := c.job < 0 && c.running < 0
		switch {
		case none && loose > 0:
			continue
		case !none && !w.tree.divided(n, c):
			return bound, c
		}
		w.node.penalty *= 100
		w.repenalize()
	}
	return bound, division{job: -1, running: -1}
}

// divided says whether c has been decided already on the way to node n. Only rounding errors can bring it up
// again, and to decide it once more would not end.
func (t *tree) divided(n int32, c division) bool {
	for at := n; at > 0; at = t.nodes[at].parent {
		d := t.nodes[at].c
		d.first, d.part = c.first, c.part
		if d == c {
			return true
		}
	}
	return false
}

// search explores the node with at most that many decisions against the
// program's advice, each about a job's options up to a start or about a running job.
func (w *workspace) search(discrepancies int) {
	bound := w.solveNode(maxRounds, 0)
	if w.over() || bound <= w.enough() {
		return
	}
	w.weigh()
	w.roundProgram()
	c := w.division()
	if c.job < 0 && c.running < 0 {
		c = w.splitDivision()
	}
	if c.job < 0 && c.running < 0 {
		return
	}
	at := len(w.node.undo)
	for turn := 0; turn <= min(1, discrepancies) && bound > w.enough(); turn++ {
		w.divide(c, (turn == 0) == c.first)
		w.search(discrepancies - turn)
		w.revert(at)
	}
}

// division is what a node branches on: whether a job takes one of its options up
// to the given one, in the order of starts, or whether a running job is preempted.
type division struct {
	job, last, running int
	first              bool // which side the program leans to
	// With an entry of in.Part > 0, it is about whether option last has at least
	// that many tasks there; with only, about whether the job takes option last.
	entry int
	tasks float64
	only  bool
	part  float64 // how far the program goes to the true side
}

// division finds what is most undecided in the program for its value.
func (w *workspace) division() division {
	q, in, t := &w.node, &w.in, &w.tree
	c := division{job: -1, running: -1, entry: -1}
	most := 0.0
	for _, set := range w.lp.active {
		j := int(set)
		if k := j - len(in.P.Jobs); k >= 0 {
			y := w.lp.weight(w.runColumn(k))
			if q.fix[k] != 0 || min(y, 1-y) <= 1e-6 {
				continue
			}
			if s := t.costs.score(j, w.worth(j), 1-y, y); s > most {
				c, most = division{job: -1, running: k, entry: -1, first: y >= 0.5, part: y}, s
			}
			continue
		}
		for last := in.JobOpts[j]; last < in.JobOpts[j+1]; last++ {
			if z := q.weight[last]; z < 1e-6 || z > 1-1e-6 {
				continue
			}
			below := 0.0
			for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
				if w.upTo(o, last) {
					below += q.weight[o]
				}
			}
			if min(below, 1-below) <= 1e-6 {
				continue
			}
			if s := t.costs.score(j, w.worth(j), 1-below, below); s > most {
				c, most = division{job: j, last: last, running: -1, entry: -1, first: below >= 0.5, part: below}, s
			}
		}
	}
	return c
}

// splitDivision finds the placed job with the most undecided split: first whether
// it takes that option at all, then how many tasks go to one of its partitions.
func (w *workspace) splitDivision() division {
	q, in := &w.node, &w.in
	c := division{job: -1, running: -1, entry: -1}
	most := 1e-6
	for _, set := range w.lp.active {
		j := int(set)
		if j >= len(in.P.Jobs) {
			break
		}
		alive, pick := 0, -1
		for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
			if !w.dual.dead[o] {
				alive++
			}
			if q.weight[o] > 0.5 {
				pick = o
			}
		}
		if pick < 0 || !in.Opts[pick].Whole || !w.shares(pick) {
			continue
		}
		for i, v := range q.share[:in.Opts[pick].P1-in.Opts[pick].P0] {
			if part := v - math.Floor(v); min(part, 1-part) > most {
				most = min(part, 1-part)
				c = division{job: j, last: pick, running: -1, entry: in.Opts[pick].P0 + i, tasks: math.Floor(v) + 1, first: part >= 0.5}
				if c.only = !q.must[j] || alive > 1; c.only {
					c.entry, c.first = -1, true
				}
			}
		}
	}
	return c
}

// upTo says whether option o comes not after option last in the order of starts.
func (w *workspace) upTo(o, last int) bool {
	a, b := &w.in.Opts[o], &w.in.Opts[last]
	return a.Start < b.Start || (a.Start == b.Start && a.Index <= b.Index)
}

// divide decides c one way or the other.
func (w *workspace) divide(c division, side bool) {
	switch {
	case c.running >= 0:
		w.settleRun(c.running, side)
		return
	case c.entry >= 0 && side:
		w.confine(c.last, c.entry, c.tasks, true)
		return
	case c.entry >= 0:
		w.confine(c.last, c.entry, c.tasks-1, false)
		return
	case c.only && side:
		w.require(c.job, c.last)
		return
	case c.only:
		w.forbid(c.last)
		return
	}
	for o := w.in.JobOpts[c.job]; o < w.in.JobOpts[c.job+1]; o++ {
		if w.upTo(o, c.last) != side {
			w.forbid(o)
		}
	}
	if side {
		w.oblige(c.job)
	}
}
