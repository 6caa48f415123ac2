package outlook

import (
	"cmp"
	"math"
	"slices"
)

const (
	scales    = 24  // scales of estimates, each twice the one before
	memory    = 128 // ratios kept per scale
	belief    = 6   // number of periods that weigh as much as the worlds' estimate
	doubt     = 1   // a single period's quantiles are widened by this share
	neighbour = 1   // neighbouring scales on either side that count too
)

// drift is how estimates came out: the logarithm of the true wait over the estimated one, in units of the estimate's
// spread, by the scale of the estimate.
type drift struct {
	past   [scales]ring
	open   [scales][]observed // lower bounds, from jobs that still wait
	shifts [scales]shift
}

// ring keeps the latest ratios.
type ring struct {
	ratios []observed
	next   int
}

// observed is a ratio or, if open, a lower bound of one.
type observed struct {
	ratio  float64
	at     float64 // when it was seen
	weight float64
	open   bool
}

// shift is the correction of the logarithm of an estimate at each level, in units of the spread.
type shift struct {
	at     [levels]float64
	weight float64 // from 0 to 1; the uncorrected estimate has the rest
}

func scale(median, unit float64) int {
	return min(max(int(math.Log2((min(median, longest)+unit)/unit)), 0), scales-1)
}

func (d *drift) learn(t *telling, now, unit float64) {
	r := &d.past[scale(t.median, unit)]
	o := observed{ratio: logRatio(now-t.at, t.median, unit) / t.spread, at: now}
	if len(r.ratios) < memory {
		r.ratios = append(r.ratios, o)
		return
	}
	r.ratios[r.next] = o
	r.next = (r.next + 1) % memory
}

// begin starts a cycle: open ratios are collected anew.
func (d *drift) begin() {
	for i := range d.open {
		d.open[i] = d.open[i][:0]
	}
}

// wait takes in a job that still waits.
func (d *drift) wait(t *telling, now, unit float64) {
	i := scale(t.median, unit)
	d.open[i] = append(d.open[i], observed{ratio: logRatio(now-t.at, t.median, unit) / t.spread, at: now, open: true})
}

// settle computes the shifts. They are quantiles of the ratios by the Kaplan-Meier estimator, with open ratios as
// censored values. Estimates of one period are not independent: jobs that waited through the same hour met the same
// congestion. So the ratios of one period together weigh as much as one.
func (d *drift) settle(scratch []observed, unit float64) []observed {
	for i := range d.shifts {
		all := scratch[:0]
		for k := max(0, i-neighbour); k <= min(scales-1, i+neighbour); k++ {
			all = append(append(all, d.past[k].ratios...), d.open[k]...)
		}
		scratch = all
		d.shifts[i] = shift{}
		if n := weigh(all, math.Ldexp(unit, i)); n > 0 {
			d.shifts[i] = shift{quantiles(all), n / (n + belief)}
			d.shifts[i].widen(1 + doubt/math.Sqrt(n))
		}
	}
	return scratch
}

// widen moves the quantiles away from the median.
func (s *shift) widen(factor float64) {
	median := s.at[levels/2]
	for l := range s.at {
		s.at[l] = median + float64((s.at[l]-median)*factor)
	}
}

// weigh sets the weights, so that the ratios of one period sum to one. It returns the weight of those that are not
// open.
func weigh(all []observed, period float64) (sum float64) {
	slices.SortFunc(all, func(a, b observed) int { return cmp.Compare(a.at, b.at) })
	for i := 0; i < len(all); {
		k, block := i, math.Floor(all[i].at/period)
		for k < len(all) && math.Floor(all[k].at/period) == block {
			k++
		}
		weight := 1 / float64(k-i)
		for ; i < k; i++ {
			all[i].weight = weight
			if !all[i].open {
				sum += weight
			}
		}
	}
	return sum
}

// beyond is added to the largest ratio, in spreads, for quantiles that the open ratios leave undetermined.
const beyond = 1

func quantiles(all []observed) (out [levels]float64) {
	slices.SortFunc(all, func(a, b observed) int {
		if c := cmp.Compare(a.ratio, b.ratio); c != 0 || a.open == b.open {
			return c
		}
		if a.open {
			return 1
		}
		return -1
	})
	left := 0.0
	for _, o := range all {
		left += o.weight
	}
	alive, level := 1.0, 0
	for _, o := range all {
		if !o.open {
			alive *= max(0, 1-o.weight/left)
		}
		left -= o.weight
		for level < levels && 1-alive >= toldLevels[level] {
			out[level] = o.ratio
			level++
		}
	}
	for ; level < levels; level++ {
		out[level] = all[len(all)-1].ratio + beyond
	}
	return out
}
