package relax

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// Dual is the Lagrangian dual: what prices prove,
//
//	Σ_rows λ·capacity + Σ_jobs max(0, max_o value − cheapest split at λ)
//	                  + Σ_running max(0, released·λ − preemption cost),
//
// which bounds every plan's value for every λ >= 0, and the prices that have proven the least.
type Dual struct {
	Pricing
	Bound float64   // the least upper bound seen
	Best  []float64 // the prices that have proven it
	Grad  []float64 // the bound's subgradient where it has been evaluated last
	Last  []int32   // of each job: the option that was chosen last, or -1
	Pick  []float64 // the split of the option that Choose has found
	// Chosen is told of the options and splits that Evaluate chooses; nil is nobody.
	Chosen func(option int, split []float64)
	Late   func() bool // says when to give up
}

// Reset starts at zero prices, whose bound is every job's best value. Nothing may be decided.
func (d *Dual) Reset(in *pack.Instance) {
	d.Pricing.reset(in)
	d.Best, d.Grad = pack.Resize(d.Best, in.Rows), pack.Resize(d.Grad, in.Rows)
	clear(d.Best)
	d.Last = d.Last[:0]
	for range in.P.Jobs {
		d.Last = append(d.Last, -1)
	}
	d.Pick = pack.Resize(d.Pick, in.MaxParts)
	if d.Bound = d.Evaluate(); math.IsInf(d.Bound, 1) {
		d.Bound = d.most()
	}
}

// most is the bound at zero prices: every job's best value.
func (d *Dual) most() float64 {
	sum := 0.0
	for j := range d.In.P.Jobs {
		for o := d.In.JobOpts[j]; o < d.In.JobOpts[j+1]; o++ {
			if !d.In.Opts[o].Dead {
				sum += d.In.Opts[o].Value
				break
			}
		}
	}
	return sum + float64(1e-10*sum)
}

// Improve makes bound, which prices Lam prove, the least one if it is, and reports whether it is.
func (d *Dual) Improve(bound float64) bool {
	if !(bound < d.Bound) {
		return false
	}
	d.Bound = bound
	copy(d.Best, d.Lam)
	return true
}

// Choose finds job j's option of most reduced value above best, -1 if there is none, and leaves its split in d.Pick.
// Options are by falling value. The one that was chosen last is looked at first: it is likely to be the best again,
// and most others need not be priced then.
func (d *Dual) Choose(j int, best float64) (float64, int) {
	in, dead := d.In, d.Decided.Dead
	pick, last, refund := -1, int(d.Last[j]), 0.0
	if d.Cuts != nil {
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
	d.Last[j] = int32(pick)
	return best, pick
}

// better returns opt, option o, and its reduced value if that is above best, and else best and pick.
func (d *Dual) better(opt *pack.Option, o int, best float64, pick int) (float64, int) {
	if red := opt.Value - d.Price(opt, d.Unit); red > best {
		best, pick = red, o
		d.Pick, d.Split = d.Split, d.Pick
	}
	return best, pick
}

// Evaluate returns the bound at Lam and leaves its subgradient in Grad. If Late stops it, it returns +Inf, which proves
// nothing. It is right only without cuts and decisions: it leaves out what cuts allow, and does not count a job or
// running job as decided.
func (d *Dual) Evaluate() float64 {
	d.Window()
	sum := 0.0
	for i, c := range d.In.Cap {
		sum += float64(d.Lam[i] * c)
		d.Grad[i] = c
	}
	for j := range d.In.P.Jobs {
		if d.Late() {
			return math.Inf(1)
		}
		best, pick := d.Choose(j, 0)
		if pick >= 0 {
			sum += best
			d.use(&d.In.Opts[pick])
			if d.Chosen != nil {
				d.Chosen(pick, d.Pick)
			}
		}
	}
	sum += d.evaluateRunning()
	return sum + float64(1e-10*math.Abs(sum))
}

// evaluateRunning is the running jobs' part of the bound, and of its subgradient. As Evaluate, it is right only without
// cuts and decisions: it takes every running job to be undecided.
func (d *Dual) evaluateRunning() float64 {
	in, sum := d.In, 0.0
	for m := range in.P.Running {
		if gain := d.ReleaseGain(m); gain > 0 {
			sum += gain
			for i := in.RunOff[m]; i < in.RunOff[m+1]; i++ {
				d.Grad[in.RunRow[i]] += in.RunAmt[i]
			}
		}
		d.Ops += int64(in.RunOff[m+1] - in.RunOff[m])
	}
	return sum
}

// use takes the split in Pick off the subgradient.
func (d *Dual) use(o *pack.Option) {
	in := d.In
	for i := range o.P1 - o.P0 {
		q := d.Pick[i]
		if q == 0 {
			continue
		}
		for k := range o.Demand {
			dem := &o.Demand[k]
			lo := (in.Part[o.P0+i]*in.R+dem.R)*in.T + o.Start
			row := d.Grad[lo : lo+len(o.Usage)]
			w := q * dem.D
			for t, u := range o.Usage {
				row[t] -= float64(w * u)
			}
			d.Ops += int64(len(row))
		}
	}
}

// ReleaseBound is what running job k adds to the bound, by whether it is decided.
func (d *Dual) ReleaseBound(k int) float64 {
	d.Ops += int64(d.In.RunOff[k+1] - d.In.RunOff[k])
	switch gain := d.ReleaseGain(k); d.Decided.Fix[k] {
	case 1:
		return gain
	case 0:
		return max(0, gain)
	default:
		return 0
	}
}

// CapacityCost is what all capacity is worth, and what cuts allow.
func (d *Dual) CapacityCost() float64 {
	sum := 0.0
	for i, c := range d.In.Cap {
		sum += float64(d.Lam[i] * c)
	}
	if d.Cuts != nil {
		for c, b := range d.Cuts.RHS {
			sum += float64(d.Lam[d.In.Rows+c] * b)
		}
	}
	return sum
}
