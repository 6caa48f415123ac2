package distsched_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/usage"
)

// drawn is a distribution of what a task uses, as histories have them: skewed, of some dozens of values.
func drawn(t testing.TB, rng *rand.Rand, scale float64) dist.Distribution {
	values := make([]float64, 5+rng.IntN(40))
	for i := range values {
		values[i] = scale * math.Exp(0.5*rng.NormFloat64())
	}
	return samples(t, values...)
}

// busy is a cluster of machines of 32 cores, the number of tasks on each, and pending jobs of 1 to 32 tasks.
func busy(t testing.TB, seed uint64, machines, tasks, pending int) *sched.Snapshot {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	nodes := schedtest.Nodes(machines, 1)
	for i := range nodes {
		nodes[i].Capacity = sched.Resources{usage.CPU: 32, usage.Memory: 64}
	}
	job := func(id string, tasks int) *schedtest.JobBuilder {
		cpu, memory := 0.3+0.8*rng.Float64(), 0.5+1.6*rng.Float64()
		b := schedtest.Job(id, tasks).Demand(sched.Resources{usage.CPU: 3 * cpu, usage.Memory: 2 * memory}).
			Uses(predict.CPU, drawn(t, rng, cpu)).Uses(predict.Memory, drawn(t, rng, memory)).
			Uses(predict.CPUTime, drawn(t, rng, 500))
		if rng.IntN(2) == 0 {
			b.Priority(1).Deadline(600 + 3000*rng.Float64())
		}
		return b
	}
	b := schedtest.Snapshot(nodes).Now(1000).Overpacks(usage.CPU, usage.Memory)
	left := make([]int, 0, machines*tasks)
	for n := range machines {
		for range rng.IntN(2*tasks/10+1) + tasks - tasks/10 {
			left = append(left, n)
		}
	}
	rng.Shuffle(len(left), func(i, k int) { left[i], left[k] = left[k], left[i] })
	for i := 0; len(left) > 0; i++ {
		k := min(len(left), 1+rng.IntN(12))
		names := make([]string, k)
		for j, n := range left[:k] {
			names[j] = nodes[n].Name
		}
		left = left[k:]
		b.Running(job(fmt.Sprint("r", i), k), float64(rng.IntN(1000)), names...)
	}
	for i := range pending {
		b.Pending(job(fmt.Sprint("p", i), 1+rng.IntN(32)).Submitted(float64(900 + rng.IntN(100))))
	}
	s, err := b.Build()
	require.NoError(t, err)
	s.Cycle = 15 * time.Second
	return s
}

// BenchmarkCycle plans for machines of thirty tasks, with 200 gangs of 1 to 32 that wait. Since the cycle before, a
// hundredth of the jobs that run is gone, and as many others have come.
func BenchmarkCycle(b *testing.B) {
	for _, machines := range []int{1000, 10000} {
		for _, name := range []string{"dist", "point", "request"} {
			b.Run(fmt.Sprintf("machines=%d/%s", machines, name), func(b *testing.B) {
				if machines > 1000 && testing.Short() {
					b.Skip("takes gigabytes")
				}
				full := busy(b, 1, machines, 30, 200)
				before := full.Clone() // the last hundredth has not come yet
				before.Running = before.Running[:len(full.Running)*99/100]
				before.Pending = nil
				without := func(part int) *sched.Snapshot {
					c := full.Clone()
					c.Running = slices.Clone(before.Running[:0])
					for i := range full.Running {
						if i%100 != part {
							c.Running = append(c.Running, full.Running[i])
						}
					}
					return c
				}
				some := []*sched.Snapshot{without(1), without(2), without(3)}
				p := newPolicy(b, name)
				_, err := p.Plan(context.Background(), full)
				require.NoError(b, err)
				b.ReportAllocs()
				started, options, i := 0, 0, 0
				for b.Loop() {
					b.StopTimer()
					_, err := p.Plan(context.Background(), before)
					require.NoError(b, err)
					b.StartTimer()
					plan, err := p.Plan(context.Background(), some[i%len(some)])
					require.NoError(b, err)
					options += plan.Stats.Options
					started += len(schedtest.Started(plan))
					i++
				}
				b.ReportMetric(float64(options)/float64(b.N), "options/op")
				b.ReportMetric(float64(started)/float64(b.N), "started/op")
			})
		}
	}
}
