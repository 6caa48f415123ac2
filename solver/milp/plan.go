package milp

import (
	"cmp"
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
)

// Plan converts point x of the model to a feasible plan. Splits that are not whole are rounded. What then does not fit
// is left out, and what still fits is added, the most valuable first. If the point is feasible and whole, the plan is
// worth at least its objective, apart from rounding and negligible values.
func (c *Placement) Plan(x []float64) *solver.Solution {
	in, st := &c.in, &c.st
	st.Reset(in)
	for m, v := range c.stop {
		if v >= 0 && x[v] > 0.5 {
			st.Preempt(m)
		}
	}
	c.split = pack.Resize(c.split, in.MaxParts)
	for j := range in.P.Jobs {
		if k := c.chosen(j, x); k >= 0 && c.round(k, x) {
			st.Place(k, c.split)
		}
	}
	st.Settle()
	c.complete(x)
	st.Spare(c.pre.ByCost)
	if !st.Settle() {
		st.Spare(c.pre.ByCost)
	}
	return st.Solution("", solver.StopWork)
}

// chosen is the option that x gives job j, -1 if no option has at least a half.
func (c *Placement) chosen(j int, x []float64) int {
	best, most := -1, 0.5
	for k := c.in.JobOpts[j]; k < c.in.JobOpts[j+1]; k++ {
		if v := c.choose[k]; v >= 0 && x[v] >= most {
			best, most = k, x[v]
		}
	}
	return best
}

// round makes option k's split in x add up to the gang, in whole tasks if required. It reports whether that is
// possible.
func (c *Placement) round(k int, x []float64) bool {
	in, o := &c.in, &c.in.Opts[k]
	split := c.split[:o.P1-o.P0]
	c.rest = pack.Resize(c.rest, len(split))
	sum, size := 0.0, c.size(o)
	for i := range split {
		switch v := c.tasks[o.P0+i]; {
		case v >= 0:
			split[i] = min(max(x[v]*size, 0), in.Limit[o.P0+i])
		case in.Limit[o.P0+i] > 0:
			split[i] = o.Count
		default:
			split[i] = 0
		}
		c.rest[i] = 0
		if o.Whole {
			down := math.Floor(split[i] + 1e-6)
			c.rest[i], split[i] = split[i]-down, down
		}
		sum += split[i]
	}
	if sum <= 0 {
		return false
	}
	if !o.Whole {
		for i := range split {
			split[i] *= o.Count / sum
		}
		return true
	}
	return c.level(o, split, o.Count-sum)
}

// level adds left tasks to split, or removes them if left is negative, where rounding has removed the most, or the
// least.
func (c *Placement) level(o *pack.Option, split []float64, left float64) bool {
	step := math.Copysign(1, left)
	for ; math.Abs(left) > 0.5; left -= step {
		best := -1
		for i, rest := range c.rest {
			to := split[i] + step
			if to >= 0 && to <= c.in.Limit[o.P0+i] && (best < 0 || step*rest > step*c.rest[best]) {
				best = i
			}
		}
		if best < 0 {
			return false
		}
		split[best] += step
		c.rest[best] -= step
	}
	return true
}

// complete adds jobs to the plan where they fit: first those of which x has a part, by the size of the part, then the
// others by value.
func (c *Placement) complete(x []float64) {
	in := &c.in
	c.byJob = c.byJob[:0]
	share := make([]float64, len(in.P.Jobs))
	for j, k := range c.st.Choice {
		if k >= 0 || in.JobOpts[j] == in.JobOpts[j+1] {
			continue
		}
		c.byJob = append(c.byJob, j)
		for k := in.JobOpts[j]; k < in.JobOpts[j+1]; k++ {
			if v := c.choose[k]; v >= 0 {
				share[j] += x[v]
			}
		}
		share[j] = math.Round(share[j] * 1e6)
	}
	slices.SortStableFunc(c.byJob, func(a, b int) int {
		if d := cmp.Compare(share[b], share[a]); d != 0 {
			return d
		}
		return cmp.Compare(in.Opts[in.JobOpts[b]].Value, in.Opts[in.JobOpts[a]].Value)
	})
	for _, j := range c.byJob {
		for k := in.JobOpts[j]; k < in.JobOpts[j+1]; k++ {
			if c.st.TryPlace(k) {
				break
			}
		}
	}
}
