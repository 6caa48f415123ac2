package dist

import (
	"cmp"
	"slices"
)

// largestCells is how many cells Tabulate cuts a distribution into. The result of Largest has about four times as many
// knots.
const largestCells = 128

// Largest returns the distribution of max(A, B) for independent A and B: its CDF is the product of theirs. If one is
// never less than the other, it is returned as it is. Otherwise [Tabulate] first makes a and b piecewise linear, with
// 128 cells each if they are not so already. The product is exact at the knots of both and at some values between, and
// linear elsewhere. The result has about 500 knots at most. It calls no function that rounds differently on different
// machines. The error is that of a nil distribution.
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
	parts := max(2, 2*largestCells/len(xs)) // intervals between two knots
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

// below is P(X < x).
func (h *Histogram) below(x float64) float64 {
	i := countLT(h.x, x)
	if i < len(h.x) && h.x[i] == x {
		return h.cum[i]
	}
	c, _ := h.between(i, x)
	return c
}
