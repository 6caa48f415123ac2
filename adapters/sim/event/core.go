package event

import (
	"math"
	"time"
)

// Core is a clock and the events to come: the loop of a simulation is
//
//	for e, ok := core.Next(); ok; e, ok = core.Next() { ... }
//
// with calls of After and At in its body. The zero value stands at time 0.
type Core[T any] struct {
	queue Queue[T]
	lanes []*Lane[T]
	heads []head // of the lanes, beside each other
	now   time.Duration
}

// head is when the first event of a lane is; of an empty lane, never.
type head struct {
	at    int64
	order uint64
}

// Now is the time of the event last taken, since the start of the simulation.
func (c *Core[T]) Now() time.Duration { return c.now }

// Len is the number of events to come.
func (c *Core[T]) Len() int {
	n := c.queue.Len()
	for _, l := range c.lanes {
		n += l.Len()
	}
	return n
}

// Grow makes room for n more events outside lanes.
func (c *Core[T]) Grow(n int) { c.queue.Grow(n) }

// At schedules payload at a time; a time that is over means now.
func (c *Core[T]) At(at time.Duration, class uint8, payload T) Handle {
	return c.queue.Push(max(at, c.now), class, payload)
}

// After schedules payload a delay from now; a negative delay means now.
func (c *Core[T]) After(delay time.Duration, class uint8, payload T) Handle {
	return c.queue.Push(c.now+max(delay, 0), class, payload)
}

// Cancel takes back an event that has not happened and tells whether there was one.
func (c *Core[T]) Cancel(h Handle) bool { return c.queue.Cancel(h) }

// Retime moves an event that has not happened; see [Queue.Retime]. A time that is over means now.
func (c *Core[T]) Retime(h Handle, at time.Duration) (Handle, bool) {
	return c.queue.Retime(h, max(at, c.now))
}

// Lane adds a lane to the core: a stream of events of one class whose delay is
// constant, such as the messages of a network, or whose times never fall.
// Pushing to it and taking from it cost the same however many events wait.
func (c *Core[T]) Lane(class uint8) *Lane[T] {
	l := &Lane[T]{core: c, class: class, number: len(c.lanes)}
	c.lanes = append(c.lanes, l)
	c.heads = append(c.heads, head{})
	l.expose()
	return l
}

// Peek returns the time of the next event without taking it.
func (c *Core[T]) Peek() (at time.Duration, ok bool) {
	first, _ := c.first()
	return time.Duration(first.at), first != never()
}

// Next takes the next event and moves the clock to it; ok is false when there is none.
func (c *Core[T]) Next() (e Event[T], ok bool) {
	ok = c.Take(&e)
	return e, ok
}

// Take is Next with room for the event, which spares large payloads being copied.
func (c *Core[T]) Take(e *Event[T]) bool {
	first, lane := c.first()
	if first == never() {
		return false
	}
	c.now = time.Duration(first.at)
	if lane < 0 {
		c.queue.take(e)
		return true
	}
	l := c.lanes[lane]
	e.At, e.Class = c.now, l.class
	l.take(&e.Payload)
	return true
}

// Advance moves the clock forward to a time that is not after the next event;
// it does nothing if that time is over.
func (c *Core[T]) Advance(to time.Duration) {
	if at, ok := c.Peek(); ok && at < to {
		to = at
	}
	c.now = max(c.now, to)
}

// first finds the earliest event and the lane that holds it, -1 for the queue.
func (c *Core[T]) first() (head, int) {
	best, from := never(), -1
	if c.queue.settle() {
		best = head{c.queue.heap[0].at, c.queue.heap[0].order}
	}
	for i := range c.heads {
		if h := &c.heads[i]; h.at < best.at || h.at == best.at && h.order < best.order {
			best, from = *h, i
		}
	}
	return best, from
}

// Lane is a first-in first-out stream of events of a [Core]; make one with [Core.Lane].
type Lane[T any] struct {
	core        *Core[T]
	class       uint8
	number      int // among the core's lanes
	ring        []laneEvent[T]
	head, count int
	last        time.Duration
}

type laneEvent[T any] struct {
	head    head
	payload T
}

// never is the head of an empty lane.
func never() head { return head{math.MaxInt64, math.MaxUint64} }

// expose has the core know the lane's first event.
func (l *Lane[T]) expose() {
	if l.count == 0 {
		l.core.heads[l.number] = never()
		return
	}
	l.core.heads[l.number] = l.ring[l.head].head
}

// Len is the number of events that wait in the lane.
func (l *Lane[T]) Len() int { return l.count }

// Last is the time of the event that was scheduled last, which later ones are not before.
func (l *Lane[T]) Last() time.Duration { return l.last }

// After schedules payload a delay from now, but not before the lane's last event.
// Lane events cannot be cancelled.
func (l *Lane[T]) After(delay time.Duration, payload T) {
	l.At(l.core.now+max(delay, 0), payload)
}

// At schedules payload at a time, but neither before now nor before the lane's last event.
func (l *Lane[T]) At(at time.Duration, payload T) { *l.Place(at) = payload }

// Place is At for a payload that the caller fills in at once, all of it: it may be what an earlier one was.
func (l *Lane[T]) Place(at time.Duration) *T {
	if l.count == len(l.ring) {
		l.grow()
	}
	at = max(at, l.core.now, l.last)
	l.last = at
	q := &l.core.queue
	order := uint64(l.class)<<sequenceBits | q.sequence
	q.sequence++
	tail := l.head + l.count
	if tail >= len(l.ring) {
		tail -= len(l.ring)
	}
	e := &l.ring[tail]
	e.head = head{int64(at), order}
	if l.count++; l.count == 1 {
		l.expose()
	}
	return &e.payload
}

func (l *Lane[T]) take(to *T) {
	e := &l.ring[l.head]
	*to = e.payload
	var zero T
	e.payload = zero
	l.head++
	if l.head == len(l.ring) {
		l.head = 0
	}
	l.count--
	l.expose()
}

func (l *Lane[T]) grow() {
	ring := make([]laneEvent[T], max(16, 2*len(l.ring)))
	n := copy(ring, l.ring[l.head:])
	copy(ring[n:], l.ring[:l.head])
	l.ring, l.head = ring, 0
}
