package why_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/systems"
	"github.com/hedgesched/hedge/sched/whatif"
	"github.com/hedgesched/hedge/sched/why"
	"github.com/hedgesched/hedge/solver"
)

// policies are made anew for every plan.
var policies = map[string]func() (sched.Policy, error){
	"fifo": named("fifo"), "edf": named("edf"), "sjf": named("sjf"), "prio": named("prio"), "3sigma": named("3sigma"),
}

// named makes policies with a name.
func named(name string) func() (sched.Policy, error) {
	return func() (sched.Policy, error) {
		system, err := systems.Builtin().Find(name)
		if err != nil {
			return nil, err
		}
		return system.Policy(&systems.Planning{Options: solver.Options{Work: 200}})
	}
}

// starts reports whether a new policy starts a job in a snapshot with changes given as text.
func starts(t *testing.T, policy func() (sched.Policy, error), s *sched.Snapshot, job string, texts []string) bool {
	t.Helper()
	changes := make([]whatif.Change, len(texts))
	for i, text := range texts {
		var err error
		changes[i], err = whatif.Parse(text)
		require.NoError(t, err)
	}
	changed, err := whatif.Apply(s, changes)
	require.NoError(t, err)
	p, err := policy()
	require.NoError(t, err)
	plan, err := p.Plan(context.Background(), changed)
	require.NoError(t, err)
	return slices.Contains(schedtest.Started(plan), job)
}

func texts(changes []whatif.Change) []string {
	out := make([]string, len(changes))
	for i := range changes {
		out[i] = changes[i].String()
	}
	return out
}

// less returns the next smaller versions of a remedy's changes.
func less(r *why.Remedy, job *sched.Job) [][]string {
	c := r.Changes[0]
	switch r.Kind {
	case why.FewerTasks:
		c.Count++
	case why.MoreNodes:
		if c.Count--; c.Count == 0 {
			return [][]string{nil}
		}
	case why.HigherPriority:
		c.Count--
	case why.JobsEnd, why.JobsAhead:
		all := texts(r.Changes)
		var out [][]string
		for i := range all {
			out = append(out, slices.Delete(slices.Clone(all), i, i+1))
		}
		return out
	case why.AnotherSet:
		return narrower(&c, job)
	}
	return [][]string{{c.String()}}
}

// narrower returns the sets between the set that a job requires and the one that a remedy gives it, with one less: one
// of the further values of a label or, if the remedy has none, all labels but one.
func narrower(c *whatif.Change, job *sched.Job) [][]string {
	var out [][]string
	keys := job.Required.Keys()
	for _, key := range keys {
		if c.Set.IsAny() && len(keys) > 1 {
			one := *c
			one.Set = job.Required.Without(key)
			out = append(out, []string{one.String()})
		}
		values := c.Set.Values(key)
		for i, v := range values {
			if !slices.Contains(job.Required.Values(key), v) {
				one := *c
				one.Set = c.Set.Without(key).And(sched.NodesWith(key, slices.Delete(slices.Clone(values), i, i+1)...))
				out = append(out, []string{one.String()})
			}
		}
	}
	if len(out) == 0 {
		return [][]string{nil}
	}
	return out
}

// Each remedy starts the job, and one less does not. The test plans by itself, on random snapshots and with all
// policies.
func TestRemediesAreTrueAndSmallest(t *testing.T) {
	trials := 1000
	if testing.Short() {
		trials = 50
	}
	for name, policy := range policies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kinds := map[why.Kind]int{}
			explained := 0
			for trial := range trials / len(policies) {
				s, err := schedtest.Random(rand.New(rand.NewPCG(uint64(trial), 77)))
				require.NoError(t, err)
				p, err := policy()
				require.NoError(t, err)
				plan, err := p.Plan(context.Background(), s)
				require.NoError(t, err)
				e, err := why.New(s, plan, why.Options{Plan: whatif.Fresh(policy)})
				require.NoError(t, err)
				for i := trial % 4; i < len(s.Pending); i += 4 {
					job := s.Pending[i].Job
					x, err := e.Explain(context.Background(), job.ID)
					require.NoError(t, err)
					if x.State != why.Pending {
						continue
					}
					explained++
					for _, r := range x.Remedies {
						kinds[r.Kind]++
						at := fmt.Sprintf("trial %d, job %s: %s %v", trial, job.ID, r.Text, texts(r.Changes))
						assert.True(t, r.Starts, at)
						assert.True(t, r.Smallest, at)
						assert.True(t, starts(t, policy, s, job.ID, texts(r.Changes)), at)
						for _, l := range less(&r, job) {
							assert.False(t, starts(t, policy, s, job.ID, l), "%s: but %v does, too", at, l)
						}
					}
				}
			}
			t.Log(explained, "jobs that wait;", kinds)
			assert.Greater(t, explained, trials/len(policies)/2)
		})
	}
}
