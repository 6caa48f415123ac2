package milp

import (
	"container/heap"
	"math"
)

// search is a branch and bound on the linear relaxations. It begins with the dives' best point. From each node it goes
// to the child whose side is nearer to the relaxation's point. At the end of a path it goes to the open node with the
// best bound.
type search struct {
	*diver
	open open
	// settled is the best bound of dropped nodes that may still have better points than the best one.
	settled float64
	gains   []gain // by variable
	made    int    // number of nodes
	failed  int    // number of relaxations that the backend failed to solve
}

// node is a subproblem: its parent's, with the bounds of one variable narrowed.
type node struct {
	parent       *node
	j            int
	lower, upper float64
	bound        float64 // of the parent's relaxation
	number       int
	up           bool
	off          float64 // the distance of j from its new bound
}

// endless is the maximum number of linear programs without a time limit. failures is the number of them that may fail.
const (
	endless  = 500
	failures = 3
)

// gain is the loss of the relaxation per unit by which a variable was moved down and up, as sums and counts.
type gain struct{ down, up, downs, ups float64 }

// improve searches from x, the relaxation's optimum.
func (d *diver) improve(x []float64) {
	s := &search{diver: d, settled: -NoBound(d.m), gains: make([]gain, d.m.Vars())}
	s.open.m = d.m
	_, limited := d.ctx.Deadline()
	s.branch(nil, x, d.res.Bound)
	for !d.over() && s.failed <= failures && (limited || d.res.Nodes < endless) && s.open.Len() > 0 {
		s.plunge(heap.Pop(&s.open).(*node))
		s.prove()
	}
	if !d.over() && s.open.Len() == 0 && s.failed == 0 && d.res.X == nil && s.settled == -NoBound(d.m) {
		d.res.Stop = StopInfeasible
	}
}

// plunge solves n, and then one child after the other.
func (s *search) plunge(n *node) {
	for n != nil && !s.over() {
		n = s.node(n)
	}
	if n != nil {
		heap.Push(&s.open, n)
	}
}

// node solves n and returns the child to solve next, nil if there is none.
func (s *search) node(n *node) *node {
	if s.cut(n.bound) || !s.enter(n) {
		return nil
	}
	res, err := s.relax()
	switch {
	case s.ctx.Err() != nil:
		s.settle(n.bound)
		return nil
	case err == nil && res.Stop == StopInfeasible:
		return nil
	case err != nil || res.Stop != StopOptimal || res.X == nil:
		s.failed++
		s.settle(n.bound)
		return nil
	}
	bound := n.bound
	if Better(s.m, bound, res.Bound) {
		bound = res.Bound
	}
	s.learn(n, res.Objective)
	if s.cut(bound) {
		return nil
	}
	return s.branch(n, res.X, bound)
}

// cut reports whether a node with that bound is useless: it has no better point, or none that is better by more than
// the requested gap.
func (s *search) cut(bound float64) bool {
	if s.res.X == nil {
		return false
	}
	if Better(s.m, bound, s.res.Objective) {
		r := Result{X: s.res.X, Objective: s.res.Objective, Bound: bound}
		if r.Gap() > math.Max(s.opts.TargetGap(), 1e-9) {
			return false
		}
		s.settle(bound)
	}
	return true
}

// settle keeps the bound of a dropped node.
func (s *search) settle(bound float64) {
	if s.settled == -NoBound(s.m) || Better(s.m, bound, s.settled) {
		s.settled = bound
	}
}

// enter narrows the domains to n's. It reports false if nothing is left.
func (s *search) enter(n *node) bool {
	s.dom.undo(0)
	for ; n != nil; n = n.parent {
		lower, upper := math.Max(n.lower, s.dom.lower[n.j]), math.Min(n.upper, s.dom.upper[n.j])
		if lower > upper {
			return false
		}
		s.dom.set(n.j, lower, upper)
	}
	return s.dom.propagate()
}

// branch keeps x, the optimum of n's relaxation, if its integers are whole, and otherwise divides n. It returns the
// child to go on with.
func (s *search) branch(n *node, x []float64, bound float64) *node {
	j := s.choose(x)
	if j < 0 {
		if s.finish(x); !s.cut(bound) {
			s.settle(bound) // rounding gave no point, or a worse one
		}
		return nil
	}
	if s.made%8 == 0 {
		s.complete(x)
	}
	down, up := s.child(n, j, x[j], bound, false), s.child(n, j, x[j], bound, true)
	next, other := down, up
	if first, _ := s.sides(j, x[j]); first > x[j] {
		next, other = up, down
	}
	heap.Push(&s.open, other)
	if n == nil {
		heap.Push(&s.open, next)
		return nil
	}
	return next
}

// child is n with j, whose value is v, moved down or up.
func (s *search) child(n *node, j int, v, bound float64, up bool) *node {
	s.made++
	c := &node{parent: n, j: j, lower: math.Inf(-1), upper: math.Floor(v), bound: bound, number: s.made, up: up,
		off: v - math.Floor(v)}
	if up {
		c.lower, c.upper, c.off = math.Ceil(v), math.Inf(1), math.Ceil(v)-v
	}
	return c
}

// choose is the integer to branch on: the one that is expected to cost the relaxation most on both sides; -1 if all are
// whole.
func (s *search) choose(x []float64) int {
	var all gain
	for _, g := range s.gains {
		all = gain{all.down + g.down, all.up + g.up, all.downs + g.downs, all.ups + g.ups}
	}
	best, most := -1, 0.0
	for j, whole := range s.m.integer {
		off := math.Abs(x[j] - math.Round(x[j]))
		if !whole || off <= IntegerTolerance {
			continue
		}
		below := x[j] - math.Floor(x[j])
		g := s.gains[j]
		down := float64(below * average(g.down, g.downs, all.down, all.downs))
		up := float64((1 - below) * average(g.up, g.ups, all.up, all.ups))
		if score := float64(math.Max(down, 1e-6) * math.Max(up, 1e-6)); best < 0 || score > most {
			best, most = j, score
		}
	}
	return best
}

// average is the variable's average if it has one, otherwise that of all variables, and otherwise 1.
func average(sum, count, all, counts float64) float64 {
	switch {
	case count > 0:
		return sum / count
	case counts > 0:
		return all / counts
	}
	return 1
}

// learn records the loss of n's relaxation compared with its parent's.
func (s *search) learn(n *node, objective float64) {
	lost := float64(math.Abs(n.bound-objective) / math.Max(n.off, 1e-6))
	if !Better(s.m, n.bound, objective) || math.IsInf(lost, 0) {
		lost = 0
	}
	if g := &s.gains[n.j]; n.up {
		g.up, g.ups = g.up+lost, g.ups+1
	} else {
		g.down, g.downs = g.down+lost, g.downs+1
	}
}

// prove puts what is known of all nodes into the result.
func (s *search) prove() {
	bound := s.settled
	if s.open.Len() > 0 && (bound == -NoBound(s.m) || Better(s.m, s.open.nodes[0].bound, bound)) {
		bound = s.open.nodes[0].bound
	}
	if s.res.X != nil && (bound == -NoBound(s.m) || Better(s.m, s.res.Objective, bound)) {
		bound = s.res.Objective
	}
	if bound != -NoBound(s.m) && Better(s.m, s.res.Bound, bound) {
		s.res.Bound = bound
	}
	if s.res.X != nil && s.res.Gap() <= s.opts.TargetGap() {
		s.res.Stop = StopOptimal
	}
}

// open is the heap of open nodes: the best bound first, and among equals the newest.
type open struct {
	m     *Model
	nodes []*node
}

func (o *open) Len() int { return len(o.nodes) }

func (o *open) Less(a, b int) bool {
	x, y := o.nodes[a], o.nodes[b]
	if x.bound != y.bound {
		return Better(o.m, x.bound, y.bound)
	}
	return x.number > y.number
}

func (o *open) Swap(a, b int) { o.nodes[a], o.nodes[b] = o.nodes[b], o.nodes[a] }

func (o *open) Push(n any) { o.nodes = append(o.nodes, n.(*node)) }

func (o *open) Pop() any {
	last := len(o.nodes) - 1
	n := o.nodes[last]
	o.nodes[last] = nil
	o.nodes = o.nodes[:last]
	return n
}
