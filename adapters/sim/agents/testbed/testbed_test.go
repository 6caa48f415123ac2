package testbed_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/adapters/sim/agents/testbed"
)

func TestADrawHasTheMix(t *testing.T) {
	for _, m := range []testbed.Mix{testbed.HeavyTailed(), testbed.Fewer(), testbed.Uniform()} {
		gaps := time.Duration(0)
		for seed := range uint64(20) {
			w, err := m.Draw(seed)
			require.NoError(t, err)
			var counts [5]int
			for i, c := range w.Categories {
				counts[c]++
				of := m.Categories[c]
				maps, reduces := &w.Jobs[2*i], &w.Jobs[2*i+1]
				require.Equal(t, [2]int32{of.Maps, of.Reduces}, [2]int32{maps.Tasks, reduces.Tasks})
				require.Equal(t, [2]int32{0, 1}, [2]int32{maps.Phase, reduces.Phase})
				require.Equal(t, maps.First+maps.Tasks, reduces.First)
				for _, d := range w.Runtimes[maps.First : reduces.First+reduces.Tasks] {
					require.Equal(t, of.Task(), d)
				}
			}
			assert.Equal(t, m.Counts, counts)
			gaps += w.Jobs[len(w.Jobs)-1].Submit

			again, err := m.Draw(seed)
			require.NoError(t, err)
			assert.Equal(t, w, again)
			other, err := m.Draw(seed + 1)
			require.NoError(t, err)
			assert.NotEqual(t, w.Categories, other.Categories)
		}
		assert.InEpsilon(t, m.Gap.Seconds(), gaps.Seconds()/(20*99), 0.05, "1,980 gaps")
	}
}

func TestTheCutoffDividesTheCategories(t *testing.T) {
	for cut, m := range map[int]testbed.Mix{3: testbed.HeavyTailed(), 2: testbed.Uniform()} {
		for i, c := range testbed.Categories() {
			assert.Equal(t, i < cut, c.Task() <= m.Cutoff, "category %d", i+1)
		}
	}
}

// A job alone takes what Table 1 has, but for the heartbeats that tell of maps and reduces, each a second at most, and
// the central scheduler's rounds between them.
func TestAJobAloneTakesItsTime(t *testing.T) {
	for i, c := range testbed.Categories() {
		m := testbed.Mix{Categories: testbed.Categories(), Cutoff: time.Hour}
		m.Counts[i] = 1
		w, err := m.Draw(1)
		require.NoError(t, err)
		for _, s := range []system{plain(), bigC(&m)} {
			jobs := s.run(t, w, &m)
			require.Len(t, jobs, 1)
			assert.Equal(t, i, jobs[0].Category)
			more := jobs[0].Completion - c.Alone
			assert.True(t, more >= 0 && more <= 6*time.Second, "%s: %v more", s.name, more)
			assert.InEpsilon(t, jobs[0].Completion.Seconds()/c.Alone.Seconds(), jobs[0].Slowdown, 1e-12)
		}
	}
}

func TestBadMixesAreRefused(t *testing.T) {
	for name, m := range map[string]testbed.Mix{
		"0 tasks":     {Categories: testbed.Categories()},
		"-1 jobs":     {Categories: testbed.Categories(), Counts: [5]int{3, -1}},
		"10000020 ta": {Categories: testbed.Categories(), Counts: [5]int{333_334}},
		"every -1ns":  {Categories: testbed.Categories(), Counts: [5]int{1}, Gap: -1},
		"every 2h":    {Categories: testbed.Categories(), Counts: [5]int{1}, Gap: 2 * time.Hour},
		"0 reduces":   {Categories: [5]testbed.Category{{Maps: 1}}, Counts: [5]int{1}},
		"and -1ns":    {Categories: [5]testbed.Category{{1, 1, -1}}, Counts: [5]int{1}},
	} {
		_, err := m.Draw(1)
		require.ErrorIs(t, err, testbed.ErrMix, name)
		require.ErrorContains(t, err, name)
	}
	m := testbed.Uniform()
	w, err := m.Draw(1)
	require.NoError(t, err)
	_, err = w.Outcome(&agents.Result{})
	assert.ErrorIs(t, err, testbed.ErrMix)
}
