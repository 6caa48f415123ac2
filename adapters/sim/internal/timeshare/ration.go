package timeshare

import "time"

// ration shares out the machine's CPU, of which its tasks want a total. Tasks that want at most their share get what
// they want. The rest is shared among the others by weight, which is repeated until no task wants less than its share.
// It tells whether it has set speeds.
func (m *Machines) ration(x *machine, total float64, at time.Duration) bool {
	if total <= x.CPU*(1+tolerance) {
		was := x.over
		x.over, x.used = false, total
		for k := 0; was && k < len(x.paces); k++ {
			m.set(x, k, 1, at)
		}
		return was
	}
	x.over, x.used = true, x.CPU
	hungry, weight, rest := m.hungry[:0], 0.0, x.CPU
	for k := range x.paces {
		if x.loads[k].want == 0 { // a segment without CPU takes its wall time
			m.set(x, k, 1, at)
			continue
		}
		hungry = append(hungry, int32(k))
		weight += x.paces[k].share
	}
	level := 0.0
	for fed := true; fed && weight > 0; {
		level = max(0, rest) / weight
		fed, weight = false, 0
		kept := hungry[:0]
		for _, k := range hungry {
			p := &x.paces[k]
			if p.ratio <= level {
				rest -= x.loads[k].want
				m.set(x, int(k), 1, at)
				fed = true
				continue
			}
			weight += p.share
			kept = append(kept, k)
		}
		hungry = kept
	}
	for _, k := range hungry {
		m.set(x, int(k), level/x.paces[k].ratio, at)
	}
	m.hungry = hungry
	return true
}

// set sets the speed of a task.
func (m *Machines) set(x *machine, k int, rate float64, at time.Duration) {
	p := &x.paces[k]
	if rate < 1 && !p.short && at <= m.window {
		m.totals.Throttles++
	}
	p.short = rate < 1
	p.ever = p.ever || p.short
	if rate == p.rate {
		return
	}
	l := &x.loads[k]
	p.left = p.remaining(at)
	if at > p.since {
		p.top = max(p.top, float64(l.want*p.rate))
	}
	p.since, p.rate = at, rate
	l.end = never
	if rate > 0 {
		l.end = later(at, p.left/rate)
	}
}
