package event

import "time"

// Core is a clock and the events to come: the loop of a simulation is
//
//	for e, ok := core.Next(); ok; e, ok = core.Next() { ... }
//
// with calls of After and At in its body. The zero value stands at time 0.
type Core[T any] struct {
	queue Queue[T]
	lanes []*Lane[T]
	now   time.Duration
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
	l := &Lane[T]{core: c, class: class}
	c.lanes = append(c.lanes, l)
	return l
}

// Peek returns the time of the next event without taking it.
func (c *Core[T]) Peek() (at time.Duration, ok bool) {
	k, _, ok := c.first()
	return time.Duration(k.at), ok
}

// Next takes the next event and moves the clock to it; ok is false when there is none.
func (c *Core[T]) Next() (e Event[T], ok bool) {
	k, lane, ok := c.first()
	if !ok {
		return e, false
	}
	c.now = time.Duration(k.at)
	if lane == nil {
		return c.queue.Pop()
	}
	return Event[T]{At: c.now, Class: lane.class, Payload: lane.take()}, true
}

// Advance moves the clock forward to a time that is not after the next event;
// it does nothing if that time is over.
func (c *Core[T]) Advance(to time.Duration) {
	if at, ok := c.Peek(); ok && at < to {
		to = at
	}
	c.now = max(c.now, to)
}

// first finds the earliest key and the lane that holds it, nil for the queue.
func (c *Core[T]) first() (key, *Lane[T], bool) {
	var (
		best key
		from *Lane[T]
		ok   = c.queue.settle()
	)
	if ok {
		best = c.queue.heap[0]
	}
	for _, l := range c.lanes {
		if l.count == 0 {
			continue
		}
		if k := &l.ring[l.head].key; !ok || k.before(&best) {
			best, from, ok = *k, l, true
		}
	}
	return best, from, ok
}

// Lane is a first-in first-out stream of events of a [Core]; make one with [Core.Lane].
type Lane[T any] struct {
	core        *Core[T]
	class       uint8
	ring        []laneEvent[T]
	head, count int
	last        time.Duration
}

type laneEvent[T any] struct {
	key     key
	payload T
}

// Len is the number of events that wait in the lane.
func (l *Lane[T]) Len() int { return l.count }

// After schedules payload a delay from now, but not before the lane's last event.
// Lane events cannot be cancelled.
func (l *Lane[T]) After(delay time.Duration, payload T) {
	l.At(l.core.now+max(delay, 0), payload)
}

// At schedules payload at a time, but neither before now nor before the lane's last event.
func (l *Lane[T]) At(at time.Duration, payload T) {
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
	l.ring[tail] = laneEvent[T]{key: key{at: int64(at), order: order}, payload: payload}
	l.count++
}

func (l *Lane[T]) take() T {
	e := &l.ring[l.head]
	payload := e.payload
	var zero T
	e.payload = zero
	l.head++
	if l.head == len(l.ring) {
		l.head = 0
	}
	l.count--
	return payload
}

func (l *Lane[T]) grow() {
	ring := make([]laneEvent[T], max(16, 2*len(l.ring)))
	n := copy(ring, l.ring[l.head:])
	copy(ring[n:], l.ring[:l.head])
	l.ring, l.head = ring, 0
}
