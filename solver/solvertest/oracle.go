package solvertest

import "github.com/hedgesched/hedge/solver"

// Optimum is the best objective of p with whole-task splits, by trying every
// set of preemptions, option and split. Only for tiny problems.
func Optimum(p *solver.Problem) float64 {
	o := &oracle{p: p, free: make([]float64, len(p.Partitions)*len(p.Resources)*p.Slots)}
	i := 0
	for _, byResource := range p.Capacity {
		for _, bySlot := range byResource {
			i += copy(o.free[i:], bySlot)
		}
	}
	o.running(0, 0)
	return o.best
}

type oracle struct {
	p    *solver.Problem
	free []float64
	best float64
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
	o.running(m+1, value-run.PreemptCost)
	for _, a := range run.Alloc {
		o.add(a.Partition, 0, run.Demand, run.Usage, -float64(a.Count))
	}
}

func (o *oracle) jobs(j int, value float64) {
	if j == len(o.p.Jobs) {
		o.best = max(o.best, value)
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
			o.split(j, opt, i+1, left-q, value)
		}
		o.add(opt.Partitions[i], opt.Start, opt.Demand, opt.Usage, float64(q))
	}
}
