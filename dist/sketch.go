package dist

import "math"

// DefaultSketchBins is the number of bins a [Sketch] keeps unless told
// otherwise, as 3σPredict does (3Sigma, section 4.1).
const DefaultSketchBins = 80

// Sketch learns a distribution from a stream in constant memory: the streaming
// histogram of Ben-Haim and Tom-Tov (JMLR 2010), which inserts every value as
// a bin of its own and merges two neighbours when there are too many.
//
// Two things differ from the paper. First, each bin remembers its extent. A bin that only ever saw
// one value is an atom; a merged bin spreads its mass over its own extent and keeps its mean, so
// that no mass appears between two modes. Second, the neighbours that are merged are those whose distance
// times count is least, not the nearest ones. By the paper's rule the values of a heavy tail, all far
// apart, take the bins of the body, and the CDF is off by 15 % of the mass.
//
// While there are no more distinct values than bins, the sketch is the empirical distribution. With 100,000
// values in 80 bins its errors are
//
//	             one sketch                    ten of 10,000 values merged
//	             CDF     median  p90    p99    CDF     median  p90    p99
//	lognormal    0.003   0.000   0.001  0.002  0.013   0.002   0.009  0.005
//	  sorted     0.004   0.000   0.000  0.001  0.004   0.000   0.001  0.001
//	  reversed   0.003   0.001   0.001  0.003  0.002   0.000   0.000  0.003
//	bimodal      0.001   0.000   0.000  0.000  0.021   0.000   0.000  0.000
//	heavy tail   0.001   0.000   0.000  0.002  0.015   0.003   0.004  0.003
//	drifting     0.002   0.002   0.001  0.000  0.004   0.000   0.007  0.001
//
// CDF is the greatest difference at the values' permilles. The errors of quantiles are relative.
//
// Values are finite and >= 0. The zero value is an empty sketch of
// [DefaultSketchBins]. A Sketch is not safe for concurrent use; what
// [Sketch.Distribution] returns is independent of it.
type Sketch struct {
	bins  []bin // sorted, extents disjoint
	max   int
	count uint64
	// The exact sum of all values is sum + comp (Neumaier).
	sum, comp float64
}

type bin struct {
	mean, lo, hi float64
	count        uint64
}

// NewSketch returns an empty sketch of at most maxBins bins; 0 means
// [DefaultSketchBins], anything else below 2 means 2. Memory is 32 bytes per
// bin and grows with the number of distinct values seen.
func NewSketch(maxBins int) *Sketch {
	switch {
	case maxBins == 0:
		maxBins = DefaultSketchBins
	case maxBins < 2:
		maxBins = 2
	}
	return &Sketch{max: maxBins}
}

// limit is the number of bins allowed.
func (s *Sketch) limit() int {
	if s.max == 0 {
		return DefaultSketchBins
	}
	return s.max
}

// Add learns one value. NaN, infinite and negative values are refused, and so is one that
// makes the sum of all values overflow. A refusal changes nothing. Add does not allocate
// once the sketch has its full number of bins.
func (s *Sketch) Add(x float64) error {
	if err := checkNonNegative("dist.Sketch.Add", "x", x); err != nil {
		return err
	}
	if !isFinite(s.sum + x) {
		return &ParamError{Func: "dist.Sketch.Add", Param: "x", Value: x, Want: "small enough for the sum not to overflow"}
	}
	if x == 0 {
		x = 0 // not -0
	}
	s.addSum(x)
	s.count++
	i := s.search(x)
	if i < len(s.bins) && s.bins[i].lo <= x {
		b := &s.bins[i]
		b.count++
		if b.lo != b.hi {
			b.mean = clamp(b.mean+(x-b.mean)/float64(b.count), b.lo, b.hi)
		}
		return nil
	}
	s.bins = append(s.bins, bin{})
	copy(s.bins[i+1:], s.bins[i:])
	s.bins[i] = bin{mean: x, lo: x, hi: x, count: 1}
	if len(s.bins) > s.limit() {
		s.mergeNearest()
	}
	return nil
}

// search returns the first bin whose extent does not end before x.
func (s *Sketch) search(x float64) int {
	lo, hi := 0, len(s.bins)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if s.bins[m].hi < x {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

func (s *Sketch) addSum(x float64) {
	t := s.sum + x
	if math.Abs(s.sum) >= math.Abs(x) {
		s.comp += (s.sum - t) + x
	} else {
		s.comp += (x - t) + s.sum
	}
	s.sum = t
}

// mergeNearest joins the two neighbours that cost least, the first of equals. The cost is the distance
// of their means times the number of their values: the area by which the CDF may be off afterwards.
func (s *Sketch) mergeNearest() {
	best, least := 0, math.Inf(1)
	mean, count := s.bins[0].mean, s.bins[0].count
	for i := 1; i < len(s.bins); i++ {
		b := &s.bins[i]
		if loss := (b.mean - mean) * float64(count+b.count); loss < least {
			best, least = i-1, loss
		}
		mean, count = b.mean, b.count
	}
	s.bins[best] = joined(s.bins[best], s.bins[best+1])
	n := len(s.bins) - 1
	copy(s.bins[best+1:], s.bins[best+2:])
	s.bins = s.bins[:n]
}

// joined is the bin of two neighbours, a left of b.
func joined(a, b bin) bin {
	n := a.count + b.count
	j := bin{lo: math.Min(a.lo, b.lo), hi: math.Max(a.hi, b.hi), count: n}
	j.mean = clamp(lerp(a.mean, b.mean, float64(b.count)/float64(n)), j.lo, j.hi)
	return j
}

func clamp(v, lo, hi float64) float64 { return math.Max(lo, math.Min(v, hi)) }

// Merge adds everything o has learnt. o is not changed; it may be nil, or s itself.
// Merging is exact while the distinct values of both fit the bin limit of s. A
// merge that makes the sum overflow is refused and changes nothing.
func (s *Sketch) Merge(o *Sketch) error {
	if o == nil || o.count == 0 {
		return nil
	}
	if !isFinite(s.sum + o.sum) {
		return &ParamError{Func: "dist.Sketch.Merge", Param: "sum", Value: o.sum,
			Want: "small enough for the sum not to overflow"}
	}
	if s.count > math.MaxUint64-o.count {
		return &ParamError{Func: "dist.Sketch.Merge", Param: "count", Value: o.count,
			Want: "few enough for the count not to overflow"}
	}
	if s.count == 0 {
		s.bins = append(s.bins[:0], o.bins...)
	} else {
		s.bins = mergeBins(s.bins, o.bins)
	}
	comp := o.comp
	s.addSum(o.sum)
	s.comp += comp
	s.count += o.count
	for len(s.bins) > s.limit() {
		s.mergeNearest()
	}
	return nil
}

// mergeBins interleaves two sorted lists by their means, neither of them empty. Where two extents overlap they
// are cut between the means. Joining such bins instead would join whole chains of them, since sketches of
// similar values overlap everywhere. Counts and means stay as they are, and no mass appears where
// neither list had any.
func mergeBins(a, b []bin) []bin {
	a, b = peeled(a), peeled(b)
	out := make([]bin, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		var next bin
		if len(b) == 0 || len(a) > 0 && a[0].mean <= b[0].mean {
			next, a = a[0], a[1:]
		} else {
			next, b = b[0], b[1:]
		}
		if n := len(out); n > 0 && next.mean == out[n-1].mean {
			out[n-1] = joined(out[n-1], next)
		} else {
			out = append(out, next)
		}
	}
	for i := 1; i < len(out); i++ {
		out[i-1].part(&out[i])
	}
	return out
}

// peeled is a copy of bins in which the smallest and the largest value have bins of their own, so that
// cutting extents does not lose them.
func peeled(bins []bin) []bin {
	out := make([]bin, 0, len(bins)+2)
	first, last := bins[0], bins[len(bins)-1]
	if first.lo < first.hi {
		out = append(out, bin{mean: first.lo, lo: first.lo, hi: first.lo, count: 1})
	}
	out = append(out, bins...)
	if first.lo < first.hi {
		out[1].lose(first.lo)
	}
	if last.lo < last.hi {
		out[len(out)-1].lose(last.hi)
		out = append(out, bin{mean: last.hi, lo: last.hi, hi: last.hi, count: 1})
	}
	return out
}

// lose takes one of at least two values out of the bin.
func (b *bin) lose(x float64) {
	b.count--
	b.mean = clamp(b.mean+(b.mean-x)/float64(b.count), b.lo, b.hi)
	if b.count == 1 {
		b.lo, b.hi = b.mean, b.mean
	}
}

// part cuts the extents of two neighbours, b left of o by mean, so that they do not meet.
func (b *bin) part(o *bin) {
	if b.hi < o.lo {
		return
	}
	border := middle(b.mean, o.mean)
	if border >= o.mean { // no float lies in between
		border = b.mean
	}
	if o.lo > border {
		b.hi = math.Nextafter(o.lo, math.Inf(-1))
		return
	}
	b.hi = math.Min(b.hi, border)
	o.lo = math.Nextafter(b.hi, math.Inf(1))
}

// Count is the exact number of values learnt.
func (s *Sketch) Count() uint64 { return s.count }

// Min is the exact smallest value, NaN when empty.
func (s *Sketch) Min() float64 {
	if s.count == 0 {
		return math.NaN()
	}
	return s.bins[0].lo
}

// Max is the exact largest value, NaN when empty.
func (s *Sketch) Max() float64 {
	if s.count == 0 {
		return math.NaN()
	}
	return s.bins[len(s.bins)-1].hi
}

// Mean is the exact mean, NaN when empty.
func (s *Sketch) Mean() float64 {
	if s.count == 0 {
		return math.NaN()
	}
	return clamp((s.sum+s.comp)/float64(s.count), s.Min(), s.Max())
}

// Bins is the number of bins in use.
func (s *Sketch) Bins() int { return len(s.bins) }

// CDF is the estimated share of values <= x; NaN when empty or x is NaN.
func (s *Sketch) CDF(x float64) float64 {
	if s.count == 0 || math.IsNaN(x) {
		return math.NaN()
	}
	i := s.search(x)
	var below uint64
	for k := range s.bins[:i] {
		below += s.bins[k].count
	}
	share := 0.0
	if i < len(s.bins) {
		share = s.bins[i].below(x)
	}
	return clampProbability((float64(below) + share) / float64(s.count))
}

// below is the mass of the bin at or below x.
func (b *bin) below(x float64) float64 {
	n := float64(b.count)
	switch {
	case x >= b.hi:
		return n
	case x < b.lo:
		return 0
	}
	left := leftShare(b.lo, b.mean, b.hi)
	if x < b.mean {
		return n * left * (x - b.lo) / (b.mean - b.lo)
	}
	return float64(n * (left + (1-left)*(x-b.mean)/(b.hi-b.mean)))
}

// Quantile is the smallest x with CDF(x) >= p, p clamped to [0, 1]; NaN when
// empty or p is NaN.
func (s *Sketch) Quantile(p float64) float64 {
	var from place
	return s.quantile(p, &from)
}

// Quantiles writes to dst the [Sketch.Quantile] of each probability in p. Where the probabilities rise it looks
// at every bin once. It writes as many as the shorter of the two has room for.
func (s *Sketch) Quantiles(dst, p []float64) {
	var from place
	for i := range min(len(dst), len(p)) {
		dst[i] = s.quantile(p[i], &from)
	}
}

// place is a bin and how many values are below it.
type place struct {
	bin   int
	below uint64
}

// quantile looks from the place on, or from the first bin where that is too late, and leaves the place where
// it has found the quantile.
func (s *Sketch) quantile(p float64, from *place) float64 {
	if s.count == 0 || math.IsNaN(p) {
		return math.NaN()
	}
	rank := float64(clampProbability(p) * float64(s.count))
	if rank <= float64(from.below) {
		*from = place{}
	}
	if rank == 0 {
		return s.bins[0].lo
	}
	for ; from.bin < len(s.bins); from.bin++ {
		b := &s.bins[from.bin]
		if next := from.below + b.count; float64(next) < rank {
			from.below = next
			continue
		}
		return b.quantile((rank - float64(from.below)) / float64(b.count))
	}
	*from = place{}
	return s.Max()
}

// quantile inverts below/count.
func (b *bin) quantile(p float64) float64 {
	if b.lo == b.hi {
		return b.lo
	}
	left := leftShare(b.lo, b.mean, b.hi)
	if p <= left {
		return lerp(b.lo, b.mean, p/left)
	}
	return math.Min(lerp(b.mean, b.hi, (p-left)/(1-left)), b.hi)
}

// Distribution returns what has been learnt so far; [ErrEmpty] when that is nothing.
func (s *Sketch) Distribution() (*Histogram, error) {
	if s.count == 0 {
		return nil, ErrEmpty
	}
	b := newBuilder(3 * len(s.bins))
	for i := range s.bins {
		g := &s.bins[i]
		b.spread(g.lo, g.mean, g.hi, float64(g.count))
	}
	return b.histogram(), nil
}

// Clone returns an independent copy.
func (s *Sketch) Clone() *Sketch {
	c := *s
	c.bins = append([]bin(nil), s.bins...)
	return &c
}
