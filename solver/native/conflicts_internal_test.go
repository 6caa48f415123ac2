package native

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// add notes a conflict of one job's options and some running jobs.
func (k *conflicts) add(job int, options, kept []int32) {
	c := conflict{lo: len(k.members), keptLo: len(k.kept)}
	k.members = append(k.members, member{job: job, lo: len(k.options), hi: len(k.options) + len(options)})
	k.options, k.kept = append(k.options, options...), append(k.kept, kept...)
	c.hi, c.keptHi = len(k.members), len(k.kept)
	k.list = append(k.list, c)
}

// What is kept of conflicts is bounded, and what is left of them is as it was.
func TestConflictsAreForgotten(t *testing.T) {
	var k conflicts
	k.reset()
	for n := range 3 * maxConflicts {
		k.forget()
		k.add(n, []int32{int32(n), int32(n + 1)}, make([]int32, n%3))
		assert.LessOrEqual(t, len(k.list), maxConflicts)
		for _, i := range []int{0, len(k.list) / 2, len(k.list) - 1} {
			c := k.list[i]
			m := k.members[c.lo]
			job := n - (len(k.list) - 1 - i)
			if c.hi != c.lo+1 || m.job != job || k.options[m.lo] != int32(job) || m.hi != m.lo+2 || c.keptHi-c.keptLo != job%3 {
				t.Fatalf("conflict %d of %d is %+v of %+v, want one of job %d", i, len(k.list), c, m, job)
			}
		}
	}
	assert.Len(t, k.members, len(k.list))
	assert.Len(t, k.options, 2*len(k.list))
}

// Of conflicts that are large there may be fewer.
func TestLargeConflictsAreForgotten(t *testing.T) {
	var k conflicts
	k.reset()
	for n := range 40 {
		k.forget()
		k.add(n, make([]int32, maxEntries/8), nil)
		assert.LessOrEqual(t, len(k.options), maxEntries+maxEntries/8)
	}
	k.forget()
	k.add(0, make([]int32, 2*maxEntries), nil)
	k.forget()
	k.add(1, []int32{7}, nil)
	assert.Equal(t, int32(7), k.options[k.members[len(k.members)-1].lo])
}
