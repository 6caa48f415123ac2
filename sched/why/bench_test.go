package why_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/whatif"
	"github.com/hedgesched/hedge/sched/why"
)

// backlog is a cluster of whole nodes that is full but for a few, with a long queue.
func backlog(b *testing.B, nodes, pending int) *sched.Snapshot {
	b.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	build := schedtest.Snapshot(schedtest.Nodes(nodes, 10)).Now(10_000)
	for n := 0; n < nodes*19/20; {
		tasks := min(1+rng.IntN(16), nodes*19/20-n)
		names := make([]string, tasks)
		for i := range names {
			names[i] = fmt.Sprintf("n%d", n+i)
		}
		build.Running(schedtest.Job(fmt.Sprintf("run%d", n), tasks).Runs(float64(5000+rng.IntN(9000))), 5000, names...)
		n += tasks
	}
	for i := range pending {
		j := schedtest.Job(fmt.Sprintf("job%d", i), 1+rng.IntN(32)).Submitted(float64(rng.IntN(10_000)))
		switch rng.IntN(4) {
		case 0:
			j.Requires(sched.NodesWith("rack", fmt.Sprintf("r%d", rng.IntN(10))))
		case 1:
			j.Deadline(float64(20_000 + rng.IntN(20_000))).Priority(1)
		}
		build.Pending(j)
	}
	s, err := build.Build()
	require.NoError(b, err)
	return s
}

// BenchmarkExplain explains the jobs of a long queue one by one, and reports the 99th percentile.
func BenchmarkExplain(b *testing.B) {
	for _, size := range []struct{ nodes, pending int }{{256, 1_000}, {1_000, 10_000}} {
		s := backlog(b, size.nodes, size.pending)
		policy := baseline.NewEDF()
		plan, err := policy.Plan(context.Background(), s)
		require.NoError(b, err)
		for name, planner := range map[string]whatif.Planner{"room": nil, "tried": policy.Plan} {
			b.Run(fmt.Sprintf("nodes=%d/pending=%d/%s", size.nodes, size.pending, name), func(b *testing.B) {
				e, err := why.New(s, plan, why.Options{Plan: planner})
				require.NoError(b, err)
				rng := rand.New(rand.NewPCG(3, 4))
				var took []time.Duration
				for b.Loop() {
					job := s.Pending[rng.IntN(len(s.Pending))].Job.ID
					began := b.Elapsed()
					_, err := e.Explain(context.Background(), job)
					took = append(took, b.Elapsed()-began)
					require.NoError(b, err)
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1e3, "p99-ms")
			})
		}
	}
}

// BenchmarkNew is the work for a cycle before its first explanation.
func BenchmarkNew(b *testing.B) {
	s := backlog(b, 1_000, 10_000)
	plan, err := baseline.NewEDF().Plan(context.Background(), s)
	require.NoError(b, err)
	for b.Loop() {
		_, err = why.New(s, plan, why.Options{})
	}
	require.NoError(b, err)
}
