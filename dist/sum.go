package dist

import (
	"cmp"
	"slices"
)

const (
	sumCells = 128 // cells a summand is cut into
	sumBins  = 256 // distinct values a sum keeps before it groups them
)

// Sum returns the distribution of A + B for independent A and B. If one is a point the result is
// the other one shifted, exactly. Otherwise each summand is cut into 128 cells of equal
// probability, or into its atoms if it has at most 128 and nothing else. All pairs of cells are
// added, and the result is a [*Histogram] of some 400 bins at most, with the exact mean. It ends at
// the sum of the upper bounds; for an unbounded summand counts where [Tabulate] ends it.
func Sum(a, b Distribution) (Distribution, error) {
	const fn = "dist.Sum"
	if err := checkDist(fn, "a", a); err != nil {
		return nil, err
	}
	if err := checkDist(fn, "b", b); err != nil {
		return nil, err
	}
	if p, ok := asPoint(b); ok {
		return transform(fn, "b", a, 1, p)
	}
	if p, ok := asPoint(a); ok {
		return transform(fn, "a", b, 1, p)
	}
	ca, cb := summand(a), summand(b)
	pairs := make([]cell, 0, len(ca)*len(cb))
	for _, x := range ca {
		for _, y := range cb {
			pairs = append(pairs, cell{lo: x.lo + y.lo, mean: x.mean + y.mean, hi: x.hi + y.hi, mass: x.mass * y.mass})
		}
	}
	if top := ca[len(ca)-1].hi + cb[len(cb)-1].hi; !isFinite(top) {
		return nil, &ParamError{Func: fn, Param: "a+b", Value: top, Want: "small enough not to overflow"}
	}
	slices.SortStableFunc(pairs, func(x, y cell) int { return cmp.Compare(x.mean, y.mean) })
	return compress(pairs), nil
}

func asPoint(d Distribution) (float64, bool) {
	lo, hi := d.Bounds()
	return lo, lo == hi
}

// summand cuts d into cells: its atoms if it has nothing else, and not too many of them.
func summand(d Distribution) []cell {
	p, ok := d.(piecewise)
	if !ok {
		return cells(d, sumCells)
	}
	h := p.histogram()
	if h.Len() > 2*sumCells {
		return cells(h, sumCells)
	}
	var out []cell
	for i := 1; i < len(h.x); i++ {
		mass := h.cum[i] - h.cum[i-1]
		if mass == 0 {
			continue
		}
		if h.x[i] != h.x[i-1] {
			return cells(h, sumCells)
		}
		out = append(out, cell{lo: h.x[i], mean: h.x[i], hi: h.x[i], mass: mass})
	}
	return out
}

// compress groups sorted cells into bins of disjoint extent. Cells of
// the same value make an atom when all are atoms.
func compress(sorted []cell) *Histogram {
	groups := merged(sorted)
	b := newBuilder(3 * len(groups))
	for i, g := range groups {
		// Neighbours meet halfway between the last cell of one and the first
		// of the other, unless both keep clear of that.
		if i > 0 {
			prev := groups[i-1]
			g.lo = max(g.lo, middle(prev.last, g.first))
		}
		if i+1 < len(groups) {
			next := groups[i+1]
			g.hi = min(g.hi, middle(g.last, next.first))
		}
		g.lo, g.hi = min(g.lo, g.mean), max(g.hi, g.mean)
		b.spread(g.lo, g.mean, g.hi, g.mass)
	}
	return b.histogram()
}

// group is a run of cells; first and last are the means of its ends.
type group struct {
	cell
	first, last float64
}

// merged joins cells of equal mean and, if there are too many of these, those
// that fall into the same share of the mass. What is as heavy as a share by
// itself stays alone, so that atoms of the sum stay atoms.
func merged(sorted []cell) []group {
	const share = 2.0 / sumBins
	distinct := equalMeans(sorted)
	if len(distinct) <= sumBins {
		return distinct
	}
	out := make([]group, 0, sumBins)
	used, filling, alone := 0.0, -1, false
	for _, g := range distinct {
		at, heavy := int(used/share), g.mass >= share
		used += g.mass
		if heavy || alone || at != filling {
			out = append(out, g)
		} else {
			out[len(out)-1].add(g.cell)
		}
		filling, alone = at, heavy
	}
	return out
}

// equalMeans joins neighbours of the same mean.
func equalMeans(sorted []cell) []group {
	out := make([]group, 0, len(sorted))
	for _, c := range sorted {
		if n := len(out); n > 0 && c.mean == out[n-1].last {
			out[n-1].add(c)
		} else {
			out = append(out, group{cell: c, first: c.mean, last: c.mean})
		}
	}
	return out
}

func (g *group) add(c cell) {
	m := g.mass + c.mass
	g.mean = lerp(g.mean, c.mean, c.mass/m)
	g.lo, g.hi = min(g.lo, c.lo), max(g.hi, c.hi)
	g.mass, g.last = m, c.mean
	g.mean = clamp(g.mean, g.first, g.last)
}
