package threesigma

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// crowd is a cluster of 12,583 nodes that is nearly full, and a number of jobs that wait: half with a deadline, a third
// with preferred nodes. Only four jobs run, so that reasons have room for the names of jobs that are planned.
func crowd(b *testing.B, jobs int) *sched.Snapshot {
	b.Helper()
	nodes := schedtest.Nodes(12_583, 8)
	snap := schedtest.Snapshot(nodes).Now(1000)
	const wide = 3100
	for i := 0; i+wide <= len(nodes); i += wide {
		names := make([]string, wide)
		for k := range names {
			names[k] = nodes[i+k].Name
		}
		snap.Running(schedtest.Job(fmt.Sprint("run", i), wide).Priority(1).Runs(float64(1000+i%1900)), float64(i%977),
			names...)
	}
	for i := range jobs {
		j := schedtest.Job(fmt.Sprint("job", i), 1+i%60).Submitted(float64(i % 1000)).Runs(float64(60 + i%1997))
		if i%2 == 0 {
			j.Deadline(6000).Priority(1)
		}
		if i%3 == 0 {
			j.Prefers(sched.NodesWith("rack", fmt.Sprint("r", i%8), fmt.Sprint("r", i%5)), 1.5)
		}
		snap.Pending(j)
	}
	s, err := snap.Build()
	require.NoError(b, err)
	return s
}

// BenchmarkExplain12583Nodes is a cycle in which many jobs wait, and the share of it in which their reasons are found.
func BenchmarkExplain12583Nodes(b *testing.B) {
	for _, jobs := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("pending=%d", jobs), func(b *testing.B) {
			s := crowd(b, jobs)
			p, err := New(Config{Slot: 2 * time.Minute})
			require.NoError(b, err)
			var explained time.Duration
			for b.Loop() {
				p.cycle++
				m := p.build(s)
				stats := sched.Stats{}
				sol, err := p.solve(context.Background(), m, p.cfg.limits(p.period), &stats)
				require.NoError(b, err)
				x := m.extract(sol)
				x.advance()
				began := time.Now()
				plan := x.plan(stats)
				explained += time.Since(began)
				require.Len(b, plan.Decisions, jobs)
			}
			b.ReportMetric(float64(explained.Milliseconds())/float64(b.N), "explain-ms")
			b.ReportMetric(100*explained.Seconds()/b.Elapsed().Seconds(), "explain-%")
		})
	}
}
