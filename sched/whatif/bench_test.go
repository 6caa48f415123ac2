package whatif_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/systems"
	"github.com/hedgesched/hedge/sched/whatif"
)

// busy is a cluster that is nearly full, with a queue.
func busy(b *testing.B, nodes, pending int) *sched.Snapshot {
	b.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	build := schedtest.Snapshot(schedtest.Nodes(nodes, 20)).Now(10_000)
	draw := func(j *schedtest.JobBuilder) *schedtest.JobBuilder {
		low := float64(1000 + rng.IntN(9000))
		d, err := dist.NewUniform(low, 3*low)
		require.NoError(b, err)
		return j.Predicted(d)
	}
	for n := 0; n < nodes*19/20; {
		tasks := min(1+rng.IntN(16), nodes*19/20-n)
		names := make([]string, tasks)
		for i := range names {
			names[i] = fmt.Sprintf("n%d", n+i)
		}
		build.Running(draw(schedtest.Job(fmt.Sprintf("run%d", n), tasks)), 9500, names...)
		n += tasks
	}
	for i := range pending {
		j := schedtest.Job(fmt.Sprintf("job%d", i), 1+rng.IntN(32)).Submitted(float64(rng.IntN(10_000)))
		switch rng.IntN(4) {
		case 0:
			j.Requires(sched.NodesWith("rack", fmt.Sprintf("r%d", rng.IntN(20))))
		case 1:
			j.Deadline(float64(20_000 + rng.IntN(20_000))).Priority(1)
		}
		build.Pending(draw(j))
	}
	s, err := build.Build()
	require.NoError(b, err)
	return s
}

// BenchmarkAsk asks about one cycle: nodes drained, nodes added, a priority changed. Where it is planned, the plan
// before the change is at hand, as in a live loop.
func BenchmarkAsk(b *testing.B) {
	s := busy(b, 5_000, 1_000)
	var changes []whatif.Change
	for _, text := range []string{"drain n7", "add 3 nodes like n9", "priority job17 9", "drop job18"} {
		c, err := whatif.Parse(text)
		require.NoError(b, err)
		changes = append(changes, c)
	}
	for _, name := range []string{"edf", "prio", "3sigma"} {
		system, err := systems.Builtin().Find(name)
		require.NoError(b, err)
		policy := func() (sched.Policy, error) { return system.Policy(&systems.Planning{}) }
		b.Run(fmt.Sprintf("nodes=5000/pending=1000/%s", name), func(b *testing.B) {
			for b.Loop() {
				_, err := whatif.Ask(context.Background(), s, changes, whatif.Fresh(policy), nil)
				require.NoError(b, err)
			}
		})
		b.Run(fmt.Sprintf("nodes=5000/pending=1000/%s, both at once", name), func(b *testing.B) {
			for b.Loop() {
				_, err := whatif.Ask(context.Background(), s, changes, whatif.Fresh(policy), whatif.Fresh(policy))
				require.NoError(b, err)
			}
		})
		b.Run(fmt.Sprintf("nodes=5000/pending=1000/%s, planned", name), func(b *testing.B) {
			plan, err := whatif.Fresh(policy)(context.Background(), s)
			require.NoError(b, err)
			for b.Loop() {
				_, err := whatif.Ask(context.Background(), s, changes, whatif.Planned(plan), whatif.Fresh(policy))
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkApply applies the changes only.
func BenchmarkApply(b *testing.B) {
	s := busy(b, 5_000, 1_000)
	for _, text := range []string{"priority job17 9", "add 3 nodes like n9"} {
		c, err := whatif.Parse(text)
		require.NoError(b, err)
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				_, err = whatif.Apply(s, []whatif.Change{c})
			}
			require.NoError(b, err)
		})
	}
}
