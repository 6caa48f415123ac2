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
// share, and by whether it is enough for the deadline.
func (p *Policy) expect(k *known, start float64) (worth, inTime float64) {
	w := k.worth
	if w.deadline > 0 && w.tailed && start >= w.deadline {
		defer func() { worth *= lateWeight }()
	}
	cpu, needed, share := k.profile.draw, p.neededBy(k, w.deadline-start), p.share(k)
	for i := range cpu.Len() {
		c, chance := cpu.At(i)
		least := min(c, share)
		above, before := c, 0.0
		for j := 0; ; {
			level := c * (1 - float64(float64(j)/levels))
			if needed < above && needed > level {
				level = needed
			} else {
				j++
			}
			enough := 1.0
			if level > least {
				enough = p.enough(k, level)
			}
			if bucket := chance * (enough - before); bucket > 0 {
				gets := max(least, level+float64((above-level)/2))
				u, met := p.utilityAt(k, start, c, gets)
				worth += float64(bucket * u)
				inTime += float64(bucket * met)
			}
			if above, before = level, max(before, enough); level <= least {
				break
			}
		}
	}
	return worth, min(inTime, 1)
}

// neededBy is the CPU that each of the job's tasks needs to be done within so many seconds; 0 where that is not known
// or no CPU is enough.
func (p *Policy) neededBy(k *known, seconds float64) float64 {
	if k.profile.work <= 0 || k.worth.deadline <= 0 || seconds <= 0 {
		return 0
	}
	return p.slowdown(k) * k.profile.work / seconds
}

// slowdown is how many times longer the job takes where its option is.
func (p *Policy) slowdown(k *known) float64 {
	if k.option.slowed {
		return k.job.SlowdownOrOne()
	}
	return 1
}

// share is the least CPU that each of the job's tasks can get on any of its machines, if it wants more: its share of a
// machine on which all want more than there is.
func (p *Policy) share(k *known) float64 {
	least := math.Inf(1)
	p.shares = p.shares[:0]
	for _, pk := range k.option.picks {
		m, weight, share := &p.machines.of[pk.at], k.profile.weight, math.Inf(1)
		if m.cpu != nil {
			share = m.cpu.Limit() * weight / (m.weight + float64(float64(pk.count)*weight))
		}
		least = min(least, share)
		p.shares = append(p.shares, share)
	}
	return least
}

// enough is the probability that each of the job's tasks gets at least so much CPU: on machines where that is more than
// its share, that others leave it idle.
func (p *Policy) enough(k *known, level float64) float64 {
	all := 1.0
	for i, pk := range k.option.picks {
		if level > p.shares[i] {
			t := p.machines.of[pk.at].cpu
			all *= 1 - t.Tail(t.Limit()-float64(float64(pk.count)*level))
		}
	}
	return all
}

// utilityAt is what the job is worth if each of its tasks wants c and gets so much, and whether it meets its deadline
// then: the probability of that.
func (p *Policy) utilityAt(k *known, start, c, gets float64) (worth, met float64) {
	w := k.worth
	if k.profile.work <= 0 {
		return p.byRuntime(k, start, c, gets)
	}
	end := start + min(p.slowdown(k)*k.profile.work/max(gets, tiny), maxTail)
	if w.deadline > 0 && end <= w.deadline {
		met = 1
	}
	return w.curve.At(end), met
}

// tiny is the least CPU that a time is reckoned with.
const tiny = 1e-9

// byRuntime is utilityAt for a job of which the runtime is forecast and not the CPU time.
func (p *Policy) byRuntime(k *known, start, c, gets float64) (worth, met float64) {
	d, slowdown := k.profile.runtime, p.slowdown(k)
	if gets > 0 && gets < c {
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
