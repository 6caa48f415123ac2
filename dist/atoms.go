package dist

import "math"

// Atoms is a distribution with few values. [Summand.Set] takes one. It is immutable and safe for concurrent use.
type Atoms struct {
	x, p   []float64
	mean   float64
	spread float64
}

// tailHalvings is how often the last cell is halved. The largest values decide whether a sum exceeds its limit, so the
// upper tail gets more atoms.
const tailHalvings = 4

// NewAtoms cuts d into at most n atoms, with n from 8 to 65536. A d with at most n values is kept exactly. Any other is
// cut into n-4 cells of equal probability, the last cell is halved four times, and each atom is the mean of its cell.
// So the mean stays that of d. The error is a [*ParamError].
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

// exact copies the atoms of a histogram that has only atoms, and not too many. It tells whether it did.
func (a *Atoms) exact(h *Histogram, n int) bool {
	if h.Len() > 2*n {
		return false
	}
	for i := 1; i < len(h.x); i++ {
		if h.cum[i] > h.cum[i-1] && h.x[i] != h.x[i-1] {
			return false
		}
	}
	a.reserve(min(n, len(h.x)))
	for i := 1; i < len(h.x); i++ {
		if mass := h.cum[i] - h.cum[i-1]; mass > 0 {
			a.add(cell{lo: h.x[i], mean: h.x[i], hi: h.x[i], mass: mass})
		}
	}
	return true
}

func (a *Atoms) cut(d Distribution, n int) {
	a.reserve(n)
	equal := n - tailHalvings
	lo, below, p0 := d.Quantile(0), 0.0, 0.0
	for i := range n {
		p1 := float64(i+1) / float64(equal)
		if i >= equal-1 { // half of what is left; the last two are equal
			p1 = 1 - 1/float64(equal*(2<<(i-equal+1)))
		}
		hi, upTo := d.Quantile(p1), d.Mean()
		if i == n-1 {
			p1, hi = 1, d.Quantile(1)
		} else {
			upTo = PartialMean(d, hi) - float64(hi*(d.CDF(hi)-p1)) // the next cells get the rest of an atom at hi
		}
		mean := (upTo - below) / (p1 - p0)
		if math.IsInf(hi, 1) {
			hi = math.Max(d.Quantile(1-1e-6), 2*mean-lo)
		}
		a.add(cell{lo: lo, mean: clamp(mean, lo, hi), hi: hi, mass: p1 - p0})
		lo, below, p0 = hi, upTo, p1
	}
}

// reserve makes room for n atoms, in one piece of memory.
func (a *Atoms) reserve(n int) {
	both := make([]float64, 2*n)
	a.x, a.p = both[:0:n], both[n:n]
}

// add appends a cell. Cells with equal means share an atom.
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

// At is the value and the probability of atom i, 0 <= i < Len(). Values ascend.
func (a *Atoms) At(i int) (value, probability float64) { return a.x[i], a.p[i] }

// Mean is the mean.
func (a *Atoms) Mean() float64 { return a.mean }

// Max is the largest value.
func (a *Atoms) Max() float64 { return a.x[len(a.x)-1] }

// Spread bounds how far NewAtoms moved any value; it is 0 for a distribution that was kept exactly.
func (a *Atoms) Spread() float64 { return a.spread }
