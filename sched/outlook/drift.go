package outlook

import (
	"cmp"
	"math"
	"slices"
)

const (
	scales    = 24  // of estimates: each twice the one before
	memory    = 128 // ratios a scale
	belief    = 6   // periods that weigh as much as what the worlds say
	doubt     = 1   // by how much one period alone is believed to tell too little of what may come
	neighbour = 1   // scales on either side that count, too
)

// drift is how estimates have come out: logarithms of the true wait over the estimated one, in units of the spread that
// the worlds said, by the scale of the estimate.
type drift struct {
	past   [scales]ring
	open   [scales][]observed // of jobs that still wait: their ratio is at least that
	shifts [scales]shift
}

// ring is the latest ratios.
type ring struct {
	ratios []observed
	next   int
}

// observed is a ratio, or what it is at least.
type observed struct {
	ratio  float64
	at     float64 // when it was seen
	weight float64
	open   bool
}

// shift is what to add to the logarithm of an estimate at each level, in units of the spread.
type shift struct {
	at     [levels]float64
	weight float64 // of it, up to 1; what the worlds say has the rest
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

// begin is the beginning of a cycle: what is open is told anew.
func (d *drift) begin() {
	for i := range d.open {
		d.open[i] = d.open[i][:0]
	}
}

// wait tells of a job that still waits.
func (d *drift) wait(t *telling, now, unit float64) {
	i := scale(t.median, unit)
	d.open[i] = append(d.open[i], observed{ratio: logRatio(now-t.at, t.median, unit) / t.spread, at: now, open: true})
}

// settle works out the shifts: quantiles of the ratios by Kaplan and Meier's estimate of a distribution of which some
// values are only known to be larger than something. Jobs that have waited for an hour and started within the same hour
// have waited for the same: together they weigh as much as one.
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

// weigh gives each ratio its weight, so that those of a period weigh one together. It returns the sum of the weights of
// those that are not open.
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

// beyond is how much larger than the largest of the ratios known one may be that is still open, in spreads.
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
