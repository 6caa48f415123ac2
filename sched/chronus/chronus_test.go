package chronus_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/chronus"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/utility"
)

func policy(t *testing.T, lease time.Duration) *chronus.Policy {
	t.Helper()
	p, err := chronus.New(chronus.Config{Lease: lease})
	require.NoError(t, err)
	return p
}

func TestConformance(t *testing.T) {
	schedtest.RunPolicy(t, func() sched.Policy { return policy(t, 0) })
}

func TestRefuses(t *testing.T) {
	for _, lease := range []time.Duration{-time.Minute, -1, 1, chronus.LeastLease - 1} {
		_, err := chronus.New(chronus.Config{Lease: lease})
		require.ErrorIs(t, err, chronus.ErrConfig, lease)
	}
}

// decided plans one cycle, and returns the decisions that act, in order.
func decided(t *testing.T, p sched.Policy, b *schedtest.SnapshotBuilder) []string {
	t.Helper()
	s, err := b.Build()
	require.NoError(t, err)
	plan, err := p.Plan(context.Background(), s)
	require.NoError(t, err)
	require.NoError(t, sched.CheckPlan(s, plan))
	var out []string
	for _, d := range plan.Decisions {
		if d.Kind != sched.Defer {
			out = append(out, d.Kind.String()+" "+d.Job)
		}
	}
	return out
}

func slo(id string, runs, by float64) *schedtest.JobBuilder {
	return schedtest.Job(id, 1).Runs(runs).Deadline(by).Priority(1)
}

// TestLeases: by hand, with leases of 100 s on one node that a best-effort job holds. Job a needs one lease of the two
// that end by its deadline, and is given the next; b needs two, which are not left.
func TestLeases(t *testing.T) {
	p := policy(t, 100*time.Second)
	held := func(now float64) *schedtest.SnapshotBuilder {
		return schedtest.Snapshot(schedtest.Nodes(1, 1)).Now(now).Running(schedtest.Job("be", 1).Runs(1000), 0, "n0")
	}
	assert.Empty(t, decided(t, p, held(0).Pending(slo("a", 90, 310)).Pending(slo("b", 150, 310))))
	assert.Equal(t, []string{"preempt be", "start a"},
		decided(t, p, held(100).Pending(slo("a", 90, 310)).Pending(slo("b", 150, 310))), "at the start of its lease")
}

// TestAtOnceWithinTheLease: c has no leases, and would be done within the present one.
func TestAtOnceWithinTheLease(t *testing.T) {
	p := policy(t, 100*time.Second)
	s := schedtest.Snapshot(schedtest.Nodes(1, 1)).Running(schedtest.Job("be", 1).Runs(1000), 0, "n0").
		Pending(slo("c", 50, 60))
	assert.Equal(t, []string{"preempt be", "start c"}, decided(t, p, s))
}

// TestSteps: a job that cannot have leases for the best of its steps has them for a later one.
func TestSteps(t *testing.T) {
	u, err := utility.Piecewise([]utility.Point{{T: 0, V: 10}, {T: 200, V: 10}, {T: 200, V: 5},
		{T: 400, V: 5}, {T: 400, V: 0}})
	require.NoError(t, err)
	p := policy(t, 100*time.Second)
	first, second := slo("a", 90, 200), slo("b", 90, 400).Utility(u)
	on := func(now float64) *schedtest.SnapshotBuilder {
		return schedtest.Snapshot(schedtest.Nodes(1, 1)).Now(now).Running(schedtest.Job("be", 1).Runs(1000), 0, "n0")
	}
	decided(t, p, on(0).Pending(first).Pending(second))
	assert.Equal(t, []string{"preempt be", "start a"}, decided(t, p, on(100).Pending(first).Pending(second)))
	assert.Equal(t, []string{"preempt be", "start b"}, decided(t, p, on(200).Pending(second)))
}

// A job that would end within the present lease, and in time, starts at once: best effort makes room.
func Example() {
	snapshot, err := schedtest.Snapshot(schedtest.Nodes(1, 1)).
		Running(schedtest.Job("batch", 1).Runs(1000), 0, "n0").Pending(slo("report", 50, 60)).Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := chronus.New(chronus.Config{Lease: 100 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := p.Plan(context.Background(), snapshot)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range plan.Decisions {
		fmt.Println(d.Kind, d.Job)
	}
	// Output:
	// preempt batch
	// start report
}
