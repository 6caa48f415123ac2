package distsched

import (
	"math"
	"time"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/utility"
)

// levels is the number of steps into which the CPU that a task gets is divided, from all that it wants down to none.
const levels = 8

// value fills in an option's value (equation 5.3): the probability that no task of the job is evicted, times the
// expected utility of the job's completion time.
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

// expect is the job's expected utility and the probability that it meets its deadline, if none of its tasks is evicted.
// The job starts now, start seconds after its submission.
//
// A job's tasks share one draw c of CPU. Given c, machines are independent, and the job takes at most t if its tasks
// get enough CPU on every machine m:
//
//	P(T <= t) = Σ_c P(c) · Π_m P(T_m <= t | c).
//
// The job takes as long as the tasks that get the least CPU. That amount is divided into eight steps of c/8, down to
// the tasks' share of a machine, with one more boundary at what the deadline needs.
func (p *Policy) expect(k *known, start float64) (worth, inTime float64) {
	w := k.worth
	if w.deadline > 0 && w.tailed && start >= w.deadline {
		defer func() { worth *= lateWeight }()
	}
	cpu, needed, share := k.profile.draw, k.neededBy(w.deadline-start), p.share(k)
	for i := range cpu.Len() {
		c, chance := cpu.At(i)
		least := min(c, share)
		above, before := c, 0.0
		for j := 0; ; {
			level := float64(c * (1 - float64(float64(j)/levels)))
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
				u, met := k.utilityAt(start, c, gets)
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

// neededBy is the CPU that each of the job's tasks needs to finish within some seconds. It is 0 if that is not known or
// no amount is enough.
func (k *known) neededBy(seconds float64) float64 {
	if k.profile.work <= 0 || k.worth.deadline <= 0 || seconds <= 0 {
		return 0
	}
	return k.option.stretch * k.profile.work / seconds
}

// share is the CPU that each of the job's tasks gets at least, unless it wants less: its share of a fully contended
// machine. It is the smallest over the option's machines, and p.shares has it for each of them.
func (p *Policy) share(k *known) float64 {
	least := math.Inf(1)
	p.shares = p.shares[:0]
	for _, pk := range k.option.picks {
		m, share := &p.machines.of[pk.at], math.Inf(1)
		if m.cpu != nil {
			weight := k.profile.weight(m.cpu)
			share = m.cpu.Limit() * weight / (m.weight + float64(float64(pk.count)*weight))
		}
		least = min(least, share)
		p.shares = append(p.shares, share)
	}
	return least
}

// enough is the probability that each of the job's tasks can get that much CPU. On a machine where its share is less,
// the other tasks must leave the difference idle.
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

// utilityAt is the job's utility and the probability that it meets its deadline, if each of its tasks wants c and gets
// gets, in cores.
func (k *known) utilityAt(start, c, gets float64) (worth, met float64) {
	w := k.worth
	if k.profile.work <= 0 {
		return k.byRuntime(start, c, gets)
	}
	end := start + min(k.option.stretch*k.profile.work/max(gets, tiny), maxTail)
	if w.deadline > 0 && end <= w.deadline {
		met = 1
	}
	return w.curve.At(end), met
}

// tiny keeps quotients finite, and absorbs rounding in comparisons.
const tiny = 1e-9

// byRuntime is utilityAt for a job whose runtime is forecast but not its CPU time.
func (k *known) byRuntime(start, c, gets float64) (worth, met float64) {
	d, stretch := k.profile.runtime, k.option.stretch
	if gets > 0 && gets < c {
		stretch *= c / gets
	}
	if stretch != 1 {
		slow, err := dist.Scale(d, stretch)
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
