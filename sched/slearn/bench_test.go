package slearn_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/slearn"
)

// generated is jobs of 1 to 199 tasks of about ten seconds each, at a load of 0.9 on that number of machines.
func generated(tasks, machines int) *agents.Workload {
	random := agent.NewRandom(1, 0)
	w := new(agents.Workload)
	now := 0.0
	for len(w.Runtimes) < tasks {
		n := 1 + random.Below(199)
		mean := 1 + 20*random.Unit()
		w.Jobs = append(w.Jobs, agents.Job{Submit: time.Duration(now * 1e9), Mean: time.Duration(mean * 1e9),
			First: int32(len(w.Runtimes)), Tasks: int32(n)})
		for range n {
			w.Runtimes = append(w.Runtimes, time.Duration(mean*(0.5+random.Unit())*1e9))
		}
		now += 2 * random.Unit() * 100 * 11 / (0.9 * float64(machines))
	}
	return w
}

// BenchmarkGS is the rate of events of simulations of 20,000 machines: one a job, its submission, and three a task.
// These are that its worker is told to run it, that it ends, and that the central scheduler is told so.
func BenchmarkGS(b *testing.B) {
	const machines = 20_000
	work := generated(2_000_000, machines)
	for name, scheme := range map[string]slearn.Scheme{"LAS": slearn.LAS, "SLearn": slearn.SLearn} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			events := int64(0)
			for b.Loop() {
				c := slearn.Config{Workers: machines, Seed: 1}
				require.NoError(b, scheme.Configure(&c, &slearn.Knowledge{ThinLimit: 3}))
				s, err := slearn.New(c)
				require.NoError(b, err)
				r, err := agents.Run(work, s, agents.Config{Delay: 500 * time.Microsecond})
				require.NoError(b, err)
				events += r.Events
			}
			b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// Twice as many tasks need no more memory than what the simulator keeps of each: nothing is allocated as tasks come
// and go.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates 360,000 tasks")
	}
	allocs := func(tasks int, scheme slearn.Scheme) float64 {
		work := generated(tasks, 500)
		return testing.AllocsPerRun(1, func() {
			c := slearn.Config{Workers: 500, Seed: 1}
			require.NoError(t, scheme.Configure(&c, &slearn.Knowledge{ThinLimit: 3}))
			s, err := slearn.New(c)
			require.NoError(t, err)
			_, err = agents.Run(work, s, agents.Config{Delay: 500 * time.Microsecond})
			require.NoError(t, err)
		})
	}
	for _, scheme := range []slearn.Scheme{slearn.LAS, slearn.SLearn} {
		require.Less(t, allocs(60_000, scheme)-allocs(30_000, scheme), 150.0, "scheme %d", scheme)
	}
}
