package utility

import (
	"fmt"
	"math"
	"time"

	"github.com/hedgesched/hedge/dist"
)

// Point is a corner of a piecewise-linear curve.
type Point struct {
	// T is in seconds since submission, finite and >= 0.
	T float64
	// V is the utility of completing at T, finite; it may be negative.
	V float64
}

// Curve is a piecewise-linear utility: straight between its points, constant
// before the first and after the last. Two points at the same time are a
// jump. Completing exactly then earns the value of the first of them, so a job that
// completes at its deadline has met it.
//
// A Curve is immutable and safe for concurrent use.
type Curve struct {
	points []Point
	// The value at t is last + Σ over knees [t <= T]·(jump + bend·(t - T)), so that the
	// expectation needs the runtime's CDF and partial mean once per knee.
	knees    []knee
	last     float64
	min, max float64
}

// knee is where the curve jumps or bends: (value, slope) before minus after.
type knee struct{ t, jump, bend float64 }

// Piecewise returns the curve through points, which are sorted by T with at
// most two at the same T.
func Piecewise(points []Point) (*Curve, error) {
	return newCurve("utility.Piecewise", append([]Point(nil), points...))
}

// newCurve takes over points.
func newCurve(fn string, points []Point) (*Curve, error) {
	if len(points) == 0 {
		return nil, &dist.ParamError{Func: fn, Param: "len(points)", Value: 0, Want: "at least 1"}
	}
	for i, p := range points {
		switch {
		case !isFinite(p.T) || p.T < 0:
			return nil, pointError(fn, i, "T", p.T, "finite and >= 0")
		case !isFinite(p.V):
			return nil, pointError(fn, i, "V", p.V, "finite")
		case i > 0 && p.T < points[i-1].T:
			return nil, pointError(fn, i, "T", p.T, "not before its predecessor")
		case i > 1 && p.T == points[i-2].T:
			return nil, pointError(fn, i, "T", p.T, "at most two points at one time")
		}
	}
	c := &Curve{points: points, last: points[len(points)-1].V, min: points[0].V, max: points[0].V}
	for i, p := range points {
		c.min, c.max = math.Min(c.min, p.V), math.Max(c.max, p.V)
		if i > 0 && points[i-1].T == p.T {
			continue // the right side of a jump
		}
		right := i
		if i+1 < len(points) && points[i+1].T == p.T {
			right++
		}
		k := knee{t: p.T, jump: p.V - points[right].V, bend: c.slope(i-1) - c.slope(right)}
		if !isFinite(k.jump) || !isFinite(k.bend) {
			return nil, pointError(fn, i, "V", p.V, "a jump and slope that do not overflow")
		}
		if k.jump != 0 || k.bend != 0 {
			c.knees = append(c.knees, k)
		}
	}
	return c, nil
}

// slope is the slope between points i and i+1, which are at different times; 0 before the first and after the last.
func (c *Curve) slope(i int) float64 {
	if i < 0 || i+1 >= len(c.points) {
		return 0
	}
	a, b := c.points[i], c.points[i+1]
	return (b.V - a.V) / (b.T - a.T)
}

func pointError(fn string, i int, field string, v float64, want string) error {
	return &dist.ParamError{Func: fn, Param: fmt.Sprintf("points[%d].%s", i, field), Value: v, Want: want}
}

// Deadline is worth value up to and including the deadline and nothing afterwards, as an SLO job of
// the 3Sigma paper. The deadline counts from submission and is not negative; value is finite and >= 0.
func Deadline(deadline time.Duration, value float64) (*Curve, error) {
	if err := check("utility.Deadline", "deadline", deadline, value); err != nil {
		return nil, err
	}
	d := deadline.Seconds()
	return newCurve("utility.Deadline", []Point{{d, value}, {d, 0}})
}

// DeadlineTail is worth value up to and including the deadline. Then it drops to tailValue and
// falls linearly to 0 at deadline + tail. This is the paper's over-estimate handling (3Sigma,
// section 4.2): a job that seems too late is still worth something to a scheduler, since its
// runtime may have been over-estimated. The tail is longer than 0; 0 <= tailValue <= value.
func DeadlineTail(deadline, tail time.Duration, value, tailValue float64) (*Curve, error) {
	const fn = "utility.DeadlineTail"
	d, t := deadline.Seconds(), tail.Seconds()
	if err := check(fn, "deadline", deadline, value); err != nil {
		return nil, err
	}
	if tail <= 0 || !(d+t > d) {
		return nil, &dist.ParamError{Func: fn, Param: "tail", Value: tail, Want: "longer than 0"}
	}
	if !(tailValue >= 0 && tailValue <= value) {
		return nil, &dist.ParamError{Func: fn, Param: "tailValue", Value: tailValue, Want: "between 0 and value"}
	}
	return newCurve(fn, []Point{{d, value}, {d, tailValue}, {d + t, 0}})
}

// LinearDecay is worth value at submission and falls linearly to 0 at the horizon, as a best-effort
// job of the 3Sigma paper. The horizon is longer than 0; value is finite and >= 0.
func LinearDecay(value float64, horizon time.Duration) (*Curve, error) {
	const fn = "utility.LinearDecay"
	if err := check(fn, "horizon", horizon, value); err != nil {
		return nil, err
	}
	if horizon <= 0 {
		return nil, &dist.ParamError{Func: fn, Param: "horizon", Value: horizon, Want: "longer than 0"}
	}
	return newCurve(fn, []Point{{0, value}, {horizon.Seconds(), 0}})
}

// checkCurve refuses nil and curves that no constructor made.
func checkCurve(fn, name string, c *Curve) error {
	refused := &dist.ParamError{Func: fn, Param: name, Want: "a curve made by a constructor"}
	switch {
	case c == nil:
		return refused
	case len(c.points) == 0:
		refused.Value = "&utility.Curve{}"
		return refused
	}
	return nil
}

func check(fn, timeName string, t time.Duration, v float64) error {
	if t < 0 {
		return &dist.ParamError{Func: fn, Param: timeName, Value: t, Want: "not negative"}
	}
	if !isFinite(v) || v < 0 {
		return &dist.ParamError{Func: fn, Param: "value", Value: v, Want: "a finite number >= 0"}
	}
	return nil
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// At implements [Utility]; NaN for NaN.
func (c *Curve) At(t float64) float64 {
	if math.IsNaN(t) {
		return t
	}
	p := c.points
	if len(p) == 0 {
		return 0
	}
	i := c.search(t)
	switch {
	case i == 0:
		return p[0].V
	case i == len(p):
		return c.last
	case p[i].T == t:
		return p[i].V
	}
	a, b := p[i-1], p[i]
	return a.V + float64((b.V-a.V)*((t-a.T)/(b.T-a.T)))
}

// after is the limit from the right.
func (c *Curve) after(t float64) float64 {
	if i := c.search(t); i+1 < len(c.points) && c.points[i].T == t && c.points[i+1].T == t {
		return c.points[i+1].V
	}
	return c.At(t)
}

// search returns the first point at or after t.
func (c *Curve) search(t float64) int {
	lo, hi := 0, len(c.points)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if c.points[m].T < t {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// Points returns a copy of the curve's points.
func (c *Curve) Points() []Point { return append([]Point(nil), c.points...) }

// Range returns the least and the greatest value the curve takes.
func (c *Curve) Range() (lo, hi float64) { return c.min, c.max }

// Weighted returns w times c, w finite and >= 0.
func Weighted(c *Curve, w float64) (*Curve, error) {
	const fn = "utility.Weighted"
	if err := checkCurve(fn, "c", c); err != nil {
		return nil, err
	}
	if !isFinite(w) || w < 0 {
		return nil, &dist.ParamError{Func: fn, Param: "w", Value: w, Want: "a finite number >= 0"}
	}
	points := c.Points()
	for i := range points {
		points[i].V *= w
	}
	return newCurve(fn, points)
}

// Sum returns the curve whose value is the sum of those of cs, of which there is
// at least one.
func Sum(cs ...*Curve) (*Curve, error) {
	const fn = "utility.Sum"
	var times []float64
	for i, c := range cs {
		if err := checkCurve(fn, fmt.Sprintf("cs[%d]", i), c); err != nil {
			return nil, err
		}
		for _, p := range c.points {
			times = append(times, p.T)
		}
	}
	return newCurve(fn, sumPoints(times, cs))
}
