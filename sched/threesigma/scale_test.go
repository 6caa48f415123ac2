package threesigma_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/adapters/sim/trace/sample"
	"github.com/hedgesched/hedge/adapters/sim/workload"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/threesigma"
)

// sampleJobs are the jobs of the log that is built in.
func sampleJobs(b *testing.B) []trace.Job {
	b.Helper()
	r, err := sample.Open()
	require.NoError(b, err)
	log, err := trace.Collect(r)
	require.NoError(b, err)
	return log.Jobs
}

// phases collects the wall-clock milliseconds of each part of every cycle.
type phases struct{ snapshot, options, solve, apply, whole []float64 }

func (p *phases) observe(c *sched.Cycle) {
	const ms = 1e-6
	snapshot, apply := ms*float64(c.SnapshotTime), ms*float64(c.ApplyTime)
	p.snapshot, p.apply = append(p.snapshot, snapshot), append(p.apply, apply)
	p.whole = append(p.whole, snapshot+apply+ms*float64(c.PlanTime))
	if c.Plan != nil {
		p.options = append(p.options, 1e3*c.Plan.Stats.ValueTime)
		p.solve = append(p.solve, 1e3*c.Plan.Stats.SolveTime)
	}
}

func (p *phases) report(b *testing.B) {
	for _, phase := range []struct {
		name string
		ms   []float64
	}{{"snapshot", p.snapshot}, {"options", p.options}, {"solve", p.solve}, {"apply", p.apply}, {"cycle", p.whole}} {
		slices.Sort(phase.ms)
		n := len(phase.ms)
		b.ReportMetric(phase.ms[(n-1)/2], phase.name+"-p50-ms")
		b.ReportMetric(phase.ms[(99*n-1)/100], phase.name+"-p99-ms")
	}
}

// BenchmarkHour is an hour of 4,000 jobs made after the built-in log (SCALABILITY-4000 of section 6.5, load
// 0.95), a cycle every 2 s, on the paper's testbed and on its Google cluster. One iteration is the whole hour
// and what it takes to finish its jobs; the times are of whole cycles, snapshot to apply, and their parts.
func BenchmarkHour(b *testing.B) {
	log := sampleJobs(b)
	for _, nodes := range []int{256, 12_583} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			spec := workload.Default()
			spec.Kind, spec.Nodes, spec.Racks, spec.Load, spec.Hours, spec.JobsPerHour = workload.E2E, nodes, 10, 0.95, 1, 4000
			w, err := workload.Build(log, spec)
			require.NoError(b, err)
			var p phases
			for b.Loop() {
				hour(b, w, &p)
			}
			p.report(b)
		})
	}
}

// hour simulates the workload under 3Sigma with a trained predictor.
func hour(b *testing.B, w *workload.Workload, p *phases) {
	b.Helper()
	history, err := predict.NewHistory(nil)
	require.NoError(b, err)
	require.NoError(b, w.TrainPredictor(history))
	began := time.Now()
	window, slot := w.PlanAhead()
	result, err := sim.Run(context.Background(), sim.Config{
		Nodes: sim.Nodes(w.Spec.Nodes, w.Spec.Racks, 1), Jobs: w.Jobs, Predictor: history, Span: w.Span,
		Cycle: 2 * time.Second, CycleObserver: p.observe,
		Policy: policy(b, threesigma.Config{
			Window: window, Slot: slot,
			Stopwatch: func() time.Duration { return time.Since(began) },
		}),
	})
	require.NoError(b, err)
	require.Zero(b, result.Rejections)
}
