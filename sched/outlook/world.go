package outlook

import (
	"cmp"
	"math"
	"slices"
)

// entry is a waiting job in a world.
type entry struct {
	key     float64
	seq     int32 // breaks ties of key
	at      int32 // index of the pending job; -1 for an arrival
	runtime float64
	until   float64 // when it is given up
	size    []float64
}

// ending is the end of a running job in a world.
type ending struct {
	at   float64
	size []float64
}

// world is one possible future of the cluster. It does not distinguish nodes: only the sum of each resource counts.
type world struct {
	cycle float64
	free  []float64
	ends  []ending // a heap
	jobs  []entry
	queue []int32   // indexes of jobs, in order
	start []float64 // starts of the pending jobs in seconds from now; +Inf for never
	work  int
	depth int // most jobs passed over at one time

	after []ending  // scratch
	room  []float64 // scratch
}

// align rounds a time up to a cycle.
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

// enough is the absolute rounding error allowed in sums of a resource.
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

// add takes in a job; line then queues all jobs taken in.
func (w *world) add(e entry) { w.jobs = append(w.jobs, e) }

func (w *world) line() {
	for i := range w.jobs {
		w.queue = append(w.queue, int32(i))
	}
	slices.SortFunc(w.queue, func(a, b int32) int { return compare(&w.jobs[a], &w.jobs[b]) })
}

// arrive puts a job into the queue.
func (w *world) arrive(e entry) {
	w.add(e)
	i, _ := slices.BinarySearchFunc(w.queue, &e, func(a int32, b *entry) int { return compare(&w.jobs[a], b) })
	w.work += (len(w.queue) - i) / 16
	w.queue = slices.Insert(w.queue, i, int32(len(w.jobs)-1))
}

func compare(a, b *entry) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.seq, b.seq)) }

// run advances the world until the pending jobs, left of them, have started or never will. Next is the source of
// arrivals: the time of the next one, and the job.
func (w *world) run(how discipline, left int, next func() (at float64, e entry, ok bool)) {
	coming, job, more := next()
	t := w.align(math.SmallestNonzeroFloat64) // the plan has decided about now
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

// depth limits the jobs passed over at one time, which bounds the work if thousands wait.
func depth(waiting int) int { return max(64, 200_000/max(waiting, 1)) }

// startAt starts what can start at time t. It returns how many of the pending jobs it started or gave up.
func (w *world) startAt(t float64, how discipline) (started int) {
	kept, passed, reserved, shadow := 0, 0, false, 0.0
	for i, at := range w.queue {
		e := &w.jobs[at]
		w.work++
		if t >= e.until {
			if e.at >= 0 {
				started++ // given up
			}
			continue
		}
		if fits(e.size, w.free) && (!reserved || w.beside(e, t, shadow)) {
			w.take(e.size, -1)
			w.push(ending{t + e.runtime, e.size})
			if e.at >= 0 {
				w.start[e.at] = t
				started++
			}
			continue
		}
		w.queue[kept] = at
		kept++
		passed++
		if how == reserving && !reserved {
			reserved, shadow = true, w.shadow(t, e.size)
		}
		if how == strict || passed == w.depth || w.exhausted() {
			w.keep(kept, i+1)
			return started
		}
	}
	w.queue = w.queue[:kept]
	return started
}

// keep removes queue[from:to].
func (w *world) keep(from, to int) {
	if from < to {
		w.work += (len(w.queue) - to) / 16
		w.queue = slices.Delete(w.queue, from, to)
	}
}

// beside reports whether a job that fits now leaves the reservation in time. A job that would run past the reservation
// uses up some of the room that the reservation leaves.
func (w *world) beside(e *entry, t, shadow float64) bool {
	if t+e.runtime <= shadow {
		return true
	}
	if !fits(e.size, w.room) {
		return false
	}
	for r, x := range e.size {
		w.room[r] -= x
	}
	return true
}

// exhausted reports whether some resource is used up.
func (w *world) exhausted() bool {
	for _, x := range w.free {
		if x <= enough {
			return true
		}
	}
	return false
}

// shadow is the time at which size is free. It leaves in room what is then free beyond size.
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
