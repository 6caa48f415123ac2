package sim_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/backfill"
)

// interval is a number of nodes that a job holds from one time until another. A planned one ends by the time asked for.
type interval struct {
	id       string
	from, to time.Duration
	nodes    int
}

// used is how many nodes intervals hold at a time.
func used(list []interval, at time.Duration) (n int) {
	for _, v := range list {
		if v.from <= at && at < v.to {
			n += v.nodes
		}
	}
	return n
}

// first is the earliest time from now on at which that number of nodes is free for that long, given the intervals.
func first(list []interval, now, length time.Duration, nodes, size int) time.Duration {
	try := []time.Duration{now}
	for _, v := range list {
		if v.to > now {
			try = append(try, v.to)
		}
	}
	slices.Sort(try)
	for _, at := range try {
		free := used(list, at)+nodes <= size
		for _, v := range list { // the use rises only where an interval begins
			free = free && (v.from <= at || v.from >= at+length || used(list, v.from)+nodes <= size)
		}
		if free {
			return at
		}
	}
	panic("a gang larger than the cluster")
}

// listBackfill is backfill by lists of intervals. It returns starts, and first reservations, by id. Jobs end before
// others arrive at the same time.
func listBackfill(jobs []sim.Job, size int, conservative bool) (starts, promised map[string]time.Duration) {
	jobs = slices.Clone(jobs)
	slices.SortFunc(jobs, func(a, b sim.Job) int {
		return cmp.Or(cmp.Compare(a.Arrive, b.Arrive), strings.Compare(a.ID, b.ID))
	})
	starts, promised = map[string]time.Duration{}, map[string]time.Duration{}
	var running, ends, plan []interval // by asked ends, by true ends, and of the queue
	var queue []*sim.Job
	next := 0
	for next < len(jobs) || len(queue) > 0 {
		now := time.Duration(1 << 62)
		if next < len(jobs) {
			now = jobs[next].Arrive
		}
		for _, v := range ends {
			now = min(now, v.to)
		}
		over := func(v interval) bool {
			return slices.ContainsFunc(ends, func(e interval) bool { return e.id == v.id && e.to <= now })
		}
		running = slices.DeleteFunc(running, over)
		ends = slices.DeleteFunc(ends, func(v interval) bool { return v.to <= now })
		for ; next < len(jobs) && jobs[next].Arrive <= now; next++ {
			queue = append(queue, &jobs[next])
		}
		others := func(id string) []interval {
			return append(slices.Clone(running), slices.DeleteFunc(slices.Clone(plan),
				func(v interval) bool { return v.id == id })...)
		}
		if !conservative {
			plan = nil
		}
		for _, j := range queue { // each as early as the others, with their places of before, allow
			at := first(others(j.ID), now, j.Requested, j.Tasks, size)
			if _, known := promised[j.ID]; !known {
				promised[j.ID] = at
			}
			if at > now && !conservative && len(plan) > 0 {
				continue // the first that waits is reserved for
			}
			plan = slices.DeleteFunc(plan, func(v interval) bool { return v.id == j.ID })
			v := interval{j.ID, at, at + j.Requested, j.Tasks}
			if at > now {
				plan = append(plan, v)
				continue
			}
			running = append(running, v)
			ends = append(ends, interval{j.ID, now, now + j.Work.Runtime(), j.Tasks})
			starts[j.ID] = now
		}
		queue = slices.DeleteFunc(queue, func(j *sim.Job) bool { _, started := starts[j.ID]; return started })
	}
	return starts, promised
}

// spy notes the first reservation of each job.
type spy struct {
	sched.Policy
	promised map[string]time.Time
}

func (s *spy) Plan(ctx context.Context, snap *sched.Snapshot) (*sched.Plan, error) {
	plan, err := s.Policy.Plan(ctx, snap)
	if err != nil {
		return nil, err
	}
	for d := range plan.All(snap) {
		at := d.Start
		if d.Kind == sched.Start {
			at = snap.Now
		}
		if _, known := s.promised[d.Job]; !known && !at.IsZero() {
			s.promised[d.Job] = at
		}
	}
	return plan, nil
}

// simulated is the records of a run, and the first reservations.
func simulated(t testing.TB, policy sched.Policy, jobs []sim.Job, nodes []sched.Node, cycle time.Duration,
) ([]sim.JobRecord, map[string]time.Time) {
	t.Helper()
	s := &spy{policy, map[string]time.Time{}}
	result, err := sim.Run(context.Background(), sim.Config{Nodes: nodes, Jobs: jobs, Policy: s, Predictor: fixed(t),
		Cycle: cycle})
	require.NoError(t, err)
	require.Zero(t, result.Rejections)
	return result.Jobs, s.promised
}

// equalsLists runs both policies and compares each start, and each first reservation, with those of the lists.
func equalsLists(t testing.TB, jobs []sim.Job, nodes []sched.Node, size int, what string) {
	t.Helper()
	starts, _ := listBackfill(jobs, size, false)
	records, _ := simulated(t, backfill.NewEasy(backfill.Requested()), jobs, nodes, 0)
	for _, r := range records {
		require.Equal(t, starts[r.ID], r.Start, "%s: easy: job %s", what, r.ID)
	}
	starts, promised := listBackfill(jobs, size, true)
	records, told := simulated(t, backfill.NewConservative(backfill.Requested()), jobs, nodes, 0)
	for _, r := range records {
		require.Equal(t, starts[r.ID], r.Start, "%s: conservative: job %s", what, r.ID)
		require.Equal(t, promised[r.ID], told[r.ID].Sub(sim.Epoch()), "%s: conservative: job %s", what, r.ID)
		require.LessOrEqual(t, r.Start, promised[r.ID], "%s: conservative: job %s", what, r.ID)
	}
}

// limited draws jobs whose runtimes are within the times asked for.
func limited(rng *rand.Rand, n, width int) []sim.Job {
	jobs := make([]sim.Job, n)
	var at time.Duration
	for i := range jobs {
		at += time.Duration(rng.IntN(4)) * 7 * time.Second
		asked := time.Duration(1+rng.IntN(20)) * 5 * time.Second
		runtime := asked
		if rng.IntN(3) > 0 {
			runtime = time.Duration(float64(asked) * rng.Float64())
		}
		jobs[i] = sim.Job{Arrive: at, Work: sim.Runtime(runtime), Job: sched.Job{ID: fmt.Sprintf("j%02d", i),
			Tasks: 1 + rng.IntN(width), Requested: asked, Utility: constant(1)}}
	}
	return jobs
}

func TestBackfillEqualsLists(t *testing.T) {
	cases := 10_000
	if testing.Short() {
		cases = 500
	}
	for seed := range cases {
		rng := rand.New(rand.NewPCG(uint64(seed), 24))
		tasksPerNode, n := 1+rng.IntN(2), 1+rng.IntN(8)
		equalsLists(t, limited(rng, 1+rng.IntN(25), n*tasksPerNode), sim.Nodes(n, 1, tasksPerNode), n*tasksPerNode,
			fmt.Sprintf("seed %d", seed))
	}
}

// logged is a log's jobs, with submissions closer by a factor. Runtimes are cut at the times asked for.
func logged(t testing.TB, file string, size, squeeze int) []sim.Job {
	t.Helper()
	log, err := trace.ReadAll(file, nil)
	require.NoError(t, err)
	var jobs []sim.Job
	for i := range log.Jobs {
		j := &log.Jobs[i]
		if j.Requested <= 0 || j.Tasks > size {
			continue
		}
		jobs = append(jobs, sim.Job{Arrive: j.Submit / time.Duration(squeeze), Work: sim.Runtime(min(j.Runtime, j.Requested)),
			Job: sched.Job{ID: j.ID, Tasks: j.Tasks, Requested: j.Requested, Attributes: j.Attributes, Utility: constant(1)}})
	}
	require.Greater(t, len(jobs), 100)
	return jobs
}

func TestBackfillEqualsListsOnLogs(t *testing.T) {
	for _, c := range []struct {
		file          string
		size, squeeze int
	}{{"testdata/kth-sp2.swf.gz", 100, 1}, {"testdata/theta.swf.gz", 4392, 1}} {
		equalsLists(t, logged(t, c.file, c.size, c.squeeze), sim.Nodes(c.size, 1, 1), c.size, c.file)
	}
}

// TestConservativeKeepsItsWord also where jobs prefer or require racks, and where cycles are far between.
func TestConservativeKeepsItsWord(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 25))
		jobs := limited(rng, 60, 8)
		preferRacks(seed, jobs)
		records, told := simulated(t, backfill.NewConservative(backfill.Requested()), jobs, sim.Nodes(16, 4, 1),
			time.Duration(rng.IntN(2))*10*time.Second)
		for _, r := range records {
			require.GreaterOrEqual(t, r.Start, time.Duration(0))
			require.LessOrEqual(t, r.Start, told[r.ID].Sub(sim.Epoch()), "seed %d: job %s", seed, r.ID)
		}
	}
}
