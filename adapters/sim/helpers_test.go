package sim_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/utility"
)

// constant is a utility that needs no package of curves.
type constant float64

func (c constant) At(float64) float64 { return float64(c) }

var _ utility.Utility = constant(0)

func fixed(t testing.TB) predict.Predictor {
	t.Helper()
	d, err := dist.NewPoint(60)
	require.NoError(t, err)
	p, err := predict.NewFixed(d)
	require.NoError(t, err)
	return p
}

// workload draws jobs with odd nanoseconds, ties in arrival, and zero runtimes.
func workload(seed uint64, n, width int) []sim.Job {
	rng := rand.New(rand.NewPCG(seed, 11))
	jobs := make([]sim.Job, n)
	var at time.Duration
	for i := range jobs {
		if rng.IntN(4) > 0 {
			at += time.Duration(rng.Int64N(int64(40 * time.Second)))
		}
		j, runtime := sim.Job{Arrive: at}, time.Duration(rng.Int64N(int64(5*time.Minute)))
		if rng.IntN(20) == 0 {
			runtime = 0
		}
		j.Work = sim.Runtime(runtime)
		j.Job = sched.Job{ID: fmt.Sprintf("j%d", i), Tasks: 1 + rng.IntN(width), Utility: constant(1)}
		if rng.IntN(2) == 0 {
			j.Deadline = time.Duration(float64(runtime)*(1+2*rng.Float64())) + 1
			j.Priority = 1
		}
		jobs[i] = j
	}
	rng.Shuffle(n, func(a, b int) { jobs[a], jobs[b] = jobs[b], jobs[a] })
	return jobs
}

// preferRacks makes some jobs prefer or require racks.
func preferRacks(seed uint64, jobs []sim.Job) {
	rng := rand.New(rand.NewPCG(seed, 12))
	for i := range jobs {
		switch rng.IntN(4) {
		case 0:
			jobs[i].Speeds = sched.SpeedsOf(
				sched.Speed{On: sched.NodesWith(sim.RackLabel, "r00", "r01", "r02"), Factor: 1}, sched.Speed{Factor: 1 / 1.5})
		case 1:
			jobs[i].Tasks = 1
			jobs[i].Required = sched.NodesWith(sim.RackLabel, "r01", "r03")
		}
	}
}
