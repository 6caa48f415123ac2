package why_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/keep"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/threesigma"
	"github.com/hedgesched/hedge/sched/whatif"
	"github.com/hedgesched/hedge/sched/why"
	"github.com/hedgesched/hedge/solver/native"
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

// BenchmarkExplain explains the jobs of a long queue one by one. It reports the 99th percentile, and how many plans an
// explanation makes: under 3sigma and keep these take nearly all of the time. Their policies share an engine, which
// then uses its memory again.
func BenchmarkExplain(b *testing.B) {
	edf := func() (sched.Policy, error) { return baseline.NewEDF(), nil }
	engine := native.New(nil)
	sigma := func() (sched.Policy, error) { return threesigma.New(threesigma.Config{Solver: engine}) }
	ours := func() (sched.Policy, error) { return keep.New(keep.Config{Plan: threesigma.Config{Solver: engine}}) }
	for _, size := range []struct{ nodes, pending int }{{256, 1_000}, {1_000, 10_000}} {
		s := backlog(b, size.nodes, size.pending)
		for _, c := range []struct {
			name   string
			policy func() (sched.Policy, error)
			tried  bool
			at     int // threads
		}{
			{"room", edf, false, 1},
			{"tried", edf, true, 1},
			{"tried, 3sigma", sigma, true, 1}, {"tried, 3sigma, two at once", sigma, true, 2},
			{"tried, keep", ours, true, 1},
		} {
			b.Run(fmt.Sprintf("nodes=%d/pending=%d/%s", size.nodes, size.pending, c.name), func(b *testing.B) {
				explainAll(b, s, whatif.Fresh(c.policy), c.tried, c.at)
			})
		}
	}
}

func explainAll(b *testing.B, s *sched.Snapshot, planner whatif.Planner, tried bool, threads int) {
	b.Helper()
	plan, err := planner(context.Background(), s)
	require.NoError(b, err)
	var plans atomic.Int64
	options := why.Options{Threads: threads}
	if tried {
		options.Plan = func(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
			plans.Add(1)
			return planner(ctx, s)
		}
	}
	e, err := why.New(s, plan, options)
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
	b.ReportMetric(float64(plans.Load())/float64(b.N), "plans/op")
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
