package dist

import "math"

// Condition returns the distribution of X given X > elapsed: of the total
// runtime of a job that has run for elapsed so far (3Sigma, section 3.2),
//
//	1 - CDF'(t) = (1 - CDF(t)) / (1 - CDF(elapsed)),  t >= elapsed.
//
// Where d has no mass up to elapsed the result is d itself, with its bounds.
// When elapsed has reached the largest possible value, or what is left beyond it is less than the
// smallest float, the forecast is refuted and the result is a [Point] at elapsed: "it ends any
// moment". Elapsed is finite and >= 0.
func Condition(d Distribution, elapsed float64) (Distribution, error) {
	const fn = "dist.Condition"
	if err := checkDist(fn, "d", d); err != nil {
		return nil, err
	}
	if err := checkNonNegative(fn, "elapsed", elapsed); err != nil {
		return nil, err
	}
	lo, hi := d.Bounds()
	alive := Survival(d, elapsed)
	switch {
	case elapsed >= hi || !(alive > 0):
		return Point{v: elapsed}, nil
	case elapsed < lo || alive == 1:
		return d, nil
	}
	switch d := d.(type) {
	case *Histogram:
		return d.condition(elapsed), nil
	case Uniform:
		return Uniform{lo: elapsed, hi: d.hi}, nil
	case Exponential: // no memory
		return affine{d: d, mul: 1, add: elapsed}, nil
	case conditioned:
		return conditioned{d: d.d, from: elapsed, alive: Survival(d.d, elapsed)}, nil
	}
	return conditioned{d: d, from: elapsed, alive: alive}, nil
}

func (h *Histogram) condition(elapsed float64) *Histogram {
	i := countLE(h.x, elapsed)
	c0, _ := h.between(i, elapsed)
	b := newBuilder(len(h.x) - i + 1)
	b.push(elapsed, 0)
	for ; i < len(h.x); i++ {
		b.push(h.x[i], h.cum[i]-c0)
	}
	return b.histogram()
}

// conditioned is d given that it exceeds from, which it does with probability alive.
type conditioned struct {
	d           Distribution
	from, alive float64
}

func (c conditioned) Survival(x float64) float64 {
	if x <= c.from {
		return 1
	}
	return Survival(c.d, x) / c.alive
}

func (c conditioned) CDF(x float64) float64 { return 1 - c.Survival(x) }

func (c conditioned) Quantile(p float64) float64 {
	p = clampProbability(p)
	lo, hi := c.Bounds()
	switch {
	case math.IsNaN(p):
		return p
	case p == 0:
		return lo
	case p == 1:
		return hi
	}
	if beyond := float64((1 - p) * c.alive); beyond > 1e-8 { // else 1-beyond rounds too much away
		return math.Max(c.d.Quantile(1-beyond), lo)
	}
	return invert(c.CDF, p, lo, hi)
}

func (c conditioned) Mean() float64 {
	if c.alive > 1e-8 {
		return math.Max((c.d.Mean()-PartialMean(c.d, c.from))/c.alive, c.from)
	}
	// The subtraction would leave only rounding error.
	return c.from + integrate(c.Survival, c.from, c.Quantile(1-1e-9))
}

func (c conditioned) Bounds() (lo, hi float64) {
	lo, hi = c.d.Bounds()
	return math.Max(lo, c.from), hi
}

func (c conditioned) PartialMean(x float64) float64 {
	if math.IsNaN(x) {
		return x
	}
	if x <= c.from {
		return 0
	}
	if c.alive > 1e-8 {
		return (PartialMean(c.d, x) - PartialMean(c.d, c.from)) / c.alive
	}
	if math.IsInf(x, 1) {
		return c.Mean()
	}
	return float64(x*c.CDF(x)) - integrate(c.CDF, c.from, math.Min(x, c.Quantile(1-1e-9))) - math.Max(x-c.Quantile(1-1e-9),
		0)
}

// invert returns inf{x : cdf(x) >= p} by bisection, to the last bit; hi may be +Inf.
func invert(cdf func(float64) float64, p, lo, hi float64) float64 {
	if math.IsInf(hi, 1) {
		hi = 2*lo + 1
		for cdf(hi) < p && hi < math.MaxFloat64/4 {
			lo, hi = hi, 2*hi
		}
	}
	for range 2200 { // more halvings than a float64 has room for
		m := middle(lo, hi)
		if m <= lo || m >= hi {
			break
		}
		if cdf(m) >= p {
			hi = m
		} else {
			lo = m
		}
	}
	if cdf(lo) >= p {
		return lo
	}
	return hi
}

// AtMost is the distribution of X given X <= most: of the runtime of a job that is known to take no longer. It is h
// itself if h has no mass beyond most, or none up to it, as then the knowledge is void or refuted. NaN is refuted, too.
func (h *Histogram) AtMost(most float64) *Histogram {
	i := countLE(h.x, most)
	if i == 0 || i == len(h.x) {
		return h
	}
	c, _ := h.between(i, most)
	if !(c > 0) {
		return h
	}
	b := newBuilder(i + 1)
	for k := range i {
		b.push(h.x[k], h.cum[k])
	}
	b.push(most, c)
	return b.histogram()
}
