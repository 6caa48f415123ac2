package sched

import (
	"math/bits"
	"slices"

	"github.com/hedgesched/hedge/sched/ranges"
)

// vacancy tells which nodes of a [Ledger] are wholly free, a bit each, so that free nodes are found 64 at a time.
type vacancy struct {
	bits  []uint64 // node i is bit i%64 of word i/64
	free  int      // bits that are set
	mixed int      // nodes that are not wholly free and still offer something
}

// full has every node free.
func (v *vacancy) full(nodes int) {
	v.bits = append(v.bits[:0], make([]uint64, (nodes+63)/64)...)
	v.free, v.mixed = nodes, 0
	for i := range v.bits {
		v.bits[i] = ^uint64(0)
	}
	if rest := nodes % 64; rest > 0 {
		v.bits[len(v.bits)-1] = 1<<rest - 1
	}
}

func (v *vacancy) copyFrom(o *vacancy) {
	v.bits = append(v.bits[:0], o.bits...)
	v.free, v.mixed = o.free, o.mixed
}

func (v *vacancy) has(n int) bool { return v.bits[n>>6]>>(uint(n)&63)&1 != 0 }

// set changes the bits of the nodes from a up to b, all of which were different.
func (v *vacancy) set(a, b int, free bool) {
	if free {
		v.free += b - a
	} else {
		v.free -= b - a
	}
	for a < b {
		word, low := a>>6, uint(a)&63
		high := min(64, low+uint(b-a))
		mask := ^uint64(0) << low
		if high < 64 {
			mask &= 1<<high - 1
		}
		if free {
			v.bits[word] |= mask
		} else {
			v.bits[word] &^= mask
		}
		a += int(high - low)
	}
}

// run is the first run of free nodes from index a on: those from a up to b. Without any, a is the number of nodes.
func (v *vacancy) run(a, nodes int) (from, to int) {
	from = v.seek(a, nodes, 0)
	return from, v.seek(from, nodes, ^uint64(0))
}

// seek is the first node from a on whose bit, flipped by the mask, is set.
func (v *vacancy) seek(a, nodes int, flip uint64) int {
	for word := a >> 6; word < len(v.bits); word++ {
		w := v.bits[word] ^ flip
		if word == a>>6 {
			w &= ^uint64(0) << (uint(a) & 63)
		}
		if w != 0 {
			return min(nodes, word<<6+bits.TrailingZeros64(w))
		}
	}
	return nodes
}

// Whole tells that every node is alike, that one task of the demand takes the place of a whole one, and that no node
// has anything left once it is not wholly free. Then [Ledger.Vacant] and [Ledger.FirstVacant] answer what Fits and a
// search of all nodes would. It is false where the ledger does not know.
func (l *Ledger) Whole(demand []float64) bool {
	return l.vacant != nil && l.vacant.mixed == 0 && l.nodes.classes == 1 &&
		fitsOn(demand, l.nodes.capacity[:l.width]) == 1
}

// Vacant is the number of nodes that are wholly free; see [Ledger.Whole].
func (l *Ledger) Vacant() int { return l.vacant.free }

// FirstVacant are the first k nodes that are wholly free, a task on each; k is at most [Ledger.Vacant].
func (l *Ledger) FirstVacant(k int) ranges.Set {
	l.found = l.found[:0]
	for at := 0; k > 0; {
		from, to := l.vacant.run(at, l.nodes.Len())
		to = min(to, from+k)
		l.found = append(l.found, ranges.Range{From: int32(from), To: int32(to), Tasks: 1})
		k -= to - from
		at = to
	}
	return slices.Clone(l.found)
}

// TakeAll is Take on every node of a set.
func (l *Ledger) TakeAll(on ranges.Set, demand []float64) {
	for i := range on {
		r := &on[i]
		if l.takeWhole(r, demand) {
			continue
		}
		for n := r.From; n < r.To; n++ {
			l.Take(int(n), demand, int(r.Tasks))
		}
	}
}

// GiveAll is Give on every node of a set.
func (l *Ledger) GiveAll(on ranges.Set, demand []float64) {
	for i := range on {
		r := &on[i]
		if l.giveWhole(r) {
			continue
		}
		for n := r.From; n < r.To; n++ {
			l.Give(int(n), demand, int(r.Tasks))
		}
	}
}

// OvercommitsOn is Overcommits for every node of a range: the first node that would have too little, and what of.
func (l *Ledger) OvercommitsOn(on *ranges.Range, demand []float64) (node, resource int, by float64) {
	last := int(on.To)
	if v := l.vacant; v != nil && l.nodes.classes == 1 {
		if from, to := v.run(int(on.From), l.nodes.Len()); from == int(on.From) && to >= last {
			last = from + 1 // they are all alike
		}
	}
	for n := int(on.From); n < last; n++ {
		if r, over := l.Overcommits(n, demand, int(on.Tasks)); over > 0 {
			return n, r, over
		}
	}
	return 0, 0, 0
}

// takeWhole is TakeAll of a range of nodes that are alike and wholly free, all of whose rows become the same. It is
// false, and does nothing, if they are not.
func (l *Ledger) takeWhole(r *ranges.Range, demand []float64) bool {
	v, a, b := l.vacant, int(r.From), int(r.To)
	if v == nil || b-a < 2 || l.nodes.classes != 1 {
		return false
	}
	if from, to := v.run(a, l.nodes.Len()); from != a || to < b {
		return false
	}
	l.Take(a, demand, int(r.Tasks))
	v = l.vacant
	row := l.free[a*l.width : (a+1)*l.width]
	v.set(a+1, b, false)
	if anyPositive(row) {
		v.mixed += b - a - 1
	}
	if l.width == 1 {
		fill(l.free[a+1:b], row[0])
	} else {
		for n := a + 1; n < b; n++ {
			copy(l.free[n*l.width:(n+1)*l.width], row)
		}
	}
	if l.holders != nil {
		fill(l.holders[a+1:b], 1)
		return true
	}
	fill(l.own[a+1:b], true)
	l.owned = append(l.owned, ranges.Range{From: r.From + 1, To: r.To})
	return true
}

// giveWhole is GiveAll of a range of nodes that are alike, offer nothing, and are held by one job each: they are wholly
// free again. It is false, and does nothing, if they are not.
func (l *Ledger) giveWhole(r *ranges.Range) bool {
	v, a, b := l.vacant, int(r.From), int(r.To)
	if v == nil || b-a < 2 || l.nodes.classes != 1 || l.holders == nil || v.mixed != 0 {
		return false
	}
	for _, h := range l.holders[a:b] {
		if h != 1 {
			return false
		}
	}
	l.version++
	v.set(a, b, true)
	copy(l.free[a*l.width:b*l.width], l.base[a*l.width:b*l.width])
	clear(l.holders[a:b])
	return true
}

// fill sets every element.
func fill[T any](to []T, v T) {
	if len(to) == 0 {
		return
	}
	to[0] = v
	for done := 1; done < len(to); done *= 2 { // copies are faster than a loop
		copy(to[done:], to[:done])
	}
}

func anyPositive(row []float64) bool {
	for _, x := range row {
		if x > 0 {
			return true
		}
	}
	return false
}
