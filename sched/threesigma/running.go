package threesigma

import (
	"math"
	"time"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/place"
	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/utility"
)

// held is what the policy keeps about a running job from cycle to cycle.
type held struct {
	job        *sched.Job
	prediction predict.Prediction
	started    time.Time
	cycle      uint64
	worth      utility.Utility
	guard      *guard // of worth
	speed      float64
	runtime    dist.Distribution // at that speed
	rest       *dist.Histogram   // what is left of the whole job after this stage; nil if nothing is
	// fault says why there is no forecast. The job is then expected to hold its nodes for the whole window. It is not
	// preempted, since the price is unknown.
	fault error

	// demand is what one task holds; alloc is the number of tasks in each partition. They were worked out from these
	// nodes and partitions.
	nodes  []sched.NodeTasks
	parts  *place.Partitioning
	demand []float64
	alloc  []solver.Alloc

	// usage[t] is the probability, in this cycle, that it still holds its nodes t slots from now. room[t] is the share of
	// that room that its whole job is expected to hold then; it is usage if nothing is left after it.
	usage, room []float64
}

// holding returns what is kept about a running job.
func (p *Policy) holding(r *sched.Running) *held {
	h := p.held[r.Job.ID]
	if h == nil || h.job != r.Job || !h.started.Equal(r.Started) || h.speed != r.Speed ||
		!same(h.prediction, r.Prediction) {
		h = &held{job: r.Job, prediction: r.Prediction, started: r.Started, speed: r.Speed}
		h.worth, h.guard = worthOf(r.Job)
		h.runtime, h.fault = p.cfg.forecast(r.Job, r.Prediction, r.Speed)
		p.held[r.Job.ID] = h
	}
	h.cycle = p.cycle
	var err error
	if h.rest, err = p.rests.After(r.Job.ID); err != nil {
		h.fault = err
	}
	return h
}

// locate works out what the job holds in each partition, if that may have changed. If no node offers one of its
// resources any more, the nodes that did are gone, and it counts as holding nothing.
func (h *held) locate(r *sched.Running, nodes *sched.NodeSet, parts *place.Partitioning) {
	if h.parts == parts && sameSlice(h.nodes, r.Nodes) {
		return
	}
	h.parts, h.nodes, h.alloc = parts, r.Nodes, nil
	demand, on := nodes.Held(r)
	if h.demand = demand; demand == nil {
		return
	}
	count := make([]int, parts.Len())
	for i, at := range on {
		if at >= 0 {
			count[parts.Of(int(at))] += r.Nodes[i].Tasks
		}
	}
	for x, c := range count {
		if c > 0 {
			h.alloc = append(h.alloc, solver.Alloc{Partition: x, Count: c})
		}
	}
}

func sameSlice(a, b []sched.NodeTasks) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// survive fills h.usage (RC of section 3.2). At t = 0 it is 1, since the job runs.
func (p *Policy) survive(h *held, r *sched.Running, now time.Time) {
	if h.fault != nil {
		for t := range h.usage {
			h.usage[t] = 1
		}
		return
	}
	elapsed := now.Sub(r.Started).Seconds()
	slot, d := p.cfg.Slot.Seconds(), h.runtime
	if _, hi := d.Bounds(); elapsed >= hi || d.CDF(elapsed) >= 1 {
		p.overdue(h, d, elapsed)
		return
	}
	if p.cfg.Without&Conditioning != 0 {
		for t := range h.usage {
			h.usage[t] = 1 - d.CDF(elapsed+float64(float64(t)*slot))
		}
	} else {
		dist.Survivals(h.usage, d, elapsed, slot)
	}
	fall(h.usage)
}

// overdue is survive for a job that has run longer than its distribution allows (section 4.2.1).
func (p *Policy) overdue(h *held, d dist.Distribution, elapsed float64) {
	clear(h.usage)
	h.usage[0] = 1
	if p.cfg.Without&ExpInc != 0 {
		return
	}
	until, slot := p.until(d, elapsed), p.cfg.Slot.Seconds()
	for t := 1; t < len(h.usage) && elapsed+float64(float64(t)*slot) < until; t++ {
		h.usage[t] = 1
	}
}

// until is the runtime that is expected of a job that has run longer than its distribution allows. It is the longest
// runtime of the distribution plus one cycle. Once that has passed it is two cycles more, then four more, and so on.
func (p *Policy) until(d dist.Distribution, elapsed float64) float64 {
	_, until := d.Bounds()
	if math.IsInf(until, 0) {
		until = d.Quantile(1 - 0x1p-53)
	}
	for step := p.period.Seconds(); until <= elapsed; step *= 2 {
		until += step
	}
	return until
}

// extend fills h.room. After this stage its whole job goes on for the rest, taken at some equally likely values. The
// rest holds a share of the stage's room, width, from 0 to 1.
func (p *Policy) extend(h *held, width float64) {
	slot := p.cfg.Slot.Seconds()
	clear(h.room)
	for i := range quantiles {
		rest := h.rest.Quantile((float64(i)+0.5)/quantiles) / slot
		for t := range h.room {
			h.room[t] += float64(at(h.usage, float64(t)-rest) / quantiles)
		}
	}
	for t, u := range h.usage {
		h.room[t] = u + float64(width*max(0, h.room[t]-u))
	}
}

// at is a probability of survival at a time in slots, in between by the line; 1 before the first slot.
func at(usage []float64, t float64) float64 {
	if t <= 0 {
		return usage[0]
	}
	i := int(t)
	if i+1 >= len(usage) {
		return usage[len(usage)-1]
	}
	return usage[i] + float64((t-float64(i))*(usage[i+1]-usage[i]))
}

// price is what preempting the running job costs. It is the utility that the job is expected to earn if it goes on,
// times 1 plus the share of its work that is done. That share would have to be done again, so a job that is nearly done
// costs nearly twice what it earns. A job that keeps its work loses none of it, and costs just what it earns.
func (p *Policy) price(h *held, r *sched.Running, now time.Time) float64 {
	if p.cfg.PreemptWeight == 0 {
		return 0
	}
	d := h.runtime
	elapsed := max(0, now.Sub(r.Started).Seconds())
	began := r.Started.Sub(r.Job.Submitted).Seconds()
	worth, left := 0.0, 0.0
	if rest, err := dist.Condition(d, elapsed); err == nil && d.CDF(elapsed) < 1 {
		worth, left = h.expected(rest, began), rest.Mean()-elapsed
	} else {
		until := p.until(d, elapsed)
		end, _ := dist.NewPoint(until) // at least 0
		worth, left = h.expected(end, began), until-elapsed
	}
	done := elapsed / (elapsed + max(left, p.period.Seconds()))
	if r.Job.Checkpoint {
		done = 0
	}
	price := float64(p.cfg.PreemptWeight * max(worth, minPrice) * (1 + done))
	if done > 0 && p.cfg.Surcharge != nil {
		price += p.cfg.Surcharge(r, time.Duration(elapsed*float64(time.Second)))
	}
	if !(price <= maxValue) { // or it is NaN
		return maxValue
	}
	return price
}

// quantiles is by how many equally likely values the rest of a whole job is taken, in the price and the room of its
// stage.
const quantiles = 8

// expected is the expected utility of a job that takes d. It began that number of seconds after its submission. Of a
// stage it is that of the whole job.
func (h *held) expected(d dist.Distribution, began float64) float64 {
	if h.rest == nil {
		return utility.Expected(h.worth, d, began)
	}
	sum := 0.0
	for i := range quantiles {
		sum += utility.Expected(h.worth, d, began+h.rest.Quantile((float64(i)+0.5)/quantiles))
	}
	return sum / quantiles
}

const (
	// minPrice is the utility that a job is priced at if it is expected to earn less. Without it the solver could
	// preempt jobs that no longer earn anything, for no gain.
	minPrice = 1e-3
	// maxValue is the largest value or price that a solver accepts. Larger ones are reduced to it.
	maxValue = 1e15
	// maxAmount is the largest amount of a resource that a solver accepts.
	maxAmount = 1e24
)
