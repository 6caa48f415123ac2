package distsched

import (
	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched/usage"
)

// Eviction is what a plan knows of the evictions that a job may suffer. Both fields are probabilities.
type Eviction struct {
	// Start is the thesis's (equation 5.1), by which the policy decides: memory runs short on a machine of the job when it
	// starts. It goes by average use, by the tasks that run or have started before, and says nothing of who is evicted.
	Start float64
	// Life is ours and decides nothing: a task of the job is evicted while it runs. It goes by peak use, by all tasks that
	// run or start in this plan, and by the order in which tasks are evicted: first those of the lowest priority, then
	// those farthest above their requests, then the largest. The tasks of a job share one draw on all machines.
	//
	// All tasks are taken to reach their peaks at once, which makes Life too large. Tasks that start in later plans are
	// not known, and peaks may be forecast too low, which makes it too small. So it is corrected by what became of the
	// followed jobs of the same priority ([Policy.Follow]). If more of them lost tasks than was told, Life grows by as
	// much for later jobs.
	Life float64
}

// Eviction returns the probabilities, as the last plan has them, that a job that it started is evicted. It is false for
// jobs that the plan did not start. It sums the job's machines anew, in about a millisecond for each, and changes
// nothing.
func (p *Policy) Eviction(job string) (e Eviction, ok bool) { return p.eviction(job, false) }

// Follow is [Policy.Eviction], and has the policy find out what becomes of the job, to correct what it tells of others.
// So follow all jobs that start, or a fair sample of them. Parts of jobs are not followed.
func (p *Policy) Follow(job string) (e Eviction, ok bool) { return p.eviction(job, true) }

func (p *Policy) eviction(job string, follow bool) (e Eviction, ok bool) {
	k := p.jobs[job]
	if k == nil || k.started != p.cycle {
		return Eviction{}, false
	}
	e = Eviction{Start: k.option.eviction, Life: p.lifelong(k)}
	if follow {
		p.follow(k, e.Life)
	}
	if o := p.outcomes[k.job.Priority]; o != nil {
		e.Life += float64((1 - e.Life) * o.otherwise())
	}
	return e, true
}

// draws is the number of values of the job's own peak for which the machines are summed.
const draws = 8

// lifelong is Eviction.Life. Given the job's own peak, machines are independent.
func (p *Policy) lifelong(k *known) float64 {
	own, err := dist.NewAtoms(p.peak(k), draws)
	if err != nil {
		return 1 // cannot happen: the peak is finite
	}
	sum := 0.0
	for i := range own.Len() {
		x, chance := own.At(i)
		stays := 1.0
		for _, pk := range k.option.picks {
			stays *= 1 - p.evicts(k, pk, x)
		}
		sum += float64(chance * (1 - stays))
	}
	return min(sum, 1)
}

// evicts is the probability that a machine evicts one of the job's tasks, if each of them reaches a peak of x: that
// these, and all tasks that are evicted after them, use more memory than there is.
func (p *Policy) evicts(k *known, pk pick, x float64) float64 {
	m := &p.machines.of[pk.at]
	switch {
	case x <= 0:
		return 0 // tasks that use no memory are never evicted
	case m.memory == nil:
		return 1
	}
	t, err := dist.NewTotal(m.memory.Limit(), p.cfg.Cells)
	if err != nil {
		return 1 // cannot happen: the machine's own sum has the same limit
	}
	addPoint(t, m.others.Memory, &p.scratch)
	for _, e := range m.held {
		switch {
		case e.of == k || e.of.job.Priority < k.job.Priority:
			continue
		case e.of.job.Priority > k.job.Priority:
			p.addPeak(t, p.peakOn(e.of, pk.at), e.count)
		default:
			p.addPeak(t, p.later(k, x, e.of, pk.at), e.count)
		}
	}
	left := t.Limit() - float64(float64(pk.count)*x)
	if left < 0 {
		return 1
	}
	return t.Tail(left)
}

func (p *Policy) addPeak(t *dist.Total, peak dist.Distribution, count int) {
	a, err := dist.NewAtoms(peak, p.cfg.Atoms+1)
	if err != nil {
		return // cannot happen: the peak is finite
	}
	p.scratch.Set(a, float64(count), t.Step())
	t.Add(&p.scratch)
}

// later is another job's peak where its tasks are evicted after those of k, and 0 where they go first and so make room.
// Both have the same priority. A task of k has a peak of x.
func (p *Policy) later(k *known, x float64, other *known, at int32) dist.Distribution {
	peak := p.peakOn(other, at)
	a, err := dist.NewAtoms(peak, p.cfg.Atoms)
	if err != nil {
		return peak // cannot happen: the peak is finite
	}
	over := func(of *known, peak float64) float64 { return max(0, peak-of.job.Demand[usage.Memory]) }
	mine, gone := over(k, x), 0.0
	var edges, weights []float64
	for i := range a.Len() {
		v, chance := a.At(i)
		if its := over(other, v); v <= 0 || its > mine || its == mine && v > x {
			gone += chance
			continue
		}
		edges, weights = append(edges, v, v), append(weights, chance, 0)
	}
	if gone > 0 {
		edges, weights = append([]float64{0, 0}, edges...), append([]float64{gone, 0}, weights...)
	}
	h, err := dist.NewHistogram(edges, weights[:len(weights)-1])
	if err != nil {
		return peak // cannot happen: atoms ascend
	}
	return h
}

// peakOn is a job's peak on a machine. What was observed there counts if it is more than the forecast.
func (p *Policy) peakOn(k *known, at int32) dist.Distribution {
	peak := p.peak(k)
	w := k.watchOn(at)
	if w == nil || len(w.memory.value) == 0 {
		return peak
	}
	_, high := peak.Bounds()
	most := w.memory.value[len(w.memory.value)-1]
	if most <= high {
		return peak
	}
	d, err := dist.NewPoint(most)
	if err != nil {
		return peak // cannot happen: measurements are checked
	}
	return d
}

// peak is the forecast of a task's peak memory. Without one it is that of its average or, as always, the request.
func (p *Policy) peak(k *known) dist.Distribution {
	for _, q := range [...]predict.Quantity{predict.MemoryMax, predict.Memory} {
		f, ok := k.usage.Of(q)
		if !ok || p.cfg.Estimate == Requests {
			continue
		}
		if f.Dist != nil && p.cfg.Estimate == Distributions {
			return f.Dist
		}
		if d, err := dist.NewPoint(f.Point); err == nil {
			return d
		}
	}
	d, err := dist.NewPoint(k.job.Demand[usage.Memory])
	if err != nil {
		d, _ = dist.NewPoint(0) // cannot happen: the job's profile has it already
	}
	return d
}
