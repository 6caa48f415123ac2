package utility

import (
	"math"

	"github.com/hedgesched/hedge/dist"
)

// Expected returns E[U(start + X)]: the expected worth of starting at start seconds since
// submission when the runtime X is distributed as d (3Sigma, section 3.1,
// equation 1). It is NaN where start is not finite.
//
// It is exact, up to rounding, for a [Curve] and a distribution that knows its
// partial mean (see [dist.PartialMeaner]), and does not allocate then. Other utilities are
// averaged over some thousand points of the distribution.
func Expected(u Utility, d dist.Distribution, start float64) float64 {
	if !isFinite(start) {
		return math.NaN()
	}
	c, ok := u.(*Curve)
	if !ok {
		return average(u, d, start)
	}
	if h, ok := d.(*dist.Histogram); ok {
		sum := c.last
		for i := range c.knees {
			k := &c.knees[i]
			y := k.t - start
			cur := h.CursorAt(y)
			f, pm := cur.At(y)
			sum += float64(k.jump*f) + k.tilt(pm, y, f)
		}
		return c.clamp(sum)
	}
	sum := c.last
	for i := range c.knees {
		sum += c.knees[i].expected(d, start)
	}
	return c.clamp(sum)
}

// ExpectedAll fills dst[i] with Expected(u, d, starts[i]), up to the length of the shorter slice.
// It does not allocate for a [Curve]. For a [dist.Histogram] it walks the knots alongside
// the starts, which is cheapest when the starts are sorted.
func ExpectedAll(dst []float64, u Utility, d dist.Distribution, starts []float64) {
	n := min(len(dst), len(starts))
	dst, starts = dst[:n], starts[:n]
	c, ok := u.(*Curve)
	if !ok {
		for i, s := range starts {
			dst[i] = Expected(u, d, s)
		}
		return
	}
	for i := range dst {
		dst[i] = c.last
	}
	h, _ := d.(*dist.Histogram)
	for i := range c.knees {
		if h != nil && n > 0 {
			c.knees[i].sweep(dst, h, starts)
			continue
		}
		for j, s := range starts {
			dst[j] += c.knees[i].expected(d, s)
		}
	}
	for i, s := range starts {
		if !isFinite(s) {
			dst[i] = math.NaN()
			continue
		}
		dst[i] = c.clamp(dst[i])
	}
}

// expected is E[(jump + bend·(start+X-t))·1{start+X <= t}].
func (k *knee) expected(d dist.Distribution, start float64) float64 {
	y := k.t - start
	f := d.CDF(y)
	v := float64(k.jump * f)
	if k.bend != 0 && f > 0 {
		v += k.tilt(dist.PartialMean(d, y), y, f)
	}
	return v
}

// tilt is the bend's part, bend·E[(X-y)·1{X <= y}], from X's partial mean and CDF at y.
func (k *knee) tilt(partial, y, cdf float64) float64 {
	return float64(k.bend * (partial - float64(y*cdf)))
}

// sweep adds what expected says for each start, moving one cursor along.
func (k *knee) sweep(dst []float64, h *dist.Histogram, starts []float64) {
	cur := h.CursorAt(k.t - starts[0])
	for j, s := range starts {
		y := k.t - s
		f, pm := cur.At(y)
		v := float64(k.jump * f)
		if k.bend != 0 && f > 0 {
			v += k.tilt(pm, y, f)
		}
		dst[j] += v
	}
}

// clamp keeps rounding errors from leaving the curve's range; NaN stays.
func (c *Curve) clamp(v float64) float64 { return math.Max(c.min, math.Min(v, c.max)) }

// average is E[u(start + X)] for any utility, by midpoints of cells of equal probability. For a histogram the
// midpoints lie evenly between its knots, and atoms are exact.
func average(u Utility, d dist.Distribution, start float64) float64 {
	const points = 4096
	sum := 0.0
	h, ok := d.(*dist.Histogram)
	if !ok {
		for i := range points {
			sum += u.At(start + d.Quantile((float64(i)+0.5)/points))
		}
		return sum / points
	}
	for i := 1; i < h.Len(); i++ {
		x0, c0 := h.Knot(i - 1)
		x1, c1 := h.Knot(i)
		if c1 == c0 {
			continue
		}
		n := 1
		if x1 > x0 {
			n = 16 + int((c1-c0)*points)
		}
		part := 0.0
		for j := range n {
			part += u.At(start + x0 + float64((x1-x0)*((float64(j)+0.5)/float64(n))))
		}
		sum += (c1 - c0) * part / float64(n)
	}
	return sum
}
