package predict

import (
	"cmp"
	"math"
	"slices"

	"github.com/hedgesched/hedge/dist"
)

const (
	// sharpness is s in a feature value's share in a forecast, 1/NMAE^s. An NMAE is a relative standard
	// deviation up to a factor, and the best linear combination of estimates weights each by its
	// inverse variance.
	sharpness = 2
	// faultless is added to every NMAE, so that histories without any error share evenly.
	faultless = 1e-6
	// broader is how many times as many samples as the leading feature value another one needs
	// to stand in for what the leading one has not seen yet.
	broader = 4
)

// point is some of a forecast's mass at a runtime.
type point struct{ x, mass float64 }

// blend makes a forecast. It collects the weighted values of several histories, each a sorted run,
// merges the runs and gathers the values into bins. It is scratch space, reused from forecast to forecast.
type blend struct {
	points, spare []point
	runs          []int // where each sorted run in points ends
	sorted        []float64
	x, cum        []float64
}

func (b *blend) reset() {
	b.points, b.runs = b.points[:0], b.runs[:0]
}

// add adds a feature value's history with the given mass. Half of the mass is on the recent values and
// half on all values; without a sketch the recent values are all there are.
func (b *blend) add(e *entry, mass float64) {
	recent := mass
	if e.past != nil && e.past.sketch != nil {
		recent /= 2
		b.addSketch(e.past, mass/2)
	}
	b.sorted = append(b.sorted[:0], e.recent()...)
	slices.Sort(b.sorted)
	each := recent / float64(len(b.sorted))
	for _, x := range b.sorted {
		b.points = append(b.points, point{x, each})
	}
	b.runs = append(b.runs, len(b.points))
}

// A forecast takes a sketch as the medians of its cells. There are numCells of equal probability, but the
// last is halved numHalvings times because runtimes have long right tails. The last median is the
// 1 - 1/512 quantile, so of more than 512 values a forecast may leave out the longest.
const (
	numCells    = 16
	numHalvings = 4
)

// cells are the medians of a sketch's cells.
type cells [numCells + numHalvings]float64

// cellWidth is the probability of cell i.
func cellWidth(i int) float64 {
	halvings := min(max(0, i-(numCells-2)), numHalvings)
	return 1 / float64(int(numCells)<<halvings)
}

// quantiles returns the cells of the sketch. They are kept until the sketch changes.
func (p *past) quantiles() *cells {
	if c := p.cells.Load(); c != nil {
		return c
	}
	var c, at cells
	below := 0.0
	for i := range at {
		at[i] = below + float64(cellWidth(i)/2)
		below += cellWidth(i)
	}
	p.sketch.Quantiles(c[:], at[:])
	p.cells.Store(&c)
	return &c
}

// addSketch adds all values of a past that has a sketch.
func (b *blend) addSketch(p *past, mass float64) {
	for i, x := range p.quantiles() {
		b.points = append(b.points, point{x, mass * cellWidth(i)})
	}
	b.runs = append(b.runs, len(b.points))
}

// merge sorts the points by merging neighbouring runs until one is left.
func (b *blend) merge() {
	for len(b.runs) > 1 {
		b.spare = b.spare[:0]
		from, out := 0, 0
		for i := 0; i < len(b.runs); i += 2 {
			mid := b.runs[i]
			to := b.runs[min(i+1, len(b.runs)-1)]
			b.spare = mergeRuns(b.spare, b.points[from:mid], b.points[mid:to])
			b.runs[out] = to
			from, out = to, out+1
		}
		b.runs = b.runs[:out]
		b.points, b.spare = b.spare, b.points
	}
}

func mergeRuns(out, a, b []point) []point {
	for len(a) > 0 && len(b) > 0 {
		if a[0].x <= b[0].x {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// histogram gathers the points into at most bins bins of about equal mass, each
// over the extent of its points and with their mean; equal values stay together.
func (b *blend) histogram(bins int) (*dist.Histogram, error) {
	b.merge()
	total := 0.0
	for _, p := range b.points {
		total += p.mass
	}
	b.x, b.cum = b.x[:0], b.cum[:0]
	below, least := 0.0, total/float64(bins)
	for i := 0; i < len(b.points); {
		g, next := b.gather(i, least)
		// Masses added up in another order than their total may exceed it in the last digit.
		b.bin(g, min(1, below/total), min(1, (below+g.mass)/total))
		below, i = below+g.mass, next
	}
	b.cum[len(b.cum)-1] = 1
	return dist.FromKnots(b.x, b.cum)
}

// group is a bin in the making.
type group struct{ lo, mean, hi, mass float64 }

// gather joins the points from i on until they have the least mass, and
// whatever equals the last of them.
func (b *blend) gather(i int, least float64) (g group, next int) {
	first, sum := i, 0.0
	for ; i < len(b.points); i++ {
		p := b.points[i]
		if g.mass >= least && p.x != g.hi {
			break
		}
		g.hi = p.x
		g.mass += p.mass
		sum += float64(p.mass * (p.x - b.points[first].x))
	}
	g.lo = b.points[first].x
	g.mean = min(g.lo+sum/g.mass, g.hi)
	return g, i
}

// bin writes the knots of a bin: two uniform pieces that meet at its mean.
func (b *blend) bin(g group, from, to float64) {
	b.knot(g.lo, from)
	if g.lo < g.mean && g.mean < g.hi {
		b.knot(g.mean, min(to, from+(to-from)*(g.hi-g.mean)/(g.hi-g.lo)))
	}
	b.knot(g.hi, to)
}

// knot adds a knot of the CDF, not before the last one and not below it, whatever rounding does.
func (b *blend) knot(x, cum float64) {
	if n := len(b.x); n > 0 {
		x, cum = max(x, b.x[n-1]), max(cum, b.cum[n-1])
	}
	b.x, b.cum = append(b.x, x), append(b.cum, cum)
}

// weigh is the share in a forecast, not yet normalised, of a feature value with n samples. It grows with how
// well the feature value has predicted; the factor n/(n+1) discounts small n.
func weigh(n uint64, nmae float64) float64 {
	return math.Pow(nmae+faultless, -sharpness) * (1 - 1/float64(n+1))
}

// forecast mixes the histories of the job's feature values. The leading ones get shares by their weights.
// By the rule of succession the next value lies outside of the n that the first one has seen with
// probability 1/(n+1); that mass goes to the best one with many times its samples.
func (b *blend) forecast(cands []choice, leaders, bins int) (*dist.Histogram, error) {
	b.reset()
	slices.SortStableFunc(cands, byWeight)
	first := cands[0]
	total := 0.0
	for i, c := range cands[:min(leaders, len(cands))] {
		share := 1.0
		if i > 0 {
			if share = c.weight / first.weight; !(share > 0) { // not trusted, or no better than nothing
				break
			}
		}
		b.add(c.e, share)
		total += share
	}
	for _, c := range cands[1:] {
		if c.e.count()/broader >= first.e.count() {
			b.add(c.e, total/float64(first.e.count()))
			break
		}
	}
	return b.histogram(bins)
}

// byWeight puts the heaviest first, and of equal weights the one with fewer parts.
func byWeight(c, d choice) int {
	return cmp.Or(cmp.Compare(d.weight, c.weight), cmp.Compare(d.parts, c.parts))
}
