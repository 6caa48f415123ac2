package baseline

import (
	"slices"
	"sort"
)

// blocks are entries in order, in blocks that are short enough to be changed at little cost and that tell when a walk
// need not look into them.
type blocks struct {
	of  []*block
	odd int // jobs that can never start
}

// block is one or more entries in a row.
type block struct {
	entries []entry
	least   int   // tasks of the narrowest job
	odd     int   // jobs that can never start
	want    *want // of all jobs, or nil where they differ
}

// maxBlock is the most entries of a block.
const maxBlock = 128

// odd tells that the present nodes cannot hold the job.
func (e *entry) odd() bool { return e.want.err != nil || e.want.required.Holds < e.job.Tasks }

// fill starts anew with entries in order.
func (b *blocks) fill(sorted []entry) {
	*b = blocks{of: b.of[:0]}
	for part := range slices.Chunk(sorted, maxBlock/2) {
		one := &block{entries: append(make([]entry, 0, maxBlock), part...)}
		one.sum()
		b.odd += one.odd
		b.of = append(b.of, one)
	}
}

// sum brings what the block tells up to date.
func (b *block) sum() {
	b.least, b.odd, b.want = b.entries[0].job.Tasks, 0, b.entries[0].want
	for i := range b.entries {
		e := &b.entries[i]
		b.least = min(b.least, e.job.Tasks)
		if e.want != b.want {
			b.want = nil
		}
		if e.odd() {
			b.odd++
		}
	}
}

// find is where an entry is or belongs: a block, which may be the one after the last, and a place in it.
func (b *blocks) find(e *entry) (at, in int) {
	at = sort.Search(len(b.of), func(i int) bool {
		entries := b.of[i].entries
		return entries[len(entries)-1].compare(e) >= 0
	})
	if at == len(b.of) {
		return at, 0
	}
	entries := b.of[at].entries
	return at, sort.Search(len(entries), func(i int) bool { return entries[i].compare(e) >= 0 })
}

// remove takes an entry out. It is false where there is none of its rank and job.
func (b *blocks) remove(e *entry) bool {
	at, in := b.find(e)
	if at == len(b.of) || b.of[at].entries[in].job != e.job {
		return false
	}
	one := b.of[at]
	if one.entries[in].odd() {
		b.odd--
	}
	if one.entries = slices.Delete(one.entries, in, in+1); len(one.entries) == 0 {
		b.of = slices.Delete(b.of, at, at+1)
		return true
	}
	one.sum()
	return true
}

func (b *blocks) insert(e *entry) {
	if e.odd() {
		b.odd++
	}
	at, in := b.find(e)
	switch {
	case len(b.of) == 0:
		b.of = append(b.of, &block{})
	case at == len(b.of):
		at--
		in = len(b.of[at].entries)
	}
	one := b.of[at]
	if at == len(b.of)-1 && in == len(one.entries) && in >= maxBlock-1 { // the end of a queue: blocks stay full
		b.of = append(b.of, &block{entries: append(make([]entry, 0, maxBlock), *e)})
		b.of[at+1].sum()
		return
	}
	one.entries = slices.Insert(one.entries, in, *e)
	if len(one.entries) >= maxBlock {
		half := &block{entries: append(make([]entry, 0, maxBlock), one.entries[maxBlock/2:]...)}
		one.entries = slices.Delete(one.entries, maxBlock/2, len(one.entries))
		half.sum()
		b.of = slices.Insert(b.of, at+1, half)
	}
	one.sum()
}
