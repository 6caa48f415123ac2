package agent

// Queue is a first-in first-out queue whose room is used again. The zero value is empty.
type Queue[T any] struct {
	ring        []T
	head, count int
}

// Len is how many wait.
func (q *Queue[T]) Len() int { return q.count }

// Push appends at the end.
func (q *Queue[T]) Push(x T) {
	if q.count == len(q.ring) {
		ring := make([]T, max(8, 2*len(q.ring)))
		n := copy(ring, q.ring[q.head:])
		copy(ring[n:], q.ring[:q.head])
		q.ring, q.head = ring, 0
	}
	q.count++
	*q.at(q.count - 1) = x
}

// at is the i-th of those that wait.
func (q *Queue[T]) at(i int) *T { return &q.ring[(q.head+i)%len(q.ring)] }

// Front is the first, to be read or changed, until the next Push or Pop; the queue is not empty.
func (q *Queue[T]) Front() *T { return &q.ring[q.head] }

// Pop takes the first away; the queue is not empty.
func (q *Queue[T]) Pop() T {
	x := q.ring[q.head]
	var zero T
	q.ring[q.head] = zero
	q.head = (q.head + 1) % len(q.ring)
	q.count--
	return x
}
