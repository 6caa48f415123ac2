package native

import (
	"math"
	"math/bits"

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
	columns    *master     // where evaluate puts the options and splits that it chooses; nil is nowhere
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

// least is what option o costs at least, as if each of its tasks could be in the cheapest partition of every slot.
func (d *prices) least(o *pack.Option) float64 {
	sum, n := 0.0, 0
	for i := range o.Demand {
		dem := &o.Demand[i]
		lo, hi := max(d.floorLo[dem.R], o.Start), min(d.floorHi[dem.R], o.Start+len(o.Usage))
		if lo >= hi {
			continue
		}
		part := 0.0
		usage := o.Usage[lo-o.Start : hi-o.Start]
		row := d.floor[dem.R*d.in.T+lo:]
		row = row[:len(usage)]
		for t, u := range usage {
			part += float64(row[t] * u)
		}
		sum += float64(part * dem.D)
		n += hi - lo
	}
	d.ops += int64(n) + 4
	if d.cuts != nil {
		extra := d.cuts.extra[o.P0:o.P1]
		least := math.Inf(1)
		for _, v := range extra {
			least = min(least, v)
		}
		sum += least
		d.ops += int64(len(extra)) / 2
	}
	return o.Count * sum
}

// unitCosts computes what one task of o costs in each of its partitions at prices lam. Four partitions at a time go through the usage
// together: their sums do not wait for one another.
func (d *prices) unitCosts(o *pack.Option, unit []float64) {
	clear(unit)
	T, parts := d.in.T, d.in.Part[o.P0:o.P1]
	unit = unit[:len(parts)]
	for i := range o.Demand {
		dem := &o.Demand[i]
		var at, row [4]int // entries of unit, and where their partitions' prices begin
		n, lo, hi := 0, T, 0
		for e, x := range parts {
			k := x*d.in.R + dem.R
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
			sums := dot4(o.Usage[lo-o.Start:hi-o.Start], d.lam[row[0]+lo:], d.lam[row[1]+lo:], d.lam[row[2]+lo:], d.lam[row[3]+lo:])
			for f := range n {
				unit[at[f]] += float64(sums[f] * dem.D)
			}
			d.ops += int64(2*(hi-lo)) + 8
			n, lo, hi = 0, T, 0
		}
		d.ops += int64(len(parts))
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

// price is option o's cheapest split's cost; the split is left in d.split, the
// partitions' costs in unit.
func (d *prices) price(o *pack.Option, unit []float64) float64 {
	n := o.P1 - o.P0
	least := 0
	d.unitCosts(o, unit[:n])
	for i := range n {
		if d.cuts != nil {
			unit[i] += d.cuts.extra[o.P0+i]
		}
		d.split[i] = 0
		if unit[i] < unit[least] {
			least = i
		}
	}
	d.ops += int64(2 * n)
	limit := d.limit[o.P0:o.P1]
	if d.raised > 0 && d.atLeast(o) > 0 {
		return d.priceAbove(o, unit)
	}
	if d.spread(o, unit, unit[least]) {
		return o.Count * unit[least]
	}
	if limit[least] >= o.Count {
		d.split[least] = o.Count
		return o.Count * unit[least]
	}
	return d.cheapest(o, unit, o.Count, 0)
}

// atLeast is how many of o's tasks have their partition prescribed.
func (d *prices) atLeast(o *pack.Option) float64 {
	sum := 0.0
	for _, v := range d.low[o.P0:o.P1] {
		sum += v
	}
	return sum
}

// priceAbove is price with some tasks' partitions prescribed.
func (d *prices) priceAbove(o *pack.Option, unit []float64) float64 {
	left, total := o.Count, 0.0
	for i, v := range d.low[o.P0:o.P1] {
		d.split[i] = v
		left -= v
		total += float64(v * unit[i])
	}
	return d.cheapest(o, unit, left, total)
}

// cheapest gives out the tasks that are left to the cheapest partitions with room, and returns what they cost on top of total.
func (d *prices) cheapest(o *pack.Option, unit []float64, left, total float64) float64 {
	limit := d.limit[o.P0:o.P1]
	if len(limit) > few {
		d.heapify(unit, limit)
	}
	for left > 0 {
		next := -1
		if len(limit) > few {
			next = d.popCheapest(unit)
		} else {
			for i, most := range limit {
				if d.split[i] < most && (next < 0 || unit[i] < unit[next]) {
					next = i
				}
			}
			d.ops += int64(len(limit))
		}
		if next < 0 && left > 1e-6*o.Count {
			return math.Inf(1)
		}
		if next < 0 {
			break
		}
		q := min(left, limit[next]-d.split[next])
		d.split[next] += q
		left -= q
		total += float64(q * unit[next])
	}
	return total
}

// few is how many there are at most of what is sorted by insertion and picked by looking at all of it.
const few = 32

// heapify lists the partitions with room as a heap, the cheapest first, and of those the first.
func (d *prices) heapify(unit, limit []float64) {
	d.heap = d.heap[:0]
	for i, most := range limit {
		if d.split[i] < most {
			d.heap = append(d.heap, int32(i))
		}
	}
	for i := len(d.heap)/2 - 1; i >= 0; i-- {
		d.sift(unit, i)
	}
	d.ops += int64(3 * len(limit))
}

// popCheapest takes the cheapest partition off the heap; -1 if there is none.
func (d *prices) popCheapest(unit []float64) int {
	last := len(d.heap) - 1
	if last < 0 {
		return -1
	}
	top := d.heap[0]
	d.heap[0], d.heap = d.heap[last], d.heap[:last]
	d.sift(unit, 0)
	d.ops += int64(2 * bits.Len(uint(last)))
	return int(top)
}

// sift moves entry i of the heap down to where it belongs.
func (d *prices) sift(unit []float64, i int) {
	before := func(a, b int32) bool { return unit[a] < unit[b] || (unit[a] == unit[b] && a < b) }
	for h := d.heap; ; {
		c := 2*i + 1
		if c >= len(h) {
			return
		}
		if c+1 < len(h) && before(h[c+1], h[c]) {
			c++
		}
		if !before(h[c], h[i]) {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}

// spread splits o over all partitions that cost the least, in proportion to how
// many tasks fit there, if they hold the gang together. That is as cheap as any
// split, and its subgradient does not favour one of many equal partitions.
func (d *prices) spread(o *pack.Option, unit []float64, least float64) bool {
	total, ties := 0.0, 0
	limit := d.limit[o.P0:o.P1]
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
			d.split[i] = limit[i] * scale
		}
	}
	return true
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
		if d.dead[o] || o == last || opt.Value-d.least(opt) <= best {
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

// step moves the prices by Polyak's step towards target, a value the bound
// cannot fall below. It reports whether it is worth going on. The direction is
// the subgradient deflected from zigzags, which is quick at first, or after
// again has been called, an average of subgradients (the volume algorithm),
// which gets closer.
func (d *prices) step(target float64) bool {
	if d.theta < minTheta {
		return false
	}
	from := d.lam
	if d.volume {
		from = d.best
	}
	norm := d.direct(from)
	if norm <= 1e-18 {
		return false
	}
	t := d.theta * (d.bound - target) / norm
	for i, v := range d.dir {
		d.lam[i] = max(0, from[i]-float64(t*v))
	}
	d.ops += int64(4 * d.in.Rows)
	b := d.evaluate()
	if b < d.bound-float64(1e-6*math.Abs(d.bound)) {
		d.stale = 0
		if d.volume {
			d.theta = min(d.theta*1.2, 2)
		}
	} else if d.stale++; d.stale >= patience {
		d.shorten()
	}
	if b < d.bound {
		d.bound = b
		copy(d.best, d.lam)
	}
	return true
}

// approach moves the prices from the best ones along an average of subgradients, by steps that would lower the bound by level if they
// were right about it, and returns the level to go on with: a step that lowers the bound by a good part of it makes it higher.
func (d *prices) approach(level float64) float64 {
	norm := 0.0
	for i, g := range d.grad {
		v := d.dir[i] + float64(newest*(g-d.dir[i]))
		d.dir[i] = v
		if d.best[i] > 0 || v < 0 {
			norm += float64(v * v)
		}
	}
	if norm <= 1e-18 {
		return 0
	}
	for i, v := range d.dir {
		d.lam[i] = max(0, d.best[i]-float64(level/norm*v))
	}
	d.ops += int64(4 * d.in.Rows)
	b := d.evaluate()
	if d.stale++; d.bound-b >= 0.2*level {
		d.stale, level = 0, level*1.2
	} else if b < d.bound {
		d.stale--
	}
	if d.stale >= 4 {
		d.stale, level = 0, level*0.6
	}
	if b < d.bound {
		d.bound = b
		copy(d.best, d.lam)
	}
	return level
}

// newest is the weight of the newest subgradient in approach.
const newest = 0.15

// shorten makes steps shorter after too many without progress.
func (d *prices) shorten() {
	d.stale, d.theta = 0, d.theta*0.6
	if !d.volume {
		copy(d.lam, d.best)
		clear(d.dir)
		d.evaluate()
	}
}

// again starts over from the best prices with averaged subgradients.
func (d *prices) again() {
	d.volume, d.theta, d.stale, d.alpha = true, 0.3, 0, 1
	copy(d.lam, d.best)
	d.evaluate()
}

// direct computes the direction to step in and returns its squared length.
func (d *prices) direct(from []float64) float64 {
	alpha, beta := 1.0, 0.0
	if d.volume {
		alpha, beta = d.alpha, 1-d.alpha
		d.alpha = max(averaging, min(d.alpha*0.97, 0.4))
	} else {
		cross, old := 0.0, 0.0
		for i, g := range d.grad {
			if from[i] == 0 && g > 0 {
				g, d.grad[i] = 0, 0
			}
			cross += float64(g * d.dir[i])
			old += float64(d.dir[i] * d.dir[i])
		}
		switch {
		case old == 0:
		case cross < 0:
			beta = -1.5 * cross / old
		default:
			beta = 0.3
		}
	}
	norm := 0.0
	for i, g := range d.grad {
		v := float64(alpha*g) + float64(beta*d.dir[i])
		if !d.volume && from[i] == 0 && v > 0 {
			v = 0
		}
		d.dir[i] = v
		if from[i] > 0 || v < 0 {
			norm += float64(v * v)
		}
	}
	return norm
}

// The dual ascent's constants: the least weight of the newest subgradient
// (it falls from 0.4), how
// many steps without progress shorten the steps, and the shortest step.
const (
	averaging = 0.07
	patience  = 5
	minTheta  = 2e-3
)

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
