package clp

import (
	"context"
	"math"
	"time"

	"github.com/hedgesched/hedge/solver/milp"
)

// doubt asks again about m, which is infeasible or has an unproven optimum, as res says. Clp 1.17.6 says so of some models that are
// unbounded, one in seventeen small ones, so that only a model which is infeasible without costs too is believed to be. If it is not, a
// direction in which points get better without end proves it unbounded.
func doubt(ctx context.Context, m *milp.Model, res *milp.Result) error {
	point := milp.Result{}
	if err := solve(ctx, costless(m), Automatic, time.Now(), &point); err != nil {
		return err
	}
	res.Iterations += point.Iterations
	if point.Stop != milp.StopOptimal {
		res.Stop = point.Stop
		return nil
	}
	if res.X == nil {
		res.X = point.X
	}
	direction, towards := milp.Result{}, directions(m)
	if err := solve(ctx, towards, Automatic, time.Now(), &direction); err != nil {
		return err
	}
	res.Iterations += direction.Iterations
	res.Stop = direction.Stop
	if direction.Stop == milp.StopOptimal {
		res.Stop = milp.StopOther
		if math.Abs(towards.Objective(direction.X)) > milp.Tolerance {
			res.Stop, res.Bound = milp.StopUnbounded, milp.NoBound(m)
		}
	}
	return nil
}

// costless is m with no costs.
func costless(m *milp.Model) *milp.Model {
	c := m.Clone()
	for j := range c.Vars() {
		v := c.Var(j)
		v.Cost = 0
		c.SetVar(j, v)
	}
	return c
}

// directions is the model of the directions that lead from any point of m to other points of it for ever, cut to a box: its optimum
// is zero, or a direction in which m is unbounded.
func directions(m *milp.Model) *milp.Model {
	d := &milp.Model{Maximize: m.Maximize}
	d.Grow(m.Vars(), m.Rows(), m.Entries())
	for j := range m.Vars() {
		v := m.Var(j)
		d.AddVar(milp.Var{Lower: recession(v.Lower, 1), Upper: recession(v.Upper, 1), Cost: v.Cost})
	}
	for i := range m.Rows() {
		r := m.Row(i)
		d.AddRow(milp.Row{Lower: recession(r.Lower, math.Inf(1)), Upper: recession(r.Upper, math.Inf(1)), Index: r.Index, Value: r.Value})
	}
	return d
}

// recession is what a bound says of directions: nothing but far if it is infinite, and zero otherwise.
func recession(bound, far float64) float64 {
	if math.IsInf(bound, 0) {
		return math.Copysign(far, bound)
	}
	return 0
}
