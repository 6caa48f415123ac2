package dist

import "math"

// Atoms is a distribution as a few values with their probabilities: what sums of quantities are made of. It is
// immutable and safe for concurrent use.
type Atoms struct {
	x, p   []float64
	mean   float64
	spread float64
}

// tailHalvings is how often the last of the cells that atoms stand for is halved. A sum runs over where the largest
// values are, so these are told apart.
const tailHalvings = 4

// NewAtoms cuts d into at most n atoms, n of 8 … 65536. If d has nothing but atoms, and not more, they are d itself.
// Otherwise they are the means of cells of equal probability, of which the last is halved four times; the mean stays
// that of d.
func NewAtoms(d Distribution, n int) (*Atoms, error) {
	const fn = "dist.NewAtoms"
	if err := checkDist(fn, "d", d); err != nil {
		return nil, err
	}
	if n < 2*tailHalvings || n > 1<<16 {
		return nil, &ParamError{Func: fn, Param: "n", Value: n, Want: "8 … 65536"}
	}
	a := &Atoms{}
	if p, ok := asPoint(d); ok {
		a.add(cell{lo: p, mean: p, hi: p, mass: 1})
		return a, nil
	}
	if h, ok := d.(piecewise); ok && a.exact(h.histogram(), n) {
		return a, nil
	}
	a.cut(d, n)
	return a, nil
}

// exact takes the atoms of a histogram that has nothing else, and not too many.
func (a *Atoms) exact(h *Histogram, n int) bool {
	if h.Len() > 2*n {
		return false
	}
	for i := 1; i < len(h.x); i++ {
		if h.cum[i] > h.cum[i-1] && h.x[i] != h.x[i-1] {
			return false
		}
	}
	for i := 1; i < len(h.x); i++ {
		if mass := h.cum[i] - h.cum[i-1]; mass > 0 {
			a.add(cell{lo: h.x[i], mean: h.x[i], hi: h.x[i], mass: mass})
		}
	}
	return true
}

func (a *Atoms) cut(d Distribution, n int) {
	equal := n - tailHalvings
	lo, below, p0 := d.Quantile(0), 0.0, 0.0
	for i := range n {
		p1 := float64(i+1) / float64(equal)
		if i >= equal-1 { // halves of what is left, the last two alike
			p1 = 1 - 1/float64(equal*(2<<(i-equal+1)))
		}
		hi, upTo := d.Quantile(p1), d.Mean()
		if i == n-1 {
			p1, hi = 1, d.Quantile(1)
		} else {
			upTo = PartialMean(d, hi) - float64(hi*(d.CDF(hi)-p1)) // what of an atom at hi belongs to the next cells
		}
		mean := (upTo - below) / (p1 - p0)
		if math.IsInf(hi, 1) {
			hi = math.Max(d.Quantile(1-1e-6), 2*mean-lo)
		}
		a.add(cell{lo: lo, mean: clamp(mean, lo, hi), hi: hi, mass: p1 - p0})
		lo, below, p0 = hi, upTo, p1
	}
}

// add adds the next cell; cells of one value are one atom.
func (a *Atoms) add(c cell) {
	a.spread = max(a.spread, c.mean-c.lo, c.hi-c.mean)
	a.mean += float64(c.mean * c.mass)
	if n := len(a.x); n > 0 && a.x[n-1] == c.mean {
		a.p[n-1] += c.mass
		return
	}
	a.x, a.p = append(a.x, c.mean), append(a.p, c.mass)
}

// Len is the number of atoms, at least 1.
func (a *Atoms) Len() int { return len(a.x) }

// At is atom i, 0 <= i < Len(): its value and its probability. Values ascend.
func (a *Atoms) At(i int) (value, probability float64) { return a.x[i], a.p[i] }

// Mean is the mean.
func (a *Atoms) Mean() float64 { return a.mean }

// Max is the largest value.
func (a *Atoms) Max() float64 { return a.x[len(a.x)-1] }

// Spread is the farthest that any mass of the distribution was moved when it was cut.
func (a *Atoms) Spread() float64 { return a.spread }
