package lp

import (
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// matrix is columns off[j]:off[j+1] of idx and val.
type matrix struct {
	off, idx []int32
	val      []float64
}

// transforms are elementary transformations: number k has the row head[k] and entries off[k]:off[k+1] of idx and val.
type transforms struct {
	head, off, idx []int32
	val            []float64
}

func (t *transforms) reset() {
	t.head, t.idx, t.val = t.head[:0], t.idx[:0], t.val[:0]
	t.off = append(t.off[:0], 0)
}

func (t *transforms) add(i int32, v float64) { t.idx, t.val = append(t.idx, i), append(t.val, v) }

// finish closes the transformation whose entries have been added, or drops it if there are none.
func (t *transforms) finish(head int32) {
	if int(t.off[len(t.head)]) == len(t.idx) {
		return
	}
	t.head, t.off = append(t.head, head), append(t.off, int32(len(t.idx)))
}

// entries are lists of entries, number k in beg[k]:beg[k]+n[k] of idx and val, with room for more.
type entries struct {
	beg, n, room, idx []int32
	val               []float64
}

func (e *entries) reset(lists int) {
	e.beg, e.n, e.room = pack.Resize(e.beg, lists), pack.Resize(e.n, lists), pack.Resize(e.room, lists)
	clear(e.n)
	clear(e.room)
	e.idx, e.val = e.idx[:0], e.val[:0]
}

// reserve makes list k an empty list with room for a number of entries.
func (e *entries) reserve(k, room int32) {
	e.beg[k], e.room[k] = int32(len(e.idx)), room
	e.idx = slices.Grow(e.idx, int(room))[:len(e.idx)+int(room)]
	e.val = slices.Grow(e.val, int(room))[:len(e.val)+int(room)]
}

// add appends an entry to list k, which moves to the end if there is no room for it.
func (e *entries) add(k, i int32, v float64) {
	if e.n[k] == e.room[k] {
		lo, hi := e.beg[k], e.beg[k]+e.n[k]
		e.reserve(k, 2*e.n[k]+4)
		copy(e.idx[e.beg[k]:], e.idx[lo:hi])
		copy(e.val[e.beg[k]:], e.val[lo:hi])
	}
	at := e.beg[k] + e.n[k]
	e.idx[at], e.val[at] = i, v
	e.n[k]++
}

// remove takes the entry of i out of list k.
func (e *entries) remove(k, i int32) {
	lo, last := e.beg[k], e.beg[k]+e.n[k]-1
	for at := lo; at <= last; at++ {
		if e.idx[at] == i {
			e.idx[at], e.val[at] = e.idx[last], e.val[last]
			e.n[k]--
			return
		}
	}
}

// list is list k.
func (e *entries) list(k int32) ([]int32, []float64) {
	lo, hi := e.beg[k], e.beg[k]+e.n[k]
	return e.idx[lo:hi], e.val[lo:hi]
}
