package dist

import "math"

// Point is a number known for certain. The zero value is certainly 0.
type Point struct{ v float64 }

// NewPoint returns the distribution that is always v, a finite number >= 0.
func NewPoint(v float64) (Point, error) {
	if err := checkNonNegative("dist.NewPoint", "v", v); err != nil {
		return Point{}, err
	}
	return Point{v: v}, nil
}

// CDF implements [Distribution].
func (p Point) CDF(x float64) float64 {
	if math.IsNaN(x) {
		return x
	}
	if x >= p.v {
		return 1
	}
	return 0
}

// Quantile implements [Distribution]; NaN for NaN.
func (p Point) Quantile(q float64) float64 {
	if math.IsNaN(q) {
		return q
	}
	return p.v
}

// Mean implements [Distribution].
func (p Point) Mean() float64 { return p.v }

// Bounds implements [Distribution].
func (p Point) Bounds() (lo, hi float64) { return p.v, p.v }

// PartialMean implements [PartialMeaner].
func (p Point) PartialMean(x float64) float64 { return p.v * p.CDF(x) }

func (p Point) histogram() *Histogram {
	var b builder
	b.spread(p.v, p.v, p.v, 1)
	return b.histogram()
}
