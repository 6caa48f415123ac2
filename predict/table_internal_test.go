package predict

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTableRemembersTheLatest: against a list of keys, the latest first, whatever is used again and forgotten.
func TestTableRemembersTheLatest(t *testing.T) {
	for _, most := range []int{1, 2, 7, 100, 1000} {
		rng := rand.New(rand.NewPCG(uint64(most), 1))
		table := newTable(&HistoryOptions{MaxValues: most, MaxBytes: 1 << 40})
		var latest []string
		for range 5000 {
			key := fmt.Sprint(rng.IntN(2 * most))
			known := slices.Index(latest, key)
			if known >= 0 {
				latest = slices.Delete(latest, known, known+1)
			}
			latest = slices.Insert(latest, 0, key)
			latest = latest[:min(len(latest), most)]
			e := table.use([]byte(key))
			require.Equal(t, key, e.key)
			require.Equal(t, known >= 0, e.some, key)
			e.some = true
			require.Equal(t, len(latest), table.len())
		}
		for i := range 2 * most {
			key := fmt.Sprint(i)
			assert.Equal(t, slices.Contains(latest, key), table.get([]byte(key)) != nil, key)
		}
	}
}

// TestOneSampleIsAPastOfOne: an entry that keeps its one sample alone says and learns what one with a past does.
func TestOneSampleIsAPastOfOne(t *testing.T) {
	o, err := (*HistoryOptions)(nil).withDefaults()
	require.NoError(t, err)
	for _, atLeast := range []bool{false, true} {
		e, long := entry{some: true, only: [1]float64{12}}, entry{some: true, past: pastOf(12)}
		for _, x := range []float64{30, 5, 5, 0} {
			assert.Equal(t, long.count(), e.count())
			assert.Equal(t, long.recent(), e.recent())
			assert.Equal(t, long.size(), e.size())
			for k := range numEstimators {
				assert.InDelta(t, long.estimate(k), e.estimate(k), 0)
			}
			require.NoError(t, e.observe(x, atLeast, &o, nil))
			require.NoError(t, long.observe(x, atLeast, &o, nil))
		}
		assert.Equal(t, long.past, e.past)
		assert.False(t, e.past.isOne())
	}
}
