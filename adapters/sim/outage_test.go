package sim_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/decisionlog"
	"github.com/hedgesched/hedge/adapters/sim/taskuse"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/distsched"
	"github.com/hedgesched/hedge/sched/usage"
)

// outages draws up to four outages of n nodes, which may overlap.
func outages(rng *rand.Rand, n int) []sim.Outage {
	nodes, out := sharedNodes(n), make([]sim.Outage, rng.IntN(5))
	for i := range out {
		out[i] = sim.Outage{Node: nodes[rng.IntN(n)].Name, At: time.Duration(rng.Int64N(int64(4 * time.Minute))),
			For: time.Duration(1 + rng.Int64N(int64(2*time.Minute)))}
		if rng.IntN(2) == 0 { // together with a cycle
			out[i].At = out[i].At.Truncate(10 * time.Second)
		}
	}
	return out
}

// survive simulates jobs under outages, evictions and preemptions, and checks that nothing is lost: every job
// completes, every task completes once and in full, no decision is refused, and the log passes its checker.
func survive(t *testing.T, seed uint64, policy sched.Policy, predictor predict.Predictor) *decisionlog.Report {
	rng := rand.New(rand.NewPCG(seed, 31))
	var text bytes.Buffer
	result, err := sim.Run(context.Background(), sim.Config{Nodes: sharedNodes(3), Jobs: users(seed, 3+rng.IntN(8)),
		Outages: outages(rng, 3), Policy: policy, Predictor: predictor, Cycle: 10 * time.Second, Log: &text})
	require.NoError(t, err, "seed %d", seed)
	require.Zero(t, result.Rejections, "seed %d", seed)
	all := 0.0
	for i := range result.Jobs {
		r := &result.Jobs[i]
		require.GreaterOrEqual(t, r.Finish-r.FirstStart, r.Runtime-time.Microsecond, "seed %d: %s", seed, r.ID)
		all += r.CPUTime
	}
	require.InDelta(t, all/3600, result.Sharing.Goodput.SLO+result.Sharing.Goodput.BE, 1e-9, "seed %d", seed)
	report, err := decisionlog.Check(strings.NewReader(text.String()), nil)
	require.NoError(t, err, "seed %d", seed)
	require.Equal(t, result.Sharing.Evictions, report.Metrics.Evictions, "seed %d", seed)
	return report
}

// Nothing is lost in ten thousand schedules of nodes lost, tasks evicted and gangs preempted, whatever the policy does.
func TestSharedSurvivesFaults(t *testing.T) {
	schedules := 10_000
	if testing.Short() {
		schedules = 500
	}
	lines, evictions, preemptions := 0, 0, 0
	for seed := range uint64(schedules) {
		r := survive(t, seed, &dice{rng: rand.New(rand.NewPCG(seed, 32)), preempt: seed%2 == 1}, fixed(t))
		lines += r.Lines
		evictions += r.Metrics.Evictions
		preemptions += r.Metrics.Preemptions
	}
	require.Greater(t, evictions, schedules)
	require.Greater(t, preemptions, schedules/2)
}

// The same under DistSched, which keeps state about jobs and machines from cycle to cycle.
func TestSharedSurvivesFaultsUnderDist(t *testing.T) {
	for seed := range uint64(100) {
		c, err := distsched.Variant([]string{"dist", "point", "dist-max", "dist-nodist"}[seed%4])
		require.NoError(t, err)
		policy, err := distsched.New(c)
		require.NoError(t, err)
		survive(t, 20_000+seed, policy, fixed(t))
	}
}

// A lost node takes its tasks with it. They start again where there is room, or when it is back.
func TestOutage(t *testing.T) {
	minute := taskuse.Series{{Duration: time.Minute, CPU: 1, Memory: 1}}
	var text bytes.Buffer
	result, err := sim.Run(context.Background(), sim.Config{
		Nodes: sharedNodes(1), Policy: &dice{rng: rand.New(rand.NewPCG(1, 1))}, Predictor: fixed(t), Cycle: 10 * time.Second,
		Jobs: []sim.Job{{Job: sched.Job{ID: "a", Tasks: 2, Utility: constant(1), Demand: sched.Resources{usage.CPU: 1}},
			Work: sim.Usage([]taskuse.Series{minute, {{Duration: 20 * time.Second, CPU: 1, Memory: 1}}})}},
		Outages: []sim.Outage{{Node: "n0", At: 30 * time.Second, For: time.Hour},
			{Node: "n0", At: time.Minute, For: time.Second}},
		Log: &text})
	require.NoError(t, err)
	require.Equal(t, time.Hour+90*time.Second, result.Jobs[0].Finish, "the whole minute again, from the return on")
	require.Contains(t, text.String(), `"event":"lost","job":"a","class":"be","tasks":2,"deadline":0,"node":"n0","index":0,"part":"a#1"}`)
	require.Equal(t, 1, strings.Count(text.String(), `"event":"down"`), "of overlapping outages")
	_, err = decisionlog.Check(strings.NewReader(strings.Replace(text.String(), `{"t":3630,"event":"up","node":"n0"}`, "", 1)), nil)
	require.Error(t, err)
}

func TestOutageRefused(t *testing.T) {
	for what, of := range map[string]sim.Outage{
		"an unknown node":  {Node: "n9", For: 1},
		"no time":          {Node: "n0"},
		"before the start": {Node: "n0", At: -1, For: 1},
		"an endless one":   {Node: "n0", For: 1 << 62},
	} {
		_, err := sim.Run(context.Background(), sim.Config{Nodes: sharedNodes(1), Jobs: users(1, 1), Policy: &dice{},
			Predictor: fixed(t), Outages: []sim.Outage{of}})
		require.ErrorIs(t, err, sim.ErrConfig, what)
	}
}
