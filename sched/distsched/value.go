package distsched

import (
	"math"
	"time"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/utility"
)

// levels is in how many steps the CPU that a task gets is told apart, from all that it wants down to none.
const levels = 8

// value fills in what an option is worth (equation 5.3): the probability that no task of the job is evicted, times the
// expected utility of the time at which it is done.
func (p *Policy) value(k *known, now time.Time) {
	o := &k.option
	stays := 1.0
	for _, pk := range o.picks {
		m := &p.machines.of[pk.at]
		evicted, _ := risk(m.memory, &k.memoryOn, k.profile.memory, pk.count, &p.scratch)
		stays *= 1 - min(evicted, 1)
	}
	worth, inTime := p.expect(k, now.Sub(k.job.Submitted).Seconds())
	o.value, o.inTime, o.eviction = stays*worth, stays*inTime, 1-stays
}

// expect is the expected utility of the job if none of its tasks is evicted, and the probability that it meets its
// deadline.
//
// A job's tasks share one draw of CPU. Machines are independent given that: for each value c of it, the job runs for no
// longer than t if on each machine its tasks get enough,
//
//	P(T <= t) = Σ_c P(c) · Π_m P(T_m <= t | c).
//
// The job's time is that of the tasks which get least. What they get is told apart in eight steps from c down to their
// share.
func (p *Policy) expect(k *known, start float64) (worth, inTime float64) {
	w := k.worth
	if w.deadline > 0 && w.tailed && start >= w.deadline {
		defer func() { worth *= lateWeight }()
	}
	cpu := k.profile.cpu
	for i := range cpu.Len() {
		c, chance := cpu.At(i)
		least := p.share(k, c)
		before := 0.0
		for j := range levels + 1 {
			level := c * (1 - float64(j)/levels)
			enough := 1.0
			if level > least {
				enough = p.enough(k, level)
			}
			if bucket := chance * (enough - before); bucket > 0 {
				gets := c
				if j > 0 {
					gets = max(least, c*(1-(float64(j)-0.5)/levels))
				}
				u, met := p.utilityAt(k, start, c, gets, j)
				worth += float64(bucket * u)
				inTime += float64(bucket * met)
			}
			if before = max(before, enough); level <= least {
				break
			}
		}
	}
	return worth, min(inTime, 1)
}

// share is the least CPU that each of the job's tasks gets on any of its machines if it wants c: its share of a machine
// on which all want more than there is.
func (p *Policy) share(k *known, c float64) float64 {
	for _, pk := range k.option.picks {
		m := &p.machines.of[pk.at]
		if m.cpu == nil {
			continue
		}
		weight := k.profile.weight
		c = min(c, m.cpu.Limit()*weight/(m.weight+float64(float64(pk.count)*weight)))
	}
	return c
}

// enough is the probability that each of the job's tasks gets at least so much CPU, more than its share: that others
// leave it idle.
func (p *Policy) enough(k *known, level float64) float64 {
	all := 1.0
	for _, pk := range k.option.picks {
		m := &p.machines.of[pk.at]
		weight := k.profile.weight
		if m.cpu == nil || level <= m.cpu.Limit()*weight/(m.weight+float64(float64(pk.count)*weight)) {
			continue
		}
		all *= 1 - m.cpu.Tail(m.cpu.Limit()-float64(float64(pk.count)*level))
	}
	return all
}

// utilityAt is what the job is worth if each of its tasks wants c and gets so much, in step j, and whether it meets its
// deadline then: the probability of that.
func (p *Policy) utilityAt(k *known, start, c, gets float64, j int) (worth, met float64) {
	w := k.worth
	slowdown := 1.0
	if k.option.slowed {
		slowdown = k.job.SlowdownOrOne()
	}
	if k.profile.work <= 0 {
		return p.byRuntime(k, start, slowdown, c, gets, j)
	}
	end := start + min(slowdown*k.profile.work/max(gets, tiny), maxTail)
	if w.deadline > 0 && end <= w.deadline {
		met = 1
	}
	return w.curve.At(end), met
}

// tiny is the least CPU that a time is reckoned with.
const tiny = 1e-9

// byRuntime is utilityAt for a job of which the runtime is forecast and not the CPU time.
func (p *Policy) byRuntime(k *known, start, slowdown, c, gets float64, j int) (worth, met float64) {
	d := k.profile.runtime
	if j > 0 && gets > 0 {
		slowdown *= c / gets
	}
	if slowdown != 1 {
		slow, err := dist.Scale(d, slowdown)
		if err != nil {
			return 0, 0
		}
		d = slow
	}
	if worth = utility.Expected(k.worth.curve, d, start); math.IsNaN(worth) {
		worth = 0
	}
	if k.worth.deadline > 0 {
		met = d.CDF(k.worth.deadline - start)
	}
	return worth, met
}
