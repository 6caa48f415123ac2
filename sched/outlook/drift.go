package outlook

import (
	"cmp"
	"math"
	"slices"
)

const (
	scales    = 24  // of estimates: each twice the one before
	memory    = 128 // ratios a scale
	belief    = 12  // ratios that weigh as much as what the worlds say
	neighbour = 1   // scales on either side that count, too
)

// drift is how estimates have come out: logarithms of the true wait over the estimated one, by the scale of the
// estimate.
type drift struct {
	past   [scales]ring
	open   [scales][]float64 // of jobs that still wait: their ratio is at least that
	shifts [scales]shift
}

// ring is the latest ratios.
type ring struct {
	ratios []float64
	next   int
}

// shift is what to add to the logarithm of an estimate at each level.
type shift struct {
	at     [levels]float64
	weight float64 // of it, up to 1; what the worlds say has the rest
}

func scale(median, unit float64) int {
	return min(max(int(math.Log2((min(median, longest)+unit)/unit)), 0), scales-1)
}

func (d *drift) learn(median, waited, unit float64) {
	r := &d.past[scale(median, unit)]
	z := logRatio(waited, median, unit)
	if len(r.ratios) < memory {
		r.ratios = append(r.ratios, z)
		return
	}
	r.ratios[r.next] = z
	r.next = (r.next + 1) % memory
}

// begin is the beginning of a cycle: what is open is told anew.
func (d *drift) begin() {
	for i := range d.open {
		d.open[i] = d.open[i][:0]
	}
}

// wait tells of a job that still waits.
func (d *drift) wait(median, waited, unit float64) {
	i := scale(median, unit)
	d.open[i] = append(d.open[i], logRatio(waited, median, unit))
}

// observed is a ratio, or what it is at least.
type observed struct {
	ratio float64
	open  bool
}

// settle works out the shifts: quantiles of the ratios by Kaplan and Meier's estimate of a distribution of which some
// values are only known to be larger than something.
func (d *drift) settle(scratch []observed) []observed {
	for i := range d.shifts {
		all := scratch[:0]
		n := 0
		for k := max(0, i-neighbour); k <= min(scales-1, i+neighbour); k++ {
			n += len(d.past[k].ratios)
			for _, z := range d.past[k].ratios {
				all = append(all, observed{z, false})
			}
			for _, z := range d.open[k] {
				all = append(all, observed{z, true})
			}
		}
		scratch = all
		d.shifts[i] = shift{}
		if n == 0 {
			continue
		}
		slices.SortFunc(all, func(a, b observed) int {
			if c := cmp.Compare(a.ratio, b.ratio); c != 0 || a.open == b.open {
				return c
			}
			if a.open {
				return 1
			}
			return -1
		})
		d.shifts[i] = shift{quantiles(all), float64(n) / (float64(n) + belief)}
	}
	return scratch
}

// beyond is how much larger than the largest of the ratios known one may be that is still open.
const beyond = 0.7

func quantiles(all []observed) (out [levels]float64) {
	alive, level := 1.0, 0
	last := all[len(all)-1].ratio
	for i, o := range all {
		if !o.open {
			alive *= 1 - 1/float64(len(all)-i)
		}
		for level < levels && 1-alive >= toldLevels[level] {
			out[level] = o.ratio
			level++
		}
	}
	for ; level < levels; level++ {
		out[level] = last + beyond
	}
	return out
}
