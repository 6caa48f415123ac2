package native

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// someKnapsack fills in a random knapsack, in which some jobs are alike.
func someKnapsack(q *knapsack, r *rand.Rand) {
	q.resize(1+r.IntN(5), 1+r.IntN(3))
	q.use = make([]float64, q.jobs*q.lines)
	part := []float64{4, 10}[r.IntN(2)]
	for l := range q.lines {
		if q.room[l] = withRounding(float64(r.IntN(40)) / part); r.IntN(10) == 0 {
			q.room[l] = -1e-17 // what rounding errors leave
		}
	}
	for j := range q.jobs {
		q.worth[j], q.most[j] = float64(r.IntN(9))/8, float64(1+r.IntN(4))
		for l := range q.lines {
			q.use[j*q.lines+l] = float64(r.IntN(9)) / part
		}
		if j > 0 && r.IntN(3) == 0 {
			copy(q.use[j*q.lines:(j+1)*q.lines], q.use[:q.lines])
		}
	}
}

// bestFill tries all fills of the jobs from j on.
func bestFill(q *knapsack, room []float64, j int) float64 {
	if j == q.jobs {
		return 0
	}
	best := 0.0
	for n := 0.0; n <= q.most[j]; n++ {
		left := make([]float64, q.lines)
		fits := true
		for l := range left {
			left[l] = room[l] - n*q.use[j*q.lines+l]
			fits = fits && left[l] >= -1e-12
		}
		if fits {
			best = max(best, n*q.worth[j]+bestFill(q, left, j+1))
		}
	}
	return best
}

// TestKnapsackByTrying: with steps enough the fill is one of the best, and with any number of steps no fill is worth more than the bound.
func TestKnapsackByTrying(t *testing.T) {
	var q knapsack
	several := 0
	for seed := range uint64(4000) {
		for _, steps := range []int64{1 << 40, 40, 0} {
			someKnapsack(&q, rand.New(rand.NewPCG(seed, 2)))
			room := append([]float64(nil), q.room...)
			want := bestFill(&q, room, 0)
			bound := q.solve(steps)
			value := 0.0
			for j, n := range q.fill {
				require.True(t, n >= 0 && n <= q.most[j], "seed %d", seed)
				value += n * q.worth[j]
				for l := range room {
					room[l] -= n * q.use[j*q.lines+l]
					require.GreaterOrEqual(t, room[l], -1e-9, "seed %d", seed)
				}
			}
			require.GreaterOrEqual(t, bound, want-1e-9, "seed %d", seed)
			if steps > 1000 {
				require.InDelta(t, want, value, 1e-9, "seed %d", seed)
				require.InDelta(t, want, bound, 1e-6, "seed %d", seed)
			}
			if len(q.items) > 2 && len(q.tight) > 1 {
				several++
			}
		}
	}
	assert.Greater(t, several, 1000)
}
