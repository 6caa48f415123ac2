package distsched_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/distsched"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/usage"
)

// TestEvictionInLife: by hand, on a machine of 8 whose evictions begin at 7.6. Averages are 1 throughout.
func TestEvictionInLife(t *testing.T) {
	job := func(id string, priority int, request float64, peaks ...float64) *schedtest.JobBuilder {
		return schedtest.Job(id, 1).Priority(priority).Demand(sched.Resources{usage.CPU: 0.5, usage.Memory: request}).
			Uses(predict.Memory, samples(t, 1)).Uses(predict.MemoryMax, samples(t, peaks...))
	}
	for _, tt := range []struct {
		what          string
		task, running *schedtest.JobBuilder
		want          float64
	}{
		{"peaks fit", job("a", 0, 9, 3), job("r", 0, 9, 4), 0},
		{"peaks do not, and the task is the smaller", job("a", 0, 9, 4), job("r", 0, 9, 5), 0},
		{"it is the larger", job("a", 0, 9, 5), job("r", 0, 9, 4), 1},
		{"they are equal, and it is the later", job("a", 0, 9, 5), job("r", 0, 9, 5), 1},
		{"it is the smaller, but above its request", job("a", 0, 2, 4), job("r", 0, 9, 5), 1},
		{"both are above, the other farther", job("a", 0, 2, 5), job("r", 0, 0.5, 4), 0},
		{"the other has a lower priority", job("a", 1, 0, 5), job("r", 0, 9, 4), 0},
		{"the other has a higher priority", job("a", 0, 9, 4), job("r", 1, 0, 5), 1},
		{"alone it is too large", job("a", 1, 9, 7.7), job("r", 0, 9, 1), 1},
		{"of four cases one is too much", job("a", 0, 9, 2, 5), job("r", 1, 9, 2, 5), 0.25},
	} {
		s, err := schedtest.Snapshot(shared(1)).Running(tt.running, 0, "n0").Pending(tt.task).
			Overpacks(usage.CPU, usage.Memory).Build()
		require.NoError(t, err)
		p, err := distsched.New(distsched.Config{})
		require.NoError(t, err)
		_, err = p.Plan(context.Background(), s)
		require.NoError(t, err)
		e, ok := p.Eviction("a")
		require.True(t, ok, tt.what)
		assert.InDelta(t, tt.want, e.Life, 1e-9, tt.what)
		assert.Zero(t, e.Start, tt.what)
		_, ok = p.Eviction("r")
		assert.False(t, ok, "it started before")
	}
}

// TestEvictionShared: the tasks of a job draw once. On two machines that either both or neither hold, one risk is told.
func TestEvictionShared(t *testing.T) {
	wide := schedtest.Job("a", 2).Demand(sched.Resources{usage.CPU: 0.5, usage.Memory: 9}).
		Uses(predict.Memory, samples(t, 5)).Uses(predict.MemoryMax, samples(t, 5, 5, 5, 8))
	s, err := schedtest.Snapshot(shared(2)).Pending(wide).Build()
	require.NoError(t, err)
	p, err := distsched.New(distsched.Config{})
	require.NoError(t, err)
	plan, err := p.Plan(context.Background(), s)
	require.NoError(t, err)
	require.Len(t, plan.Decisions[0].Nodes, 2)
	e, ok := p.Eviction("a")
	require.True(t, ok)
	assert.InDelta(t, 0.25, e.Life, 1e-9)
}

// held is a task on a machine that is short of memory.
type held struct {
	priority    int
	above, peak float64
	order       int
	ours        bool
}

// evict stops tasks one by one until the rest fit, and tells whether one of ours is stopped.
func evict(tasks []held, limit float64) bool {
	slices.SortFunc(tasks, func(a, b held) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(b.above, a.above), cmp.Compare(b.peak, a.peak),
			cmp.Compare(b.order, a.order))
	})
	sum := 0.0
	for _, x := range tasks {
		sum += x.peak
	}
	for _, x := range tasks {
		if sum <= limit {
			break
		}
		if x.ours {
			return true
		}
		sum -= x.peak
	}
	return false
}

// TestEvictionAgainstMonteCarlo: Life is what comes of drawing every peak and evicting one task after the other.
func TestEvictionAgainstMonteCarlo(t *testing.T) {
	const draws, memory = 2000, 64
	risky := 0
	for seed := range uint64(8) {
		s := busy(t, seed, 4, 28, 1)
		p, err := distsched.New(distsched.Config{MemoryRisk: 0.6, CPURisk: 0.9})
		require.NoError(t, err)
		plan, err := p.Plan(context.Background(), s)
		require.NoError(t, err)
		at := slices.IndexFunc(plan.Decisions, func(d sched.Decision) bool { return d.Kind == sched.Start })
		if at < 0 {
			continue
		}
		job := s.Pending[0].Job
		w := &world{t: t, s: s, rng: rand.New(rand.NewPCG(seed, 9))}
		nodes, came := w.nodes(), 0
		for range draws {
			own, lost := w.draw(&s.Pending[0].Prediction, predict.Memory), false
			for _, nt := range plan.Decisions[at].Nodes {
				tasks := slices.Repeat([]held{{priority: job.Priority, above: max(0, own-job.Demand[usage.Memory]), peak: own,
					order: 1, ours: true}}, nt.Tasks)
				for _, o := range nodes[nt.Node] {
					peak := w.draw(&o.of.Prediction, predict.Memory)
					tasks = append(tasks, slices.Repeat([]held{{priority: o.of.Job.Priority, peak: peak,
						above: max(0, peak-o.of.Job.Demand[usage.Memory])}}, int(o.count))...)
				}
				lost = evict(tasks, 0.95*memory) || lost
			}
			if lost {
				came++
			}
		}
		e, ok := p.Eviction(job.ID)
		require.True(t, ok)
		if came > draws/50 {
			risky++
		}
		assert.InDelta(t, float64(came)/draws, e.Life, 0.05, fmt.Sprintf("seed %d: %d tasks", seed, job.Tasks))
	}
	require.Greater(t, risky, 2, "the cases must be risky")
}
