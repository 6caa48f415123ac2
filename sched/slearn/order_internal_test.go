package slearn

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every number comes once.
func TestOrderIsAPermutation(t *testing.T) {
	for _, n := range []int32{1, 2, 3, 4, 5, 16, 17, 100, 257, 10_273} {
		for key := range uint64(5) {
			o := newOrder(key, n)
			seen := make([]bool, n)
			for i := range n {
				x := o.at(i)
				require.True(t, x >= 0 && x < n && !seen[x])
				seen[x] = true
			}
		}
	}
}

// Over many keys each number is as often the first, and each pair as often the first two: chi-squared, at far below one
// in a million.
func TestOrderIsEven(t *testing.T) {
	for _, c := range []struct {
		n             int32
		singles, pair float64 // limits with n-1 and n(n-1)-1 degrees of freedom
	}{{3, 35, 45}, {5, 42, 65}, {10, 55, 170}} {
		const keys = 60_000
		first, pairs := make([]int, c.n), make([]int, c.n*c.n)
		for key := range uint64(keys) {
			o := newOrder(mix(key), c.n)
			first[o.at(0)]++
			pairs[o.at(0)*c.n+o.at(1)]++
		}
		assert.Less(t, chiSquared(first, keys/float64(c.n)), c.singles, "the first of %d", c.n)
		var others []int
		for i, n := range pairs {
			if i%int(c.n+1) != 0 { // a number and itself
				others = append(others, n)
			}
		}
		assert.Less(t, chiSquared(others, keys/float64(c.n*(c.n-1))), c.pair, "the first two of %d", c.n)
	}
}

func chiSquared(counts []int, expected float64) float64 {
	sum := 0.0
	for _, n := range counts {
		d := float64(n) - expected
		sum += d * d / expected
	}
	return sum
}

// shares has jobs of one task each wait in some queues, and tells how many slots each queue uses in the end.
func shares(q *queues, slots int, backlog map[int]int) map[int]int64 {
	for at, n := range backlog {
		q.waiting[at].live = n
	}
	for range slots {
		at := q.next()
		if at < 0 || at == q.Count {
			break
		}
		q.used[at]++
		q.waiting[at].live--
	}
	used := map[int]int64{}
	for at, n := range q.used {
		if n > 0 {
			used[at] = n
		}
	}
	return used
}

// Queues that wait share the slots by weight, to within a slot; what others leave, they get.
func TestQueuesShareByWeight(t *testing.T) {
	const many = 1 << 30
	for name, c := range map[string]struct {
		backlog map[int]int
		want    map[int]int64
	}{
		"two neighbours":     {map[int]int{0: many, 1: many}, map[int]int64{0: 100, 1: 10}},
		"two far down":       {map[int]int{7: many, 8: many}, map[int]int64{7: 100, 8: 10}},
		"three":              {map[int]int{2: many, 3: many, 4: many}, map[int]int64{2: 99, 3: 10, 4: 1}},
		"alone":              {map[int]int{9: many}, map[int]int64{9: 110}},
		"little in front":    {map[int]int{0: 30, 5: many}, map[int]int64{0: 30, 5: 80}},
		"less than its part": {map[int]int{0: many, 1: 4}, map[int]int64{0: 106, 1: 4}},
		"fillers alone":      {map[int]int{10: many}, map[int]int64{}},
	} {
		full, err := Queues{}.withDefaults()
		require.NoError(t, err)
		q := newQueues(&full)
		assert.Equal(t, c.want, shares(&q, 110, c.backlog), name)
	}
}

// Sizes in seconds and their queues, by the paper's limits: 10³ s, and ten times more each.
func TestQueueOfASize(t *testing.T) {
	for size, want := range map[float64]int{0: 0, 999.999: 0, 1000: 1, 9999: 1, 10_000: 2, 1e10: 8, 1e11: 9, 1e30: 9} {
		assert.Equal(t, want, Queues{}.Of(size), "%g", size)
	}
	assert.Equal(t, 1, Queues{Count: 2, First: 2e9, Growth: 3}.Of(1e9))
}
