package outlook

import (
	"cmp"
	"math"
	"slices"
)

// entry is a job that waits in a world.
type entry struct {
	key     float64
	seq     int32 // ties
	at      int32 // index of the pending job; -1 for one that is still to arrive
	runtime float64
	until   float64 // it is given up then
	size    []float64
}

// ending is a job that runs in a world.
type ending struct {
	at   float64
	size []float64
}

// world is one way in which the cluster may go on. Nodes are not told apart: what counts is the sum of each resource.
type world struct {
	cycle float64
	free  []float64
	ends  []ending // a heap
	queue []entry
	start []float64 // of the pending jobs, in seconds from now; +Inf for never
	work  int

	least []float64 // scratch
	after []ending  // scratch
	room  []float64 // scratch
}

// align is the next cycle.
func (w *world) align(t float64) float64 {
	if w.cycle > 0 {
		return float64(math.Ceil(t/w.cycle) * w.cycle)
	}
	return t
}

func (w *world) push(e ending) {
	w.ends = append(w.ends, e)
	i := len(w.ends) - 1
	for i > 0 {
		p := (i - 1) / 2
		if w.ends[p].at <= e.at {
			break
		}
		w.ends[i] = w.ends[p]
		i = p
	}
	w.ends[i] = e
}

func (w *world) pop() ending {
	top, last := w.ends[0], w.ends[len(w.ends)-1]
	w.ends = w.ends[:len(w.ends)-1]
	n := len(w.ends)
	for i := 0; n > 0; {
		c := 2*i + 1
		if c >= n {
			w.ends[i] = last
			break
		}
		if c+1 < n && w.ends[c+1].at < w.ends[c].at {
			c++
		}
		if last.at <= w.ends[c].at {
			w.ends[i] = last
			break
		}
		w.ends[i] = w.ends[c]
		i = c
	}
	return top
}

// enough is the part by which rounding may be off.
const enough = 1e-9

func fits(size, free []float64) bool {
	for r, x := range size {
		if x > free[r]+enough {
			return false
		}
	}
	return true
}

func (w *world) take(size []float64, sign float64) {
	for r, x := range size {
		w.free[r] += float64(sign * x)
	}
}

// arrive puts a job into the queue.
func (w *world) arrive(e entry) {
	i, _ := slices.BinarySearchFunc(w.queue, e, compare)
	w.queue = slices.Insert(w.queue, i, e)
}

func compare(a, b entry) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.seq, b.seq)) }

// run lets the world go on until the jobs that wait now have started, left of them at first. Jobs to come are asked for
// by next: the time of the next one, and the job itself.
func (w *world) run(how discipline, left int, next func() (at float64, e entry, ok bool)) {
	coming, job, more := next()
	t := w.align(math.SmallestNonzeroFloat64) // what did not start now
	for left > 0 {
		for len(w.ends) > 0 && w.ends[0].at <= t {
			w.take(w.pop().size, 1)
		}
		for more && coming <= t {
			w.arrive(job)
			coming, job, more = next()
		}
		left -= w.startAt(t, how)
		then := math.Inf(1)
		if len(w.ends) > 0 {
			then = w.ends[0].at
		}
		if more {
			then = min(then, coming)
		}
		if math.IsInf(then, 1) {
			return // the rest never fits
		}
		t = max(w.align(then), math.Nextafter(t, math.Inf(1)))
	}
}

// startAt starts what can start at a time, and returns how many of those are jobs that wait now.
func (w *world) startAt(t float64, how discipline) (started int) {
	kept := w.queue[:0]
	w.least = w.least[:0]
	reserved, shadow := false, 0.0
	for i := range w.queue {
		e := w.queue[i]
		w.work++
		if t >= e.until {
			if e.at >= 0 {
				started++ // never
			}
			continue
		}
		ok := fits(e.size, w.free)
		if ok && reserved {
			if ok = t+e.runtime <= shadow || fits(e.size, w.room); ok && t+e.runtime > shadow {
				for r, x := range e.size {
					w.room[r] -= x
				}
			}
		}
		if ok {
			w.take(e.size, -1)
			w.push(ending{t + e.runtime, e.size})
			if e.at >= 0 {
				w.start[e.at] = t
				started++
			}
			continue
		}
		kept = append(kept, e)
		switch {
		case how == strict:
			kept = append(kept, w.queue[i+1:]...)
			w.queue = kept
			return started
		case how == reserving && !reserved:
			reserved = true
			shadow = w.shadow(t, e.size)
		}
		if w.exhausted() {
			kept = append(kept, w.queue[i+1:]...)
			break
		}
	}
	w.queue = kept
	return started
}

// exhausted tells that some resource is used up.
func (w *world) exhausted() bool {
	for _, x := range w.free {
		if x <= enough {
			return true
		}
	}
	return false
}

// shadow is when so much is free, and leaves in room what is then free beyond it.
func (w *world) shadow(t float64, size []float64) float64 {
	w.after = append(w.after[:0], w.ends...)
	slices.SortFunc(w.after, func(a, b ending) int { return cmp.Compare(a.at, b.at) })
	w.room = append(w.room[:0], w.free...)
	w.work += len(w.after)
	at := t
	for i := 0; i < len(w.after) && !fits(size, w.room); i++ {
		for r, x := range w.after[i].size {
			w.room[r] += x
		}
		at = w.after[i].at
	}
	for r, x := range size {
		w.room[r] -= x
	}
	return at
}
