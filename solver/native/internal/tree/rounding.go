package tree

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/plan"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
	"github.com/hedgesched/hedge/solver/native/internal/search"
)

// Rounding makes plans of the subproblem's program.
type Rounding struct {
	in         *pack.Instance
	budget     *search.Budget
	known      *search.Incumbent
	cur        *pack.State
	orders     *plan.Orders
	ejection   *plan.Ejection
	master     *relax.Master
	subproblem *Subproblem
	split      []float64 // scratch: an option's whole tasks per partition
	jobs       []int     // scratch
	key        []float64
}

// ejectionUnits is the most that a chain may take for one gang.
const ejectionUnits = 40

// NewRounding makes plans of q's program in cur. Gangs that do not fit as they are split there find room by chains of
// e, and what is left over is filled up by the orders o.
func NewRounding(cur *pack.State, o *plan.Orders, e *plan.Ejection, q *Subproblem) *Rounding {
	return &Rounding{in: q.in, budget: q.budget, known: q.known, cur: cur, orders: o, ejection: e, master: q.master,
		subproblem: q}
}

// Reset makes ready for a problem.
func (r *Rounding) Reset() {
	r.split = pack.Resize(r.split, r.in.MaxParts)
	r.key = pack.Resize(r.key, len(r.in.P.Jobs))
}

// Round makes a plan from the subproblem's program: jobs in the order of their weight
// there, each with its heaviest option, split alike; then what else fits.
func (r *Rounding) Round() {
	r.cur.Copy(&r.subproblem.base)
	r.takeRunning()
	r.order()
	for _, j := range r.jobs {
		if r.budget.Late() {
			break
		}
		if o := r.heaviest(j); !r.placeAlike(o) && !r.ejection.Place(o, ejectionUnits, nil) {
			r.orders.Insert(j)
		}
	}
	r.complete()
}

// takeRunning preempts whom the program preempts for the better part.
func (r *Rounding) takeRunning() {
	for set := range r.master.Sets() {
		if k := set - len(r.in.P.Jobs); k >= 0 && r.master.Preempted(k) > 0.5 {
			r.cur.Preempt(k)
		}
	}
}

// order lists the jobs that the program is about, by what their heaviest options weigh.
func (r *Rounding) order() {
	r.jobs = r.jobs[:0]
	for set := range r.master.Sets() {
		j := set
		if j >= len(r.in.P.Jobs) || r.in.JobOpts[j] == r.in.JobOpts[j+1] {
			continue
		}
		if r.key[j] = r.subproblem.weight[r.heaviest(j)]; r.key[j] > lightest {
			r.jobs = append(r.jobs, j)
		}
	}
	pack.SortBy(r.jobs, r.key, -1)
}

// heaviest is the option of job j, which has some, that weighs most.
func (r *Rounding) heaviest(j int) int {
	pick := r.in.JobOpts[j]
	for o := pick; o < r.in.JobOpts[j+1]; o++ {
		if r.subproblem.weight[o] > r.subproblem.weight[pick] {
			pick = o
		}
	}
	return pick
}

// lightest is the weight beyond which a job is rounded before what else fits.
const lightest = 0.01

// complete fills the plan up by reduced value and spares whom it can.
func (r *Rounding) complete() {
	for _, j := range r.subproblem.order {
		if r.budget.Late() {
			break
		}
		if r.cur.Choice[j] < 0 {
			r.orders.Insert(j)
		}
	}
	r.cur.Spare(r.orders.Pre.ByCost)
	r.known.Keep(r.cur)
}

// placeAlike gives option o's job a split near the one in the program.
func (r *Rounding) placeAlike(o int) bool {
	opt := &r.in.Opts[o]
	n := opt.P1 - opt.P0
	if !r.subproblem.shares(o) || !r.fitShares(opt, r.subproblem.fraction[:n], r.split[:n]) {
		return false
	}
	r.cur.Place(o, r.split[:n])
	return true
}

// fitShares makes a split that fits and is near the given shares.
func (r *Rounding) fitShares(opt *pack.Option, share, split []float64) bool {
	left := opt.Count
	for i, v := range share {
		if v = min(v+1e-7, left); opt.Whole {
			v = math.Floor(v)
		}
		split[i] = 0
		if v > 0 {
			split[i] = min(v, r.in.Fit(opt, r.in.Part[opt.P0+i], r.cur.Res))
			r.budget.Spend(int64(len(opt.Usage) * len(opt.Demand)))
		}
		left -= split[i]
		share[i] -= split[i]
	}
	return r.fitRest(opt, share, split, left)
}

// fitRest gives out the tasks that are left, one by one where they are whole, to where the split is furthest below
// the shares and there is room.
func (r *Rounding) fitRest(opt *pack.Option, share, split []float64, left float64) bool {
	for left > 1e-9*opt.Count {
		r.budget.Spend(int64(len(share)) / 4)
		at := mostMissing(share)
		if at < 0 {
			return false
		}
		room := min(left, r.in.Fit(opt, r.in.Part[opt.P0+at], r.cur.Res)-split[at])
		r.budget.Spend(int64(len(opt.Usage) * len(opt.Demand)))
		if room <= 0 {
			share[at] = math.Inf(-1)
			continue
		}
		if share[at] > 0 && opt.Whole {
			room = min(room, 1)
		}
		split[at] += room
		left -= room
		share[at] -= room
		if share[at] <= 0 && (room != 1 || left <= 0) {
			share[at] = math.Inf(-1)
		}
	}
	return true
}

// mostMissing is where most of a share is missing, of those that are not given up; -1 if there is none.
func mostMissing(share []float64) int {
	at := -1
	for i, v := range share {
		if v > -1e17 && (at < 0 || v > share[at]) {
			at = i
		}
	}
	return at
}
