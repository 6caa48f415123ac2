package dist

import (
	"math"
	"slices"
)

// Component is one part of a mixture.
type Component struct {
	// Weight is the component's share, finite and >= 0; weights need not sum to one.
	Weight float64
	// Dist is the component's distribution.
	Dist Distribution
}

// Mixture is the distribution of a draw from one of several distributions, which is itself chosen
// at random by weight. Make it with [NewMixture]; the zero value is not a distribution.
type Mixture struct{ parts []Component }

// NewMixture returns the mixture of components, whose weights sum to more than
// zero. A single component is returned itself. If all components are points, uniforms or
// histograms the result is a [*Histogram], without loss. Otherwise it is a [Mixture].
func NewMixture(components []Component) (Distribution, error) {
	const fn = "dist.NewMixture"
	total := 0.0
	parts := make([]Component, 0, len(components))
	for i, c := range components {
		if err := checkElement(fn, "Weight", i, c.Weight); err != nil {
			return nil, err
		}
		if err := checkDist(fn, indexed("Dist", i), c.Dist); err != nil {
			return nil, err
		}
		total += c.Weight
		if c.Weight > 0 {
			parts = append(parts, c)
		}
	}
	if err := checkPositive(fn, "sum of weights", total); err != nil {
		return nil, err
	}
	for i := range parts {
		parts[i].Weight /= total
	}
	if len(parts) == 1 {
		return parts[0].Dist, nil
	}
	if h := mixHistograms(parts); h != nil {
		return h, nil
	}
	return Mixture{parts: parts}, nil
}

// piecewise is what can be written as a histogram exactly.
type piecewise interface {
	histogram() *Histogram
}

// mixHistograms is nil if a part is not piecewise linear.
func mixHistograms(parts []Component) *Histogram {
	hs := make([]*Histogram, len(parts))
	var xs []float64
	for i, p := range parts {
		pw, ok := p.Dist.(piecewise)
		if !ok {
			return nil
		}
		hs[i] = pw.histogram()
		xs = append(xs, hs[i].x...)
	}
	slices.Sort(xs)
	xs = slices.Compact(xs)
	cursors := make([]int, len(hs))
	b := newBuilder(2 * len(xs))
	for _, x := range xs {
		before, at := 0.0, 0.0
		for i, h := range hs {
			l, r, next := h.sides(cursors[i], x)
			cursors[i] = next
			before += float64(parts[i].Weight * l)
			at += float64(parts[i].Weight * r)
		}
		b.push(x, math.Max(before, b.mass))
		b.push(x, math.Max(at, b.mass))
	}
	return b.histogram()
}

// sides returns CDF(x-), CDF(x) and the number of knots <= x, which is at least from.
func (h *Histogram) sides(from int, x float64) (before, at float64, next int) {
	less := from
	for less < len(h.x) && h.x[less] < x {
		less++
	}
	next = less
	for next < len(h.x) && h.x[next] == x {
		next++
	}
	at, _ = h.between(next, x)
	switch {
	case less == next: // no knot here
		return at, at, next
	case less == 0:
		return 0, at, next
	}
	return h.cum[less], at, next // the first knot at x is the left limit
}

// CDF implements [Distribution].
func (m Mixture) CDF(x float64) float64 {
	return m.sum(func(d Distribution) float64 { return d.CDF(x) })
}

// Survival implements [Survivor].
func (m Mixture) Survival(x float64) float64 {
	return m.sum(func(d Distribution) float64 { return Survival(d, x) })
}

// Mean implements [Distribution].
func (m Mixture) Mean() float64 { return m.sum(Distribution.Mean) }

// PartialMean implements [PartialMeaner].
func (m Mixture) PartialMean(x float64) float64 {
	return m.sum(func(d Distribution) float64 { return PartialMean(d, x) })
}

func (m Mixture) sum(f func(Distribution) float64) float64 {
	s := 0.0
	for i := range m.parts {
		s += float64(m.parts[i].Weight * f(m.parts[i].Dist))
	}
	return s
}

// Quantile implements [Distribution], by bisection between the components' quantiles.
func (m Mixture) Quantile(p float64) float64 {
	if math.IsNaN(p) || len(m.parts) == 0 {
		return math.NaN()
	}
	p = clampProbability(p)
	lo, hi := math.Inf(1), 0.0
	for i := range m.parts {
		q := m.parts[i].Dist.Quantile(p)
		lo, hi = math.Min(lo, q), math.Max(hi, q)
	}
	switch {
	case p == 0:
		return lo
	case p == 1 || lo == hi:
		return hi
	}
	return invert(m.CDF, p, lo, hi)
}

// Bounds implements [Distribution].
func (m Mixture) Bounds() (lo, hi float64) {
	lo = math.Inf(1)
	for i := range m.parts {
		l, h := m.parts[i].Dist.Bounds()
		lo, hi = math.Min(lo, l), math.Max(hi, h)
	}
	return lo, hi
}
