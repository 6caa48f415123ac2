package reference

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/hedgesched/hedge/solver/milp"
)

// New returns the backend. It is deterministic unless a time limit ends the solve, keeps nothing between solves, and is
// safe for concurrent use.
func New() milp.Backend { return &backend{name: "reference"} }

// backend is used by pointer and is not empty, so that calls are counted per backend.
type backend struct{ name string }

// Name implements milp.Backend.
func (b *backend) Name() string { return b.name }

// Caps implements milp.Backend.
func (*backend) Caps() milp.Caps {
	return milp.Caps{Version: "1", Integer: true, Start: true, Incumbents: true, Nodes: true, Log: true}
}

// Solve implements milp.Backend.
func (*backend) Solve(ctx context.Context, m *milp.Model, opts milp.Options) (*milp.Result, error) {
	began := time.Now()
	inner, cancel := ctx, context.CancelFunc(func() {})
	if opts.Time > 0 {
		inner, cancel = context.WithTimeout(ctx, opts.Time)
	}
	defer cancel()
	s := newSearch(inner, m, opts)
	setUp := time.Since(began)
	s.log("%d variables, %d rows, %d integers", m.Vars(), m.Rows(), m.Integers())
	s.start()
	s.run()
	if s.stop == milp.StopTime {
		s.stop = milp.StopOf(ctx.Err())
	}
	res := &milp.Result{Stop: s.stop, X: s.best, Bound: milp.NoBound(m), Raw: "reference: " + string(s.stop),
		Nodes: s.nodes, Iterations: s.iterations, Start: s.startUse, SetUp: setUp}
	if res.X != nil {
		res.Objective = m.Objective(res.X)
	}
	if s.stop != milp.StopInfeasible && s.stop != milp.StopUnbounded {
		res.Bound = s.bound()
	}
	s.log("%s: objective %v, bound %v, %d nodes", s.stop, res.Objective, res.Bound, s.nodes)
	return res, nil
}

// search is a depth-first branch and bound. Internally, every objective is minimised.
type search struct {
	ctx          context.Context
	m            *milp.Model
	opts         milp.Options
	program      *program
	lower, upper []float64 // rounded inwards for integer variables
	open         []node    // a stack

	best       []float64 // nil without a point
	value      float64   // best's
	pruned     float64   // the smallest bound of what was cut off
	doubtful   bool      // a point was lost to rounding
	stop       milp.Stop
	startUse   milp.StartUse
	nodes      int64
	iterations int64
}

// node is a part of the box: its parent's with one bound moved.
type node struct {
	parent       *node
	variable     int
	lower, upper float64
	bound        float64 // its parent's relaxation
}

func newSearch(ctx context.Context, m *milp.Model, opts milp.Options) *search {
	s := &search{ctx: ctx, m: m, opts: opts, program: newProgram(m), value: math.Inf(1), pruned: math.Inf(1)}
	lower, upper := m.Bounds()
	s.lower, s.upper = append(s.lower, lower...), append(s.upper, upper...)
	for j := range s.lower {
		if m.Var(j).Integer {
			s.lower[j], s.upper[j] = math.Ceil(lower[j]-1e-9), math.Floor(upper[j]+1e-9)
		}
	}
	return s
}

// run searches until it has finished or reached a limit, and sets stop.
func (s *search) run() {
	s.open = append(s.open, node{variable: -1, bound: math.Inf(-1)})
	for len(s.open) > 0 {
		n := &s.open[len(s.open)-1]
		if s.closed(n.bound) {
			s.pruned = math.Min(s.pruned, n.bound)
			s.open = s.open[:len(s.open)-1]
			continue
		}
		if s.ctx.Err() != nil {
			s.stop = milp.StopTime
			return
		}
		if s.opts.Nodes > 0 && s.nodes >= s.opts.Nodes {
			s.stop = milp.StopNodes
			return
		}
		if !s.explore(*n) {
			return
		}
	}
	s.stop = milp.StopOptimal
	switch {
	case s.doubtful && (s.best == nil || !s.closed(s.least())):
		s.stop = milp.StopOther
	case s.best == nil:
		s.stop = milp.StopInfeasible
	}
}

// explore solves the last open node's relaxation and replaces the node by its children. It reports false if the search
// ends.
func (s *search) explore(n node) bool {
	lower, upper := n.box(s.lower, s.upper)
	end, lp := s.program.solve(s.ctx, lower, upper)
	s.iterations += lp.iterations
	switch end {
	case interrupted:
		s.stop = milp.StopTime
		return false
	case unbounded:
		s.unbounded()
		return false
	case stuck:
		s.stop = milp.StopOther
		return false
	}
	s.nodes++
	s.open = s.open[:len(s.open)-1]
	if end == infeasible {
		return true
	}
	x := lp.x[:s.m.Vars():s.m.Vars()]
	bound := math.Max(n.bound, s.minimised(x))
	j := s.fractional(x)
	if j < 0 {
		s.doubtful = !s.offer(x, bound) || s.doubtful
		s.pruned = math.Min(s.pruned, bound)
		return true
	}
	n.bound = bound
	down := node{parent: &n, variable: j, lower: lower[j], upper: math.Floor(x[j]), bound: bound}
	up := node{parent: &n, variable: j, lower: math.Ceil(x[j]), upper: upper[j], bound: bound}
	if x[j]-math.Floor(x[j]) > 0.5 {
		s.open = append(s.open, down, up)
	} else {
		s.open = append(s.open, up, down)
	}
	return true
}

// unbounded handles an unbounded relaxation: with a point the model is unbounded, since its numbers are rational, and
// without one it is infeasible.
func (s *search) unbounded() {
	s.open = s.open[:0]
	if s.best == nil && s.m.Integers() > 0 {
		points := s.m.Clone()
		points.Offset = 0
		for j := range points.Vars() {
			v := points.Var(j)
			v.Cost = 0
			points.SetVar(j, v)
		}
		sub := newSearch(s.ctx, points, milp.Options{})
		sub.run()
		s.nodes, s.iterations = s.nodes+sub.nodes, s.iterations+sub.iterations
		s.best = sub.best
		if sub.stop != milp.StopOptimal {
			s.pruned = math.Inf(-1)
			s.stop = sub.stop
			return
		}
	}
	s.stop = milp.StopUnbounded
}

// box is n's bounds, in new slices.
func (n *node) box(lower, upper []float64) (l, u []float64) {
	l, u = append(l, lower...), append(u, upper...)
	for ; n != nil && n.variable >= 0; n = n.parent {
		l[n.variable], u[n.variable] = math.Max(l[n.variable], n.lower), math.Min(u[n.variable], n.upper)
	}
	return l, u
}

// fractional is the integer variable farthest from a whole number, -1 if all are whole.
func (s *search) fractional(x []float64) int {
	at, most := -1, 1e-7
	for j, v := range x {
		if d := math.Abs(v - math.Round(v)); d > most && s.m.Var(j).Integer {
			at, most = j, d
		}
	}
	return at
}

// minimised is x's objective, negated if the model maximises.
func (s *search) minimised(x []float64) float64 {
	if s.m.Maximize {
		return -s.m.Objective(x)
	}
	return s.m.Objective(x)
}

// offer makes x the best point if it is better.
func (s *search) offer(x []float64, bound float64) bool {
	x = append([]float64{}, x...)
	for j, v := range x {
		if s.m.Var(j).Integer {
			x[j] = math.Round(v)
		}
	}
	value := s.minimised(x)
	if milp.Check(s.m, x) != nil {
		return false
	}
	if value >= s.value {
		return true
	}
	s.best, s.value = x, value
	s.log("point %v after %d nodes", s.m.Objective(x), s.nodes)
	if s.opts.Incumbent != nil {
		s.opts.Incumbent(
			milp.Point{X: append([]float64{}, x...), Objective: s.m.Objective(x), Bound: s.turned(math.Min(bound, s.least()))})
	}
	return true
}

// closed reports whether no point above bound is better than the best point by more than the gap.
func (s *search) closed(bound float64) bool {
	if s.best == nil || math.IsInf(bound, -1) {
		return false
	}
	away := s.value - bound
	return away <= float64(1e-9*math.Max(1, math.Abs(s.value))) ||
		away <= float64(s.opts.TargetGap()*math.Max(math.Abs(bound), 1e-9))
}

// least is a lower bound on all points.
func (s *search) least() float64 {
	least := math.Min(s.pruned, s.value)
	for i := range s.open {
		least = math.Min(least, s.open[i].bound)
	}
	return least
}

// bound is least in the model's own sense.
func (s *search) bound() float64 { return s.turned(s.least()) }

func (s *search) turned(v float64) float64 {
	if s.m.Maximize {
		return -v
	}
	return v
}

// start tries the start as it is, or with its integer variables fixed.
func (s *search) start() {
	if len(s.opts.Start) == 0 {
		return
	}
	s.startUse = milp.StartRejected
	if milp.Check(s.m, s.opts.Start) == nil {
		if s.offer(s.opts.Start, math.Inf(-1)) {
			s.startUse = milp.StartAccepted
			return
		}
	}
	lower, upper := append([]float64{}, s.lower...), append([]float64{}, s.upper...)
	held := false
	for j, v := range s.opts.Start {
		if s.m.Var(j).Integer && !math.IsNaN(v) {
			lower[j], upper[j] = math.Max(lower[j], math.Round(v)), math.Min(upper[j], math.Round(v))
			held = true
		}
	}
	if !held {
		return
	}
	end, lp := s.program.solve(s.ctx, lower, upper)
	s.iterations += lp.iterations
	if x := lp.x[:s.m.Vars()]; end == optimal && s.fractional(x) < 0 && s.offer(x, math.Inf(-1)) {
		s.startUse = milp.StartAccepted
	}
}

func (s *search) log(format string, args ...any) {
	if s.opts.Log != nil {
		s.opts.Log(fmt.Sprintf(format, args...))
	}
}
