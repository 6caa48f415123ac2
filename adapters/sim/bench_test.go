package sim_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
)

// steady is a cluster's worth of jobs that never queue for long: the load on the engine, not on the policy.
func steady(n int) []sim.Job {
	jobs := make([]sim.Job, n)
	for i := range jobs {
		jobs[i] = sim.Job{
			Job:    sched.Job{ID: fmt.Sprintf("job-%06d", i), Tasks: 1 + i%4, Deadline: time.Duration(i%2) * time.Hour},
			Arrive: time.Duration(i) * time.Second,
			Work:   sim.Runtime(time.Duration(1+i%80) * time.Second),
		}
	}
	return jobs
}

func benchmarkRun(b *testing.B, change func(*sim.Config)) {
	jobs := steady(100_000)
	predictor := fixed(b)
	events := 0
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		cfg := sim.Config{Nodes: sim.Nodes(256, 8, 1), Jobs: jobs, Policy: baseline.NewFIFO(), Predictor: predictor}
		change(&cfg)
		result, err := sim.Run(context.Background(), cfg)
		require.NoError(b, err)
		require.Equal(b, 100_000, result.Metrics.SLO.Completed+result.Metrics.BE.Completed)
		events += result.Events
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkFIFO is 100,000 jobs on 256 nodes with the loop and the policy asked at every event.
func BenchmarkFIFO(b *testing.B) { benchmarkRun(b, func(*sim.Config) {}) }

// BenchmarkFIFOBacklog is the same with jobs that come ten times faster: up to three in four of them wait.
func BenchmarkFIFOBacklog(b *testing.B) {
	benchmarkRun(b, func(c *sim.Config) {
		c.Jobs = slices.Clone(c.Jobs)
		for i := range c.Jobs {
			c.Jobs[i].Arrive /= 10
		}
	})
}

// BenchmarkFIFOCycle asks the policy every ten seconds.
func BenchmarkFIFOCycle(b *testing.B) {
	benchmarkRun(b, func(c *sim.Config) { c.Cycle = 10 * time.Second })
}

// BenchmarkFIFOLog writes the decision log too.
func BenchmarkFIFOLog(b *testing.B) {
	benchmarkRun(b, func(c *sim.Config) { c.Cycle = 10 * time.Second; c.Log = io.Discard })
}
