package sched_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// BenchmarkStepBacklog is a cycle in which a job finishes, one arrives and one starts, with more or fewer jobs
// waiting: the figures differ by what fits into the processor's caches, not by the length of the queue.
func BenchmarkStepBacklog(b *testing.B) {
	for _, waiting := range []int{10, 1_000, 100_000} {
		b.Run(fmt.Sprint(waiting), func(b *testing.B) {
			c := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(100, 4))
			loop, err := sched.NewLoop(c, baseline.NewFIFO(), schedtest.Forecasts())
			require.NoError(b, err)
			submitted := 0
			submit := func() {
				c.Submit(schedtest.Job(fmt.Sprintf("j%08d", submitted), 1).Submitted(float64(submitted)/1e3).Job(), 100)
				submitted++
			}
			cycle := func(n int) {
				c.Advance(schedtest.At(float64(n)))
				_, err := loop.Step(background, schedtest.At(float64(n)))
				require.NoError(b, err)
			}
			for range 100 + waiting {
				submit()
			}
			cycle(0)
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				n += 100
				for range 100 {
					submit()
				}
				cycle(n)
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(n), "ns/job")
		})
	}
}
