package keep_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/keep"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/threesigma"
	"github.com/hedgesched/hedge/utility"
)

func policy(t *testing.T, c keep.Config) *keep.Policy {
	t.Helper()
	p, err := keep.New(c)
	require.NoError(t, err)
	return p
}

func TestConformance(t *testing.T) {
	schedtest.RunPolicy(t, func() sched.Policy { return policy(t, keep.Config{}) })
}

func TestRefusesWhatMakesNoSense(t *testing.T) {
	for _, c := range []keep.Config{
		{MachineHours: -1}, {MachineHours: math.NaN()}, {MachineHours: math.Inf(1)}, {Jobs: -1}, {Jobs: math.NaN()},
		{Plan: threesigma.Config{Surcharge: func(*sched.Running, time.Duration) float64 { return 0 }}},
	} {
		_, err := keep.New(c)
		require.ErrorIs(t, err, keep.ErrConfig)
	}
	_, err := keep.New(keep.Config{Plan: threesigma.Config{Haste: 2}})
	require.ErrorIs(t, err, sched.ErrConfig)
}

const hour = 3600

// preempted plans a cluster of four nodes, an hour after it began. Two best-effort jobs have held it: wide, two nodes
// for the whole hour, and fresh, two nodes for a minute. The job slo needs two nodes at once for half an hour, which is
// one machine-hour, and is worth 100.
func preempted(t *testing.T, p sched.Policy, checkpoint bool) []string {
	t.Helper()
	worth := func(value float64) utility.Utility {
		u, err := utility.LinearDecay(value, 1000*time.Hour)
		require.NoError(t, err)
		return u
	}
	slo, err := utility.Deadline((hour/2+60)*time.Second, 100)
	require.NoError(t, err)
	s, err := schedtest.Snapshot(schedtest.Nodes(4, 1)).Now(hour).
		Running(schedtest.Job("wide", 2).Runs(3*hour).Utility(worth(1)), 0, "n0", "n1").
		Running(schedtest.Job("fresh", 2).Runs(3*hour).Utility(worth(1.5)), hour-60, "n2", "n3").
		Pending(schedtest.Job("slo", 2).Submitted(hour).Runs(hour / 2).Deadline(hour/2 + 60).Priority(1).Utility(slo)).
		Build()
	require.NoError(t, err)
	for i := range s.Running {
		s.Running[i].Job.Checkpoint = checkpoint
	}
	plan, err := p.Plan(context.Background(), s)
	require.NoError(t, err)
	schedtest.CheckPlan(t, s, plan)
	return schedtest.Preempted(plan)
}

// TestPriceOfLostWork: 3Sigma stops wide, which is expected to earn 1·(1 + 1/3), and not fresh, which is expected to
// earn 1.5. At ten machine-hours a deadline, the two that wide has run cost 20 more, and those of fresh a third. At a
// hundredth of a machine-hour, stopping fresh costs 333, more than the deadline is worth.
func TestPriceOfLostWork(t *testing.T) {
	paper, err := threesigma.New(threesigma.Config{})
	require.NoError(t, err)
	for _, tt := range []struct {
		name       string
		policy     sched.Policy
		checkpoint bool
		want       []string
	}{
		{"3sigma", paper, false, []string{"wide"}},
		{"ten machine-hours", policy(t, keep.Config{MachineHours: 10}), false, []string{"fresh"}},
		{"nothing is lost", policy(t, keep.Config{MachineHours: 10}), true, []string{"wide"}},
		{"a hundredth", policy(t, keep.Config{MachineHours: 0.01}), false, nil},
		{"ten times the mean job", policy(t, keep.Config{}), false, []string{"fresh"}},
		{"a hundredth of the mean job", policy(t, keep.Config{Jobs: 0.01}), false, nil},
	} {
		assert.Equal(t, tt.want, preempted(t, tt.policy, tt.checkpoint), tt.name)
	}
}

// TestDeadlinesAreBelieved: three of four earlier runs took longer than the deadline allows. Whoever believes the user
// expects the job to be like the fourth. A forecast of longer runs alone stands.
func TestDeadlinesAreBelieved(t *testing.T) {
	for _, tt := range []struct {
		doubt bool
		ran   []float64
		want  float64
	}{
		{false, []float64{60, 2 * hour, 3 * hour, 4 * hour}, 1},
		{true, []float64{60, 2 * hour, 3 * hour, 4 * hour}, 0.25},
		{false, []float64{2 * hour, 3 * hour}, 0},
	} {
		history, err := dist.FromSamples(tt.ran)
		require.NoError(t, err)
		s, err := schedtest.Snapshot(schedtest.Nodes(1, 1)).
			Pending(schedtest.Job("slo", 1).Predicted(history).Deadline(hour)).Build()
		require.NoError(t, err)
		s.Pending[0].Prediction.Samples = 1e6 // so that the probability is told as it is
		plan, err := policy(t, keep.Config{Doubt: tt.doubt}).Plan(context.Background(), s)
		require.NoError(t, err)
		require.Equal(t, []string{"slo"}, schedtest.Started(plan), "%+v", tt)
		assert.InDelta(t, tt.want, plan.Decisions[0].Reason.Probability, 0.01, "%+v", tt)
		assert.Same(t, history, s.Pending[0].Prediction.Dist, "the caller's snapshot is left as it is")
	}
}

// TestMachinesOfSharedNodes: a task that takes an eighth of a machine loses an eighth of its time.
func TestMachinesOfSharedNodes(t *testing.T) {
	node := []sched.Node{{Name: "n0", Capacity: sched.Resources{"cpu": 8, "gpu": 1}}}
	eighth := sched.Resources{"cpu": 1}
	slo, err := utility.Deadline((hour/2+60)*time.Second, 100)
	require.NoError(t, err)
	plan := func(machineHours float64) []string {
		s, err := schedtest.Snapshot(node).Now(hour).
			Running(schedtest.Job("be", 8).Demand(eighth).Runs(3*hour), 0, "n0", "n0", "n0", "n0", "n0", "n0", "n0", "n0").
			Pending(schedtest.Job("slo", 1).Demand(eighth).Submitted(hour).Runs(hour / 2).Deadline(hour/2 + 60).Priority(1).
				Utility(slo)).Build()
		require.NoError(t, err)
		got, err := policy(t, keep.Config{MachineHours: machineHours}).Plan(context.Background(), s)
		require.NoError(t, err)
		return schedtest.Preempted(got)
	}
	assert.Equal(t, []string{"be"}, plan(1.1), "one machine-hour is lost, and a deadline is worth more")
	assert.Empty(t, plan(0.9))
}

func ExampleNew() {
	// One more met deadline is worth at most five machine-hours of best-effort work that is thrown away.
	p, err := keep.New(keep.Config{MachineHours: 5})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := schedtest.Snapshot(schedtest.Nodes(2, 1)).Now(8*hour).
		Running(schedtest.Job("best-effort", 2).Runs(10*hour), 0, "n0", "n1").
		Pending(schedtest.Job("urgent", 1).Submitted(8 * hour).Runs(60).Deadline(90).Priority(1)).Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := p.Plan(context.Background(), s)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("stopped after 16 machine-hours:", schedtest.Preempted(plan))
	// Output: stopped after 16 machine-hours: []
}
