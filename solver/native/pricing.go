package native

import "github.com/hedgesched/hedge/solver/internal/pack"

// pricing says what options and running jobs come to where a unit of each row (partition, resource, slot) has a price, and cuts theirs. An option
// costs what its cheapest split does, which respects how many tasks fit into each partition at most, and what the node has decided.
//
// lam may be written to; window is to be called then, before anything is priced.
type pricing struct {
	in      *pack.Instance
	decided *decisions
	cuts    *cuts     // what makes tasks dearer, or cheaper; nil is nothing
	lam     []float64 // of each row, and behind them of each cut; none is below zero
	// lo, hi enclose the priced slots of each (partition, resource).
	lo, hi []int
	// floor is the least price of each (resource, slot) over the partitions, and floorLo, floorHi enclose where it is positive.
	floor            []float64
	floorLo, floorHi []int
	refund           []float64 // of each job, with cuts: the most by which they make one of its options cheaper
	// split is the cheapest of the option priced last, and unit is room for what a task of it costs in each partition.
	split, unit []float64
	cheap       placeHeap // scratch
	ops         int64
}

// reset is prices of zero.
func (d *pricing) reset(in *pack.Instance) {
	d.in, d.cuts, d.ops = in, nil, 0
	d.lam = pack.Resize(d.lam, in.Rows)
	clear(d.lam)
	n := in.Parts * in.R
	d.lo, d.hi = pack.Resize(d.lo, n), pack.Resize(d.hi, n)
	d.floor = pack.Resize(d.floor, in.R*in.T)
	d.floorLo, d.floorHi = pack.Resize(d.floorLo, in.R), pack.Resize(d.floorHi, in.R)
	d.unit, d.split = pack.Resize(d.unit, in.MaxParts), pack.Resize(d.split, in.MaxParts)
}

// window finds the priced slots of every (partition, resource), and what cuts add to places' costs.
func (d *pricing) window() {
	if d.cuts != nil {
		d.cuts.spread(d.lam[d.in.Rows:], len(d.in.Part)+len(d.in.P.Running))
		d.ops += int64(len(d.cuts.at) + len(d.cuts.extra)/4)
		d.refunds()
	}
	T := d.in.T
	for k := range d.lo {
		d.lo[k], d.hi[k] = priced(d.lam[k*T : k*T+T])
	}
	d.lowest()
}

// refunds computes refund.
func (d *pricing) refunds() {
	d.refund = pack.Resize(d.refund, len(d.in.P.Jobs))
	clear(d.refund)
	for i := range d.in.Opts {
		o := &d.in.Opts[i]
		for _, v := range d.cuts.extra[o.P0:o.P1] {
			if v < 0 {
				d.refund[o.Job] = max(d.refund[o.Job], -v*o.Count)
			}
		}
	}
	d.ops += int64(len(d.in.Part)) / 4
}

// lowest computes floor.
func (d *pricing) lowest() {
	T, R := d.in.T, d.in.R
	if d.in.Parts == 0 {
		return
	}
	copy(d.floor, d.lam[:R*T])
	for k := R * T; k < d.in.Rows; k += R * T {
		floor := d.floor
		for i, l := range d.lam[k : k+R*T] {
			floor[i] = min(floor[i], l)
		}
	}
	for r := range R {
		d.floorLo[r], d.floorHi[r] = priced(d.floor[r*T : r*T+T])
	}
	d.ops += int64(d.in.Rows)
}

// priced encloses the positive prices.
func priced(row []float64) (lo, hi int) {
	hi = len(row)
	for lo < hi && row[lo] == 0 {
		lo++
	}
	for hi > lo && row[hi-1] == 0 {
		hi--
	}
	return lo, hi
}

// releaseGain is what preempting running job k gains.
func (d *pricing) releaseGain(k int) float64 {
	gain := -d.in.P.Running[k].PreemptCost
	for i := d.in.RunOff[k]; i < d.in.RunOff[k+1]; i++ {
		gain += float64(d.in.RunAmt[i] * d.lam[d.in.RunRow[i]])
	}
	if d.cuts != nil {
		gain -= d.cuts.extra[len(d.in.Part)+k]
	}
	return gain
}
