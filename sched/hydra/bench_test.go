package hydra

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// BenchmarkPlan is a plan of 400 jobs, a quarter of them with deadlines, on 45 machines of three speeds.
func BenchmarkPlan(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 6))
	build := schedtest.Snapshot(schedtest.Nodes(45, 3))
	for i := range 400 {
		j := schedtest.Job(fmt.Sprint("j", i), 1).Runs(float64(100+rng.IntN(20_000))).
			Speeds(sched.Speed{On: sched.NodesWith("rack", "r0"), Factor: 1},
				sched.Speed{On: sched.NodesWith("rack", "r1"), Factor: 0.6 + 0.1*rng.Float64()},
				sched.Speed{Factor: 0.3 + 0.2*rng.Float64()})
		if i%4 == 0 {
			j = j.Deadline(float64(30_000 + rng.IntN(300_000)))
		}
		build = build.Pending(j)
	}
	s, err := build.Build()
	require.NoError(b, err)
	p, err := New(Config{})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Plan(context.Background(), s); err != nil {
			b.Fatal(err)
		}
	}
}
