package generate_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/agents/generate"
)

func mix(t testing.TB, name string) *generate.Mix {
	m, err := generate.Named(name)
	require.NoError(t, err)
	return &m
}

// Shares, sizes and load are what was asked for; jobs of different classes do not cross the cutoff.
func TestMixesAreAsStated(t *testing.T) {
	for _, name := range generate.Names() {
		m := mix(t, name)
		short, tasks := 0.0, 0.0
		for _, c := range m.Classes {
			tasks += c.Share * c.Tasks
			if c.Seconds <= m.Cutoff {
				short += c.Share
			}
			assert.Equal(t, c.Seconds > m.Cutoff, 0.75*c.Seconds > m.Cutoff, "%v", c)
			assert.Equal(t, c.Seconds > m.Cutoff, 1.25*c.Seconds > m.Cutoff, "%v", c)
		}
		const jobs = 20_000
		w, err := generate.New(m, generate.Spec{Jobs: jobs, Slots: 1000, Load: 0.8, Seed: 1})
		require.NoError(t, err)
		shorts, work := 0, 0.0
		for i, j := range w.Jobs {
			if j.Mean.Seconds() <= m.Cutoff {
				shorts++
			}
			sum := time.Duration(0)
			for _, d := range w.Tasks(&w.Jobs[i]) {
				require.Positive(t, d)
				sum += d
			}
			require.InDelta(t, j.Mean.Seconds(), sum.Seconds()/float64(j.Tasks), 1e-6)
			require.True(t, i == 0 || j.Submit >= w.Jobs[i-1].Submit)
			work += sum.Seconds()
		}
		assert.InDelta(t, short, float64(shorts)/jobs, 4*math.Sqrt(short*(1-short)/jobs))
		assert.InEpsilon(t, tasks, float64(len(w.Runtimes))/jobs, 0.1)
		assert.InEpsilon(t, 0.8, work/(w.Jobs[jobs-1].Submit.Seconds()*1000), 1e-6)
		again, err := generate.New(m, generate.Spec{Jobs: jobs, Slots: 1000, Load: 0.8, Seed: 1})
		require.NoError(t, err)
		assert.Equal(t, w, again)
	}
}

func TestBadSpecsAreRefused(t *testing.T) {
	good := generate.Spec{Jobs: 1, Slots: 1, Load: 1}
	w, err := generate.New(mix(t, "yahoo"), good)
	require.NoError(t, err)
	assert.Zero(t, w.Jobs[0].Submit)
	for _, s := range []generate.Spec{{}, {Jobs: 1, Load: 1}, {Jobs: 1, Slots: 1}, {Jobs: 1, Slots: 1, Load: math.NaN()},
		{Jobs: 200_000_000, Slots: 1, Load: 1}} {
		_, err := generate.New(mix(t, "yahoo"), s)
		require.ErrorIs(t, err, generate.ErrSpec, "%v", s)
	}
	for _, c := range [][]generate.Class{nil, {{Share: 0.5, Tasks: 1, Seconds: 1}}, {{Share: 1, Seconds: 1}},
		{{Share: 1, Tasks: 1, Seconds: 1, Variation: 0.6}}} {
		_, err := generate.New(&generate.Mix{Classes: c}, good)
		require.ErrorIs(t, err, generate.ErrSpec, "%v", c)
	}
	_, err = generate.New(&generate.Mix{Classes: []generate.Class{{Share: 1, Tasks: 1e9, Seconds: 1}}},
		generate.Spec{Jobs: 100, Slots: 1, Load: 1})
	require.ErrorContains(t, err, "more than 1000000000 tasks")
	for _, c := range []struct {
		of    generate.Class
		s     generate.Spec
		wrong string
	}{
		{generate.Class{Share: 1, Tasks: 1, Seconds: 1e6}, generate.Spec{Jobs: 100, Slots: 1, Load: 1e-3}, "arrivals"},
		{generate.Class{Share: 1, Tasks: 1, Seconds: 1}, generate.Spec{Jobs: 2, Slots: 1, Load: 1e-300}, "arrivals"},
		{generate.Class{Share: 1, Tasks: 1e6, Seconds: 1e6}, generate.Spec{Jobs: 1, Slots: 1, Load: 1}, "a job of"},
	} {
		_, err = generate.New(&generate.Mix{Classes: []generate.Class{c.of}}, c.s)
		require.ErrorIs(t, err, generate.ErrSpec)
		require.ErrorContains(t, err, c.wrong)
	}
	_, err = generate.Named("facebook")
	require.ErrorIs(t, err, generate.ErrSpec)
}

func Example() {
	mix, err := generate.Named("google")
	if err != nil {
		fmt.Println(err)
	}
	work, err := generate.New(&mix, generate.Spec{Jobs: 1000, Slots: 170_000, Load: 0.8, Seed: 1})
	fmt.Println(len(work.Jobs), err)
	// Output: 1000 <nil>
}
