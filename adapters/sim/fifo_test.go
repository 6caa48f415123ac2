package sim_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/sched/baseline"
)

// twentyLineFIFO starts jobs strictly in order of arrival on a number of slots and
// returns start times by id.
func twentyLineFIFO(jobs []sim.Job, slots int) map[string]time.Duration {
	jobs = slices.Clone(jobs)
	slices.SortFunc(jobs, func(a, b sim.Job) int {
		return cmp.Or(cmp.Compare(a.Arrive, b.Arrive), strings.Compare(a.ID, b.ID))
	})
	starts := map[string]time.Duration{}
	free := make([]time.Duration, slots) // when each slot becomes free
	var last time.Duration
	for _, j := range jobs {
		slices.Sort(free)
		last = max(last, j.Arrive, free[j.Tasks-1])
		starts[j.ID] = last
		for k := range j.Tasks {
			free[k] = last + j.Work.Runtime()
		}
	}
	return starts
}

func TestFIFOEqualsTwentyLineFIFO(t *testing.T) {
	for seed := range uint64(12) {
		tasksPerNode := 1 + int(seed%3)
		jobs := workload(seed, 400, 12*tasksPerNode)
		result, err := sim.Run(context.Background(), sim.Config{
			Nodes:     sim.Nodes(12, 3, tasksPerNode),
			Jobs:      jobs,
			Policy:    baseline.NewFIFO(),
			Predictor: fixed(t),
		})
		require.NoError(t, err)
		require.Zero(t, result.Rejections)
		want := twentyLineFIFO(jobs, 12*tasksPerNode)
		runtimes := map[string]time.Duration{}
		for _, j := range jobs {
			runtimes[j.ID] = j.Work.Runtime()
		}
		for _, r := range result.Jobs {
			require.Equal(t, want[r.ID], r.Start, "seed %d, job %s", seed, r.ID)
			require.Equal(t, r.Start+runtimes[r.ID], r.Finish, "seed %d, job %s", seed, r.ID)
		}
	}
}
