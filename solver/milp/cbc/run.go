//go:build cgo

package cbc

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/internal/duality"
	"github.com/hedgesched/hedge/solver/milp/internal/unbounded"
)

// run is one call of Solve.
type run struct {
	m     *milp.Model
	opts  milp.Options
	sign  float64 // -1 if m maximises: the library always minimises
	began time.Time
	setUp time.Duration

	x         []float64 // the best point so far
	objective float64
	start     milp.StartUse
}

func (r *run) solve(ctx context.Context) (*milp.Result, error) {
	p, err := newProblem(r.m)
	if err != nil {
		return nil, err
	}
	r.setUp = time.Since(r.began)
	if p.integers > 0 {
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-ctx.Done():
		}
	}
	return r.within(ctx, p)
}

// within solves p. The caller holds the turn.
func (r *run) within(ctx context.Context, p *problem) (*milp.Result, error) {
	r.sign = p.sign
	r.begin(ctx, p)
	if err := ctx.Err(); err != nil {
		return r.result(milp.StopOf(err), milp.NoBound(r.m), "stopped before it began"), nil
	}
	out, err := p.call(ctx, r.callOptions())
	if err != nil {
		return nil, err
	}
	r.setUp += out.setUp
	return r.settle(ctx, p, out)
}

// settle converts the library's answer to a result.
func (r *run) settle(ctx context.Context, p *problem, out *outcome) (*milp.Result, error) {
	if err := r.take(ctx, p, out); err != nil {
		return nil, err
	}
	bound := float64(r.sign*out.bound) + r.m.Offset
	if r.x != nil && milp.Better(r.m, r.objective, bound) {
		bound = r.objective
	}
	res := r.result(milp.StopOther, bound, out.raw)
	res.Nodes, res.Iterations = out.nodes, out.iterations
	switch out.kind {
	case kindOptimal:
		res.Stop = milp.StopOptimal
		if out.y != nil && !r.proven(out.y) {
			res.Stop, res.Bound, res.Raw = milp.StopOther, milp.NoBound(r.m), res.Raw+", but the prices do not prove it"
			return r.pointless(ctx, res, out.kind)
		}
	case kindInfeasible, kindUnbounded:
		res.Bound = milp.NoBound(r.m)
		return r.pointless(ctx, res, out.kind)
	case kindNodes:
		res.Stop = milp.StopNodes
	case kindStopped:
		res.Stop = milp.StopOf(ctx.Err())
	}
	return res, nil
}

// take keeps the library's last point if it is feasible. A stopped solve may leave an infeasible one.
func (r *run) take(ctx context.Context, p *problem, out *outcome) error {
	if out.x == nil {
		return nil
	}
	if x := p.tidy(out.x); milp.Check(r.m, x) == nil {
		r.offer(x)
		return nil
	} else if out.kind != kindOptimal {
		return nil
	}
	if x := p.completed(ctx, out.x); x != nil && p.integers > 0 {
		r.offer(x)
	} else if r.x == nil {
		return fmt.Errorf("%w: its point breaks the model: %w", milp.ErrBackend, milp.Check(r.m, out.x))
	}
	return nil
}

// pointless finds out what the model is if no optimum is proven; res has StopOther. Presolve confuses infeasible and
// unbounded models, and an unbounded relaxation says nothing about whole numbers.
func (r *run) pointless(ctx context.Context, res *milp.Result, kind int) (*milp.Result, error) {
	if !unbounded.Possible(r.m) {
		if kind != kindOptimal && r.x == nil { // or the start is feasible only within the tolerance
			res.Stop = milp.StopInfeasible
		}
		return res, nil
	}
	switch kind {
	case kindInfeasible:
		res.Stop = milp.StopInfeasible
	case kindUnbounded:
		res.Stop = milp.StopInfeasibleOrUnbounded
	}
	return res, unbounded.Settle(r.m, res, func(m *milp.Model) (*milp.Result, error) {
		p, err := newProblem(m)
		if err != nil {
			return nil, err
		}
		again := &run{m: m, opts: milp.Options{Gap: 1, Nodes: r.opts.Nodes, Seed: r.opts.Seed, Log: r.opts.Log},
			began: time.Now()}
		return again.within(ctx, p)
	})
}

// proven reports whether the library's dual values prove that the best point is optimal. CLP calls a few in ten
// thousand small unbounded linear programs optimal.
func (r *run) proven(y []float64) bool {
	if r.x == nil {
		return false
	}
	for i := range y {
		y[i] *= r.sign
	}
	optimal, _ := duality.Proves(r.m, r.x, y)
	return optimal
}

// offer keeps x if it is the best so far, and reports whether it is. x must not be modified afterwards.
func (r *run) offer(x []float64) bool {
	objective := r.m.Objective(x)
	if r.x != nil && !milp.Better(r.m, objective, r.objective) {
		return false
	}
	r.x, r.objective = x, objective
	return true
}

// tell reports an incumbent.
func (r *run) tell(x []float64, bound float64) {
	if milp.Check(r.m, x) != nil || !r.offer(x) {
		return
	}
	if r.opts.Incumbent != nil {
		r.opts.Incumbent(milp.Point{X: x, Objective: r.objective, Bound: bound})
	}
}

func (r *run) result(stop milp.Stop, bound float64, raw string) *milp.Result {
	return &milp.Result{Stop: stop, X: r.x, Objective: r.objective, Bound: bound, Raw: raw, Nodes: -1, Iterations: -1,
		Start: r.start, SetUp: r.setUp, Wall: time.Since(r.began)}
}

// callOptions are the options of one call of the library.
func (r *run) callOptions() callOptions {
	o := callOptions{gap: r.opts.TargetGap(), offset: float64(r.sign * r.m.Offset), known: math.Inf(1), nodes: -1,
		log: r.opts.Log}
	if r.x != nil {
		o.known = float64(r.sign * (r.objective - r.m.Offset))
	}
	if r.opts.Nodes > 0 {
		o.nodes = int(min(r.opts.Nodes, math.MaxInt32))
	}
	if r.opts.Seed != 0 {
		o.seed = 1 + int(uint64(r.opts.Seed)%(math.MaxInt32-1))
	}
	o.point = func(x []float64, bound float64) {
		r.tell(x, float64(r.sign*bound)+r.m.Offset)
	}
	return o
}

// begin makes the start the best point.
func (r *run) begin(ctx context.Context, p *problem) {
	if len(r.opts.Start) == 0 {
		return
	}
	r.start = milp.StartRejected
	x := p.completed(ctx, r.opts.Start)
	if x == nil {
		return
	}
	r.start = milp.StartAccepted
	r.tell(x, milp.NoBound(r.m))
}
