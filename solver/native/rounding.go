package native

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
	"github.com/hedgesched/hedge/solver/native/internal/relax"
)

// rounding makes plans of the subproblem's program.
type rounding struct {
	*progress
	greedy          *greedy
	ejection        *ejection
	subproblem      *subproblem
	master          *relax.Master
	fraction, split []float64 // scratch: an option's tasks per partition in the program, and in whole tasks
	jobs            []int     // scratch
	key             []float64
}

// reset makes ready for a problem.
func (r *rounding) reset() {
	r.fraction, r.split = pack.Resize(r.fraction, r.in.MaxParts), pack.Resize(r.split, r.in.MaxParts)
	r.key = pack.Resize(r.key, len(r.in.P.Jobs))
}

// round makes a plan from the subproblem's program: jobs in the order of their weight
// there, each with its heaviest option, split alike; then what else fits.
func (r *rounding) round() {
	r.cur.Copy(&r.subproblem.base)
	r.takeRunning()
	r.order()
	for _, j := range r.jobs {
		if r.late() {
			break
		}
		if o := r.heaviest(j); !r.placeAlike(o) && !r.ejection.place(o, ejectionUnits) {
			r.greedy.insert(j)
		}
	}
	r.complete()
}

// takeRunning preempts whom the program preempts for the better part.
func (r *rounding) takeRunning() {
	for set := range r.master.Sets() {
		if k := set - len(r.in.P.Jobs); k >= 0 && r.master.Preempted(k) > 0.5 {
			r.cur.Preempt(k)
		}
	}
}

// order lists the jobs that the program is about, by what their heaviest options weigh.
func (r *rounding) order() {
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
	sortIndices(r.jobs, r.key, -1)
}

// heaviest is the option of job j, which has some, that weighs most.
func (r *rounding) heaviest(j int) int {
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
func (r *rounding) complete() {
	for _, j := range r.subproblem.order {
		if r.late() {
			break
		}
		if r.cur.Choice[j] < 0 {
			r.greedy.insert(j)
		}
	}
	r.cur.Spare(r.greedy.pre.ByCost)
	r.keep()
}

// placeAlike gives option o's job a split near the one in the program.
func (r *rounding) placeAlike(o int) bool {
	opt := &r.in.Opts[o]
	n := opt.P1 - opt.P0
	if !r.shares(o) || !r.fitShares(opt, r.fraction[:n], r.split[:n]) {
		return false
	}
	r.cur.Place(o, r.split[:n])
	return true
}

// shares computes how the program splits option o; false if it does not take it.
func (r *rounding) shares(o int) bool {
	m := r.master
	opt := &r.in.Opts[o]
	share := r.fraction[:opt.P1-opt.P0]
	clear(share)
	total := 0.0
	for c := m.Head[opt.Job]; c >= 0; c = m.Next[c] {
		if int(m.Opt[c]) != o {
			continue
		}
		if z := m.Weight(c); z > 0 {
			total += z
			for i, v := range m.SplitOf(c) {
				share[i] += float64(z * v)
			}
		}
	}
	for i := range share {
		share[i] /= max(total, 1e-12)
	}
	return total > 1e-9
}

// fitShares makes a split that fits and is near the given shares.
func (r *rounding) fitShares(opt *pack.Option, share, split []float64) bool {
	left := opt.Count
	for i, v := range share {
		if v = min(v+1e-7, left); opt.Whole {
			v = math.Floor(v)
		}
		split[i] = 0
		if v > 0 {
			split[i] = min(v, r.in.Fit(opt, r.in.Part[opt.P0+i], r.cur.Res))
			r.Spend(int64(len(opt.Usage) * len(opt.Demand)))
		}
		left -= split[i]
		share[i] -= split[i]
	}
	return r.fitRest(opt, share, split, left)
}

// fitRest gives out the tasks that are left, one by one where they are whole, to where the split is furthest below
// the shares and there is room.
func (r *rounding) fitRest(opt *pack.Option, share, split []float64, left float64) bool {
	for left > 1e-9*opt.Count {
		r.Spend(int64(len(share)) / 4)
		at := mostMissing(share)
		if at < 0 {
			return false
		}
		room := min(left, r.in.Fit(opt, r.in.Part[opt.P0+at], r.cur.Res)-split[at])
		r.Spend(int64(len(opt.Usage) * len(opt.Demand)))
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
