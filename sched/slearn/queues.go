package slearn

import (
	"fmt"
	"time"
)

// Queues are the limits and weights of GS's queues. A zero field means the paper's value.
type Queues struct {
	// Count is the number of queues, from 1 to 64; 0 means 10.
	Count int
	// First is the size below which a job belongs to the first queue; 0 means 1000 s.
	First time.Duration
	// Growth is a queue's limit over that of the queue before it, from 1 to 1,000,000; 0 means 10.
	Growth float64
	// Decay is a queue's weight over that of the next queue, from 1 to 1,000,000; 0 means 10.
	Decay float64
}

// withDefaults is a copy with zero fields filled in. It checks the fields.
func (q Queues) withDefaults() (Queues, error) {
	if q.Count == 0 {
		q.Count = 10
	}
	if q.First == 0 {
		q.First = 1000 * time.Second
	}
	if q.Growth == 0 {
		q.Growth = 10
	}
	if q.Decay == 0 {
		q.Decay = 10
	}
	switch {
	case q.Count < 1 || q.Count > 64:
		return q, fmt.Errorf("%w: the number of queues is %d, expected 1 to 64", ErrConfig, q.Count)
	case q.First < 0:
		return q, fmt.Errorf("%w: the first queue's limit is %v, expected more than 0", ErrConfig, q.First)
	case !(q.Growth >= 1 && q.Growth <= 1e6):
		return q, fmt.Errorf("%w: the growth of the limits is %v, expected 1 to 1000000", ErrConfig, q.Growth)
	case !(q.Decay >= 1 && q.Decay <= 1e6):
		return q, fmt.Errorf("%w: the decay of the weights is %v, expected 1 to 1000000", ErrConfig, q.Decay)
	}
	return q, nil
}

// Of is the queue of a job of that size, in seconds, from 0 to Count-1. It is 0 if the Queues are not valid.
func (q Queues) Of(size float64) int {
	full, err := q.withDefaults()
	if err != nil {
		return 0
	}
	return full.of(size)
}

func (q *Queues) of(size float64) int {
	limit := q.First.Seconds()
	for i := range q.Count - 1 {
		if size < limit {
			return i
		}
		limit *= q.Growth
	}
	return q.Count - 1
}

// sampling is the queue of pilots: the second (section 5.1.2), or the only one.
func (q *Queues) sampling() int { return min(1, q.Count-1) }

// queues holds the jobs that have a task to send, and counts the slots that each queue uses. The heap after the last
// queue's is for fillers: jobs that wait for their pilots, whose other tasks run only on idle slots.
type queues struct {
	Queues
	weights []float64
	used    []int64
	waiting []heap
}

// heap holds jobs in order of arrival. Jobs that have left stay in it until they reach the top or outnumber the others.
type heap struct {
	entries []entry
	live    int
}

// entry is a job in a heap. It is valid while its stamp is the job's.
type entry struct {
	of, id     int32
	ref, stamp int32
}

func (a *entry) before(b *entry) bool { return a.of < b.of || a.of == b.of && a.id < b.id }

// heaviest keeps the sum of all weights finite.
const heaviest = 1e300

func newQueues(q *Queues) queues {
	s := queues{Queues: *q, weights: make([]float64, q.Count), used: make([]int64, q.Count),
		waiting: make([]heap, q.Count+1)}
	weight := 1.0
	for i := q.Count - 1; i >= 0; i-- {
		s.weights[i] = weight
		weight = min(weight*q.Decay, heaviest)
	}
	return s
}

// next is the queue that gets the next free slot. Queues with waiting jobs share, by weight, the slots that they use
// and the free one. The queue that lacks the most slots of its share goes first, and the first of equal ones. If no
// queue has waiting jobs, the result is the fillers' heap or, if that is empty too, -1.
func (q *queues) next() int {
	total, slots, waiting, last := 0.0, int64(1), 0, -1
	for i, w := range q.weights {
		if q.waiting[i].live > 0 {
			total += w
			slots += q.used[i]
			last = i
			waiting++
		}
	}
	switch {
	case waiting == 0 && q.waiting[q.Count].live > 0:
		return q.Count
	case waiting < 2:
		return last
	}
	best, most := -1, 0.0
	for i, w := range q.weights {
		if q.waiting[i].live == 0 {
			continue
		}
		deficit := float64(w/total*float64(slots)) - float64(q.used[i])
		if best < 0 || deficit > most {
			best, most = i, deficit
		}
	}
	return best
}

func (h *heap) push(e entry) {
	h.entries = append(h.entries, e)
	h.live++
	i := len(h.entries) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !e.before(&h.entries[up]) {
			break
		}
		h.entries[i] = h.entries[up]
		i = up
	}
	h.entries[i] = e
}

// pop removes the top.
func (h *heap) pop() {
	last := len(h.entries) - 1
	e := h.entries[last]
	h.entries = h.entries[:last]
	if last > 0 {
		h.sink(0, e)
	}
}

// sink inserts an entry at position i, which is free, or below it.
func (h *heap) sink(i int, e entry) {
	for {
		k := 2*i + 1
		if k >= len(h.entries) {
			break
		}
		if k+1 < len(h.entries) && h.entries[k+1].before(&h.entries[k]) {
			k++
		}
		if !h.entries[k].before(&e) {
			break
		}
		h.entries[i] = h.entries[k]
		i = k
	}
	h.entries[i] = e
}

// sweep removes the entries of jobs that have left, once they outnumber the others.
func (h *heap) sweep(jobs []job) {
	if len(h.entries) <= 2*h.live+64 {
		return
	}
	kept := h.entries[:0]
	for _, e := range h.entries {
		if jobs[e.ref].stamp == e.stamp {
			kept = append(kept, e)
		}
	}
	h.entries = kept
	for i := len(kept)/2 - 1; i >= 0; i-- {
		h.sink(i, kept[i])
	}
}
