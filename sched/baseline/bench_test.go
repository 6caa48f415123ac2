package baseline_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// google is a full cluster of 12,583 nodes with 300 pending jobs, half SLO.
func google(b *testing.B) *sched.Snapshot {
	b.Helper()
	nodes := schedtest.Nodes(12583, 8)
	snap := schedtest.Snapshot(nodes).Now(1000)
	for i := 0; i+40 <= 12400; i += 40 {
		names := make([]string, 40)
		for k := range names {
			names[k] = nodes[i+k].Name
		}
		snap.Running(schedtest.Job(fmt.Sprintf("run%d", i), 40).Priority(i/40%2), float64(i%977), names...)
	}
	for i := range 300 {
		j := schedtest.Job(fmt.Sprintf("job%d", i), 1+i%60).Submitted(float64(i)).Runs(float64(10 + i%97))
		if i%2 == 0 {
			j.Deadline(2000).Priority(1)
		}
		if i%3 == 0 {
			j.Prefers(sched.NodesWith("rack", fmt.Sprintf("r%d", i%8), fmt.Sprintf("r%d", i%5)), 1.5)
		}
		snap.Pending(j)
	}
	s, err := snap.Build()
	require.NoError(b, err)
	return s
}

func BenchmarkCycle12583Nodes300Pending(b *testing.B) {
	s := google(b)
	for _, p := range []sched.Policy{baseline.NewFIFO(), baseline.NewEDF(), baseline.NewSJF(), baseline.NewPrio()} {
		b.Run(p.Name(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Plan(context.Background(), s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
