package solvertest

import (
	"cmp"
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver"
)

// Optimum is the best objective of p with whole-task splits, by trying every
// set of preemptions, option and split. Priorities are kept by dividing the room
// among the jobs. Only for tiny problems.
func Optimum(p *solver.Problem) float64 {
	o := &oracle{p: p, free: make([]float64, len(p.Partitions)*len(p.Resources)*p.Slots)}
	i := 0
	for _, byResource := range p.Capacity {
		for _, bySlot := range byResource {
			i += copy(o.free[i:], bySlot)
		}
	}
	o.empty = slices.Clone(o.free)
	o.running(0, 0)
	return o.best
}

type oracle struct {
	p    *solver.Problem
	free []float64
	// empty is what is free without any preemption and any job.
	empty []float64
	best  float64
	// taken is what the jobs chosen so far take, and given what the preempted jobs held.
	taken, given []held
}

// held is what is held of a row by tasks of one job; priority is the job's, or the least that may take its room.
type held struct {
	priority, row int
	amount        float64
}

func (o *oracle) add(x, start int, demand, usage []float64, count float64) (fits bool) {
	fits = true
	for r, d := range demand {
		for t, u := range usage {
			row := (x*len(o.p.Resources)+r)*o.p.Slots + start + t
			o.free[row] += float64(count * d * u)
			if count*d*u < 0 && o.free[row] < -1e-9 {
				fits = false
			}
		}
	}
	return fits
}

// hold is the list with what a number of tasks hold added.
func (o *oracle) hold(list []held, priority, x, start int, demand, usage []float64, count int) []held {
	for r, d := range demand {
		for t, u := range usage {
			row := (x*len(o.p.Resources)+r)*o.p.Slots + start + t
			list = append(list, held{priority, row, float64(count) * d * u})
		}
	}
	return list
}

// allowed tells whether the room can be divided so that every job takes what is free or what it may. The lowest come
// first, since all others may take what these leave.
func (o *oracle) allowed() bool {
	taken := slices.Clone(o.taken)
	slices.SortStableFunc(taken, func(a, b held) int { return cmp.Compare(a.priority, b.priority) })
	given := slices.Clone(o.given)
	for row, free := range o.empty {
		given = append(given, held{math.MinInt, row, free})
	}
	for _, t := range taken {
		for i := range given {
			if g := &given[i]; g.row == t.row && g.priority <= t.priority {
				use := min(g.amount, t.amount)
				g.amount -= use
				t.amount -= use
			}
		}
		if t.amount > 1e-9 {
			return false
		}
	}
	return true
}

func (o *oracle) running(m int, value float64) {
	if m == len(o.p.Running) {
		o.jobs(0, value)
		return
	}
	o.running(m+1, value)
	run := &o.p.Running[m]
	for _, a := range run.Alloc {
		o.add(a.Partition, 0, run.Demand, run.Usage, float64(a.Count))
	}
	before := len(o.given)
	for _, a := range run.Alloc {
		o.given = o.hold(o.given, run.MinPriority, a.Partition, 0, run.Demand, run.Usage, a.Count)
	}
	o.running(m+1, value-run.PreemptCost)
	o.given = o.given[:before]
	for _, a := range run.Alloc {
		o.add(a.Partition, 0, run.Demand, run.Usage, -float64(a.Count))
	}
}

func (o *oracle) jobs(j int, value float64) {
	if j == len(o.p.Jobs) {
		if value > o.best && o.allowed() {
			o.best = value
		}
		return
	}
	o.jobs(j+1, value)
	for i := range o.p.Jobs[j].Options {
		opt := &o.p.Jobs[j].Options[i]
		o.split(j, opt, 0, opt.Count, value+opt.Value)
	}
}

func (o *oracle) split(j int, opt *solver.Option, i, left int, value float64) {
	if i == len(opt.Partitions) {
		if left == 0 {
			o.jobs(j+1, value)
		}
		return
	}
	for q := 0; q <= left; q++ {
		if o.add(opt.Partitions[i], opt.Start, opt.Demand, opt.Usage, -float64(q)) {
			before := len(o.taken)
			o.taken = o.hold(o.taken, o.p.Jobs[j].Priority, opt.Partitions[i], opt.Start, opt.Demand, opt.Usage, q)
			o.split(j, opt, i+1, left-q, value)
			o.taken = o.taken[:before]
		}
		o.add(opt.Partitions[i], opt.Start, opt.Demand, opt.Usage, float64(q))
	}
}
