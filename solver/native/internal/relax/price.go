package relax

import (
	"math"
	"math/bits"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// Price is option o's cheapest split's cost. It leaves the split in d.Split, and what a task costs in each partition in
// unit.
func (d *Pricing) Price(o *pack.Option, unit []float64) float64 {
	n := o.P1 - o.P0
	at := 0
	d.unitCosts(o, unit[:n])
	for i := range n {
		if d.Cuts != nil {
			unit[i] += d.Cuts.extra[o.P0+i]
		}
		d.Split[i] = 0
		if unit[i] < unit[at] {
			at = i
		}
	}
	d.Ops += int64(2 * n)
	limit := d.Decided.Upper[o.P0:o.P1]
	if d.Decided.raised > 0 && d.Decided.atLeast(o) > 0 {
		return d.priceAbove(o, unit)
	}
	if d.spread(o, unit, unit[at]) {
		return o.Count * unit[at]
	}
	if limit[at] >= o.Count {
		d.Split[at] = o.Count
		return o.Count * unit[at]
	}
	return d.cheapest(o, unit, o.Count, 0)
}

// priceAbove is Price where the decisions prescribe some tasks' partitions.
func (d *Pricing) priceAbove(o *pack.Option, unit []float64) float64 {
	left, total := o.Count, 0.0
	for i, v := range d.Decided.Lower[o.P0:o.P1] {
		d.Split[i] = v
		left -= v
		total += float64(v * unit[i])
		if v > d.Decided.Upper[o.P0+i] {
			return math.Inf(1)
		}
	}
	if left < 0 {
		return math.Inf(1)
	}
	return d.cheapest(o, unit, left, total)
}

// cheapest gives out the tasks that are left to the cheapest partitions with room, and returns what they cost on top
// of total.
func (d *Pricing) cheapest(o *pack.Option, unit []float64, left, total float64) float64 {
	limit := d.Decided.Upper[o.P0:o.P1]
	if len(limit) > few {
		d.cheap.fill(unit, d.Split, limit)
		d.Ops += int64(3 * len(limit))
	}
	for left > 0 {
		next := -1
		if len(limit) > few {
			next = d.cheap.pop(unit)
			d.Ops += int64(2 * bits.Len(uint(len(d.cheap))))
		} else {
			for i, most := range limit {
				if d.Split[i] < most && (next < 0 || unit[i] < unit[next]) {
					next = i
				}
			}
			d.Ops += int64(len(limit))
		}
		if next < 0 && left > 1e-6*o.Count {
			return math.Inf(1)
		}
		if next < 0 {
			break
		}
		q := min(left, limit[next]-d.Split[next])
		d.Split[next] += q
		left -= q
		total += float64(q * unit[next])
	}
	return total
}

// spread splits o over all partitions that cost the least, in proportion to how
// many tasks fit there, if they hold the gang together. That is as cheap as any
// split, and its subgradient does not favour one of many equal partitions.
func (d *Pricing) spread(o *pack.Option, unit []float64, least float64) bool {
	total, ties := 0.0, 0
	limit := d.Decided.Upper[o.P0:o.P1]
	for i, c := range unit[:len(limit)] {
		if c == least {
			total += limit[i]
			ties++
		}
	}
	if ties < 2 || total < o.Count {
		return false
	}
	scale := o.Count / total
	for i, c := range unit[:len(limit)] {
		if c == least {
			d.Split[i] = limit[i] * scale
		}
	}
	return true
}

// leastCost is what option o costs at least, as if each of its tasks could be in the cheapest partition of every slot.
func (d *Pricing) leastCost(o *pack.Option) float64 {
	sum, n := 0.0, 0
	for i := range o.Demand {
		dem := &o.Demand[i]
		lo, hi := max(d.floorLo[dem.R], o.Start), min(d.floorHi[dem.R], o.Start+len(o.Usage))
		if lo >= hi {
			continue
		}
		part := 0.0
		usage := o.Usage[lo-o.Start : hi-o.Start]
		row := d.floor[dem.R*d.In.T+lo:]
		row = row[:len(usage)]
		for t, u := range usage {
			part += float64(row[t] * u)
		}
		sum += float64(part * dem.D)
		n += hi - lo
	}
	d.Ops += int64(n) + 4
	if d.Cuts != nil {
		extra := d.Cuts.extra[o.P0:o.P1]
		least := math.Inf(1)
		for _, v := range extra {
			least = min(least, v)
		}
		sum += least
		d.Ops += int64(len(extra)) / 2
	}
	return o.Count * sum
}

// unitCosts computes what one task of o costs in each of its partitions at prices d.Lam. Four partitions at a time go
// through the usage together: their sums do not wait for one another.
func (d *Pricing) unitCosts(o *pack.Option, unit []float64) {
	clear(unit)
	T, parts := d.In.T, d.In.Part[o.P0:o.P1]
	unit = unit[:len(parts)]
	for i := range o.Demand {
		dem := &o.Demand[i]
		var at, row [4]int // entries of unit, and where their partitions' prices begin
		n, lo, hi := 0, T, 0
		for e, x := range parts {
			k := x*d.In.R + dem.R
			first, last := max(d.lo[k], o.Start), min(d.hi[k], o.Start+len(o.Usage))
			if first < last {
				at[n], row[n] = e, k*T
				lo, hi = min(lo, first), max(hi, last)
				n++
			}
			if n == 0 || n < len(at) && e < len(parts)-1 {
				continue
			}
			for f := n; f < len(at); f++ {
				row[f] = row[0]
			}
			used := o.Usage[lo-o.Start : hi-o.Start]
			sums := dot4(used, d.Lam[row[0]+lo:], d.Lam[row[1]+lo:], d.Lam[row[2]+lo:], d.Lam[row[3]+lo:])
			for f := range n {
				unit[at[f]] += float64(sums[f] * dem.D)
			}
			d.Ops += int64(2*(hi-lo)) + 8
			n, lo, hi = 0, T, 0
		}
		d.Ops += int64(len(parts))
	}
}

// dot4 is the inner products of u with as much of a, b, c and d.
func dot4(u, a, b, c, d []float64) (sums [4]float64) {
	a, b, c, d = a[:len(u)], b[:len(u)], c[:len(u)], d[:len(u)]
	var p, q, r, s float64
	for t, v := range u {
		p += float64(a[t] * v)
		q += float64(b[t] * v)
		r += float64(c[t] * v)
		s += float64(d[t] * v)
	}
	return [4]float64{p, q, r, s}
}

// few is how many there are at most of what is sorted by insertion and picked by looking at all of it.
const few = 32
