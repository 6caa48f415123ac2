package shadow_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/fake"
	"github.com/hedgesched/hedge/adapters/shadow"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/schedtest"
)

const cycle = 10 * time.Second

// forecasts are exact.
func forecasts(t testing.TB, jobs []fake.Job) predict.Predictor {
	t.Helper()
	p, err := predict.NewPerfect(func(j predict.Job) (float64, bool) {
		for i := range jobs {
			if jobs[i].Spec.ID == j.ID {
				return jobs[i].Runtime.Seconds(), true
			}
		}
		return 0, false
	})
	require.NoError(t, err)
	return p
}

// arriving is a job and the cycle in which it comes.
type arriving struct {
	fake.Job
	cycle int
}

// watch runs a cluster under FIFO, with a shadow from some cycle on that has another policy, if that is not nil.
func watch(t testing.TB, nodes int, jobs []arriving, cycles, from int, policy func() (sched.Policy, error)) (
	*fake.Cluster, *shadow.Cluster) {
	t.Helper()
	ctx := context.Background()
	c := fake.New(fake.Options{Seed: 1})
	all := make([]fake.Job, len(jobs))
	for i := range jobs {
		all[i] = jobs[i].Job
	}
	for _, n := range schedtest.Nodes(nodes, 2) {
		require.NoError(t, c.AddNode(n))
	}
	real, err := adapters.New(c.Connect(nil), adapters.Options{Epoch: 1, Now: c.Now})
	require.NoError(t, err)
	loops := []*sched.Loop{nil, nil}
	loops[1], err = sched.NewLoop(real, baseline.NewFIFO(), forecasts(t, all), sched.WithCycle(cycle))
	require.NoError(t, err)
	var watched *shadow.Cluster
	if policy != nil {
		other, err := adapters.New(shadow.ReadOnly(c.Connect(nil)), adapters.Options{Now: c.Now})
		require.NoError(t, err)
		watched = shadow.New(other)
		p, err := policy()
		require.NoError(t, err)
		loops[0], err = sched.NewLoop(watched, p, forecasts(t, all), sched.WithCycle(cycle),
			sched.WithObserver(watched.Observe))
		require.NoError(t, err)
	}
	for n := range cycles {
		for i := range jobs {
			if jobs[i].cycle == n {
				require.NoError(t, c.Submit(jobs[i].Job))
			}
		}
		for i, loop := range loops {
			if loop != nil && (i > 0 || n >= from) {
				_, err := loop.Step(ctx, c.Now())
				require.NoError(t, err)
			}
		}
		c.Advance(cycle)
	}
	return c, watched
}

// random are jobs for some nodes.
func random(seed uint64, nodes int) []arriving {
	rng := rand.New(rand.NewPCG(seed, 31))
	out := make([]arriving, 20+rng.IntN(20))
	for i := range out {
		j := sched.Job{ID: fmt.Sprintf("j%02d", i), Tasks: 1 + rng.IntN(nodes)}
		if rng.IntN(2) == 0 {
			j.Deadline, j.Priority = time.Duration(rng.IntN(1800))*time.Second, 1
		}
		out[i] = arriving{fake.Job{Spec: j, Runtime: time.Duration(1+rng.IntN(300)) * time.Second}, rng.IntN(60)}
	}
	return out
}

func fifo() (sched.Policy, error) { return baseline.NewFIFO(), nil }
func prio() (sched.Policy, error) { return baseline.NewPrio(), nil }

// A shadow, also one that preempts, changes nothing: the cluster's records are those of a run without it. And a
// shadow of the very policy that is in charge finds nothing better: by simulation it starts every job when it really
// started.
func TestShadowActsOnNothing(t *testing.T) {
	for seed := range uint64(15) {
		jobs := random(seed, 5)
		alone, _ := watch(t, 5, jobs, 150, 0, nil)
		seen, watched := watch(t, 5, jobs, 150, 0, prio)
		require.Equal(t, alone.Records(), seen.Records(), "seed %d", seed)
		report, err := watched.Report(context.Background(), prio)
		require.NoError(t, err)
		assert.Len(t, report.Jobs, len(jobs))

		_, watched = watch(t, 5, jobs, 150, 0, fifo)
		report, err = watched.Report(context.Background(), fifo)
		require.NoError(t, err)
		assert.Zero(t, report.Sooner+report.Later, "seed %d: %v", seed, report)
		assert.Equal(t, report.Real.Missed, report.Policy.Missed, "seed %d", seed)
		assert.InDelta(t, report.Real.Wait, report.Policy.Wait, cycle.Seconds(), "seed %d", seed)
		for _, j := range report.Jobs {
			if !j.Started.IsZero() {
				assert.Equal(t, j.Would, j.Started, "seed %d, job %s", seed, j.ID)
				assert.WithinDuration(t, j.Started, j.PolicyStart, 0, "seed %d, job %s", seed, j.ID)
			}
		}
	}
}

// Under FIFO a wide job blocks an urgent one. A shadow of EDF finds what that costs.
func TestShadowFindsWhatIsBetter(t *testing.T) {
	jobs := []arriving{
		{fake.Job{Spec: sched.Job{ID: "long", Tasks: 1}, Runtime: 600 * time.Second}, 0},
		{fake.Job{Spec: sched.Job{ID: "wide", Tasks: 2}, Runtime: 100 * time.Second}, 1},
		{fake.Job{Spec: sched.Job{ID: "urgent", Tasks: 1, Deadline: 200 * time.Second}, Runtime: 50 * time.Second}, 2},
	}
	edf := func() (sched.Policy, error) { return baseline.NewEDF(), nil }
	_, watched := watch(t, 2, jobs, 100, 0, edf)
	report, err := watched.Report(context.Background(), edf)
	require.NoError(t, err)
	assert.Equal(t, shadow.Totals{Jobs: 3, Started: 3, Wait: report.Real.Wait, Deadlines: 1, Missed: 1}, report.Real)
	assert.Equal(t, shadow.Totals{Jobs: 3, Started: 3, Wait: report.Policy.Wait, Deadlines: 1}, report.Policy)
	assert.Less(t, report.Policy.Wait, report.Real.Wait)
	assert.Equal(t, []int{1, 0}, []int{report.Sooner, report.Later})
	assert.Contains(t, report.String(), "deadlines missed: 1 of 1, with this policy 0\n")
	assert.Contains(t, report.String(), "urgent 11m")
}

func TestEarlyReport(t *testing.T) {
	watched := shadow.New(schedtest.NewCluster(schedtest.At(0), nil))
	_, err := watched.Report(context.Background(), fifo)
	require.ErrorIs(t, err, shadow.ErrEarly)
}

// moody is a cluster that fails once.
type moody struct {
	sched.Cluster
	down bool
}

func (m *moody) Events(context.Context) ([]sched.Event, error) {
	if m.down {
		m.down = false
		return nil, errors.New("down")
	}
	return []sched.Event{{Kind: sched.Started, ID: "a"}}, nil
}

// Answers to a plan come before what happened, once, also if the cluster does not answer at first.
func TestAnswers(t *testing.T) {
	w := shadow.New(&moody{down: true})
	require.NoError(t, w.Apply(context.Background(), &sched.Plan{Decisions: []sched.Decision{
		{Job: "a", Kind: sched.Start}, {Job: "b", Kind: sched.Preempt}, {Job: "c"}}}))
	_, err := w.Events(context.Background())
	require.Error(t, err)
	events, err := w.Events(context.Background())
	require.NoError(t, err)
	assert.Equal(t, []sched.Event{{Kind: sched.StartFailed, ID: "a", Err: shadow.ErrShadow},
		{Kind: sched.PreemptFailed, ID: "b", Err: shadow.ErrShadow}, {Kind: sched.Started, ID: "a"}}, events)
	events, err = w.Events(context.Background())
	require.NoError(t, err)
	assert.Len(t, events, 1)
}

// Jobs that ran when the watch began hold their room in the simulation, for as long as they really did, and are not
// judged.
func TestShadowBeginsLate(t *testing.T) {
	jobs := []arriving{
		{fake.Job{Spec: sched.Job{ID: "a", Tasks: 2}, Runtime: 100 * time.Second}, 0},
		{fake.Job{Spec: sched.Job{ID: "b", Tasks: 1}, Runtime: 100 * time.Second}, 0},
	}
	_, watched := watch(t, 2, jobs, 30, 3, fifo)
	report, err := watched.Report(context.Background(), fifo)
	require.NoError(t, err)
	require.Len(t, report.Jobs, 1)
	assert.Equal(t, "b", report.Jobs[0].ID)
	assert.Equal(t, report.Jobs[0].Started, report.Jobs[0].PolicyStart)
	assert.InDelta(t, 70, report.Real.Wait, 1e-9, "the watch began after 30 s")
}

func TestReadOnly(t *testing.T) {
	d := shadow.ReadOnly(fake.New(fake.Options{}).Connect(nil))
	require.ErrorIs(t, d.Start(context.Background(), nil), shadow.ErrShadow)
	require.ErrorIs(t, d.Stop(context.Background(), nil), adapters.ErrRefused)
	_, explains := d.(adapters.Explainer)
	assert.False(t, explains)
	view, err := d.Observe(context.Background(), true)
	require.NoError(t, err)
	assert.True(t, view.Full)
}
