package dist

import (
	"math"
	"slices"
)

// Histogram is a distribution whose CDF is piecewise linear with jumps: atoms
// where the CDF jumps, uniform density in between. Points, uniforms, samples,
// sketches and everything [Condition], [Scale], [Shift] and [NewMixture] make
// of them are of this form, exactly.
//
// It is immutable and safe for concurrent use; make one with [NewHistogram],
// [FromSamples], [FromKnots], [Tabulate] or [Sketch.Distribution]. CDF,
// Quantile and PartialMean cost a binary search and do not allocate.
type Histogram struct {
	// The CDF's knots. x is non-decreasing, and the same x twice is a jump. cum runs
	// from exactly 0 to exactly 1. partial[i] = E[X; X up to knot i].
	x, cum, partial []float64
}

// NewHistogram returns the histogram with weights[i] spread evenly over
// [edges[i], edges[i+1]]; two equal edges make an atom. There is one edge more
// than there are weights. Edges are finite, >= 0 and non-decreasing. Weights are
// finite and >= 0; their sum is positive and need not be one.
func NewHistogram(edges, weights []float64) (*Histogram, error) {
	const fn = "dist.NewHistogram"
	if len(weights) == 0 || len(edges) != len(weights)+1 {
		return nil, &ParamError{Func: fn, Param: "len(edges)", Value: len(edges),
			Want: "len(weights)+1, and at least 2"}
	}
	if err := checkSorted(fn, "edges", edges); err != nil {
		return nil, err
	}
	total := 0.0
	for i, w := range weights {
		if err := checkElement(fn, "weights", i, w); err != nil {
			return nil, err
		}
		total += w
	}
	if err := checkPositive(fn, "sum of weights", total); err != nil {
		return nil, err
	}
	b := newBuilder(2 * len(edges))
	for i, w := range weights {
		b.spread(edges[i], middle(edges[i], edges[i+1]), edges[i+1], w/total)
	}
	return b.histogram(), nil
}

// FromSamples returns the empirical distribution of values, an atom for each
// distinct value. Values are finite and >= 0, in any order; the slice is not
// kept. No values: [ErrEmpty].
func FromSamples(values []float64) (*Histogram, error) {
	if len(values) == 0 {
		return nil, ErrEmpty
	}
	for i, v := range values {
		if err := checkElement("dist.FromSamples", "values", i, v); err != nil {
			return nil, err
		}
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	b := newBuilder(2 * len(sorted))
	for i := 0; i < len(sorted); {
		j := i + 1
		for j < len(sorted) && sorted[j] == sorted[i] {
			j++
		}
		b.spread(sorted[i], sorted[i], sorted[i], float64(j-i))
		i = j
	}
	return b.histogram(), nil
}

// FromKnots returns the distribution whose CDF is cum[i] at x[i] and a straight line
// between. The same x twice is a jump. x is finite, >= 0 and non-decreasing; cum is
// non-decreasing from exactly 0 to exactly 1.
func FromKnots(x, cum []float64) (*Histogram, error) {
	const fn = "dist.FromKnots"
	if len(x) < 2 || len(x) != len(cum) {
		return nil, &ParamError{Func: fn, Param: "len(x)", Value: len(x), Want: "len(cum), and at least 2"}
	}
	if err := checkSorted(fn, "x", x); err != nil {
		return nil, err
	}
	if err := checkSorted(fn, "cum", cum); err != nil {
		return nil, err
	}
	if cum[0] != 0 {
		return nil, &ParamError{Func: fn, Param: "cum[0]", Value: cum[0], Want: "0"}
	}
	if last := len(cum) - 1; cum[last] != 1 {
		return nil, &ParamError{Func: fn, Param: indexed("cum", last), Value: cum[last], Want: "1"}
	}
	b := newBuilder(len(x))
	for i := range x {
		b.push(x[i], cum[i])
	}
	return b.histogram(), nil
}

func checkSorted(fn, name string, v []float64) error {
	for i := range v {
		if err := checkElement(fn, name, i, v[i]); err != nil {
			return err
		}
		if i > 0 && v[i] < v[i-1] {
			return &ParamError{Func: fn, Param: indexed(name, i), Value: v[i], Want: "not less than its predecessor"}
		}
	}
	return nil
}

// Len is the number of knots of the CDF.
func (h *Histogram) Len() int { return len(h.x) }

// Knot returns knot i of the CDF, 0 <= i < Len(): the CDF runs straight
// between consecutive knots and jumps between two with the same x.
func (h *Histogram) Knot(i int) (x, cum float64) { return h.x[i], h.cum[i] }

// CDF implements [Distribution]; NaN for NaN.
func (h *Histogram) CDF(x float64) float64 {
	if math.IsNaN(x) {
		return x
	}
	i := countLE(h.x, x)
	if i == 0 {
		return 0
	}
	if i == len(h.x) {
		return 1
	}
	c0 := h.cum[i-1]
	return lerp(c0, h.cum[i], (x-h.x[i-1])/(h.x[i]-h.x[i-1]))
}

// Quantile implements [Distribution]; p is clamped to [0, 1], NaN for NaN.
func (h *Histogram) Quantile(p float64) float64 {
	if math.IsNaN(p) {
		return p
	}
	i := countLT(h.cum, p)
	if i == 0 {
		return h.x[0]
	}
	if i == len(h.cum) {
		return h.x[i-1]
	}
	c0, x0 := h.cum[i-1], h.x[i-1]
	return math.Min(lerp(x0, h.x[i], (p-c0)/(h.cum[i]-c0)), h.x[i])
}

// Mean implements [Distribution].
func (h *Histogram) Mean() float64 { return h.partial[len(h.partial)-1] }

// Bounds implements [Distribution]; both are finite.
func (h *Histogram) Bounds() (lo, hi float64) { return h.x[0], h.x[len(h.x)-1] }

// PartialMean implements [PartialMeaner].
func (h *Histogram) PartialMean(x float64) float64 {
	if math.IsNaN(x) {
		return x
	}
	_, m := h.between(countLE(h.x, x), x)
	return m
}

// between evaluates CDF and partial mean at x, given that i knots are <= x.
func (h *Histogram) between(i int, x float64) (cdf, partial float64) {
	if i == 0 {
		return 0, 0
	}
	x0, c0 := h.x[i-1], h.cum[i-1]
	if i == len(h.x) {
		return 1, h.partial[i-1]
	}
	mass := float64((h.cum[i] - c0) * ((x - x0) / (h.x[i] - x0)))
	return c0 + mass, h.partial[i-1] + float64(mass*middle(x0, x))
}

// Cursor evaluates a histogram's CDF and partial mean at one value after another. A step costs only
// the knots between the last value and the next, so values should move mostly in one direction. The
// zero value is not usable; [Histogram.Cursor] returns a cursor. It is for one goroutine.
type Cursor struct {
	h *Histogram
	i int // knots <= the last value
}

// Cursor returns a cursor at the lower bound.
func (h *Histogram) Cursor() Cursor { return Cursor{h: h} }

// CursorAt returns a cursor at x, found by binary search.
func (h *Histogram) CursorAt(x float64) Cursor { return Cursor{h: h, i: countLE(h.x, x)} }

// At returns CDF(x) and PartialMean(x); x is not NaN.
func (c *Cursor) At(x float64) (cdf, partial float64) {
	xs := c.h.x
	i := c.i
	for i < len(xs) && xs[i] <= x {
		i++
	}
	for i > 0 && xs[i-1] > x {
		i--
	}
	c.i = i
	return c.h.between(i, x)
}

// countLE is the number of leading elements of sorted v that are <= x.
func countLE(v []float64, x float64) int {
	lo, hi := 0, len(v)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if v[m] <= x {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// countLT is the number of leading elements of sorted v that are < x.
func countLT(v []float64, x float64) int {
	lo, hi := 0, len(v)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if v[m] < x {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// builder collects knots from left to right and brings them to canonical form.
type builder struct {
	x, cum []float64
	mass   float64
}

func newBuilder(capacity int) *builder {
	return &builder{x: make([]float64, 0, capacity), cum: make([]float64, 0, capacity)}
}

// push adds the knot (x, cum); x and cum are not less than their predecessors.
func (b *builder) push(x, cum float64) {
	b.mass = cum
	n := len(b.x)
	switch {
	case n > 0 && cum == 0: // still left of all mass
		b.x[n-1] = x
		return
	case n > 0 && b.x[n-1] == x && b.cum[n-1] == cum:
		return
	case n > 1 && b.x[n-1] == x && b.x[n-2] == x: // one jump, not two
		b.cum[n-1] = cum
		return
	}
	b.x = append(b.x, x)
	b.cum = append(b.cum, cum)
}

// spread adds mass on [lo, hi] with the given mean: two uniform pieces that meet at the mean.
func (b *builder) spread(lo, mean, hi, mass float64) {
	if mass <= 0 {
		return
	}
	c := b.mass
	b.push(lo, c)
	if mid := middle(lo, hi); lo < hi && math.Abs(mean-mid) > 1e-12*(hi-lo) {
		b.push(mean, c+float64(mass*leftShare(lo, mean, hi)))
	}
	b.push(hi, c+mass)
}

// leftShare is the share of a bin's mass left of its mean, when it is uniform
// on either side of it.
func leftShare(lo, mean, hi float64) float64 {
	return clampProbability((hi - mean) / (hi - lo))
}

// histogram finishes: normalises the mass to one, drops the massless right end and
// sums up the partial means. At least some mass was added. The knots of what it returns, given to
// a builder again, make the same histogram, so that it can be written down and read back.
func (b *builder) histogram() *Histogram {
	b.normalise()
	n := len(b.x)
	for n > 2 && b.cum[n-2] == 1 {
		n--
	}
	h := &Histogram{x: b.x[:n:n], cum: b.cum[:n:n], partial: make([]float64, n)}
	for i := 1; i < n; i++ {
		mass := h.cum[i] - h.cum[i-1]
		h.partial[i] = h.partial[i-1] + float64(mass*middle(h.x[i-1], h.x[i]))
	}
	return h
}

// normalise makes the mass one. Rounding may make neighbouring knots equal then; the knots are then pushed
// once more, which joins such neighbours.
func (b *builder) normalise() {
	x, cum, equal := b.x, b.cum, false
	for i := range cum {
		cum[i] /= b.mass
		equal = equal || i > 0 && (cum[i] == 0 || cum[i] == cum[i-1] && x[i] == x[i-1])
	}
	b.mass = 1
	if !equal {
		return
	}
	*b = builder{x: x[:0], cum: cum[:0]}
	for i := range x {
		b.push(x[i], cum[i])
	}
}

func (h *Histogram) histogram() *Histogram { return h }
