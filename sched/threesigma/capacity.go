package threesigma

import (
	"math"
	"time"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched"
)

// overrun is a running job that outlived its distribution: after its times-th overrun it is
// taken to finish when it has run for until seconds.
type overrun struct {
	started time.Time
	times   int
	until   float64
	cycle   uint64
}

// survival fills dst[t] with the probability that the running job still holds its
// nodes t slots from now (RC of section 3.2). It is 1 at t = 0: the job does run.
func (p *Policy) survival(dst []float64, r *sched.Running, d dist.Distribution, now time.Time) {
	elapsed := now.Sub(r.Started).Seconds()
	slot := p.cfg.Slot.Seconds()
	if _, hi := d.Bounds(); elapsed >= hi || d.CDF(elapsed) >= 1 {
		p.overdue(dst, r, elapsed, slot)
		return
	}
	if p.cfg.Without&Conditioning != 0 {
		for t := range dst {
			dst[t] = 1 - d.CDF(elapsed+float64(t)*slot)
		}
	} else {
		dist.Survivals(dst, d, elapsed, slot)
	}
	dst[0] = 1
}

// overdue is survival past the end of the distribution (section 4.2.1).
func (p *Policy) overdue(dst []float64, r *sched.Running, elapsed, slot float64) {
	clear(dst)
	dst[0] = 1
	if p.cfg.Without&ExpInc != 0 {
		return
	}
	o, ok := p.overruns[r.Job.ID]
	if !ok || !o.started.Equal(r.Started) {
		o = overrun{started: r.Started}
	}
	for o.times == 0 || elapsed >= o.until {
		step := math.Ldexp(p.cfg.Cycle.Seconds(), min(o.times, maxDoublings))
		o.until = elapsed + step
		o.times++
	}
	o.cycle = p.cycle
	p.overruns[r.Job.ID] = o
	for t := 1; t < len(dst) && elapsed+float64(t)*slot < o.until; t++ {
		dst[t] = 1
	}
}

// maxDoublings keeps the increment finite: 2^40 cycles outlast any cluster.
const maxDoublings = 40

// capacity fills the problem's capacity: all nodes less the running jobs'
// expected consumption, per partition, resource and slot (section 3.2).
func (b *builder) capacity() {
	s, parts, res := b.snap, b.parts, len(b.snap.Nodes.Resources())
	T := b.problem.Slots
	flat := make([]float64, parts.Len()*res*T)
	all := s.Nodes.Capacity()
	for x := range parts.Len() {
		for _, n := range parts.Nodes(x) {
			for r := range res {
				flat[(x*res+r)*T] += all[int(n)*res+r]
			}
		}
		for r := range res {
			row := flat[(x*res+r)*T : (x*res+r+1)*T]
			for t := 1; t < T; t++ {
				row[t] = row[0]
			}
		}
	}
	for i := range s.Running {
		b.consume(flat, &b.running[i])
	}
	for i, c := range flat {
		flat[i] = math.Max(0, c)
	}
	b.problem.Capacity = make([][][]float64, parts.Len())
	for x := range b.problem.Capacity {
		b.problem.Capacity[x] = make([][]float64, res)
		for r := range res {
			at := (x*res + r) * T
			b.problem.Capacity[x][r] = flat[at : at+T : at+T]
		}
	}
}

// consume takes one running job's expected consumption off the capacity.
func (b *builder) consume(flat []float64, ru *runningUse) {
	T := b.problem.Slots
	for _, a := range ru.alloc {
		for res, d := range ru.demand {
			if d == 0 {
				continue
			}
			row := flat[(a.Partition*len(ru.demand)+res)*T:]
			for t, u := range ru.usage {
				row[t] -= float64(a.Count) * d * u
			}
		}
	}
}
