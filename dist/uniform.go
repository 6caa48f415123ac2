package dist

import "math"

// Uniform is equally likely anywhere between two bounds. Make it with
// [NewUniform]; the zero value is certainly 0.
type Uniform struct{ lo, hi float64 }

// NewUniform returns the uniform distribution on [lo, hi], 0 <= lo <= hi,
// both finite. With lo == hi it is a point.
func NewUniform(lo, hi float64) (Uniform, error) {
	if err := checkNonNegative("dist.NewUniform", "lo", lo); err != nil {
		return Uniform{}, err
	}
	if !isFinite(hi) || hi < lo {
		return Uniform{}, &ParamError{Func: "dist.NewUniform", Param: "hi", Value: hi, Want: "a finite number >= lo"}
	}
	return Uniform{lo: lo, hi: hi}, nil
}

// CDF implements [Distribution].
func (u Uniform) CDF(x float64) float64 {
	switch {
	case x >= u.hi:
		return 1
	case x < u.lo:
		return 0
	}
	return (x - u.lo) / (u.hi - u.lo)
}

// Quantile implements [Distribution]; p is clamped to [0, 1].
func (u Uniform) Quantile(p float64) float64 {
	p = clampProbability(p)
	return math.Min(lerp(u.lo, u.hi, p), u.hi)
}

// Mean implements [Distribution].
func (u Uniform) Mean() float64 { return middle(u.lo, u.hi) }

// Bounds implements [Distribution].
func (u Uniform) Bounds() (lo, hi float64) { return u.lo, u.hi }

// PartialMean implements [PartialMeaner].
func (u Uniform) PartialMean(x float64) float64 {
	switch {
	case x >= u.hi:
		return u.Mean()
	case x < u.lo:
		return 0
	}
	return float64(u.CDF(x) * middle(u.lo, x))
}

func (u Uniform) histogram() *Histogram {
	var b builder
	b.spread(u.lo, u.Mean(), u.hi, 1)
	return b.histogram()
}

// clampProbability puts p into [0, 1] and leaves NaN alone.
func clampProbability(p float64) float64 {
	if p < 0 {
		return 0
	}
	if p > 1 {
		return 1
	}
	return p
}
