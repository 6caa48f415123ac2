package relax

import "github.com/hedgesched/hedge/solver/internal/pack"

// Pricing says what options and running jobs come to where a unit of each row (partition, resource, slot) has a
// price, and cuts theirs. An option costs what its cheapest split does, which respects how many tasks fit into each
// partition at most, and what the node has decided.
//
// Callers may write to Lam. They call Window then, before they price anything.
type Pricing struct {
	In      *pack.Instance
	Decided *Decisions
	Cuts    *Cuts     // what makes tasks dearer, or cheaper; nil is nothing
	Lam     []float64 // of each row, and behind them of each cut; none is below zero
	// lo, hi enclose the priced slots of each (partition, resource).
	lo, hi []int
	// floor is the least price of each (resource, slot) over the partitions, and floorLo, floorHi enclose where it is
	// positive.
	floor            []float64
	floorLo, floorHi []int
	refund           []float64 // of each job, with cuts: the most by which they make one of its options cheaper
	// Split is the cheapest split of the option priced last. Unit is room for what a task of it costs in each partition.
	Split, Unit []float64
	cheap       placeHeap // scratch
	Ops         int64
}

// reset is prices of zero.
func (d *Pricing) reset(in *pack.Instance) {
	d.In, d.Cuts, d.Ops = in, nil, 0
	d.Lam = pack.Resize(d.Lam, in.Rows)
	clear(d.Lam)
	n := in.Parts * in.R
	d.lo, d.hi = pack.Resize(d.lo, n), pack.Resize(d.hi, n)
	d.floor = pack.Resize(d.floor, in.R*in.T)
	d.floorLo, d.floorHi = pack.Resize(d.floorLo, in.R), pack.Resize(d.floorHi, in.R)
	d.Unit, d.Split = pack.Resize(d.Unit, in.MaxParts), pack.Resize(d.Split, in.MaxParts)
}

// Window finds the priced slots of every (partition, resource), and what cuts add to places' costs.
func (d *Pricing) Window() {
	if d.Cuts != nil {
		d.Cuts.spread(d.Lam[d.In.Rows:], len(d.In.Part)+len(d.In.P.Running))
		d.Ops += int64(len(d.Cuts.At) + len(d.Cuts.extra)/4)
		d.refunds()
	}
	T := d.In.T
	for k := range d.lo {
		d.lo[k], d.hi[k] = priced(d.Lam[k*T : k*T+T])
	}
	d.lowest()
}

// refunds computes refund.
func (d *Pricing) refunds() {
	d.refund = pack.Resize(d.refund, len(d.In.P.Jobs))
	clear(d.refund)
	for i := range d.In.Opts {
		o := &d.In.Opts[i]
		for _, v := range d.Cuts.extra[o.P0:o.P1] {
			if v < 0 {
				d.refund[o.Job] = max(d.refund[o.Job], -v*o.Count)
			}
		}
	}
	d.Ops += int64(len(d.In.Part)) / 4
}

// lowest computes floor.
func (d *Pricing) lowest() {
	T, R := d.In.T, d.In.R
	if d.In.Parts == 0 {
		return
	}
	copy(d.floor, d.Lam[:R*T])
	for k := R * T; k < d.In.Rows; k += R * T {
		floor := d.floor
		for i, l := range d.Lam[k : k+R*T] {
			floor[i] = min(floor[i], l)
		}
	}
	for r := range R {
		d.floorLo[r], d.floorHi[r] = priced(d.floor[r*T : r*T+T])
	}
	d.Ops += int64(d.In.Rows)
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

// ReleaseGain is what preempting running job k gains.
func (d *Pricing) ReleaseGain(k int) float64 {
	gain := -d.In.P.Running[k].PreemptCost
	for i := d.In.RunOff[k]; i < d.In.RunOff[k+1]; i++ {
		gain += float64(d.In.RunAmt[i] * d.Lam[d.In.RunRow[i]])
	}
	if d.Cuts != nil {
		gain -= d.Cuts.extra[len(d.In.Part)+k]
	}
	return gain
}
