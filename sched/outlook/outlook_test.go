package outlook_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/outlook"
	"github.com/hedgesched/hedge/sched/schedtest"
)

func newEstimator(t testing.TB, c outlook.Config) *outlook.Estimator {
	t.Helper()
	e, err := outlook.New(c)
	require.NoError(t, err)
	return e
}

// look has a policy plan, and tells.
func look(t testing.TB, e *outlook.Estimator, p sched.Policy, s *sched.Snapshot) []outlook.Outlook {
	t.Helper()
	plan, err := p.Plan(context.Background(), s)
	require.NoError(t, err)
	told, err := e.Look(s, plan)
	require.NoError(t, err)
	return told
}

func TestConfig(t *testing.T) {
	for _, c := range []outlook.Config{{Worlds: 1}, {Worlds: 65}, {Worlds: -1}, {Work: -1}} {
		_, err := outlook.New(c)
		require.ErrorIs(t, err, outlook.ErrConfig, c)
	}
	_, err := newEstimator(t, outlook.Config{}).Look(nil, &sched.Plan{})
	require.ErrorIs(t, err, sched.ErrInvalidSnapshot)
}

// TestWhatIsCertain: if runtimes are points, the median is the time at which there is room, in the queue's order.
func TestWhatIsCertain(t *testing.T) {
	s, err := schedtest.Snapshot(schedtest.Nodes(2, 1)).
		Running(schedtest.Job("run", 2).Runs(95), 0, "n0", "n1").
		Pending(schedtest.Job("a", 2).Submitted(1).Runs(30).Deadline(1000), schedtest.Job("b", 2).Submitted(2).Runs(50),
			schedtest.Job("c", 2).Submitted(3).Runs(70).Deadline(100), schedtest.Job("wide", 3).Submitted(4)).Build()
	require.NoError(t, err)
	s.Cycle = 10 * time.Second
	told := look(t, newEstimator(t, outlook.Config{}), baseline.NewFIFO(), s)
	require.Len(t, told, 4)
	medians := func(of func(*outlook.Outlook) *outlook.Times) (out []float64) {
		for i := range told {
			out = append(out, of(&told[i]).Quantile(0.5))
		}
		return out
	}
	assert.InDeltaSlice(t, []float64{100, 130, 180, math.Inf(1)}, medians(
		func(o *outlook.Outlook) *outlook.Times { return &o.Start }), 1e-9)
	assert.InDeltaSlice(t, []float64{130, 180, 250, math.Inf(1)}, medians(
		func(o *outlook.Outlook) *outlook.Times { return &o.End }), 1e-9)
	assert.InDelta(t, 1, told[0].MeetsDeadline, 0.4)
	assert.True(t, math.IsNaN(told[1].MeetsDeadline))
	assert.Less(t, told[2].MeetsDeadline, 0.5)
	assert.Equal(t, "wide", told[3].Job)
}

// TestWhatStarts: a job that the plan starts has a start of 0 s.
func TestWhatStarts(t *testing.T) {
	s, err := schedtest.Snapshot(schedtest.Nodes(1, 1)).
		Pending(schedtest.Job("a", 1).Runs(50), schedtest.Job("b", 1).Submitted(1).Runs(50)).Build()
	require.NoError(t, err)
	s.Cycle = 10 * time.Second
	told := look(t, newEstimator(t, outlook.Config{}), baseline.NewFIFO(), s)
	require.Len(t, told, 2)
	assert.Equal(t, []float64{0, 0}, []float64{told[0].Start.Quantile(0), told[0].Start.Quantile(1)})
	assert.InDelta(t, 50, told[0].End.Quantile(0.5), 1e-9)
	assert.GreaterOrEqual(t, told[1].Start.Quantile(0), 10.0)
}

// TestSound: for any snapshot, each pending job has an outlook, quantiles do not decrease, no end is before its start,
// and probabilities are between 0 and 1. The same snapshots give the same outlooks.
func TestSound(t *testing.T) {
	for seed := range uint64(60) {
		estimators := []*outlook.Estimator{newEstimator(t, outlook.Config{Seed: seed}),
			newEstimator(t, outlook.Config{Seed: seed})}
		rng := rand.New(rand.NewPCG(seed, 3))
		for range 4 {
			s, err := schedtest.Random(rng)
			require.NoError(t, err)
			told := look(t, estimators[0], baseline.NewEDF(), s)
			again := look(t, estimators[1], baseline.NewEDF(), s)
			require.Len(t, told, len(s.Pending))
			for i := range told {
				o := &told[i]
				require.Equal(t, s.Pending[i].Job.ID, o.Job)
				before := 0.0
				for _, p := range []float64{0, 0.025, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 1} {
					start, end := o.Start.Quantile(p), o.End.Quantile(p)
					require.False(t, math.IsNaN(start) || math.IsNaN(end))
					require.GreaterOrEqual(t, start, before)
					require.GreaterOrEqual(t, end, start)
					before = start
					require.Equal(t, start, again[i].Start.Quantile(p))
					require.Equal(t, end, again[i].End.Quantile(p))
				}
				if s.Pending[i].Job.Deadline > 0 {
					require.True(t, o.MeetsDeadline >= 0 && o.MeetsDeadline <= 1)
					require.Equal(t, o.MeetsDeadline, again[i].MeetsDeadline)
				}
			}
		}
	}
}
