package backfill

import (
	"cmp"
	"math"
	"slices"

	"github.com/hedgesched/hedge/sched"
)

// never is later than any time of a profile: 200 years, in nanoseconds from now.
const never = int64(200*365*24*3600) * 1e9

// profile is what will be free on each unit of the cluster from now on. Times are nanoseconds from now.
type profile struct {
	nodes *sched.NodeSet
	width int
	units []steps
	grid  int64 // starts are multiples of it; 0 allows any time

	events []change  // scratch
	queue  []int     // scratch
	fits   []int     // scratch
	spare  []float64 // scratch
}

// steps is what is free on a unit: free[i*width:(i+1)*width] from at[i] until at[i+1], the last row for ever.
type steps struct {
	at   []int64
	free []float64
}

// change is the number of tasks more that fit if a job starts at this time or later.
type change struct {
	at    int64
	tasks int
}

// share is a number of tasks on one unit.
type share struct{ unit, tasks int }

// reset starts again with what is free now.
func (p *profile) reset(nodes *sched.NodeSet, width int, free []float64, grid int64) {
	p.nodes = nodes
	n := len(free) / max(width, 1)
	p.width, p.grid = width, grid
	if len(p.units) != n {
		p.units = make([]steps, n)
	}
	for u := range p.units {
		s := &p.units[u]
		s.at = append(s.at[:0], 0)
		s.free = append(s.free[:0], free[u*width:(u+1)*width]...)
	}
}

// split makes a time the beginning of a step and returns the index of that step.
func (p *profile) split(s *steps, at int64) int {
	i, found := slices.BinarySearch(s.at, at)
	if found {
		return i
	}
	p.spare = append(p.spare[:0], s.free[(i-1)*p.width:i*p.width]...)
	s.at = slices.Insert(s.at, i, at)
	s.free = slices.Insert(s.free, i*p.width, p.spare...)
	return i
}

// join removes a step that equals the one before it.
func (p *profile) join(s *steps, i int) {
	w := p.width
	if i < 1 || i >= len(s.at) || !slices.Equal(s.free[(i-1)*w:i*w], s.free[i*w:(i+1)*w]) {
		return
	}
	s.at = slices.Delete(s.at, i, i+1)
	s.free = slices.Delete(s.free, i*w, (i+1)*w)
}

// add frees tasks of a demand on a unit from one time until another; a negative number takes them.
func (p *profile) add(unit int, from, to int64, demand []float64, tasks int) {
	s := &p.units[unit]
	first := p.split(s, from)
	last := len(s.at)
	if to < never {
		last = p.split(s, to)
	}
	for i := first; i < last; i++ {
		row := s.free[i*p.width : (i+1)*p.width]
		for r, d := range demand {
			row[r] += float64(float64(tasks) * d)
		}
	}
	p.join(s, last)
	p.join(s, first)
}

// take reserves shares for a job from its start for its length; give undoes that.
func (p *profile) take(shares []share, demand []float64, start, length int64) {
	for _, s := range shares {
		p.add(s.unit, start, start+length, demand, -s.tasks)
	}
}

func (p *profile) give(shares []share, demand []float64, start, length int64) {
	for _, s := range shares {
		p.add(s.unit, start, start+length, demand, s.tasks)
	}
}

// room is the number of tasks that fit on a unit from a start for a length of time.
func (p *profile) room(unit int, demand []float64, start, length int64) int {
	s := &p.units[unit]
	i, found := slices.BinarySearch(s.at, start)
	if !found {
		i--
	}
	fit := math.MaxInt32
	for ; i < len(s.at) && (s.at[i] < start+length) && fit > 0; i++ {
		fit = min(fit, p.nodes.Fit(demand, s.free[i*p.width:(i+1)*p.width]))
	}
	return fit
}

// holds reports whether there is room for the shares.
func (p *profile) holds(shares []share, demand []float64, start, length int64) bool {
	for _, s := range shares {
		if p.room(s.unit, demand, start, length) < s.tasks {
			return false
		}
	}
	return true
}

// fill divides a gang among units at a start, units with the least room first, as a placer does. It returns nil if
// there is no room.
func (p *profile) fill(units []int32, demand []float64, tasks int, start, length int64) []share {
	var out []share
	total := 0
	for _, u := range units {
		if fit := p.room(int(u), demand, start, length); fit > 0 {
			out = append(out, share{int(u), fit})
			total += min(fit, tasks)
		}
	}
	if total < tasks {
		return nil
	}
	slices.SortStableFunc(out, func(a, b share) int { return cmp.Compare(a.tasks, b.tasks) })
	for i := range out {
		if out[i].tasks >= tasks {
			out[i].tasks = tasks
			return out[:i+1]
		}
		tasks -= out[i].tasks
	}
	return out
}

// earliest is the first start before a limit at which a gang fits on these units for a length of time.
func (p *profile) earliest(units []int32, demand []float64, tasks int, length, limit int64) (start int64, ok bool) {
	p.events = p.events[:0]
	level := 0
	for _, u := range units {
		level += p.changes(&p.units[u], demand, tasks, length, limit)
	}
	slices.SortFunc(p.events, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	at := int64(0)
	for i := 0; ; {
		next := limit
		if i < len(p.events) {
			next = min(limit, p.events[i].at)
		}
		if start = p.align(at); level >= tasks && start < next {
			return start, true
		}
		if next >= limit {
			return 0, false
		}
		for at = next; i < len(p.events) && p.events[i].at == at; i++ {
			level += p.events[i].tasks
		}
	}
}

// align rounds a time up to one at which a job may start.
func (p *profile) align(at int64) int64 {
	if p.grid > 0 {
		if rest := at % p.grid; rest > 0 {
			return at - rest + p.grid
		}
	}
	return at
}

// changes appends to events how the number of tasks that fit on a unit, at most tasks, depends on the start. It returns
// the number that fit now. That number is the minimum over the steps that the job would overlap, found by a
// sliding-window minimum: queue has the steps that may still be the minimum.
func (p *profile) changes(s *steps, demand []float64, tasks int, length, limit int64) (now int) {
	p.fits = p.fits[:0]
	for i := range s.at {
		p.fits = append(p.fits, min(tasks, p.nodes.Fit(demand, s.free[i*p.width:(i+1)*p.width])))
	}
	p.queue = p.queue[:0]
	front, in, out := 0, 0, 1 // in is the next step to be overlapped, out the next beginning to be passed
	least, at := -1, int64(0)
	for {
		for ; in < len(s.at) && s.at[in]-length < at; in++ {
			for len(p.queue) > front && p.fits[p.queue[len(p.queue)-1]] >= p.fits[in] {
				p.queue = p.queue[:len(p.queue)-1]
			}
			p.queue = append(p.queue, in)
		}
		for ; out < len(s.at) && s.at[out] <= at; out++ {
			if p.queue[front] < out {
				front++
			}
		}
		fit := p.fits[p.queue[front]]
		switch {
		case least < 0:
			now = fit
		case fit != least:
			p.events = append(p.events, change{at, fit - least})
		}
		least = fit
		next := limit
		if in < len(s.at) {
			next = min(next, s.at[in]-length+1)
		}
		if out < len(s.at) {
			next = min(next, s.at[out])
		}
		if next >= limit {
			return now
		}
		at = next
	}
}
