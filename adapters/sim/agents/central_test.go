package agents_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/threesigma"
)

// central runs a policy in cycles on a workload whose tasks are jobs of one task each. It is told each job's mean, as
// systems of agents are.
func central(t *testing.T, w *agents.Workload, policy sched.Policy, nodes int, cycle time.Duration) *agents.Result {
	c := sim.Config{Nodes: sim.Nodes(nodes, 1, 1), Policy: policy, Cycle: cycle}
	for i := range w.Jobs {
		j := &w.Jobs[i]
		for k, d := range w.Tasks(j) {
			c.Jobs = append(c.Jobs, sim.Job{Arrive: j.Submit, Work: sim.Runtime(d), Job: sched.Job{
				ID: fmt.Sprintf("%06d.%d", i, k), Tasks: 1, Attributes: map[string]string{"job": strconv.Itoa(i)}}})
		}
	}
	var err error
	c.Predictor, err = predict.NewPerfect(func(j predict.Job) (float64, bool) {
		i, err := strconv.Atoi(j.Attributes["job"])
		return w.Jobs[i].Mean.Seconds(), err == nil
	})
	require.NoError(t, err)
	found, err := sim.Run(t.Context(), c)
	require.NoError(t, err)
	r := &agents.Result{Jobs: make([]agents.JobResult, len(w.Jobs))}
	for i := range w.Jobs {
		r.Jobs[i].Submit, r.Jobs[i].Long = w.Jobs[i].Submit, w.Jobs[i].Mean > rules().Cutoff
	}
	for i := range found.Jobs {
		id, err := strconv.Atoi(found.Jobs[i].ID[:6])
		require.NoError(t, err)
		require.GreaterOrEqual(t, found.Jobs[i].Finish, time.Duration(0))
		r.Jobs[id].End = max(r.Jobs[id].End, found.Jobs[i].Finish)
	}
	return r
}

// completions are of a class, sorted, in seconds.
func completions(r *agents.Result, long bool) (seconds []float64) {
	for _, j := range r.Jobs {
		if j.Long == long {
			seconds = append(seconds, (j.End - j.Submit).Seconds())
		}
	}
	slices.Sort(seconds)
	return seconds
}

// Central policies in cycles, beside systems of agents. HEDGE_CENTRAL=1 has 3Sigma too, and all systems, and prints.
func TestCentralPoliciesBesideAgents(t *testing.T) {
	const nodes, cycle = 100, 2 * time.Second
	w := workload(t)
	found := map[string]*agents.Result{
		"fifo": central(t, w, baseline.NewFIFO(), nodes, cycle),
		"sjf":  central(t, w, baseline.NewSJF(), nodes, cycle),
	}
	if os.Getenv("HEDGE_CENTRAL") != "" {
		policy, err := threesigma.New(threesigma.Config{})
		require.NoError(t, err)
		found["3sigma"] = central(t, w, policy, nodes, cycle)
	}
	c := rules()
	c.PauseCost, c.ResumeCost = time.Second, time.Second
	for name, r := range runs(t, w, c) {
		found[name] = r
	}
	names := make([]string, 0, len(found))
	for name := range found {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		line := fmt.Sprintf("%s (%d messages)", name, found[name].Messages)
		for _, long := range []bool{false, true} {
			s := completions(found[name], long)
			line += fmt.Sprintf(" | %.1f / %.1f / %.1f", s[len(s)/2], s[len(s)*9/10], s[len(s)*99/100])
		}
		t.Log(line)
	}
	half := func(name string, long bool) float64 {
		s := completions(found[name], long)
		return s[len(s)/2]
	}
	assert.Less(t, half("sjf", false), half("siding", false), "it goes by estimates alone")
	assert.Less(t, half("siding", false), half("pigeon", false))
	assert.Less(t, half("pigeon", false), half("fifo", false))
}
