package sim_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
)

// asked counts how often a policy is asked. It hides that the policy is steady unless it says so.
type asked struct {
	sched.Policy
	times  int
	steady bool
}

func (a *asked) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	a.times++
	return a.Policy.Plan(ctx, s)
}

func (a *asked) Steady() bool { return a.steady }

// A steady policy is asked less often, and all else is the same: the log with its number of cycles, every record, every
// figure but times on the wall clock, and the series to the last bit.
func TestCyclesWithoutNewsAreLeftOut(t *testing.T) {
	for name, fresh := range queues {
		for seed, change := range []func(*sim.Config){
			func(c *sim.Config) { c.Cycle = 10 * time.Second },
			func(c *sim.Config) { c.Cycle = 700 * time.Millisecond },
			func(c *sim.Config) { c.Cycle, c.Until = time.Second, 10*time.Minute },
			func(c *sim.Config) { c.Cycle, c.Ranges = 3*time.Second, true },
		} {
			run := func(steady bool) (string, *sim.Result, int) {
				var log bytes.Buffer
				policy := &asked{Policy: fresh(), steady: steady}
				cfg := sim.Config{Nodes: sim.Nodes(9, 3, 1), Jobs: workload(uint64(seed), 60, 9), Policy: policy,
					Predictor: fixed(t), Log: &log, Stopwatch: func() time.Duration { return 0 }}
				change(&cfg)
				result, err := sim.Run(t.Context(), cfg)
				require.NoError(t, err)
				return log.String(), result, policy.times
			}
			wantLog, want, every := run(false)
			log, got, times := run(true)
			require.Equal(t, wantLog, log, "%s %d", name, seed)
			require.Equal(t, want, got, "%s %d", name, seed)
			assert.Equal(t, want.Metrics.Cycles, every, "%s %d", name, seed)
			assert.Less(t, times, every, "%s %d", name, seed)
		}
	}
}

// counted is a context that ends after it was asked some times.
type counted struct {
	context.Context
	left int
}

func (c *counted) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// The context ends a run also between two cycles in which the policy is asked.
func TestLeavingOutCyclesCanBeCancelled(t *testing.T) {
	cfg := sim.Config{Nodes: sim.Nodes(9, 3, 1), Jobs: workload(1, 30, 9), Policy: baseline.NewFIFO(), Predictor: fixed(t),
		Cycle: time.Nanosecond, Stopwatch: func() time.Duration { return 0 }}
	_, err := sim.Run(&counted{t.Context(), 1000}, cfg)
	require.ErrorIs(t, err, context.Canceled)
}

// A policy that goes by the time is asked in every cycle, and so is one whose cycles somebody looks at.
func TestCyclesThatAreNotLeftOut(t *testing.T) {
	for name, tt := range map[string]struct {
		steady bool
		change func(*sim.Config)
	}{
		"not steady":     {false, func(*sim.Config) {}},
		"observed":       {true, func(c *sim.Config) { c.CycleObserver = func(*sched.Cycle) {} }},
		"solvers' time":  {true, func(c *sim.Config) { c.ChargeSolverTime = true }},
		"at every event": {true, func(c *sim.Config) { c.Cycle = 0 }},
	} {
		policy := &asked{Policy: baseline.NewFIFO(), steady: tt.steady}
		cfg := sim.Config{Nodes: sim.Nodes(9, 3, 1), Jobs: workload(1, 30, 9), Policy: policy, Predictor: fixed(t),
			Cycle: time.Second, Stopwatch: func() time.Duration { return 0 }}
		tt.change(&cfg)
		result, err := sim.Run(t.Context(), cfg)
		require.NoError(t, err)
		assert.Equal(t, result.Metrics.Cycles, policy.times, name)
	}
	for _, p := range []sched.Policy{baseline.NewCriticalPath(), baseline.NewEDFShare()} {
		assert.False(t, p.(sched.SteadyPolicy).Steady(), p.Name())
	}
}
