package clp

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/internal/duality"
	"github.com/hedgesched/hedge/solver/milp/internal/unbounded"
)

// New makes a backend for linear programs. It has no state and is safe for concurrent use: every solve has its own
// model in the library. Two backends differ only in one way: while an abandoned call goes on, milp.Solve refuses that
// backend alone. Models with integer variables are [milp.ErrUnsupported]; see [milp.Diving].
func New() milp.Backend { return new(backend) }

// NewMethod is [New] with a given method. An unknown one counts as Automatic.
func NewMethod(method Method) milp.Backend {
	if method < Automatic || method > Primal {
		method = Automatic
	}
	return &backend{method}
}

// Method is how a linear program is solved.
type Method int

// Automatic lets Clp choose. The others are the dual and the primal simplex method. The interior point method is not
// offered, since Clp 1.17.6 ends the process ("dual off to infinity") on some models without an optimum.
const (
	Automatic Method = iota
	Dual
	Primal
)

// backend is not empty, since pointers to empty structures may be equal.
type backend struct{ method Method }

// Name implements milp.Backend.
func (*backend) Name() string { return "clp" }

// Caps says that it takes no integer variables and may be late: presolve and factorisations of large models cannot be
// interrupted.
func (*backend) Caps() milp.Caps { return milp.Caps{Version: version(), Deaf: true} }

// status is Clp's status.
type status int

const (
	optimal          status = 0
	primalInfeasible status = 1
	dualInfeasible   status = 2
	limit            status = 3
	failed           status = 4
	ended            status = 5
)

func (s status) String() string {
	names := [...]string{"optimal", "primal infeasible", "dual infeasible", "stopped on iterations or time",
		"stopped due to errors", "stopped by event"}
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("status %d", int(s))
	}
	return names[s]
}

// Solve solves m, which must be valid. Of opts it uses Time. When time or ctx ends, it returns the current point if
// that is feasible.
func (b *backend) Solve(ctx context.Context, m *milp.Model, opts milp.Options) (*milp.Result, error) {
	began := time.Now()
	if err := fits(m); err != nil {
		return nil, err
	}
	if opts.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, opts.Time)
		defer cancel()
	}
	res := &milp.Result{Bound: milp.NoBound(m), Nodes: -1, Iterations: -1}
	if ctx.Err() != nil {
		res.Stop = milp.StopOf(ctx.Err())
		return res, nil
	}
	if err := solve(ctx, m, b.method, began, res); err != nil {
		return nil, err
	}
	if doubtful(m, res) {
		return res, unbounded.Settle(m, res, func(other *milp.Model) (*milp.Result, error) {
			again := &milp.Result{Bound: milp.NoBound(other), Nodes: -1}
			return again, solve(ctx, other, Automatic, time.Now(), again)
		})
	}
	return res, nil
}

// doubtful reports whether m may be unbounded although res says otherwise. Clp 1.17.6 calls one in seventeen small
// unbounded models infeasible, and a few optimal.
func doubtful(m *milp.Model, res *milp.Result) bool {
	return (res.Stop == milp.StopInfeasible || res.Raw == unproven) && unbounded.Possible(m)
}

// solve runs Clp on m and stores the outcome in res.
func solve(ctx context.Context, m *milp.Model, method Method, began time.Time, res *milp.Result) error {
	s, err := newSimplex()
	if err != nil {
		return err
	}
	defer s.free()
	if err := s.load(m); err != nil {
		return err
	}
	res.SetUp = time.Since(began)
	got, err := s.solve(ctx, method)
	if err == nil {
		s.settle(ctx, m, got, res)
	}
	return err
}

// fits returns an error if m is too large for C's int.
func fits(m *milp.Model) error {
	if n := m.Integers(); n > 0 {
		return fmt.Errorf("%w: %d integer variables", milp.ErrUnsupported, n)
	}
	if n := max(m.Vars(), m.Rows(), m.Entries()); n > math.MaxInt32 {
		return fmt.Errorf("%w: %d variables, rows or entries, at most %d", milp.ErrUnsupported, n, math.MaxInt32)
	}
	return nil
}

// unproven is Result.Raw of an optimum that is not trusted.
const unproven = "optimal, but the point or the prices are too far off"

// settle stores what s found in res. An optimum is trusted if the rows' dual values prove it.
func (s *simplex) settle(ctx context.Context, m *milp.Model, got status, res *milp.Result) {
	res.Raw, res.Iterations = got.String(), s.iterations()
	x := s.point()
	whole := milp.Check(m, x) == nil
	switch got {
	case optimal:
		res.Stop = milp.StopOptimal
		proven := false
		if proven, res.Bound = duality.Proves(m, x, s.duals()); !whole || !proven {
			res.Stop, res.Raw = milp.StopOther, unproven
		}
	case primalInfeasible:
		res.Stop = milp.StopInfeasible
		return
	case dualInfeasible:
		res.Stop = milp.StopUnbounded
	case ended:
		res.Stop = milp.StopOf(ctx.Err())
	default:
		res.Stop = milp.StopOther
	}
	if whole {
		res.X = x
	}
}
