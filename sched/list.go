package sched

import "slices"

// list is a slice with room at both ends: it takes in and gives up elements anywhere by moving the
// shorter side, so that a queue costs the same at its ends however long it is.
type list[T any] struct {
	buf  []T
	head int // buf[:head] is room
}

// items are the elements, in order; they move with the next insert or remove.
func (l *list[T]) items() []T { return l.buf[l.head:] }

func (l *list[T]) insert(i int, v T) {
	n := len(l.buf) - l.head
	if l.head > 0 && i < n/2 {
		copy(l.buf[l.head-1:], l.buf[l.head:l.head+i])
		l.head--
		l.buf[l.head+i] = v
		return
	}
	if len(l.buf) == cap(l.buf) && l.head > n/4 {
		// Removals have left room: to slide down costs no more than four moves for each of them, and growing costs memory.
		copy(l.buf, l.buf[l.head:])
		clear(l.buf[n:])
		l.buf, l.head = l.buf[:n], 0
	}
	l.buf = slices.Insert(l.buf, l.head+i, v)
}

func (l *list[T]) remove(i int) {
	if n := len(l.buf) - l.head; i < n/2 {
		copy(l.buf[l.head+1:], l.buf[l.head:l.head+i])
		clear(l.buf[l.head : l.head+1])
		l.head++
		return
	}
	l.buf = slices.Delete(l.buf, l.head+i, l.head+i+1)
	if len(l.buf) == l.head {
		l.buf, l.head = l.buf[:0], 0
	}
}

// find is where the element belongs that compare, which is negative for elements before it, describes, and
// whether it is there. It tries the ends first, where queues change.
func (l *list[T]) find(compare func(*T) int) (int, bool) {
	items := l.items()
	lo, hi := 0, len(items)
	if hi > 0 {
		switch c := compare(&items[hi-1]); {
		case c < 0:
			return hi, false
		case c == 0:
			return hi - 1, true
		}
		if c := compare(&items[0]); c >= 0 {
			return 0, c == 0
		}
	}
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if compare(&items[mid]) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(items) && compare(&items[lo]) == 0
}
