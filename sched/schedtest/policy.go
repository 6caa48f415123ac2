package schedtest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/place"
	"github.com/hedgesched/hedge/sched/usage"
)

// trials is the number of random snapshots that each property is tried on.
const trials = 40

// RunPolicy checks what every policy owes its loop: valid plans that leave the
// snapshot alone, preemptions first and only of jobs of lower priority, a reason
// for every pending job, the same plans for the same snapshots, and jobs that get done.
// newPolicy must return a policy without history every time.
func RunPolicy(t *testing.T, newPolicy func() sched.Policy) {
	t.Run("name", func(t *testing.T) { assert.NotEmpty(t, newPolicy().Name()) })
	t.Run("valid plans", func(t *testing.T) { validPlans(t, newPolicy) })
	t.Run("determinism", func(t *testing.T) { determinism(t, newPolicy) })
	t.Run("nothing to do", func(t *testing.T) { nothingToDo(t, newPolicy) })
	t.Run("a job alone starts", func(t *testing.T) { aloneStarts(t, newPolicy) })
	t.Run("an idle cluster starts what fits", func(t *testing.T) { idleStarts(t, newPolicy) })
	t.Run("a job too large waits", func(t *testing.T) { tooLarge(t, newPolicy) })
	t.Run("required sets", func(t *testing.T) { requiredSets(t, newPolicy) })
	t.Run("jobs get done", func(t *testing.T) { drains(t, newPolicy, nil) })
	t.Run("jobs get done where starts fail", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 5))
		drains(t, newPolicy, func(string) bool { return rng.IntN(4) == 0 })
	})
	t.Run("no snapshot", func(t *testing.T) { noSnapshot(t, newPolicy) })
	t.Run("cancelled", func(t *testing.T) { cancelled(t, newPolicy) })
}

// Random is a random valid snapshot: nodes in racks, whole or with cpu and
// memory, jobs that run on them and jobs that wait.
func Random(rng *rand.Rand) (*sched.Snapshot, error) {
	nodes := Nodes(1+rng.IntN(24), 1+rng.IntN(4))
	packed := rng.IntN(2) == 0
	if packed {
		for i := range nodes {
			nodes[i].Capacity = sched.Resources{usage.CPU: float64(int(4) << rng.IntN(3)), usage.Memory: 32}
		}
	}
	set, err := sched.NewNodeSet(nodes)
	if err != nil {
		return nil, err
	}
	b := SnapshotOf(set).Now(1000)
	fill, err := SnapshotOf(set).Build()
	if err != nil {
		return nil, err
	}
	placer := place.NewPlacer(fill)
	for i := range rng.IntN(12) {
		j := randomJob(rng, fmt.Sprintf("run%d", i), packed)
		job := j.Job()
		demand, err := set.Demand(job.Demand)
		if err != nil {
			return nil, err
		}
		placed, ok := placer.Place(demand, set.NodesOf(job.Required), job.Tasks)
		if !ok {
			continue
		}
		var names []string
		for _, nt := range placed {
			for range nt.Tasks {
				names = append(names, nt.Node)
			}
		}
		b.Running(j, 1000-float64(rng.IntN(200)), names...)
	}
	for i := range rng.IntN(20) {
		b.Pending(randomJob(rng, fmt.Sprintf("job%d", i), packed))
	}
	return b.Build()
}

func randomJob(rng *rand.Rand, id string, packed bool) *JobBuilder {
	b := Job(id, 1+rng.IntN(6)).Submitted(float64(rng.IntN(1000)))
	if packed {
		b.Demand(sched.Resources{usage.CPU: float64(1+rng.IntN(8)) / 2, usage.Memory: float64(rng.IntN(16))})
	}
	if rng.IntN(2) == 0 {
		b.Priority(1).Deadline(float64(1000 + rng.IntN(2000)))
	}
	switch rng.IntN(4) {
	case 0:
		b.Prefers(sched.NodesWith("rack", "r0", "r2"), 1.5)
	case 1:
		b.Requires(sched.NodesWith("rack", "r0", "r1"))
	}
	low := float64(10 + rng.IntN(300))
	if d, err := dist.NewUniform(low, low*(1+2*float64(rng.Float64()))); err == nil && rng.IntN(3) > 0 {
		return b.Predicted(d)
	}
	return b.Runs(low)
}

// noSnapshot hands the policy what it cannot look at: it says so, and goes on with the next cycle.
func noSnapshot(t testing.TB, newPolicy func() sched.Policy) {
	policy := newPolicy()
	good, err := Random(rand.New(rand.NewPCG(1, 1)))
	require.NoError(t, err)
	spoil := func(change func(*sched.Snapshot)) *sched.Snapshot {
		s := good.Clone()
		change(s)
		return s
	}
	for name, s := range map[string]*sched.Snapshot{
		"nil":        nil,
		"no nodes":   spoil(func(s *sched.Snapshot) { s.Nodes = nil }),
		"short free": spoil(func(s *sched.Snapshot) { s.Free = s.Free[1:] }),
		"NaN free":   spoil(func(s *sched.Snapshot) { s.Free[0] = math.NaN() }),
		"nil job":    spoil(func(s *sched.Snapshot) { s.Pending = append(s.Pending, sched.Pending{}) }),
		"nil runs":   spoil(func(s *sched.Snapshot) { s.Running = append(s.Running, sched.Running{}) }),
		"twice":      spoil(func(s *sched.Snapshot) { s.Pending = append(s.Pending, s.Pending[0]) }),
	} {
		plan, err := policy.Plan(context.Background(), s)
		require.ErrorIs(t, err, sched.ErrInvalidSnapshot, name)
		require.Nil(t, plan, name)
	}
	plan, err := policy.Plan(context.Background(), good)
	require.NoError(t, err)
	CheckPlan(t, good, plan)
}

func validPlans(t testing.TB, newPolicy func() sched.Policy) {
	policy := newPolicy()
	for trial := range trials {
		var twins [2]*sched.Snapshot // they share nothing, so that no change to the one is in the other
		for i := range twins {
			var err error
			twins[i], err = Random(rand.New(rand.NewPCG(uint64(trial), 1)))
			require.NoError(t, err)
		}
		s := twins[0]
		plan, err := policy.Plan(context.Background(), s)
		require.NoError(t, err, "trial %d", trial)
		requireUnchanged(t, trial, twins[1], s)
		CheckPlan(t, s, plan)
	}
}

// requireUnchanged compares a snapshot that a policy has seen with one that none has. What the nodes remember of the
// sites that they were asked for is no part of it.
func requireUnchanged(t testing.TB, trial int, want, got *sched.Snapshot) {
	const what = "trial %d: the policy changed the snapshot"
	for n := range want.Nodes.Len() {
		require.Equal(t, want.Nodes.Node(n), got.Nodes.Node(n), what, trial)
	}
	require.Equal(t, want.Nodes.Capacity(), got.Nodes.Capacity(), what, trial)
	a, b := *want, *got
	a.Nodes, b.Nodes = nil, nil
	require.Equal(t, a, b, what, trial)
}

// CheckPlan fails the test unless the plan is valid and complete: on top of
// [sched.CheckPlan], preemptions come first and are of jobs of lower priority than one that
// starts, and every pending job has a reason without NaN, its own or the plan's for the rest.
func CheckPlan(t testing.TB, s *sched.Snapshot, plan *sched.Plan) {
	t.Helper()
	require.NoError(t, sched.CheckPlan(s, plan))
	priority := make(map[string]int)
	for _, p := range s.Pending {
		priority[p.Job.ID] = p.Job.Priority
	}
	for _, r := range s.Running {
		priority[r.Job.ID] = r.Job.Priority
	}
	decided, highest := 0, math.MinInt
	for d := range plan.All(s) {
		assert.NotEmpty(t, d.Reason.Code, "job %s", d.Job)
		assert.False(t, math.IsNaN(d.Reason.Value) || math.IsNaN(d.Reason.Probability), "job %s", d.Job)
		if d.Kind == sched.Preempt {
			assert.Zero(t, decided, "job %s is preempted after other decisions", d.Job)
			continue
		}
		decided++
		if d.Kind == sched.Start {
			highest = max(highest, priority[d.Job])
		}
	}
	assert.Equal(t, len(s.Pending), decided, "every pending job has a decision")
	for _, d := range plan.Decisions {
		if d.Kind == sched.Preempt {
			assert.Less(t, priority[d.Job], highest, "job %s is preempted for none of higher priority", d.Job)
		}
	}
}

func determinism(t *testing.T, newPolicy func() sched.Policy) {
	a, b := newPolicy(), newPolicy()
	for trial := range trials {
		var plans [2]*sched.Plan
		for i, policy := range []sched.Policy{a, b} {
			s, err := Random(rand.New(rand.NewPCG(uint64(trial), 2)))
			require.NoError(t, err)
			plans[i], err = policy.Plan(context.Background(), s)
			require.NoError(t, err)
		}
		require.Equal(t, plans[0].Decisions, plans[1].Decisions, "trial %d", trial)
	}
}

// RunPermutation checks that it does not matter in what order the nodes of a
// cluster of equal nodes are listed: the same jobs start. It suits policies that do
// not break ties by place.
func RunPermutation(t *testing.T, newPolicy func() sched.Policy) {
	for trial := range trials {
		var started [2][]string
		for i := range started {
			rng := rand.New(rand.NewPCG(uint64(trial), 3))
			nodes := Nodes(1+rng.IntN(20), 1)
			b := func() *SnapshotBuilder {
				if i == 1 {
					slices.Reverse(nodes)
				}
				return Snapshot(nodes)
			}().Now(1000)
			for k := range rng.IntN(15) {
				b.Pending(randomJob(rng, fmt.Sprintf("job%d", k), false))
			}
			s, err := b.Build()
			require.NoError(t, err)
			plan, err := newPolicy().Plan(context.Background(), s)
			require.NoError(t, err)
			started[i] = Started(plan)
		}
		require.Equal(t, started[0], started[1], "trial %d", trial)
	}
}

// Started are the jobs that a plan starts, in its order.
func Started(plan *sched.Plan) []string { return ofKind(plan, sched.Start) }

// Preempted are the jobs that a plan preempts, in its order.
func Preempted(plan *sched.Plan) []string { return ofKind(plan, sched.Preempt) }

func ofKind(plan *sched.Plan, kind sched.Kind) []string {
	var out []string
	for _, d := range plan.Decisions {
		if d.Kind == kind {
			out = append(out, d.Job)
		}
	}
	return out
}

func nothingToDo(t *testing.T, newPolicy func() sched.Policy) {
	for _, b := range []*SnapshotBuilder{
		Snapshot(nil),
		Snapshot(Nodes(4, 2)),
		Snapshot(Nodes(2, 1)).Running(Job("r", 2), 0, "n0", "n1").Now(5),
	} {
		plan := mustPlan(t, newPolicy(), b)
		assert.Empty(t, plan.Decisions)
	}
	plan := mustPlan(t, newPolicy(), Snapshot(nil).Pending(Job("a", 1)))
	assert.Empty(t, Started(plan), "there is no node")
	plan = mustPlan(t, newPolicy(), Snapshot([]sched.Node{{Name: "n0", Capacity: sched.Resources{}}}).Pending(Job("a", 1)))
	assert.Empty(t, Started(plan), "the node takes nothing")
}

func aloneStarts(t *testing.T, newPolicy func() sched.Policy) {
	plan := mustPlan(t, newPolicy(), Snapshot(Nodes(4, 2)).Pending(Job("a", 3)))
	assert.Equal(t, []string{"a"}, Started(plan))
	plan = mustPlan(t, newPolicy(), Snapshot(Nodes(4, 2)).Pending(Job("a", 3).Deadline(500).Priority(1)))
	assert.Equal(t, []string{"a"}, Started(plan))
}

// idleStarts hands the policy jobs that all fit on an idle cluster at once: a start that blocks nobody is not put off.
func idleStarts(t *testing.T, newPolicy func() sched.Policy) {
	policy := newPolicy()
	for trial := range trials {
		rng := rand.New(rand.NewPCG(uint64(trial), 4))
		size := 1 + rng.IntN(24)
		b := Snapshot(Nodes(size, 1+rng.IntN(min(size, 4)))).Now(1000)
		jobs := 0
		for room := size; room > 0 && rng.IntN(8) > 0; jobs++ {
			tasks := 1 + rng.IntN(room)
			room -= tasks
			j := Job(fmt.Sprintf("trial%d-job%d", trial, jobs), tasks).Submitted(float64(rng.IntN(1000)))
			runtime := math.Exp2(16 * rng.Float64()) // up to 18 h
			switch rng.IntN(3) {
			case 0:
				j.Deadline(1000 + float64(3*runtime)).Priority(1)
			}
			if d, err := dist.NewUniform(runtime/2, 3*runtime/2); err == nil {
				j.Predicted(d)
			}
			b.Pending(j)
		}
		s, err := b.Build()
		require.NoError(t, err)
		plan, err := policy.Plan(context.Background(), s)
		require.NoError(t, err)
		require.Len(t, Started(plan), jobs, "trial %d: all fit", trial)
	}
}

func tooLarge(t *testing.T, newPolicy func() sched.Policy) {
	plan := mustPlan(t, newPolicy(), Snapshot(Nodes(4, 2)).Pending(Job("huge", 5), Job("small", 1).Submitted(1)).Now(2))
	assert.Equal(t, []string{"small"}, Started(plan))
}

func requiredSets(t *testing.T, newPolicy func() sched.Policy) {
	plan := mustPlan(t, newPolicy(), Snapshot(Nodes(4, 2)).
		Pending(Job("a", 2).Requires(sched.NodesWith("rack", "r1"))))
	require.Equal(t, []string{"a"}, Started(plan))
	var names []string
	for _, nt := range plan.Decisions[0].Nodes {
		names = append(names, nt.Node)
	}
	assert.ElementsMatch(t, []string{"n2", "n3"}, names)

	plan = mustPlan(t, newPolicy(), Snapshot(Nodes(4, 2)).
		Pending(Job("a", 1).Requires(sched.NodesWith("rack", "elsewhere"))))
	assert.Empty(t, Started(plan))
}

func mustPlan(t *testing.T, policy sched.Policy, b *SnapshotBuilder) *sched.Plan {
	t.Helper()
	s, err := b.Build()
	require.NoError(t, err)
	plan, err := policy.Plan(context.Background(), s)
	require.NoError(t, err)
	CheckPlan(t, s, plan)
	return plan
}

// drains runs a whole workload through a loop.
func drains(t *testing.T, newPolicy func() sched.Policy, refuse func(string) bool) {
	const cycle, jobs = 20.0, 30
	rng := rand.New(rand.NewPCG(7, 7))
	cluster := NewCluster(At(0), Nodes(12, 3))
	cluster.Refuse = refuse
	fixed := forecasts{}
	loop, err := sched.NewLoop(cluster, newPolicy(), fixed)
	require.NoError(t, err)
	for i := range jobs {
		j := Job(fmt.Sprintf("job%d", i), 1+rng.IntN(6)).Submitted(float64(i))
		if rng.IntN(3) == 0 {
			j.Prefers(sched.NodesWith("rack", "r0", "r1"), 1.5)
		}
		seconds := 10 + float64(rng.IntN(200))
		fixed[j.Job().ID] = j.Runs(seconds).Prediction()
		cluster.Submit(j.Job(), seconds)
	}
	for step := 0; len(cluster.Completed) < jobs && step < 400; step++ {
		now := At(cycle * float64(step))
		cluster.Advance(now)
		_, err := loop.Step(context.Background(), now)
		require.NoError(t, err)
	}
	assert.Len(t, cluster.Completed, jobs, "every job gets done")
	assert.Zero(t, cluster.Running())
}

func cancelled(t *testing.T, newPolicy func() sched.Policy) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s, err := Random(rand.New(rand.NewPCG(1, 1)))
	require.NoError(t, err)
	plan, err := newPolicy().Plan(ctx, s)
	if err == nil { // a policy may still have a plan in hand
		require.NoError(t, sched.CheckPlan(s, plan))
	}
}

// forecasts predicts each job as it was told to, and others to run a minute.
type forecasts map[string]predict.Prediction

// Predict looks the job up.
func (f forecasts) Predict(j predict.Job) predict.Prediction {
	if p, ok := f[j.ID]; ok {
		return p
	}
	return Job(j.ID, 1).Runs(time.Minute.Seconds()).Prediction()
}

// Observe learns nothing.
func (forecasts) Observe(predict.Observation) error { return nil }

// Forecasts is a predictor that gives the jobs their own predictions and
// others one minute. It learns nothing and is safe for concurrent use.
func Forecasts(jobs ...*JobBuilder) predict.Predictor {
	f := make(forecasts, len(jobs))
	for _, j := range jobs {
		f[j.job.ID] = j.Prediction()
	}
	return f
}
