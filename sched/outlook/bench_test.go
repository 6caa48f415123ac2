package outlook_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/outlook"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/threesigma"
)

// crowd is a full cluster with a queue. Runtimes are of histograms with heavy tails.
func crowd(t testing.TB, nodes, pending int, seed uint64) *sched.Snapshot {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	kinds := make([]dist.Distribution, 40)
	for i := range kinds {
		samples := make([]float64, 60)
		for k := range samples {
			samples[k] = 30 * float64(1+i) / (0.02 + rng.Float64())
		}
		h, err := dist.FromSamples(samples)
		require.NoError(t, err)
		kinds[i] = h
	}
	b := schedtest.Snapshot(schedtest.Nodes(nodes, 8)).Now(10_000)
	job := func(id string, most int) *schedtest.JobBuilder {
		j := schedtest.Job(id, 1+int(float64(most)*rng.Float64()*rng.Float64()*rng.Float64())).
			Predicted(kinds[rng.IntN(len(kinds))]).Submitted(9000 + 1000*rng.Float64())
		if rng.IntN(2) == 0 {
			j.Deadline(5000).Priority(1)
		}
		return j
	}
	for n, i := 0, 0; n < nodes; i++ {
		j := job(fmt.Sprintf("run%d", i), nodes/10)
		var on []string
		for k := 0; k < j.Job().Tasks && n < nodes; k++ {
			on = append(on, fmt.Sprintf("n%d", n))
			n++
		}
		b.Running(j, 9900-1000*rng.Float64(), on...)
	}
	for i := range pending {
		b.Pending(job(fmt.Sprintf("job%d", i), nodes/5))
	}
	s, err := b.Build()
	require.NoError(t, err)
	s.Cycle = 10 * time.Second
	return s
}

func BenchmarkLook(b *testing.B) {
	for _, c := range []struct{ nodes, pending int }{{256, 300}, {12_583, 300}, {12_583, 3000}} {
		b.Run(fmt.Sprintf("%d nodes, %d pending", c.nodes, c.pending), func(b *testing.B) {
			s := crowd(b, c.nodes, c.pending, 1)
			e, err := outlook.New(outlook.Config{})
			require.NoError(b, err)
			plan := &sched.Plan{Rest: sched.Reason{Code: sched.ReasonWaiting}}
			for b.Loop() {
				s.Now = s.Now.Add(10 * time.Second)
				_, err := e.Look(s, plan)
				require.NoError(b, err)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1e3/float64(b.N), "ms/cycle")
		})
	}
}

// BenchmarkBeside is a cycle of 3Sigma without estimates and with them. The clusters are those of BenchmarkLook.
func BenchmarkBeside(b *testing.B) {
	for _, c := range []struct{ nodes, pending int }{{256, 60}, {256, 300}, {12_583, 300}} {
		for _, estimates := range []bool{false, true} {
			b.Run(fmt.Sprintf("nodes=%d/pending=%d/estimates=%v", c.nodes, c.pending, estimates), func(b *testing.B) {
				s := crowd(b, c.nodes, c.pending, 1)
				policy, err := threesigma.New(threesigma.Config{})
				require.NoError(b, err)
				e, err := outlook.New(outlook.Config{})
				require.NoError(b, err)
				for b.Loop() {
					s.Now = s.Now.Add(10 * time.Second)
					plan, err := policy.Plan(context.Background(), s)
					require.NoError(b, err)
					if estimates {
						_, err = e.Look(s, plan)
						require.NoError(b, err)
					}
				}
			})
		}
	}
}
