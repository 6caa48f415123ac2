package ranges_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched/ranges"
)

// A set is what was appended, in its order, whatever ranges it is made of.
func TestSetKeepsWhatIsAppended(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var s ranges.Set
		var nodes, tasks []int32
		at, sum := int32(0), int64(0)
		for range rng.IntN(30) {
			if at++; rng.IntN(3) == 0 {
				at = rng.Int32N(50)
			}
			k := 1 + rng.Int32N(2)
			s = s.Append(at, k)
			nodes, tasks, sum = append(nodes, at), append(tasks, k), sum+int64(k)
		}
		var gotNodes, gotTasks []int32
		for n, k := range s.All() {
			gotNodes, gotTasks = append(gotNodes, n), append(gotTasks, k)
		}
		require.Equal(t, nodes, gotNodes, seed)
		require.Equal(t, tasks, gotTasks, seed)
		require.Equal(t, len(nodes), s.Len(), seed)
		require.Equal(t, sum, s.Tasks(), seed)
		for i := 1; i < len(s); i++ {
			require.False(t, s[i-1].To == s[i].From && s[i-1].Tasks == s[i].Tasks, "%d: %v are one range", seed, s)
		}
	}
}

func TestWithin(t *testing.T) {
	good := ranges.Range{From: 2, To: 5, Tasks: 1}
	assert.True(t, ranges.Set{}.Within(0))
	assert.True(t, ranges.Set{good}.Within(5))
	for _, bad := range []ranges.Range{
		{From: -1, To: 1, Tasks: 1}, {From: 3, To: 3, Tasks: 1}, {From: 4, To: 2, Tasks: 1}, {From: 0, To: 6, Tasks: 1},
		{From: 0, To: 1}, {From: 0, To: 1, Tasks: -1},
	} {
		assert.False(t, ranges.Set{good, bad}.Within(5), "%v", bad)
	}
}

func ExampleSet() {
	var s ranges.Set
	for _, node := range []int32{3, 4, 5, 9} {
		s = s.Append(node, 1)
	}
	fmt.Println(s, s.Len())
	// Output: [{3 6 1} {9 10 1}] 4
}
