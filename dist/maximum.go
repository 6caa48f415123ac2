package dist

import "math"

// MaxOf returns the distribution of the largest of n independent draws of d, such as the time at
// which the last of n tasks is done. Its CDF is that of d to the power of n. n is 1 … 2³⁰.
func MaxOf(d Distribution, n int) (Distribution, error) {
	const fn = "dist.MaxOf"
	if err := checkDist(fn, "d", d); err != nil {
		return nil, err
	}
	if n < 1 || n > 1<<30 {
		return nil, &ParamError{Func: fn, Param: "n", Value: n, Want: "1 … 2³⁰"}
	}
	if _, certain := asPoint(d); certain || n == 1 {
		return d, nil
	}
	m := maximum{d: d, n: float64(n)}
	if p, ok := d.(piecewise); ok {
		m.h = p.histogram()
		m.d = m.h
	}
	if m.mean = m.expectation(); !isFinite(m.mean) {
		return nil, &ParamError{Func: fn, Param: "mean", Value: m.mean, Want: "finite"}
	}
	return m, nil
}

// maximum is the largest of n draws of d; h is d if that is piecewise linear.
type maximum struct {
	d       Distribution
	h       *Histogram
	n, mean float64
}

func (m maximum) CDF(x float64) float64 { return math.Pow(m.d.CDF(x), m.n) }

func (m maximum) Survival(x float64) float64 {
	return -math.Expm1(m.n * math.Log1p(-math.Min(Survival(m.d, x), 1)))
}

func (m maximum) Quantile(p float64) float64 {
	p = clampProbability(p)
	root := math.Pow(p, 1/m.n)
	if root == 1 && p < 1 {
		root = math.Nextafter(1, 0) // an unbounded d is not infinite short of p = 1
	}
	return m.d.Quantile(root)
}

func (m maximum) Mean() float64            { return m.mean }
func (m maximum) Bounds() (lo, hi float64) { return m.d.Bounds() }

func (m maximum) PartialMean(x float64) float64 {
	lo, hi := m.Bounds()
	switch {
	case math.IsNaN(x):
		return x
	case x < lo:
		return 0
	case x >= hi:
		return m.mean
	}
	return math.Max(float64(x*m.CDF(x))-m.area(lo, x), 0)
}

// area is the integral of the CDF over [lo, x].
func (m maximum) area(lo, x float64) float64 {
	if m.h == nil {
		return integrate(m.CDF, lo, x)
	}
	h, sum := m.h, 0.0
	for i := 1; i < len(h.x) && h.x[i-1] < x; i++ {
		x1, c1 := h.x[i], h.cum[i]
		if x < x1 {
			x1, c1 = x, h.CDF(x)
		}
		sum += float64((x1 - h.x[i-1]) * meanPower(h.cum[i-1], c1, m.n))
	}
	return sum
}

// meanPower is the mean of c^n for c uniform on [a, b], 0 <= a <= b <= 1.
func meanPower(a, b, n float64) float64 {
	if b-a < 1e-9*b {
		return math.Pow(middle(a, b), n)
	}
	return (math.Pow(b, n+1) - math.Pow(a, n+1)) / ((n + 1) * (b - a))
}

// expectation is lo plus the integral of the survival function.
func (m maximum) expectation() float64 {
	lo, hi := m.Bounds()
	if m.h != nil {
		return clamp(hi-m.area(lo, hi), lo, hi)
	}
	// Decades of tail: each panel is smooth, what is left out is negligible.
	sum, from := lo, lo
	for _, tail := range [...]float64{0.5, 1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12} {
		to := m.d.Quantile(math.Exp(math.Log1p(-tail) / m.n))
		if math.IsInf(to, 1) {
			break
		}
		sum += integrate(m.Survival, from, to)
		from = math.Max(from, to)
	}
	return sum
}
