package native

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFillProgramDuality: what kinds are short of is what the prices say at least, by the best of the fills that there are, and the tasks are those that are not short.
func TestFillProgramDuality(t *testing.T) {
	var m fillProgram
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		kinds, parts := 1+r.IntN(5), 1+r.IntN(4)
		need := make([]float64, kinds)
		for k := range need {
			need[k] = float64(1 + r.IntN(9))
		}
		m.reset(need, parts)
		for range r.IntN(20) {
			fill := make([]float64, kinds)
			for k := range fill {
				fill[k] = float64(r.IntN(5))
			}
			m.add(r.IntN(parts), fill)
		}
		for f := range m.barred {
			m.barred[f] = r.IntN(5) == 0
		}
		m.start()
		short, ok := m.solve()
		require.True(t, ok)
		best, dual := make([]float64, parts), 0.0
		for f, x := range m.of {
			sum := 0.0
			for k := range need {
				sum += m.price[k] * m.fills[f*kinds+k]
			}
			if !m.barred[f] {
				best[x] = max(best[x], sum)
			}
		}
		for k, n := range need {
			require.GreaterOrEqual(t, m.price[k], -1e-8, "seed %d", seed)
			require.LessOrEqual(t, m.price[k]*n, 1+1e-8, "seed %d", seed)
			dual += m.price[k] * n
		}
		for _, v := range best {
			dual -= v
		}
		require.InDelta(t, short, dual, 1e-7, "seed %d", seed)

		tasks, missing := make([]float64, parts*kinds), 0.0
		m.shares(tasks)
		for k, n := range need {
			sum := 0.0
			for x := range parts {
				sum += tasks[x*kinds+k]
			}
			missing += max(0, n-sum) / n
		}
		require.InDelta(t, short, missing, 1e-7, "seed %d", seed)
	}
}
