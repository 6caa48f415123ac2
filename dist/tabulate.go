package dist

import "math"

// Tabulate returns a histogram of about n cells of equal probability. In every cell its mean is
// exactly that of d, and atoms stay atoms. An unbounded tail ends at the 1-10⁻⁶ quantile, or further
// out where the mean of the last cell needs it. A piecewise linear distribution of at most
// 4n knots is returned as it is, as a [*Histogram]. n is 1 … 65536.
func Tabulate(d Distribution, n int) (*Histogram, error) {
	const fn = "dist.Tabulate"
	if err := checkDist(fn, "d", d); err != nil {
		return nil, err
	}
	if n < 1 || n > 1<<16 {
		return nil, &ParamError{Func: fn, Param: "n", Value: n, Want: "1 … 65536"}
	}
	if p, ok := d.(piecewise); ok {
		if h := p.histogram(); h.Len() <= 4*n {
			return h, nil
		}
	}
	b := newBuilder(3 * n)
	for _, c := range cells(d, n) {
		b.spread(c.lo, c.mean, c.hi, c.mass)
	}
	return b.histogram(), nil
}

// cell is a part of a distribution of known mass, mean and extent.
type cell struct{ lo, mean, hi, mass float64 }

// cells cuts d into n cells of equal probability; their means add up to d's.
func cells(d Distribution, n int) []cell {
	out := make([]cell, 0, n)
	lo, below := d.Quantile(0), 0.0
	for i := range n {
		p0, p1 := float64(i)/float64(n), float64(i+1)/float64(n)
		hi, upTo := d.Quantile(p1), d.Mean()
		if i < n-1 {
			// What of an atom at hi belongs to the next cells is taken off again.
			upTo = PartialMean(d, hi) - float64(hi*(d.CDF(hi)-p1))
		}
		mean := (upTo - below) / (p1 - p0)
		if math.IsInf(hi, 1) {
			hi = math.Max(d.Quantile(1-1e-6), 2*mean-lo)
		}
		out = append(out, cell{lo: lo, mean: clamp(mean, lo, hi), hi: hi, mass: p1 - p0})
		lo, below = hi, upTo
	}
	return out
}
