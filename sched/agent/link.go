package agent

import "slices"

// Envelope is a message with its number among those of one sender to one receiver, from 1.
type Envelope[M any] struct {
	Number uint64
	Msg    M
}

// Link is one end of a connection between two parts: it makes a network that loses, doubles and reorders into one that
// only delays and reorders. The sending end keeps every envelope until it is acknowledged, the receiving end
// tells what is new; the host acknowledges every envelope that arrives, new or not, and resends when time has passed. A
// crash of either part makes a new link with a new session; envelopes of an old session are dropped.
//
// The zero value is a new link. It is not safe for concurrent use.
type Link[M any] struct {
	sent    uint64
	waiting []Envelope[M]
	got     uint64   // all up to here have come
	ahead   []uint64 // those that came before their time, ascending
}

// Send makes an envelope of a message and keeps it until it is acknowledged.
func (l *Link[M]) Send(m M) Envelope[M] {
	l.sent++
	e := Envelope[M]{l.sent, m}
	l.waiting = append(l.waiting, e)
	return e
}

// Acknowledged forgets an envelope that has arrived.
func (l *Link[M]) Acknowledged(number uint64) {
	if i, ok := l.find(number); ok {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
}

// Waiting tells whether an envelope is not acknowledged, and so has to be sent again.
func (l *Link[M]) Waiting(number uint64) (Envelope[M], bool) {
	if i, ok := l.find(number); ok {
		return l.waiting[i], true
	}
	return Envelope[M]{}, false
}

// find looks for a number among those that wait, which ascend.
func (l *Link[M]) find(number uint64) (int, bool) {
	return slices.BinarySearchFunc(l.waiting, number, func(e Envelope[M], n uint64) int {
		switch {
		case e.Number < n:
			return -1
		case e.Number > n:
			return 1
		}
		return 0
	})
}

// Receive tells whether an envelope comes for the first time.
func (l *Link[M]) Receive(number uint64) bool {
	if number <= l.got {
		return false
	}
	i, ok := slices.BinarySearch(l.ahead, number)
	if ok {
		return false
	}
	l.ahead = slices.Insert(l.ahead, i, number)
	n := 0
	for n < len(l.ahead) && l.ahead[n] == l.got+1 {
		l.got++
		n++
	}
	l.ahead = slices.Delete(l.ahead, 0, n)
	return true
}

// Outstanding are the envelopes that are not acknowledged, in their order; they are valid until the link changes.
func (l *Link[M]) Outstanding() []Envelope[M] { return l.waiting }
