package timeshare

import "time"

// ration shares out the machine's CPU. Tasks that want at most their share get what they want. The rest is shared among
// the others by weight, which is repeated until no task wants less than its share.
func (m *Machines) ration(x *machine, at time.Duration) {
	total := sum(x.wants)
	if total <= x.CPU*(1+tolerance) {
		x.used = total
		if x.over {
			x.over = false
			for k := range x.slots {
				m.pace(x, k, 1, at)
			}
		}
		return
	}
	x.over, x.used = true, x.CPU
	hungry, weight, rest := m.hungry[:0], 0.0, x.CPU
	for k, want := range x.wants {
		if want == 0 { // a segment without CPU takes its wall time
			m.pace(x, k, 1, at)
			continue
		}
		hungry = append(hungry, int32(k))
		weight += x.slots[k].share
	}
	level := 0.0
	for fed := true; fed && len(hungry) > 0; {
		level = max(0, rest) / weight
		fed, weight = false, 0
		kept := hungry[:0]
		for _, k := range hungry {
			s := &x.slots[k]
			if s.ratio <= level {
				rest -= x.wants[k]
				m.pace(x, int(k), 1, at)
				fed = true
				continue
			}
			weight += s.share
			kept = append(kept, k)
		}
		hungry = kept
	}
	for _, k := range hungry {
		m.pace(x, int(k), level/x.slots[k].ratio, at)
	}
	m.hungry = hungry
}

// pace sets the speed of a task.
func (m *Machines) pace(x *machine, k int, rate float64, at time.Duration) {
	s := &x.slots[k]
	if rate < 1 && !s.short && at <= m.window {
		m.totals.Throttles++
	}
	s.short = rate < 1
	s.ever = s.ever || s.short
	if rate == s.rate {
		return
	}
	s.left = s.remaining(at)
	if at > s.since {
		s.top = max(s.top, float64(x.wants[k]*s.rate))
	}
	s.since, s.rate = at, rate
	x.ends[k] = never
	if rate > 0 {
		x.ends[k] = later(at, s.left/rate)
	}
}
