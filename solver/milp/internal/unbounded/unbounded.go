// Package unbounded is for backends whose solvers confuse infeasible and unbounded models. It finds out which of the
// two a model is by having the solver solve related models that are neither. It solves nothing itself.
package unbounded

import (
	"math"

	"github.com/hedgesched/hedge/solver/milp"
)

// Possible reports whether m has a variable that can improve the objective without limit on its way to infinity.
// Otherwise m is not unbounded.
func Possible(m *milp.Model) bool {
	for j := range m.Vars() {
		v := m.Var(j)
		if milp.Better(m, v.Cost, 0) && math.IsInf(v.Upper, 1) || milp.Better(m, -v.Cost, 0) && math.IsInf(v.Lower, -1) {
			return true
		}
	}
	return false
}

// Settle corrects res, a solver's answer to m, which says that m is infeasible, unbounded or one of the two, or that
// the solver has failed.
//
// If res has no point, the model without costs shows whether m has one. If m has points and res says that it is then
// unbounded, it is. If res says otherwise, m is unbounded if there is a direction in which points improve without
// limit. again solves a model within what is left of the limits.
//
// Afterwards, an infeasible m has StopInfeasible, and an unbounded one StopUnbounded and a point. If the answer could
// not be found, StopInfeasibleOrUnbounded stays. Otherwise the reason is that of again, or StopOther if m is neither.
func Settle(m *milp.Model, res *milp.Result, again func(*milp.Model) (*milp.Result, error)) error {
	res.Bound = milp.NoBound(m)
	claimed := res.Stop == milp.StopUnbounded || res.Stop == milp.StopInfeasibleOrUnbounded
	if res.X == nil {
		point, err := again(costless(m))
		if err != nil {
			return err
		}
		count(res, "without costs", point)
		switch {
		case point.X != nil && milp.Check(m, point.X) == nil:
			res.X, res.Objective = point.X, m.Objective(point.X)
		case claimed && point.Stop != milp.StopInfeasible:
			res.Stop = milp.StopInfeasibleOrUnbounded
			return nil
		default:
			res.Stop = point.Stop
			return nil
		}
	}
	if claimed {
		res.Stop = milp.StopUnbounded
		return nil
	}
	return improve(m, res, again)
}

// improve finds out, for an m with points, whether there is a direction in which they improve without limit.
func improve(m *milp.Model, res *milp.Result, again func(*milp.Model) (*milp.Result, error)) error {
	towards := directions(m)
	direction, err := again(towards)
	if err != nil {
		return err
	}
	count(res, "directions", direction)
	switch {
	case direction.X != nil && math.Abs(towards.Objective(direction.X)) > milp.Tolerance:
		res.Stop = milp.StopUnbounded
	case direction.X != nil && direction.Stop == milp.StopOptimal:
		res.Stop = milp.StopOther
	default:
		res.Stop = direction.Stop
	}
	return nil
}

// count adds another solve's counts and text to res.
func count(res *milp.Result, what string, other *milp.Result) {
	res.Raw += "; " + what + ": " + other.Raw
	res.Nodes = sum(res.Nodes, other.Nodes)
	res.Iterations = sum(res.Iterations, other.Iterations)
}

// sum is -1 if one of the counts is unknown.
func sum(a, b int64) int64 {
	if a < 0 || b < 0 {
		return -1
	}
	return a + b
}

// costless is m without costs.
func costless(m *milp.Model) *milp.Model {
	c := m.Clone()
	for j := range c.Vars() {
		v := c.Var(j)
		v.Cost = 0
		c.SetVar(j, v)
	}
	return c
}

// directions is the model of the directions in which m's relaxation is unlimited, cut to a box. Its optimum is zero, or
// a direction in which the relaxation is unbounded. In that case m is unbounded, too, if it has a point and its numbers
// are rational.
func directions(m *milp.Model) *milp.Model {
	d := &milp.Model{Maximize: m.Maximize}
	d.Grow(m.Vars(), m.Rows(), m.Entries())
	for j := range m.Vars() {
		v := m.Var(j)
		d.AddVar(milp.Var{Lower: recession(v.Lower, 1), Upper: recession(v.Upper, 1), Cost: v.Cost})
	}
	for i := range m.Rows() {
		r := m.Row(i)
		d.AddRow(milp.Row{Lower: recession(r.Lower, math.Inf(1)), Upper: recession(r.Upper, math.Inf(1)), Index: r.Index,
			Value: r.Value})
	}
	return d
}

// recession converts a bound to one of directions: far if it is infinite, and zero otherwise.
func recession(bound, far float64) float64 {
	if math.IsInf(bound, 0) {
		return math.Copysign(far, bound)
	}
	return 0
}
