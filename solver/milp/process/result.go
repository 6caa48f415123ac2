package process

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/hedgesched/hedge/solver/milp"
)

// reading is what a dialect has found in a solver's log and files. It refers to the minimisation that the solver got.
type reading struct {
	stop       milp.Stop // StopNone if the solver did not say
	raw        string
	x          []float64
	exact      bool // the solver has proven the optimum with a gap of 0
	bounded    bool
	bound      interval
	nodes      int64
	iterations int64
	start      milp.StartUse
	broken     error // why an existing file cannot be read
}

// proves stores a bound, if it is a meaningful number.
func (r *reading) proves(text string) {
	if in, ok := parseInterval(text); ok && math.Abs(in.low) < infinite {
		r.bound, r.bounded = in, true
	}
}

// provesSix stores a bound that was printed with six digits and without trailing zeros, unless a bound with more digits
// is known that may be the same.
func (r *reading) provesSix(text string) {
	v, ok := parseFloat(text)
	if !ok || math.Abs(v) >= infinite {
		return
	}
	off := 0.0
	if v != 0 {
		off = float64(0.5 * math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-5))
	}
	if r.bounded && r.bound.high >= v-off && r.bound.low <= v+off {
		return
	}
	r.bound, r.bounded = interval{v - off, v + off}, true
}

// infinite is the size that HiGHS and SCIP call infinite.
const infinite = 1e20

// parseFloat is the finite number in text.
func parseFloat(text string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// after is the text after the colon of a log line that begins with label.
func after(line, label string) (string, bool) {
	rest, is := strings.CutPrefix(strings.TrimSpace(line), label)
	if !is {
		return "", false
	}
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(rest), ":")), true
}

// first is the first word of s, "" if there is none.
func first(s string) string {
	if f := strings.Fields(s); len(f) > 0 {
		return f[0]
	}
	return ""
}

// count reads a whole number, -1 if it is none.
func count(s string) int64 {
	n, err := strconv.ParseInt(first(s), 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// result converts r to a result for j's model.
func (r *reading) result(ctx context.Context, j *job, c *child) (*milp.Result, error) {
	res := &milp.Result{Stop: r.stop, X: r.x, Raw: r.raw, Bound: milp.NoBound(j.m), Nodes: r.nodes,
		Iterations: r.iterations, Start: r.start}
	if j.started && res.Start == milp.StartNone {
		res.Start = milp.StartUnknown
	}
	if err := j.settle(ctx, res, r, c); err != nil {
		return nil, err
	}
	if res.X != nil {
		res.Objective = j.m.Objective(res.X)
	}
	r.settleBound(j, res)
	return res, nil
}

// settle decides why the solver stopped, and whether its point is feasible.
func (j *job) settle(ctx context.Context, res *milp.Result, r *reading, c *child) error {
	ended := ctx.Err() != nil || c.stopped
	// an interrupted solver may report infeasible only because it has found nothing
	if c.stopped && res.Stop != milp.StopOptimal {
		res.Stop = milp.StopNone
	}
	switch {
	case res.Stop == milp.StopNone && !ended:
		return c.failure(r.broken)
	case res.Stop == milp.StopNone, ended && (res.Stop == milp.StopOther || res.Stop == milp.StopTime):
		res.Stop = milp.StopOf(ctx.Err())
	case res.Stop == milp.StopTime && j.limit == 0:
		res.Stop = milp.StopOther
	case res.Stop == milp.StopOptimal && res.X == nil:
		return c.failure(r.broken)
	}
	if res.Raw == "" {
		res.Raw = c.end()
	}
	switch res.Stop {
	case milp.StopOptimal:
	case milp.StopInfeasible:
		res.X = nil
	default:
		if res.X != nil && milp.Check(j.m, res.X) != nil {
			res.X = nil // left over from a relaxation
		}
	}
	return nil
}

// settleBound decides what is proven.
func (r *reading) settleBound(j *job, res *milp.Result) {
	sign := 1.0
	if j.m.Maximize {
		sign = -1
	}
	objective := float64(sign * res.Objective)
	if r.bounded && res.Stop != milp.StopInfeasible {
		bound := r.bound.low
		if res.X != nil && (objective <= r.bound.high || res.Stop == milp.StopOptimal &&
			objective-r.bound.high <= float64(1e-9*math.Max(1, math.Abs(objective)))) {
			if bound = math.Min(bound, objective); res.Stop == milp.StopOptimal {
				bound = objective // they differ by no more than the printed precision
			}
		}
		res.Bound = float64(sign * bound)
	}
	if res.Stop != milp.StopOptimal {
		return
	}
	if r.exact {
		res.Bound = res.Objective
		return
	}
	if !r.bounded && (j.m.Integers() == 0 || j.opts.TargetGap() == 0) {
		res.Bound = res.Objective
	} else if !r.bounded {
		// The solver has said that it is within the gap, but not by how much.
		res.Bound = float64(sign * (objective - float64(j.widest(objective)*math.Abs(objective))))
	}
	if res.Gap() > j.opts.TargetGap()+milp.Tolerance &&
		math.Abs(res.Bound-res.Objective) > float64(milp.Tolerance*math.Max(1, math.Abs(res.Objective))) {
		res.Stop = milp.StopOther
	}
}

// failure is the error for a solver that did not report its end.
func (c *child) failure(broken error) error {
	if broken != nil {
		return fmt.Errorf("%w: %s %s: %w; its last words:\n%s", milp.ErrBackend, c.path, c.end(), broken,
			strings.Join(c.tail, "\n"))
	}
	return fmt.Errorf("%w: %s %s without a result; its last words:\n%s", milp.ErrBackend, c.path, c.end(),
		strings.Join(c.tail, "\n"))
}
