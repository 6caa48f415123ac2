package native

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// prices holds the Lagrangian dual: a price per row (partition, resource, slot),
// and the bound it proves,
//
//	Σ_rows λ·capacity + Σ_jobs max(0, max_o value − cheapest split at λ)
//	                  + Σ_running max(0, released·λ − preemption cost),
//
// which holds for every λ >= 0. A split's cost respects how many tasks fit into
// each partition at most, which tightens the bound for wide gangs.
type prices struct {
	in *pack.Instance
	// bound is the least upper bound seen, at prices best.
	bound     float64
	lam, best []float64
	grad, dir []float64
	// theta scales Polyak's step; stale counts steps since the bound last fell.
	theta, alpha float64
	volume       bool
	stale        int
	// lo, hi enclose the priced slots of each (partition, resource).
	lo, hi []int
	// floor is the least price of each (resource, slot) over the partitions, and floorLo, floorHi enclose where it is positive.
	floor            []float64
	floorLo, floorHi []int
	last             []int32 // of each job: the option that was chosen last, or -1
	// cost of one task per entry of in.Part, and red = value − cheapest split
	// per option, at prices best; filled by settle.
	cost, red []float64
	// split and pick are scratch for the option being priced and the best one.
	unit, split, pick []float64
	ops               int64
	// What is being priced: capacities, how many tasks fit per entry of in.Part,
	// which options cannot fit, and the value of what is decided already.
	cap, limit []float64
	low        []float64 // how many tasks per entry of in.Part must be there; nil is 0
	must       []bool    // jobs that have to be placed
	fix        []int8    // running jobs that have to be preempted (1) or kept (-1)
	raised     int       // how many lower bounds have been set, of which low has the last ones
	dead       []bool
	base       float64
	cuts       *cuts       // what makes tasks dearer, or cheaper; nil is nothing
	refund     []float64   // of each job, with cuts: the most by which they make one of its options cheaper
	columns    *basis      // where evaluate puts the options and splits that it chooses; nil is nowhere
	late       func() bool // says when to give up; nil is never
	heap       []int32     // scratch: partitions, the cheapest first
}

// reset starts at zero prices, whose bound is every job's best value.
func (d *prices) reset(in *pack.Instance) {
	d.in = in
	for _, s := range []*[]float64{&d.lam, &d.best, &d.grad, &d.dir} {
		*s = pack.Resize(*s, in.Rows)
		clear(*s)
	}
	n := in.Parts * in.R
	d.lo, d.hi = pack.Resize(d.lo, n), pack.Resize(d.hi, n)
	d.floor = pack.Resize(d.floor, in.R*in.T)
	d.floorLo, d.floorHi = pack.Resize(d.floorLo, in.R), pack.Resize(d.floorHi, in.R)
	d.last = d.last[:0]
	for range in.P.Jobs {
		d.last = append(d.last, -1)
	}
	d.unit, d.split, d.pick = pack.Resize(d.unit, in.MaxParts), pack.Resize(d.split, in.MaxParts), pack.Resize(d.pick, in.MaxParts)
	d.cost, d.red = pack.Resize(d.cost, len(in.Part)), pack.Resize(d.red, len(in.Opts))
	d.cap, d.limit, d.low, d.raised, d.base, d.cuts = in.Cap, in.Limit, nil, 0, 0, nil
	d.dead = pack.Resize(d.dead, len(in.Opts))
	for i := range in.Opts {
		d.dead[i] = in.Opts[i].Dead
	}
	d.theta, d.volume, d.stale, d.ops = 1, false, 0, 0
	if d.bound = d.evaluate(); math.IsInf(d.bound, 1) {
		d.bound = d.most()
	}
}

// most is the bound at zero prices: every job's best value.
func (d *prices) most() float64 {
	sum := 0.0
	for j := range d.in.P.Jobs {
		for o := d.in.JobOpts[j]; o < d.in.JobOpts[j+1]; o++ {
			if !d.dead[o] {
				sum += d.in.Opts[o].Value
				break
			}
		}
	}
	return sum + float64(1e-10*sum)
}

// stopped says whether it is time to give up.
func (d *prices) stopped() bool { return d.late != nil && d.late() }

// window finds the priced slots of every (partition, resource), and what cuts add to places' costs.
func (d *prices) window() {
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
func (d *prices) refunds() {
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
func (d *prices) lowest() {
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

// choose finds job j's option of most reduced value above best, -1 if there is none, and leaves its
// split in d.pick. Options are by falling value. The one that was chosen last is looked at first: it is likely to be the best
// again, and most others need not be priced then.
func (d *prices) choose(in *pack.Instance, j int, best float64) (float64, int) {
	pick, last, refund := -1, int(d.last[j]), 0.0
	if d.cuts != nil {
		refund = d.refund[j]
	}
	if last >= 0 && !d.dead[last] {
		best, pick = d.better(&in.Opts[last], last, best, pick)
	}
	for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
		opt := &in.Opts[o]
		if opt.Value+refund <= best {
			break
		}
		if d.dead[o] || o == last || opt.Value-d.leastCost(opt) <= best {
			continue
		}
		best, pick = d.better(opt, o, best, pick)
	}
	d.last[j] = int32(pick)
	return best, pick
}

// better returns opt, option o, and its reduced value if that is above best, and else best and pick.
func (d *prices) better(opt *pack.Option, o int, best float64, pick int) (float64, int) {
	if red := opt.Value - d.price(opt, d.unit); red > best {
		best, pick = red, o
		d.pick, d.split = d.split, d.pick
	}
	return best, pick
}

// evaluate returns the bound at lam and leaves its subgradient in grad. Given up, it proves nothing.
func (d *prices) evaluate() float64 {
	in := d.in
	d.window()
	sum := d.base
	for i, c := range d.cap {
		sum += float64(d.lam[i] * c)
		d.grad[i] = c
	}
	for j := range in.P.Jobs {
		if d.stopped() {
			return math.Inf(1)
		}
		best, pick := d.choose(in, j, 0)
		if pick >= 0 {
			sum += best
			d.use(&in.Opts[pick])
			if d.columns != nil {
				d.columns.add(pick, d.pick)
			}
		}
	}
	sum += d.evaluateRunning()
	return sum + float64(1e-10*math.Abs(sum))
}

// evaluateRunning is the undecided running jobs' part of the bound.
func (d *prices) evaluateRunning() float64 {
	in, sum := d.in, 0.0
	for m := range in.P.Running {
		if gain := d.releaseGain(m); gain > 0 {
			sum += gain
			for i := in.RunOff[m]; i < in.RunOff[m+1]; i++ {
				d.grad[in.RunRow[i]] += in.RunAmt[i]
			}
		}
		d.ops += int64(in.RunOff[m+1] - in.RunOff[m])
	}
	return sum
}

// use takes the split in pick off the subgradient.
func (d *prices) use(o *pack.Option) {
	in := d.in
	for i := range o.P1 - o.P0 {
		q := d.pick[i]
		if q == 0 {
			continue
		}
		for k := range o.Demand {
			dem := &o.Demand[k]
			lo := (in.Part[o.P0+i]*in.R+dem.R)*in.T + o.Start
			row := d.grad[lo : lo+len(o.Usage)]
			w := q * dem.D
			for t, u := range o.Usage {
				row[t] -= float64(w * u)
			}
			d.ops += int64(len(row))
		}
	}
}

// capacityCost is what all capacity is worth at prices lam, and what cuts allow, on top of what is decided.
func (d *prices) capacityCost() float64 {
	sum := d.base
	for i, c := range d.cap {
		sum += float64(d.lam[i] * c)
	}
	if d.cuts != nil {
		for c, b := range d.cuts.rhs {
			sum += float64(d.lam[d.in.Rows+c] * b)
		}
	}
	return sum
}

// releaseBound is what running job k adds to the bound at prices lam, by whether it is decided.
func (d *prices) releaseBound(k int) float64 {
	d.ops += int64(d.in.RunOff[k+1] - d.in.RunOff[k])
	switch gain := d.releaseGain(k); d.fix[k] {
	case 1:
		return gain
	case 0:
		return max(0, gain)
	default:
		return 0
	}
}

// settle computes every option's cost and reduced value at the best prices. Given up, it leaves some as they were.
func (d *prices) settle() {
	copy(d.lam, d.best)
	d.window()
	for i := range d.in.Opts {
		o := &d.in.Opts[i]
		if d.stopped() {
			return
		}
		if d.dead[i] {
			d.red[i] = math.Inf(-1)
			continue
		}
		d.red[i] = o.Value - d.price(o, d.cost[o.P0:o.P1])
	}
}

// releaseGain is what preempting running job m gains at prices lam.
func (d *prices) releaseGain(m int) float64 {
	gain := -d.in.P.Running[m].PreemptCost
	for i := d.in.RunOff[m]; i < d.in.RunOff[m+1]; i++ {
		gain += float64(d.in.RunAmt[i] * d.lam[d.in.RunRow[i]])
	}
	if d.cuts != nil {
		gain -= d.cuts.extra[len(d.in.Part)+m]
	}
	return gain
}
