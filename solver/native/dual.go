package native

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// dual is the Lagrangian dual: what prices prove,
//
//	Σ_rows λ·capacity + Σ_jobs max(0, max_o value − cheapest split at λ)
//	                  + Σ_running max(0, released·λ − preemption cost),
//
// which bounds every plan's value for every λ >= 0, and the prices that have proven the least.
type dual struct {
	pricing
	bound float64   // the least upper bound seen
	best  []float64 // the prices that have proven it
	grad  []float64 // the bound's subgradient where it has been evaluated last
	last  []int32   // of each job: the option that was chosen last, or -1
	pick  []float64 // the split of the option that choose has found
	// chosen is told of the options and splits that evaluate chooses; nil is nobody.
	chosen func(option int, split []float64)
	late   func() bool // says when to give up
}

// reset starts at zero prices, whose bound is every job's best value. Nothing may be decided.
func (d *dual) reset(in *pack.Instance) {
	d.pricing.reset(in)
	d.best, d.grad = pack.Resize(d.best, in.Rows), pack.Resize(d.grad, in.Rows)
	clear(d.best)
	d.last = d.last[:0]
	for range in.P.Jobs {
		d.last = append(d.last, -1)
	}
	d.pick = pack.Resize(d.pick, in.MaxParts)
	if d.bound = d.evaluate(); math.IsInf(d.bound, 1) {
		d.bound = d.most()
	}
}

// most is the bound at zero prices: every job's best value.
func (d *dual) most() float64 {
	sum := 0.0
	for j := range d.in.P.Jobs {
		for o := d.in.JobOpts[j]; o < d.in.JobOpts[j+1]; o++ {
			if !d.in.Opts[o].Dead {
				sum += d.in.Opts[o].Value
				break
			}
		}
	}
	return sum + float64(1e-10*sum)
}

// improve makes bound, which prices lam prove, the least one if it is, and reports whether it is.
func (d *dual) improve(bound float64) bool {
	if !(bound < d.bound) {
		return false
	}
	d.bound = bound
	copy(d.best, d.lam)
	return true
}

// choose finds job j's option of most reduced value above best, -1 if there is none, and leaves its
// split in d.pick. Options are by falling value. The one that was chosen last is looked at first: it is likely to be the best
// again, and most others need not be priced then.
func (d *dual) choose(j int, best float64) (float64, int) {
	in, dead := d.in, d.decided.dead
	pick, last, refund := -1, int(d.last[j]), 0.0
	if d.cuts != nil {
		refund = d.refund[j]
	}
	if last >= 0 && !dead[last] {
		best, pick = d.better(&in.Opts[last], last, best, pick)
	}
	for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
		opt := &in.Opts[o]
		if opt.Value+refund <= best {
			break
		}
		if dead[o] || o == last || opt.Value-d.leastCost(opt) <= best {
			continue
		}
		best, pick = d.better(opt, o, best, pick)
	}
	d.last[j] = int32(pick)
	return best, pick
}

// better returns opt, option o, and its reduced value if that is above best, and else best and pick.
func (d *dual) better(opt *pack.Option, o int, best float64, pick int) (float64, int) {
	if red := opt.Value - d.price(opt, d.unit); red > best {
		best, pick = red, o
		d.pick, d.split = d.split, d.pick
	}
	return best, pick
}

// evaluate returns the bound at lam and leaves its subgradient in grad. Given up, it proves nothing.
func (d *dual) evaluate() float64 {
	d.window()
	sum := d.decided.base
	for i, c := range d.decided.cap {
		sum += float64(d.lam[i] * c)
		d.grad[i] = c
	}
	for j := range d.in.P.Jobs {
		if d.late() {
			return math.Inf(1)
		}
		best, pick := d.choose(j, 0)
		if pick >= 0 {
			sum += best
			d.use(&d.in.Opts[pick])
			if d.chosen != nil {
				d.chosen(pick, d.pick)
			}
		}
	}
	sum += d.evaluateRunning()
	return sum + float64(1e-10*math.Abs(sum))
}

// evaluateRunning is the undecided running jobs' part of the bound.
func (d *dual) evaluateRunning() float64 {
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
func (d *dual) use(o *pack.Option) {
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

// releaseBound is what running job k adds to the bound, by whether it is decided.
func (d *dual) releaseBound(k int) float64 {
	d.ops += int64(d.in.RunOff[k+1] - d.in.RunOff[k])
	switch gain := d.releaseGain(k); d.decided.fix[k] {
	case 1:
		return gain
	case 0:
		return max(0, gain)
	default:
		return 0
	}
}

// capacityCost is what all capacity is worth, and what cuts allow, on top of what is decided.
func (d *dual) capacityCost() float64 {
	sum := d.decided.base
	for i, c := range d.decided.cap {
		sum += float64(d.lam[i] * c)
	}
	if d.cuts != nil {
		for c, b := range d.cuts.rhs {
			sum += float64(d.lam[d.in.Rows+c] * b)
		}
	}
	return sum
}
