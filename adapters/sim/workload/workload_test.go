package workload_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/adapters/sim/workload"
)

// synthetic is a log of n jobs of 40 users, each with a few recurring names whose
// runtimes are lognormal around a name's own median, about one a minute.
func synthetic(n int, seed uint64) []trace.Job {
	rng := rand.New(rand.NewPCG(seed, 7))
	jobs := make([]trace.Job, n)
	var at float64
	for i := range jobs {
		at += rng.ExpFloat64() * 60
		user, name := rng.IntN(40), rng.IntN(5)
		median := 30 * math.Exp(float64((user*7+name*13)%40)/8)
		jobs[i] = trace.Job{
			ID: fmt.Sprint("j", i), Line: i + 1,
			Submit:     time.Duration(at * float64(time.Second)),
			Wait:       -1,
			Runtime:    time.Duration(median * math.Exp(0.3*rng.NormFloat64()) * float64(time.Second)),
			Tasks:      1 + (user*3+name*5)%24,
			Attributes: map[string]string{"user": fmt.Sprint("u", user), "name": fmt.Sprint("n", name)},
			Outcome:    trace.Finished,
		}
	}
	return jobs
}

func spec() workload.Spec {
	s := workload.Default()
	s.Nodes, s.Racks, s.Hours = 64, 8, 5
	return s
}

func TestBuildMeetsLoad(t *testing.T) {
	log := synthetic(8000, 1)
	for _, kind := range []workload.Kind{workload.Window, workload.E2E} {
		for _, load := range []float64{0.5, 1, 1.4} {
			s := spec()
			s.Kind, s.Load = kind, load
			w, err := workload.Build(log, s)
			require.NoError(t, err)
			require.InEpsilon(t, load, w.Load, 0.01, "%s %g", kind, load)
			var work float64
			for i, j := range w.Jobs {
				work += float64(j.Tasks) * j.Runtime.Hours()
				require.GreaterOrEqual(t, j.Arrive, time.Duration(0))
				require.Less(t, j.Arrive, w.Span)
				if i > 0 {
					require.LessOrEqual(t, w.Jobs[i-1].Arrive, j.Arrive)
				}
			}
			require.InEpsilon(t, work, w.MachineHours, 1e-9)
			require.InEpsilon(t, work/(64*5), w.Load, 1e-9)
		}
	}
}
