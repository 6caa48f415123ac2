package sched

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestListEqualsSlice does the same at random to a list and to a plain slice.
func TestListEqualsSlice(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 4))
		var l list[*int]
		var want []*int
		for step := range 2000 {
			grow := rng.IntN(100) < 50+int(10*(seed%5)-20)
			switch {
			case grow || len(want) == 0:
				i, v := rng.IntN(len(want)+1), new(int)
				if seed%2 == 0 && rng.IntN(2) == 0 {
					i = len(want) // as a queue does
				}
				*v = step
				l.insert(i, v)
				want = slices.Insert(want, i, v)
			default:
				i := rng.IntN(len(want))
				if seed%2 == 0 && rng.IntN(2) == 0 {
					i = 0
				}
				l.remove(i)
				want = slices.Delete(want, i, i+1)
			}
			require.Equal(t, len(want), len(l.items()))
			require.True(t, slices.Equal(want, l.items()), "seed %d, step %d", seed, step)
			for _, v := range l.buf[:l.head] {
				require.Nil(t, v, "what is gone is let go")
			}
		}
		require.LessOrEqual(t, cap(l.buf), 8*2000)
	}
}

func TestListFind(t *testing.T) {
	var l list[int]
	for _, v := range []int{10, 20, 30, 40, 50} {
		l.insert(len(l.items()), v)
	}
	for v, want := range map[int]int{5: 0, 10: 0, 15: 1, 20: 1, 25: 2, 30: 2, 40: 3, 45: 4, 50: 4, 55: 5} {
		i, ok := l.find(func(x *int) int { return *x - v })
		require.Equal(t, want, i, v)
		require.Equal(t, v%10 == 0, ok, v)
	}
	var empty list[int]
	i, ok := empty.find(func(*int) int { return 0 })
	require.Zero(t, i)
	require.False(t, ok)
}

// TestQueueStaysSmall runs a queue for long: its memory is bounded by how long it gets, not by what goes through.
func TestQueueStaysSmall(t *testing.T) {
	var l list[int]
	for i := range 10_000 {
		l.insert(len(l.items()), i)
		if i >= 100 {
			require.Equal(t, i-100, l.items()[0])
			l.remove(0)
		}
	}
	require.Less(t, cap(l.buf), 1000)
}
