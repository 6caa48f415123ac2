package dist

import "math"

// PartialMeaner is implemented by distributions that know E[X; X <= x] in
// closed form, which makes expectations of piecewise-linear functions exact.
// All distributions of this package with a closed form do.
type PartialMeaner interface {
	// PartialMean returns E[X·1{X <= x}]: 0 below the lower bound, the mean at +Inf.
	PartialMean(x float64) float64
}

// Survivor is implemented by distributions that know P(X > x) more precisely
// than as 1 - CDF(x), which matters far out in a tail.
type Survivor interface {
	// Survival returns P(X > x).
	Survival(x float64) float64
}

// PartialMean returns E[X·1{X <= x}], in closed form where d has one (see
// [PartialMeaner]) and otherwise by integrating the CDF, to a relative
// accuracy of about 1e-6.
func PartialMean(d Distribution, x float64) float64 {
	if p, ok := d.(PartialMeaner); ok {
		return p.PartialMean(x)
	}
	lo, hi := d.Bounds()
	switch {
	case math.IsNaN(x):
		return x
	case x < lo:
		return 0
	case x >= hi:
		return d.Mean()
	}
	return float64(x*d.CDF(x)) - integrate(d.CDF, lo, x)
}

// Survival returns P(X > x).
func Survival(d Distribution, x float64) float64 {
	if s, ok := d.(Survivor); ok {
		return s.Survival(x)
	}
	return 1 - d.CDF(x)
}

// integrate is adaptive Simpson over [a, b] on 64 panels to begin with.
func integrate(f func(float64) float64, a, b float64) float64 {
	if !(b > a) {
		return 0
	}
	const panels = 64
	step := (b - a) / panels
	sum := 0.0
	for i := range panels {
		l, r := a+float64(float64(i)*step), a+float64(float64(i+1)*step)
		fl, fm, fr := f(l), f(middle(l, r)), f(r)
		sum += simpson(f, l, r, fl, fm, fr, 1e-7*step, 20)
	}
	return sum
}

func simpson(f func(float64) float64, a, b, fa, fm, fb, tol float64, depth int) float64 {
	m := middle(a, b)
	fl, fr := f(middle(a, m)), f(middle(m, b))
	whole, left, right := parabola(a, b, fa, fm, fb), parabola(a, m, fa, fl, fm), parabola(m, b, fm, fr, fb)
	if d := left + right - whole; depth == 0 || math.Abs(d) <= 15*tol {
		return left + right + d/15
	}
	return simpson(f, a, m, fa, fl, fm, tol/2, depth-1) + simpson(f, m, b, fm, fr, fb, tol/2, depth-1)
}

// parabola is Simpson's rule: the integral over [a, b] of the parabola through the values at a, halfway and b.
func parabola(a, b, fa, fm, fb float64) float64 {
	return float64((b - a) / 6 * (fa + float64(4*fm) + fb))
}
