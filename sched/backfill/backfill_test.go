package backfill_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/backfill"
	"github.com/hedgesched/hedge/sched/schedtest"
)

func TestConformance(t *testing.T) {
	ninety, err := backfill.Quantile(0.9)
	require.NoError(t, err)
	for _, e := range []backfill.Estimate{backfill.Requested(), backfill.Forecast(), ninety} {
		t.Run("easy "+e.String(), func(t *testing.T) {
			schedtest.RunPolicy(t, func() sched.Policy { return backfill.NewEasy(e) })
		})
		t.Run("conservative "+e.String(), func(t *testing.T) {
			schedtest.RunPolicy(t, func() sched.Policy { return backfill.NewConservative(e) })
		})
	}
}

func TestEstimates(t *testing.T) {
	for _, text := range []string{"requested", "forecast", "quantile:0.9", "quantile:0.05"} {
		e, err := backfill.ParseEstimate(text)
		require.NoError(t, err)
		assert.Equal(t, text, e.String())
	}
	for _, text := range []string{"", "mean", "quantile", "quantile:", "quantile:0", "quantile:1", "quantile:NaN",
		"quantile:x"} {
		_, err := backfill.ParseEstimate(text)
		require.ErrorIs(t, err, backfill.ErrEstimate, text)
	}
}

// build is a snapshot of four nodes: two are held for 100 s more. "wide" needs all, "long" and "short" need two.
func build(t *testing.T, short float64) *sched.Snapshot {
	t.Helper()
	s, err := schedtest.Snapshot(schedtest.Nodes(4, 1)).
		Running(schedtest.Job("run", 2).Runs(100), 0, "n0", "n1").
		Pending(schedtest.Job("wide", 4).Submitted(1).Runs(50), schedtest.Job("long", 2).Submitted(2).Runs(101),
			schedtest.Job("short", 2).Submitted(3).Runs(short)).Build()
	require.NoError(t, err)
	return s
}

// plan has a policy plan, and returns what starts and when others are to start, in seconds.
func plan(t *testing.T, p sched.Policy, s *sched.Snapshot) (started []string, at map[string]float64) {
	t.Helper()
	got, err := p.Plan(context.Background(), s)
	require.NoError(t, err)
	at = map[string]float64{}
	for d := range got.All(s) {
		if d.Kind == sched.Defer && !d.Start.IsZero() {
			at[d.Job] = d.Start.Sub(s.Now).Seconds()
		}
	}
	return schedtest.Started(got), at
}

// TestNobodyDelaysAReservation: a job that ends by the reservation starts; one that is a nanosecond longer does not.
func TestNobodyDelaysAReservation(t *testing.T) {
	started, at := plan(t, backfill.NewEasy(backfill.Forecast()), build(t, 100))
	assert.Equal(t, []string{"short"}, started)
	assert.Equal(t, map[string]float64{"wide": 100}, at)
	started, at = plan(t, backfill.NewEasy(backfill.Forecast()), build(t, 100.000000001))
	assert.Empty(t, started)
	assert.Equal(t, map[string]float64{"wide": 100}, at)

	started, at = plan(t, backfill.NewConservative(backfill.Forecast()), build(t, 100))
	assert.Equal(t, []string{"short"}, started)
	assert.Equal(t, map[string]float64{"wide": 100, "long": 150}, at)
	_, at = plan(t, backfill.NewConservative(backfill.Forecast()), build(t, 101))
	assert.Equal(t, map[string]float64{"wide": 100, "long": 150, "short": 150}, at)
}

// TestStarts: the planner tells the same, and rounds up to cycles.
func TestStarts(t *testing.T) {
	s := build(t, 100)
	starts, err := backfill.Starts(s, backfill.Forecast())
	require.NoError(t, err)
	assert.Equal(t, []time.Time{schedtest.At(100), schedtest.At(150), schedtest.At(0)}, starts)
	s.Cycle = 30 * time.Second
	starts, err = backfill.Starts(s, backfill.Forecast())
	require.NoError(t, err)
	assert.Equal(t, []time.Time{schedtest.At(120), schedtest.At(0), schedtest.At(180)}, starts, "long is over by then")
	_, err = backfill.Starts(nil, backfill.Forecast())
	require.ErrorIs(t, err, sched.ErrInvalidSnapshot)
}

// TestWhatIsPlannedBy: the user's time, the point, or a quantile given how long the job has run.
func TestWhatIsPlannedBy(t *testing.T) {
	uniform, err := dist.NewUniform(0, 200)
	require.NoError(t, err)
	half, err := backfill.Quantile(0.5)
	require.NoError(t, err)
	for _, c := range []struct {
		by        backfill.Estimate
		requested time.Duration
		ran, want float64
	}{
		{backfill.Requested(), time.Minute, 10, 50},
		{backfill.Requested(), 0, 10, 90},           // nobody has asked: the point
		{backfill.Requested(), time.Minute, 90, 30}, // 30 s over: 30 s more
		{backfill.Forecast(), time.Minute, 10, 90},
		{half, time.Minute, 0, 100},
		{half, time.Minute, 100, 50},
		{half, time.Minute, 250, 50}, // refuted: it is 50 s over
	} {
		run := schedtest.Job("run", 1).Predicted(uniform)
		s, err := schedtest.Snapshot(schedtest.Nodes(1, 1)).Running(run, 0, "n0").Now(c.ran).
			Pending(schedtest.Job("next", 1).Runs(1)).Build()
		require.NoError(t, err)
		s.Running[0].Job.Requested = c.requested
		starts, err := backfill.Starts(s, c.by)
		require.NoError(t, err)
		assert.InDelta(t, c.want, starts[0].Sub(s.Now).Seconds(), 1e-8, "%v after %v s", c.by, c.ran)
	}
}

// TestConservativeKeepsItsWord: a later job does not push back a reservation. When a job ends early, reservations move
// forward, as far as they delay no earlier one.
func TestConservativeKeepsItsWord(t *testing.T) {
	p := backfill.NewConservative(backfill.Forecast())
	_, at := plan(t, p, build(t, 101))
	require.Equal(t, map[string]float64{"wide": 100, "long": 150, "short": 150}, at)
	early, err := schedtest.Snapshot(schedtest.Nodes(4, 1)).Now(10).Build()
	require.NoError(t, err)
	late := build(t, 101)
	early.Pending = late.Pending
	started, at := plan(t, backfill.NewConservative(backfill.Forecast()), early)
	assert.Equal(t, []string{"wide"}, started)
	assert.Equal(t, map[string]float64{"long": 50, "short": 50}, at)
}
