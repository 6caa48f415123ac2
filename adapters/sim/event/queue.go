// Package event is the core of a discrete-event simulation: a clock in whole
// nanoseconds and a queue of events ordered by time, then class, then the
// order in which they were scheduled. That order is total, so a simulation
// that draws no randomness of its own runs alike everywhere.
//
// The queue is a flat 4-ary heap of 24-byte keys beside a slab of payloads:
// no boxing, no allocation per event once the slab has grown, and events may
// be cancelled or re-timed. Streams whose times never fall go through a [Lane] in
// constant time instead. Nothing here is safe for concurrent use.
//
// The simulator of package sim schedules completions in a [Queue]. [Core] and [Lane] are for simulations in which
// schedulers and a hundred thousand workers send each other messages of constant delay, as in package published.
// [Queue.Retime] is for machines whose tasks slow each other down.
package event

import "time"

// Handle names a scheduled event; the zero value names none. A handle dies
// when its event happens, is cancelled or is re-timed, and is never given to
// another event (until 2^32 events have used the same slot).
type Handle struct {
	slot, generation uint32
}

// Event is what a queue hands out.
type Event[T any] struct {
	// At is when it happens, since the start of the simulation.
	At time.Duration
	// Class ordered it among the events of its instant, lowest first.
	Class uint8
	// Payload is what happens.
	Payload T
}

// key orders events. Its order field holds the class in the top eight bits and
// a sequence number, which lasts for 2^56 events, in the others.
type key struct {
	at               int64
	order            uint64
	slot, generation uint32
}

func (k *key) before(o *key) bool {
	return k.at < o.at || (k.at == o.at && k.order < o.order)
}

// slot holds a payload. A generation is odd while the slot is in use.
type slot[T any] struct {
	generation uint32
	class      uint8
	payload    T
}

// Queue is a priority queue of events. The zero value is empty and ready.
type Queue[T any] struct {
	heap     []key
	slots    []slot[T]
	free     []uint32
	sequence uint64
	dead     int
}

const (
	arity         = 4
	sequenceBits  = 56
	compactAtLeft = 64
)

// Len is the number of events that wait.
func (q *Queue[T]) Len() int { return len(q.heap) - q.dead }

// Grow makes room for n more events.
func (q *Queue[T]) Grow(n int) {
	if need := len(q.heap) + n; need > cap(q.heap) {
		q.heap = append(make([]key, 0, need), q.heap...)
	}
	if need := len(q.slots) + n - len(q.free); need > cap(q.slots) {
		q.slots = append(make([]slot[T], 0, need), q.slots...)
	}
}

// Push schedules payload. Events of one instant come out by class, lowest
// first, and within a class in the order in which they were pushed.
func (q *Queue[T]) Push(at time.Duration, class uint8, payload T) Handle {
	var s uint32
	if n := len(q.free); n > 0 {
		s = q.free[n-1]
		q.free = q.free[:n-1]
	} else {
		s = uint32(len(q.slots))
		q.slots = append(q.slots, slot[T]{})
	}
	place := &q.slots[s]
	place.generation++
	place.class = class
	place.payload = payload
	return q.enter(at, class, s, place.generation)
}

// Peek returns the time and class of the next event without taking it.
func (q *Queue[T]) Peek() (at time.Duration, class uint8, ok bool) {
	if !q.settle() {
		return 0, 0, false
	}
	return time.Duration(q.heap[0].at), uint8(q.heap[0].order >> sequenceBits), true
}

// Pop takes the next event; ok is false when there is none.
func (q *Queue[T]) Pop() (e Event[T], ok bool) {
	if !q.settle() {
		return e, false
	}
	q.take(&e)
	return e, true
}

// take takes the next event; settle has found one.
func (q *Queue[T]) take(e *Event[T]) {
	top := q.heap[0]
	place := &q.slots[top.slot]
	e.At, e.Class, e.Payload = time.Duration(top.at), place.class, place.payload
	q.release(top.slot)
	q.dropTop()
}

// Cancel takes back an event that has not happened and tells whether there was one.
func (q *Queue[T]) Cancel(h Handle) bool {
	if !q.alive(h.slot, h.generation) {
		return false
	}
	q.release(h.slot)
	q.bury()
	return true
}

// Retime moves an event that has not happened to another time, as though it
// had been pushed anew, and returns its new handle. ok is false, and nothing
// changes, if the event is gone.
func (q *Queue[T]) Retime(h Handle, at time.Duration) (moved Handle, ok bool) {
	if !q.alive(h.slot, h.generation) {
		return Handle{}, false
	}
	place := &q.slots[h.slot]
	place.generation += 2
	q.bury()
	return q.enter(at, place.class, h.slot, place.generation), true
}

// Reset drops every event and keeps the memory; handles given so far die.
func (q *Queue[T]) Reset() {
	for i := range q.heap {
		if k := &q.heap[i]; q.alive(k.slot, k.generation) {
			q.release(k.slot)
		}
	}
	q.heap = q.heap[:0]
	q.dead = 0
}

func (q *Queue[T]) alive(s, generation uint32) bool {
	return generation&1 == 1 && int(s) < len(q.slots) && q.slots[s].generation == generation
}

func (q *Queue[T]) release(s uint32) {
	place := &q.slots[s]
	place.generation++
	var zero T
	place.payload = zero
	q.free = append(q.free, s)
}

func (q *Queue[T]) enter(at time.Duration, class uint8, s, generation uint32) Handle {
	order := uint64(class)<<sequenceBits | q.sequence
	q.sequence++
	q.heap = append(q.heap, key{at: int64(at), order: order, slot: s, generation: generation})
	q.up(len(q.heap) - 1)
	return Handle{slot: s, generation: generation}
}

// settle removes cancelled events from the top and tells whether one is left.
func (q *Queue[T]) settle() bool {
	for len(q.heap) > 0 {
		if top := &q.heap[0]; q.dead == 0 || q.alive(top.slot, top.generation) {
			return true
		}
		q.dead--
		q.dropTop()
	}
	return false
}

// bury counts a dead key and sweeps them out once they are the majority, which keeps
// cancellation at constant amortised cost and memory within twice the need.
func (q *Queue[T]) bury() {
	q.dead++
	if q.dead < compactAtLeft || 2*q.dead <= len(q.heap) {
		return
	}
	kept := q.heap[:0]
	for _, k := range q.heap {
		if q.alive(k.slot, k.generation) {
			kept = append(kept, k)
		}
	}
	q.heap = kept
	q.dead = 0
	for i := (len(kept) - 2) / arity; i >= 0 && len(kept) > 1; i-- {
		q.down(i, kept[i])
	}
}

func (q *Queue[T]) dropTop() {
	last := len(q.heap) - 1
	k := q.heap[last]
	q.heap = q.heap[:last]
	if last > 0 {
		q.down(0, k)
	}
}

func (q *Queue[T]) up(i int) {
	heap := q.heap
	k := heap[i]
	for i > 0 {
		parent := (i - 1) / arity
		if !k.before(&heap[parent]) {
			break
		}
		heap[i] = heap[parent]
		i = parent
	}
	heap[i] = k
}

// down puts k into the hole at i.
func (q *Queue[T]) down(i int, k key) {
	heap := q.heap
	n := len(heap)
	for {
		first := i*arity + 1
		if first >= n {
			break
		}
		least := first
		for c := first + 1; c < min(first+arity, n); c++ {
			if heap[c].before(&heap[least]) {
				least = c
			}
		}
		if !heap[least].before(&k) {
			break
		}
		heap[i] = heap[least]
		i = least
	}
	heap[i] = k
}
