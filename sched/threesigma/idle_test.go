package threesigma_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/threesigma"
	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/greedy"
	"github.com/hedgesched/hedge/solver/native"
	"github.com/hedgesched/hedge/utility"
)

// engines are those of which a policy must make good plans, and some that make bad ones.
func engines() map[string]solver.Solver {
	return map[string]solver.Solver{
		"native": native.New(nil), "greedy": greedy.New(), "last": careless{last: true}, "none": careless{},
	}
}

// careless is an engine that gives every job its last option, if it fits, or none at all. It has no bound.
type careless struct{ last bool }

func (careless) Name() string { return "careless" }

func (e careless) Solve(_ context.Context, p *solver.Problem, opts solver.Options,
	_ func(*solver.Solution)) (*solver.Solution, error) {
	sol := &solver.Solution{Engine: "careless", Stop: solver.StopWork, Choice: map[string]solver.Choice{}}
	for j := range p.Jobs {
		if !e.last {
			break
		}
		last := len(p.Jobs[j].Options) - 1
		o := &p.Jobs[j].Options[last]
		sol.Choice[p.Jobs[j].ID] = solver.Choice{Option: last,
			Split: []solver.Split{{Partition: o.Partitions[0], Count: float64(o.Count)}}}
		if solver.Verify(p, sol, opts.Splits) != nil {
			delete(sol.Choice, p.Jobs[j].ID)
		}
	}
	sol.Objective = solver.Objective(p, sol)
	return sol, nil
}

// TestEngines: whatever the engine, the policy does what every policy owes its loop.
func TestEngines(t *testing.T) {
	for name, e := range engines() {
		t.Run(name, func(t *testing.T) {
			schedtest.RunPolicy(t, func() sched.Policy {
				return policy(t, threesigma.Config{Solver: e, Options: solver.Options{Work: 2000}})
			})
		})
	}
}

// TestIdleNode: a best-effort job starts at once on an idle node, whatever the engine, the slots, its runtime and how
// slowly its worth falls.
func TestIdleNode(t *testing.T) {
	for name, e := range engines() {
		for _, c := range []struct {
			slot, window time.Duration
			runtime      float64
			horizon      time.Duration
		}{
			{0, 0, 600, 48 * time.Hour},
			{0, 0, 3600, 48 * time.Hour},
			{15 * time.Minute, 6 * time.Hour, 3600, 48 * time.Hour},
			{15 * time.Minute, 6 * time.Hour, 3600, 24 * 24 * time.Hour},
			{time.Minute, 0, 3600, 2 * time.Hour},
		} {
			s := cluster(t, 1, epoch)
			j := be(t, "be", 1)
			var err error
			j.Utility, err = utility.LinearDecay(5, c.horizon)
			require.NoError(t, err)
			s.Pending = []sched.Pending{{Job: j, Prediction: forecast(uniform(t, c.runtime/2, c.runtime*3/2))}}
			got := plan(t, policy(t, threesigma.Config{Solver: e, Slot: c.slot, Window: c.window}), s)
			assert.Equal(t, sched.Start, got["be"].Kind, "%s %v: %s", name, c, got["be"].Reason)
		}
	}
}

// TestStartsBlockNobody: a job starts in front of one that is planned later only where it is done by then.
func TestStartsBlockNobody(t *testing.T) {
	holder := sched.Running{Job: be(t, "holder", 1), Prediction: forecast(point(t, 5*minute)), Started: epoch,
		Nodes: []sched.NodeTasks{{Node: "n0", Tasks: 1}}}
	for runtime, want := range map[float64]sched.Kind{4 * minute: sched.Start, 30 * minute: sched.Defer} {
		s := cluster(t, 2, epoch, holder)
		wide := slo(t, "wide", 2, 20*time.Minute)
		wide.Priority = 0
		s.Pending = []sched.Pending{
			{Job: be(t, "small", 1), Prediction: forecast(point(t, runtime))},
			{Job: wide, Prediction: forecast(point(t, 10*minute))},
		}
		for _, e := range []solver.Solver{native.New(nil), greedy.New()} {
			got := plan(t, policy(t, threesigma.Config{Solver: e}), s)
			assert.Equal(t, want, got["small"].Kind, "%s, %v s", e.Name(), runtime)
			assert.Equal(t, epoch.Add(6*time.Minute), got["wide"].Start, e.Name())
		}
	}
}

// TestSpentJobsRun: a best-effort job whose worth has run out runs where there is room, after all that are worth
// something, and is not started in the way of what is planned.
func TestSpentJobsRun(t *testing.T) {
	for name, e := range engines() {
		late := be(t, "late", 1)
		late.Submitted = epoch.Add(-2 * time.Hour)
		s := cluster(t, 2, epoch)
		s.Pending = []sched.Pending{{Job: late, Prediction: forecast(point(t, 60))},
			{Job: be(t, "new", 1), Prediction: forecast(point(t, 60))}}
		got := plan(t, policy(t, threesigma.Config{Solver: e}), s)
		assert.Equal(t, sched.Start, got["late"].Kind, name)
		assert.Equal(t, sched.Start, got["new"].Kind, name)

		s.Pending = append(s.Pending, sched.Pending{Job: be(t, "newer", 1), Prediction: forecast(point(t, 60))})
		got = plan(t, policy(t, threesigma.Config{Solver: e}), s)
		assert.Equal(t, sched.Defer, got["late"].Kind, name)
		assert.Equal(t, sched.ReasonSpent, got["late"].Reason.Code, name)
		assert.Equal(t, []string{"new", "newer"}, slices.Sorted(slices.Values(got["late"].Reason.Ahead)),
			fmt.Sprint(name, got["late"].Reason))
	}
}

// TestRunLate: a job that cannot meet its deadline any more is given up, unless it is to run late: then it runs where
// there is room, after all that are worth something.
func TestRunLate(t *testing.T) {
	for name, e := range engines() {
		for _, waited := range []time.Duration{0, 2 * time.Hour} { // its deadline is too early, or has passed
			late := slo(t, "late", 1, 10*time.Minute)
			late.Submitted = epoch.Add(-waited)
			see := func(run bool, others ...string) sched.Decision {
				s := cluster(t, 1, epoch)
				s.Pending = []sched.Pending{{Job: late, Prediction: forecast(point(t, 3600))}}
				for _, id := range others {
					s.Pending = append(s.Pending, sched.Pending{Job: be(t, id, 1), Prediction: forecast(point(t, 60))})
				}
				return plan(t, policy(t, threesigma.Config{Solver: e, OverEstimate: threesigma.Off, RunLate: run}), s)["late"]
			}
			given := see(false)
			assert.Equal(t, sched.Defer, given.Kind, name)
			assert.Contains(t, []sched.ReasonCode{sched.ReasonSpent, sched.ReasonNoUtility}, given.Reason.Code, name)
			assert.Equal(t, sched.Start, see(true).Kind, name)
			behind := see(true, "new")
			assert.Equal(t, sched.Defer, behind.Kind, name)
			assert.Equal(t, []string{"new"}, behind.Reason.Ahead, name)
		}
	}
}
