package dist

import (
	"cmp"
	"slices"
)

// largestCells is how many cells a distribution of another kind is cut into, and a quarter of the knots that Largest
// keeps.
const largestCells = 128

// Largest returns the distribution of the larger of A and B, which are taken to be independent: its CDF is the product
// of theirs. Where one cannot be less than the other it is that one as it is. Otherwise the product is exact
// at every knot of the two, each of which [Tabulate] cuts into 128 cells if it is not piecewise linear, and at some
// values between; it is straight in between. The result has some 500 knots at most. It uses nothing that rounds
// differently from machine to machine.
func Largest(a, b Distribution) (Distribution, error) {
	const fn = "dist.Largest"
	if err := checkDist(fn, "a", a); err != nil {
		return nil, err
	}
	if err := checkDist(fn, "b", b); err != nil {
		return nil, err
	}
	loA, hiA := a.Bounds()
	loB, hiB := b.Bounds()
	switch {
	case hiA <= loB:
		return b, nil
	case hiB <= loA:
		return a, nil
	}
	ha, err := Tabulate(a, largestCells)
	if err != nil {
		return nil, err
	}
	hb, err := Tabulate(b, largestCells)
	if err != nil {
		return nil, err
	}
	return Tabulate(product(ha, hb), largestCells)
}

// product is the distribution whose CDF is the product of the two.
func product(a, b *Histogram) *Histogram {
	xs := slices.Concat(a.x, b.x)
	slices.SortFunc(xs, cmp.Compare[float64])
	xs = slices.Compact(xs)
	parts := max(2, 2*largestCells/len(xs)) // between two knots of either
	out := newBuilder((parts + 1) * len(xs))
	for i, x := range xs {
		for k := 1; i > 0 && k < parts; k++ {
			at := min(lerp(xs[i-1], x, float64(k)/float64(parts)), x)
			out.push(at, a.CDF(at)*b.CDF(at))
		}
		out.push(x, a.below(x)*b.below(x))
		out.push(x, a.CDF(x)*b.CDF(x))
	}
	return out.histogram()
}

// below is the probability of less than x.
func (h *Histogram) below(x float64) float64 {
	i := countLT(h.x, x)
	if i < len(h.x) && h.x[i] == x {
		return h.cum[i]
	}
	c, _ := h.between(i, x)
	return c
}
