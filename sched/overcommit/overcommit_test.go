package overcommit_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/overcommit"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/usage"
)

func newPolicy(t testing.TB, name string) *overcommit.Policy {
	t.Helper()
	c, err := overcommit.Variant(name)
	require.NoError(t, err)
	p, err := overcommit.New(baseline.NewEDF(), c)
	require.NoError(t, err)
	return p
}

func TestConformance(t *testing.T) {
	for _, name := range overcommit.Variants() {
		t.Run(name, func(t *testing.T) {
			schedtest.RunPolicy(t, func() sched.Policy { return newPolicy(t, name) })
			assert.Equal(t, name, newPolicy(t, name).Name())
		})
	}
}

// node offers 10 cores and 100 of memory.
func node() []sched.Node {
	n := schedtest.Nodes(1, 1)
	n[0].Capacity = sched.Resources{usage.CPU: 10, usage.Memory: 100}
	return n
}

// task demands 4 cores and 4 of memory.
func task(id string) *schedtest.JobBuilder {
	return schedtest.Job(id, 1).Demand(sched.Resources{usage.CPU: 4, usage.Memory: 4})
}

// admitted runs two tasks that demand 8 cores of 10 and use what the waves say at each five minutes, one after the
// other, and tells how many more tasks of 4 cores a policy starts at the end of each.
func admitted(t *testing.T, name string, waves [2][]float64) (out []int) {
	t.Helper()
	p := newPolicy(t, name)
	for i := range waves[0] {
		now := float64(300 * (i + 1))
		b := schedtest.Snapshot(node()).Now(now)
		for k, wave := range waves {
			l := usage.Level{CPU: wave[i], Memory: 1}
			b.Running(task(fmt.Sprint("r", k)), 0, "n0").Measured(usage.Task{Node: "n0", Ran: time.Duration(now) * time.Second,
				Now: l, Mean: l, Max: l})
		}
		for k := range 6 {
			b.Pending(task(fmt.Sprint("p", k)))
		}
		s, err := b.Build()
		require.NoError(t, err)
		plan, err := p.Plan(context.Background(), s)
		require.NoError(t, err)
		require.NoError(t, sched.CheckPlan(s, plan))
		out = append(out, len(schedtest.Started(plan)))
	}
	return out
}

// hours are two tasks that use 1 core each, and 3 at every tenth sample, never at the same time.
func hours() (out [2][]float64) {
	for i := range 40 {
		one, two := 1.0, 1.0
		if i%10 == 3 {
			one = 3
		}
		if i%10 == 8 {
			two = 3
		}
		out[0], out[1] = append(out[0], one), append(out[1], two)
	}
	return out
}

// TestPeaks: how much more each predictor lets a machine take, before and after its tasks have run for two hours.
func TestPeaks(t *testing.T) {
	const warm = 24 // the sample at which two hours are over
	// They use 2.4 cores on average, with a deviation of 0.8: 6.4 cores at five sigmas. Their percentiles add up to 6.
	for name, want := range map[string][2]int{
		"overcommit-1.5": {1, 1}, // 15 - 8 cores
		"overcommit-2":   {3, 3}, // 20 - 8
		"borg-default":   {0, 0}, // 10 - 7.2
		"rc-like":        {0, 1}, // 10 - 6
		"n-sigma":        {0, 0}, // 10 - 6.4
		"borg-max":       {0, 0},
	} {
		got := admitted(t, name, hours())
		assert.Equal(t, want[0], got[warm-3], "%s, cold", name)
		assert.Equal(t, want[1], got[39], "%s, warm", name)
	}
	steady := [2][]float64{make([]float64, 40), make([]float64, 40)}
	for i := range steady[0] {
		steady[0][i], steady[1][i] = 1, 1
	}
	for _, name := range []string{"rc-like", "n-sigma", "borg-max"} {
		got := admitted(t, name, steady)
		assert.Equal(t, 0, got[warm-3], name)
		assert.Equal(t, 2, got[warm], "%s: 8 cores are left", name)
	}
}

// TestRestart: a restarted task has to warm up again.
func TestRestart(t *testing.T) {
	p := newPolicy(t, "borg-max")
	started := func(ran time.Duration) int {
		l := usage.Level{CPU: 0.1, Memory: 1}
		b := schedtest.Snapshot(node()).Now(20000).Running(task("r"), 0, "n0").
			Measured(usage.Task{Node: "n0", Ran: ran, Now: l, Mean: l, Max: l}).Pending(task("p"), task("q"))
		s, err := b.Build()
		require.NoError(t, err)
		plan, err := p.Plan(context.Background(), s)
		require.NoError(t, err)
		return len(schedtest.Started(plan))
	}
	assert.Equal(t, 2, started(3*time.Hour))
	assert.Equal(t, 1, started(time.Minute), "what it demands")
}

// TestOthers: work that is not ours takes room, too.
func TestOthers(t *testing.T) {
	s, err := schedtest.Snapshot(node()).Pending(task("a"), task("b"), task("c"), task("d")).
		Others(usage.Level{CPU: 3}).Build()
	require.NoError(t, err)
	plan, err := newPolicy(t, "overcommit-1.5").Plan(context.Background(), s)
	require.NoError(t, err)
	assert.Len(t, schedtest.Started(plan), 3, "15 - 3 cores")
}

func TestRefused(t *testing.T) {
	for field, bad := range map[string][]overcommit.Config{
		"Capacity":   {{Capacity: 0.5}, {Capacity: math.NaN()}, {Capacity: math.Inf(1)}},
		"Share":      {{Share: 1.5}, {Share: -1}},
		"Percentile": {{Percentile: 101}},
		"Sigmas":     {{Sigmas: -1}, {Sigmas: math.NaN()}},
		"WarmUp":     {{WarmUp: -1}},
		"Window":     {{Window: -1}, {Sample: time.Hour, Window: time.Minute}, {Sample: time.Nanosecond}},
		"Sample":     {{Sample: -1}},
	} {
		for _, c := range bad {
			_, err := overcommit.New(baseline.NewFIFO(), c)
			require.ErrorIs(t, err, overcommit.ErrConfig, "%+v", c)
			require.ErrorContains(t, err, ": "+field+" = ", "%+v", c)
		}
	}
	_, err := overcommit.New(nil, overcommit.Config{})
	require.ErrorIs(t, err, overcommit.ErrConfig)
	_, err = overcommit.Variant("x")
	require.ErrorIs(t, err, overcommit.ErrVariant)
}

// A cluster whose users demand twice what they use is filled to 1.5 times its capacity.
func ExampleNew() {
	p, err := overcommit.New(baseline.NewFIFO(), overcommit.Config{Name: "half-again", Capacity: 1.5})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := schedtest.Snapshot(node()).Pending(task("a"), task("b"), task("c"), task("d")).Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := p.Plan(context.Background(), s)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(schedtest.Started(plan), plan.Overpacks)
	// Output: [a b c] [cpu memory]
}
