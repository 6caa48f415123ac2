package pack

import (
	"cmp"
	"math/bits"
	"slices"
)

// few is the number of entries up to which lists are sorted by insertion.
const few = 32

// SortOps is n, or where there are many about what it takes to sort them.
func SortOps(n int) int64 {
	if n <= few {
		return int64(n)
	}
	return int64(n * bits.Len(uint(n)))
}

// SortBy sorts indices by key·sign, stably.
func SortBy(list []int, key []float64, sign float64) {
	if len(list) > few {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(sign*key[a], sign*key[b]) })
		return
	}
	for i := 1; i < len(list); i++ {
		for k := i; k > 0 && sign*key[list[k]] < sign*key[list[k-1]]; k-- {
			list[k], list[k-1] = list[k-1], list[k]
		}
	}
}
