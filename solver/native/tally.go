package native

import (
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/pack"
)

// tally counts what a plan comes to in whole units of about what a job is worth: options count their value, rounded, and preemptions their cost. The plans of most real
// cycles run as many of many jobs of much the same value as they can, and the linear program runs some more of them in part, so that its tally is no whole number. To divide
// by whether that is rounded down or up moves the bound far more than a decision about any one job: rounded down it is lower by a part of a job, and rounded up there mostly is no
// plan at all, which shows as soon as the program's tally falls below. It is what the number of vehicles is in routing, which is divided by first
// (Desrochers, Desrosiers and Solomon, 1992).
//
// It is a job of the coarse problem, the last one, worth nothing and without demand, whose options are ranges of the tally. Two rows, which are like cuts, hold it to what all other
// options and preemptions count. So whatever prices, divides and reduces jobs does so with the tally.
type tally struct {
	*progress
	node      *node
	lp        *basis
	separator *separator
	planted   bool      // whether it is in the program
	size      float64   // of a unit, 0 as long as it is not planted
	counts    []float64 // of each option, in units
	costs     []float64 // of each running job
	lo, hi    []float64 // of each of its own options: the range, both ends in it
	values    []float64 // scratch
}

// ranges is how many ranges there are: single numbers round the program's tally, and all that is below and above.
const ranges = singles + 2

// tallyJob is the job that stands for a tally. Its priority is that of another, so that it makes no difference.
func tallyJob(p *solver.Problem) solver.Job {
	o := solver.Option{Count: 1, Demand: make([]float64, len(p.Resources)), Usage: []float64{1}, Partitions: []int{0}}
	return solver.Job{Priority: p.Jobs[0].Priority, Options: slices.Repeat([]solver.Option{o}, ranges)}
}

// reset is for a problem without a tally.
func (y *tally) reset() { y.tallied, y.planted, y.size = false, false, 0 }

// hide makes the problem's last job its tally, which nothing sees until it is planted.
func (y *tally) hide() {
	y.tallied = true
	y.setDead(true)
}

// options are those of the tally's job.
func (y *tally) options() (lo, hi int) {
	return y.in.JobOpts[y.realJobs()], len(y.in.Opts)
}

func (y *tally) setDead(dead bool) {
	for lo, o := y.options(); lo < o; lo++ {
		y.in.Opts[lo].Dead = dead
	}
}

// is says whether job j is a tally that has been planted.
func (y *tally) is(j int) bool { return y.planted && j == y.realJobs() }

// plant adds the tally to the program that has been solved, and solves it again.
func (y *tally) plant() {
	if !y.tallied || !y.proceed() {
		return
	}
	y.node.weigh()
	unit := y.unit()
	if unit == 0 {
		return
	}
	least, most := y.count(unit)
	if most-least > mostUnits*float64(y.realJobs()+len(y.in.P.Running)) {
		return
	}
	y.divideRange(least, most)
	y.setDead(false)
	y.node.reset()
	y.addRows()
	y.planted, y.size = true, unit
	y.dual.bound = min(y.dual.bound, y.node.solve(maxRounds))
	copy(y.dual.best, y.dual.lam)
}

// unit is what the job in the middle is worth at best, of those that can run.
func (y *tally) unit() float64 {
	y.values = y.values[:0]
	for j := range y.realJobs() {
		for o := y.in.JobOpts[j]; o < y.in.JobOpts[j+1]; o++ {
			if !y.in.Opts[o].Dead { // the first is the best
				y.values = append(y.values, y.in.Opts[o].Value)
				break
			}
		}
	}
	if len(y.values) == 0 {
		return 0
	}
	slices.Sort(y.values)
	return y.values[len(y.values)/2]
}

// count counts options and running jobs, and returns the least and the most that plans can come to.
func (y *tally) count(unit float64) (least, most float64) {
	in := &y.in
	y.counts, y.costs = pack.Resize(y.counts, in.JobOpts[y.realJobs()]), pack.Resize(y.costs, len(in.P.Running))
	for j := range y.realJobs() {
		top := 0.0
		for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
			if y.counts[o] = 0; !in.Opts[o].Dead {
				y.counts[o] = math.Round(in.Opts[o].Value / unit)
			}
			top = max(top, y.counts[o])
		}
		most += top
	}
	for k := range in.P.Running {
		y.costs[k] = math.Round(in.P.Running[k].PreemptCost / unit)
		least -= y.costs[k]
	}
	y.spend(int64(len(y.counts) + len(y.costs)))
	return least, most
}

// divideRange divides what plans can come to into ranges.
func (y *tally) divideRange(least, most float64) {
	first := math.Floor(y.value()) - singles/2
	y.lo, y.hi = append(y.lo[:0], least), append(y.hi[:0], first-1)
	for i := range singles {
		y.lo, y.hi = append(y.lo, first+float64(i)), append(y.hi, first+float64(i))
	}
	y.lo, y.hi = append(y.lo, first+singles), append(y.hi, most)
}

// value is the program's tally.
func (y *tally) value() (sum float64) {
	for o, n := range y.counts {
		sum += float64(y.node.weight[o] * n)
	}
	for k, n := range y.costs {
		if n != 0 {
			sum -= float64(y.lp.preempted(k) * n)
		}
	}
	y.spend(int64(len(y.counts)+len(y.costs)) / 2)
	return sum
}

// division divides by whether the program's tally is rounded down or up. It reports whether that is not whole, and between two ranges.
func (y *tally) division() (c division, ok bool) {
	c = division{job: -1, running: -1, entry: -1}
	if !y.planted {
		return c, false
	}
	v := y.value()
	down := math.Floor(v)
	part := v - down
	i := slices.Index(y.hi, down)
	if min(part, 1-part) <= 1e-6 || i < 0 {
		return c, false
	}
	c.job = y.realJobs()
	c.last, c.part, c.first = y.in.JobOpts[c.job]+i, 1-part, part <= 0.5
	return c, true
}

// addRows adds the two rows: what is counted is at most, and at least, what the ends of the range say that the tally's job takes.
func (y *tally) addRows() {
	y.separator.levels()
	y.addRow(1, y.hi)
	y.addRow(-1, y.lo)
	y.dual.cuts = y.separator.cuts
	y.separator.rebuild()
}

// addRow adds the row that what is counted, less the end of the range, is no more than nothing, both times sign.
func (y *tally) addRow(sign float64, ends []float64) {
	s, in := y.separator, &y.in
	s.places = s.places[:0]
	for o, n := range y.counts {
		opt := &in.Opts[o]
		for i := opt.P0; i < opt.P1; i++ {
			s.set(i, sign*n/opt.Count)
		}
	}
	lo, hi := y.options()
	for o := lo; o < hi; o++ {
		s.set(in.Opts[o].P0, -sign*ends[o-lo])
	}
	for k, n := range y.costs {
		s.set(len(in.Part)+k, -sign*n)
	}
	s.add(tallySlack * (1 + y.hi[ranges-1] - y.lo[0]))
	y.spend(int64(len(in.Part)))
}

// tallySlack is more than the rounding errors of what is counted, as a part of it.
const tallySlack = 1e-8
