package native

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// roomPrices is the Lagrangian relaxation of what fits into rooms: at any prices of them, what is left is worth no more than all room that is left costs, and what
// every open job gains beyond its cost at best, whatever fits. It is a bound for a small part of what the linear program's takes, and mostly as good where
// gangs may go anywhere.
type roomPrices struct {
	worth []float64 // of each option: its value less what it takes costs
	grad  []float64 // the subgradient: of each room, what is left over
	trial []float64 // the prices of the step
	line  []float64 // of each room: what the rooms of all sets that contain its own cost in its line
	place []float64 // of each row: what the rooms that it is part of cost
	freed []float64 // of each row: what is kept of what is counted as free
}

func (p *roomPrices) reset(in *pack.Instance, rooms int) {
	p.worth, p.grad = pack.Resize(p.worth, len(in.Opts)), pack.Resize(p.grad, rooms)
	p.trial, p.line = pack.Resize(p.trial, rooms), pack.Resize(p.line, rooms)
	p.place, p.freed = pack.Resize(p.place, in.Rows), pack.Resize(p.freed, in.Rows)
}

// relax betters a level's prices by some steps of Polyak's towards what is enough, and takes out what they show to be of no use. It reports whether
// there may be a better plan.
func (e *enumeration) relax(l *level, steps int) bool {
	enough := e.enough()
	l.bound = math.Inf(1)
	copy(e.trial, l.price)
	theta, stale := 1.0, 0
	for range steps {
		if !e.looks() {
			return false
		}
		b := e.lagrange(l, e.trial)
		if b < l.bound {
			l.bound, stale = b, 0
			copy(l.price, e.trial)
		} else if stale++; stale >= stepPatience {
			theta, stale = theta*stepShrinks, 0
			copy(e.trial, l.price)
			e.lagrange(l, e.trial)
		}
		if l.bound <= enough {
			return false
		}
		norm := 0.0
		for i, g := range e.grad {
			if e.trial[i] > 0 || g < 0 {
				norm += float64(g * g)
			}
		}
		if norm <= 1e-18 {
			break
		}
		t := theta * (b - enough) / norm
		for i, g := range e.grad {
			e.trial[i] = max(0, e.trial[i]-float64(t*g))
		}
		e.spend(int64(len(e.trial)))
	}
	l.bound = e.lagrange(l, l.price)
	return e.reduce(l)
}

// lagrange is the bound of a level at those prices; it leaves the subgradient in grad, and in worth what options gain.
func (e *enumeration) lagrange(l *level, price []float64) float64 {
	copy(e.grad, l.left)
	sum := 0.0
	for i, v := range l.left {
		sum += float64(v * price[i])
	}
	most := sum + math.Abs(l.sure) // of what is added up, for rounding errors
	e.gather(e.line, e.rooms.within, price)
	kept := e.keepRunning(l, price)
	sum, most = sum+l.sure+kept, most-kept
	for u := range l.jobs {
		a := &l.jobs[u]
		if a.decided {
			continue
		}
		best, at := math.Inf(-1), int32(-1)
		if a.none {
			best = 0
		}
		for _, o := range e.list[a.lo:a.hi] {
			if e.worth[o] = e.gain(o); e.worth[o] > best {
				best, at = e.worth[o], o
			}
		}
		sum, most = sum+best, most+math.Abs(best)
		if at >= 0 {
			e.rooms.take(int(at), e.grad)
		}
	}
	e.spend(int64(len(l.left) + len(l.jobs)))
	return sum + float64(1e-10*most)
}

// gather computes for each list of sets what their rooms cost together, by line.
func (e *enumeration) gather(into []float64, lists [][]int32, price []float64) {
	n := e.rooms.lines()
	clear(into)
	for i, list := range lists {
		sums := into[i*n : (i+1)*n]
		for _, s := range list {
			for t, v := range price[int(s)*n : int(s+1)*n] {
				sums[t] += v
			}
		}
		e.spend(int64(len(list)*n) / 4)
	}
}

// gain is what option o is worth beyond its cost.
func (e *enumeration) gain(o int32) float64 {
	opt := &e.in.Opts[o]
	cost := 0.0
	for i := range opt.Demand {
		part := 0.0
		line := e.line[e.rooms.first(e.rooms.of[o], opt, i):]
		for t, u := range opt.Usage {
			part += float64(line[t] * u)
		}
		cost += float64(part * opt.Demand[i].D)
	}
	e.spend(int64(len(opt.Usage)*len(opt.Demand))/2 + 2)
	return opt.Value - float64(opt.Count*cost)
}

// keepRunning keeps those open running jobs whose room, which is counted as free, costs less than their preemption. It returns what that adds to the bound.
func (e *enumeration) keepRunning(l *level, price []float64) (sum float64) {
	if len(e.runs) == 0 {
		return 0
	}
	e.gather(e.place, e.rooms.around, price)
	clear(e.freed)
	for r, s := range l.runs {
		if s != 0 {
			continue
		}
		k := int(e.runs[r])
		room, cost := e.roomOf(k), e.in.P.Running[k].PreemptCost
		if sum -= min(room, cost); room >= cost {
			continue
		}
		for i := e.in.RunOff[k]; i < e.in.RunOff[k+1]; i++ {
			e.freed[e.in.RunRow[i]] += e.in.RunAmt[i]
		}
	}
	for row, v := range e.freed {
		if v != 0 {
			e.rooms.add(e.grad, row, -v)
		}
	}
	e.spend(int64(len(l.runs) + len(e.freed)/4))
	return sum
}

// roomOf is what the room that running job k holds costs.
func (e *enumeration) roomOf(k int) float64 {
	sum := 0.0
	for i := e.in.RunOff[k]; i < e.in.RunOff[k+1]; i++ {
		sum += float64(e.place[e.in.RunRow[i]] * e.in.RunAmt[i])
	}
	e.spend(int64(e.in.RunOff[k+1]-e.in.RunOff[k]) / 2)
	return sum
}

// mostGain is what a job gains at best.
func (e *enumeration) mostGain(a *domain) float64 {
	best := math.Inf(-1)
	if a.none {
		best = 0
	}
	for _, o := range e.list[a.lo:a.hi] {
		best = max(best, e.worth[o])
	}
	return best
}

// reduce takes out what would make the bound too low. It reports whether there may be a better plan.
func (e *enumeration) reduce(l *level) bool {
	enough := e.enough()
	if l.bound <= enough {
		return false
	}
	for u := range l.jobs {
		a := &l.jobs[u]
		if a.decided {
			continue
		}
		best := e.mostGain(a)
		a.none = a.none && l.bound-best > enough
		if !e.retain(a, func(o int32) bool { return l.bound-(best-e.worth[o]) > enough }) {
			return false
		}
	}
	kept := false
	for r, s := range l.runs {
		if s != 0 {
			continue
		}
		k := int(e.runs[r])
		gain := e.roomOf(k) - e.in.P.Running[k].PreemptCost
		if l.bound-math.Abs(gain) <= enough {
			e.settleRun(l, r, gain > 0)
			kept = kept || gain <= 0
		}
	}
	return !kept || e.refit(l)
}
