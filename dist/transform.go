package dist

import "math"

// Scale returns the distribution of k·X, k finite and > 0.
func Scale(d Distribution, k float64) (Distribution, error) {
	const fn = "dist.Scale"
	if err := checkDist(fn, "d", d); err != nil {
		return nil, err
	}
	if err := checkPositive(fn, "k", k); err != nil {
		return nil, err
	}
	return transform(fn, "k", d, k, 0)
}

// Shift returns the distribution of X + by. A negative shift is allowed as
// long as nothing becomes negative.
func Shift(d Distribution, by float64) (Distribution, error) {
	const fn = "dist.Shift"
	if err := checkDist(fn, "d", d); err != nil {
		return nil, err
	}
	if lo, _ := d.Bounds(); !isFinite(by) || lo+by < 0 {
		return nil, &ParamError{Func: fn, Param: "by", Value: by, Want: "finite, and not below minus the lower bound"}
	}
	return transform(fn, "by", d, 1, by)
}

// transform returns the distribution of mul·X + add, in the simplest form there is.
func transform(fn, param string, d Distribution, mul, add float64) (Distribution, error) {
	if mul == 1 && add == 0 {
		return d, nil
	}
	lo, hi := d.Bounds()
	top := line(mul, hi, add)
	if math.IsInf(hi, 1) {
		top = line(mul, d.Mean(), add)
	}
	if !isFinite(top) {
		return nil, &ParamError{Func: fn, Param: param, Value: mul + add, Want: "small enough not to overflow"}
	}
	switch d := d.(type) {
	case Point:
		return Point{v: line(mul, d.v, add)}, nil
	case Uniform:
		return Uniform{lo: line(mul, lo, add), hi: line(mul, hi, add)}, nil
	case *Histogram:
		return d.affine(mul, add), nil
	case affine:
		return affine{d: d.d, mul: d.mul * mul, add: line(d.add, mul, add)}, nil
	case rescaler:
		if add == 0 {
			return d.rescale(mul), nil
		}
	}
	return affine{d: d, mul: mul, add: add}, nil
}

// rescaler is a family closed under scaling.
type rescaler interface {
	rescale(k float64) Distribution
}

func (h *Histogram) affine(mul, add float64) *Histogram {
	b := newBuilder(len(h.x))
	for i := range h.x {
		b.push(line(mul, h.x[i], add), h.cum[i])
	}
	return b.histogram()
}

// affine is mul·d + add, mul > 0.
type affine struct {
	d        Distribution
	mul, add float64
}

func (a affine) back(x float64) float64 { return (x - a.add) / a.mul }

func (a affine) CDF(x float64) float64      { return a.d.CDF(a.back(x)) }
func (a affine) Survival(x float64) float64 { return Survival(a.d, a.back(x)) }
func (a affine) Quantile(p float64) float64 { return line(a.mul, a.d.Quantile(p), a.add) }
func (a affine) Mean() float64              { return line(a.mul, a.d.Mean(), a.add) }

func (a affine) Bounds() (lo, hi float64) {
	lo, hi = a.d.Bounds()
	return line(a.mul, lo, a.add), line(a.mul, hi, a.add)
}

func (a affine) PartialMean(x float64) float64 {
	y := a.back(x)
	return float64(a.mul*PartialMean(a.d, y)) + float64(a.add*a.d.CDF(y))
}
