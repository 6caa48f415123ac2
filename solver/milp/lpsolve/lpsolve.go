package lpsolve

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/draffensperger/golp"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/internal/unbounded"
)

// New makes the backend. It has no state and no settings, and is safe for concurrent use: every solve has its own model
// in the library. Two backends differ only in one way: while an abandoned call goes on, milp.Solve refuses that backend
// alone.
func New() milp.Backend { return new(backend) }

// backend is not empty, since pointers to empty structures may be equal.
type backend struct{ _ byte }

// Name implements milp.Backend.
func (*backend) Name() string { return "lpsolve" }

// Caps says what lp_solve can do with this package's callbacks.
func (*backend) Caps() milp.Caps {
	return milp.Caps{Version: version(), Integer: true, Incumbents: true, Nodes: true, Log: true, Deaf: true}
}

// Solve solves m, which must be valid. Of opts it uses Time, Gap, Nodes, Log and Incumbent. ctx ends it, too.
func (*backend) Solve(ctx context.Context, m *milp.Model, opts milp.Options) (*milp.Result, error) {
	began := time.Now()
	if n := max(m.Vars(), m.Rows(), m.Entries()); n > math.MaxInt32 {
		return nil, fmt.Errorf("%w: %d variables, rows or entries, at most %d", milp.ErrUnsupported, n, math.MaxInt32)
	}
	inner := ctx
	if opts.Time > 0 {
		var cancel context.CancelFunc
		inner, cancel = context.WithTimeout(ctx, opts.Time)
		defer cancel()
	}
	res := &milp.Result{Bound: milp.NoBound(m), Nodes: -1, Iterations: -1}
	if inner.Err() != nil {
		res.Stop = milp.StopOf(ctx.Err())
		return res, nil
	}
	if err := solve(ctx, inner, m, opts, began, res); err != nil {
		return nil, err
	}
	if doubtful(m, res) {
		return res, unbounded.Settle(m, res, func(other *milp.Model) (*milp.Result, error) {
			again := &milp.Result{Bound: milp.NoBound(other)}
			return again, solve(ctx, inner, other, milp.Options{}, time.Now(), again)
		})
	}
	return res, nil
}

// doubtful reports whether m may be unbounded although res says otherwise. lp_solve 5.5.2.5 calls a few in a thousand
// small unbounded models infeasible, and fails on a few more.
func doubtful(m *milp.Model, res *milp.Result) bool {
	return res.Raw != golp.OPTIMAL.String() && (res.Stop == milp.StopInfeasible || res.Stop == milp.StopOther) &&
		unbounded.Possible(m)
}

// solve runs lp_solve on m and stores the outcome in res. inner is ctx with the time limit.
func solve(ctx, inner context.Context, m *milp.Model, opts milp.Options, began time.Time, res *milp.Result) error {
	p, err := newProgram(m, opts)
	if err != nil {
		return err
	}
	defer p.free()
	if err := p.load(); err != nil {
		return err
	}
	res.SetUp = time.Since(began)
	p.settle(ctx, p.solve(inner), res)
	return nil
}

// settle stores what p found in res.
func (p *program) settle(ctx context.Context, got golp.SolutionType, res *milp.Result) {
	res.Raw, res.Nodes, res.Iterations = got.String(), p.nodes(), p.iterations()
	switch {
	case got == golp.OPTIMAL:
		p.optimal(p.lp.Variables(), res)
		return
	case got == golp.INFEASIBLE:
		res.Stop = milp.StopInfeasible
		return
	case got == golp.UNBOUNDED:
		res.Stop, res.X = milp.StopUnbounded, p.best
		if p.m.Integers() > 0 { // the relaxation is unbounded
			res.Stop = milp.StopInfeasibleOrUnbounded
		}
		return
	case p.watch.enough != 0:
		res.Stop = milp.StopOptimal
	case p.watch.counted != 0:
		res.Stop = milp.StopNodes
	case p.watch.stop != 0:
		res.Stop = milp.StopOf(ctx.Err())
	default:
		res.Stop = milp.StopOther
	}
	res.X, res.Bound = p.best, p.bound()
}

// endlessly is the size from which a value is infinite: lp_solve's infinity is 1e30, and something may have been added
// to it.
const endlessly = 1e20

// infinite reports whether x has infinite values, which is how lp_solve reports most unbounded models.
func (p *program) infinite(x []float64) bool {
	return slices.ContainsFunc(x, func(v float64) bool { return math.Abs(v) >= endlessly })
}

// optimal stores an optimal x in res.
func (p *program) optimal(x []float64, res *milp.Result) {
	if p.infinite(x) {
		res.Stop = milp.StopInfeasibleOrUnbounded
		return
	}
	p.improved(x)
	res.X = p.best
	if err := milp.Check(p.m, x); err != nil {
		res.Stop, res.Bound, res.Raw = milp.StopOther, p.bound(), "OPTIMAL, but "+err.Error()
		return
	}
	res.Stop, res.Bound = milp.StopOptimal, p.m.Objective(res.X)
}
