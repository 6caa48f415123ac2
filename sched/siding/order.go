package siding

import (
	"time"

	"github.com/hedgesched/hedge/sched/agent"
)

// waiting is tasks that wait in the yard.
type waiting struct {
	agent.Batch
	key, due time.Duration // the least key goes first; a short task may pause a long one from due on
	owner    agent.Addr
	estimate time.Duration
}

func (w *waiting) before(o *waiting) bool {
	switch {
	case w.key != o.key:
		return w.key < o.key
	case w.Job != o.Job:
		return w.Job < o.Job
	}
	return w.Task < o.Task
}

// order is a heap of what waits.
type order []waiting

func (o *order) push(w waiting) {
	h := append(*o, w)
	i := len(h) - 1
	for i > 0 && w.before(&h[(i-1)/2]) {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = w
	*o = h
}

// pop takes the first away.
func (o *order) pop() {
	h := *o
	last := h[len(h)-1]
	h = h[:len(h)-1]
	*o = h
	i := 0
	for len(h) > 0 {
		k := 2*i + 1
		if k+1 < len(h) && h[k+1].before(&h[k]) {
			k++
		}
		if k >= len(h) || !h[k].before(&last) {
			h[i] = last
			return
		}
		h[i] = h[k]
		i = k
	}
}

// ranking finds the member with the highest count. Counts below 0 are as 0.
type ranking struct {
	buckets [][]int32 // members by count
	count   []int32   // of each member
	place   []int32   // of each member in its bucket
	high    int       // no bucket above has a member
}

func newRanking(members int) ranking {
	r := ranking{buckets: make([][]int32, 1), count: make([]int32, members), place: make([]int32, members)}
	for i := range members {
		r.place[i] = int32(i)
		r.buckets[0] = append(r.buckets[0], int32(i))
	}
	return r
}

func (r *ranking) set(i int, count int32) {
	count = max(count, 0)
	if count == r.count[i] {
		return
	}
	from := r.buckets[r.count[i]]
	last := from[len(from)-1]
	from[r.place[i]] = last
	r.place[last] = r.place[i]
	r.buckets[r.count[i]] = from[:len(from)-1]
	for int(count) >= len(r.buckets) {
		r.buckets = append(r.buckets, nil)
	}
	r.count[i], r.place[i] = count, int32(len(r.buckets[count]))
	r.buckets[count] = append(r.buckets[count], int32(i))
	r.high = max(r.high, int(count))
}

// top is a member with the highest count.
func (r *ranking) top() (i int, count int32) {
	for len(r.buckets[r.high]) == 0 {
		r.high--
	}
	b := r.buckets[r.high]
	return int(b[len(b)-1]), int32(r.high)
}
