package metrics_test

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/metrics"
	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/outlook"
	"github.com/hedgesched/hedge/sched/schedtest"
)

func newMetrics(t *testing.T) (*metrics.Metrics, *prometheus.Registry) {
	t.Helper()
	r := prometheus.NewRegistry()
	m, err := metrics.New(r)
	require.NoError(t, err)
	return m, r
}

// values are the samples of a metric by its labels, or under "" without any; of histograms the counts up to a bound.
func values(t *testing.T, r prometheus.Gatherer, name string) map[string]float64 {
	t.Helper()
	all, err := r.Gather()
	require.NoError(t, err)
	out := map[string]float64{}
	for _, f := range all {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			var label []string
			for _, l := range m.GetLabel() {
				label = append(label, l.GetValue())
			}
			for _, b := range m.GetHistogram().GetBucket() {
				bound := strconv.FormatFloat(b.GetUpperBound(), 'g', -1, 64)
				out[bound] = float64(b.GetCumulativeCount())
			}
			if m.Histogram == nil {
				out[strings.Join(label, " ")] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
	}
	return out
}

func TestDecisionsByReason(t *testing.T) {
	m, r := newMetrics(t)
	because := func(c sched.ReasonCode) sched.Reason { return sched.Reason{Code: c} }
	c := &sched.Cycle{Pending: 6, Stage: sched.StageDone, Plan: &sched.Plan{Decisions: []sched.Decision{
		{Job: "x", Kind: sched.Preempt, Reason: because(sched.ReasonPreempted)},
		{Job: "a", Kind: sched.Start, Reason: because(sched.ReasonPlaced)},
		{Job: "b", Kind: sched.Start, Reason: because(sched.ReasonPlaced)},
		{Job: "c", Reason: because(sched.ReasonTooLarge)},
	}, Rest: because(sched.ReasonWaiting)}}
	m.Observe(c)
	m.Observe(c)
	c.Stage = sched.StageApply
	m.Observe(c) // nothing came of it
	assert.Equal(t, map[string]float64{"preempt preempted": 2, "start placed": 4, "defer too-large": 2,
		"defer waiting": 6}, values(t, r, "hedge_decisions_total"))
}

func TestPlan(t *testing.T) {
	m, r := newMetrics(t)
	c := &sched.Cycle{Stage: sched.StageDone, Plan: &sched.Plan{Stats: sched.Stats{Options: 12, Value: 3.5,
		Engine: "native", Stop: "gap", Gap: 0.02, Fault: "no memory", ValueTime: 1, SolveTime: 2}}}
	m.Observe(c)
	for name, want := range map[string]float64{"hedge_plan_options": 12, "hedge_plan_value": 3.5, "hedge_plan_gap": 0.02,
		"hedge_plan_faults_total": 1} {
		assert.Equal(t, map[string]float64{"": want}, values(t, r, name), name)
	}
	assert.Equal(t, map[string]float64{"native gap": 1}, values(t, r, "hedge_solves_total"))
	assert.Equal(t, map[string]uint64{"snapshot": 1, "predict": 1, "plan": 1, "options": 1, "solve": 1, "apply": 1},
		stages(t, r))
	c.Plan.Stats = sched.Stats{}
	m.Observe(c)
	assert.Equal(t, map[string]float64{"native gap": 1}, values(t, r, "hedge_solves_total"), "a policy without a solver")
}

// TestRuntimes: a tenth of the jobs is in each bucket if runtimes are as they were forecast.
func TestRuntimes(t *testing.T) {
	m, r := newMetrics(t)
	uniform, err := dist.NewUniform(0, 100)
	require.NoError(t, err)
	point, err := dist.NewPoint(50)
	require.NoError(t, err)
	c := &sched.Cycle{}
	for i := range 100 {
		c.Learnt = append(c.Learnt, sched.Learnt{Prediction: predict.Prediction{Dist: uniform, Point: 50},
			Ran: float64(i) + 0.5})
	}
	m.Observe(c)
	got := values(t, r, "hedge_runtime_quantile")
	for i := range 10 {
		bound := strconv.FormatFloat(float64(i+1)/10, 'g', -1, 64)
		assert.InDelta(t, 10*(i+1), got[bound], 1e-9, bound)
	}
	assert.InDelta(t, 50, values(t, r, "hedge_runtime_ratio")["1"], 1e-9)
	m.Observe(&sched.Cycle{Learnt: []sched.Learnt{{Prediction: predict.Prediction{Dist: point, Point: 50}, Ran: 50}, {}}})
	got = values(t, r, "hedge_runtime_quantile")
	assert.InDelta(t, 1, got["0.5"]-50, 1e-9, "a point that came true is in the middle")
}

// begin is a cycle that starts jobs with probabilities of meeting their deadline, 100 s after they were submitted at 0.
func begin(at float64, odds map[string]float64) *sched.Cycle {
	c := &sched.Cycle{Now: schedtest.At(at), Stage: sched.StageDone, Plan: &sched.Plan{}, Snapshot: &sched.Snapshot{}}
	for _, id := range slices.Sorted(maps.Keys(odds)) {
		c.Snapshot.Pending = append(c.Snapshot.Pending, sched.Pending{Job: schedtest.Job(id, 1).Deadline(100).Job()})
		c.Plan.Decisions = append(c.Plan.Decisions, sched.Decision{Job: id, Kind: sched.Start,
			Reason: sched.Reason{Code: sched.ReasonPlaced, Probability: odds[id]}})
	}
	c.Pending = len(odds)
	return c
}

func end(at float64, ids ...string) *sched.Cycle {
	s := &sched.Snapshot{}
	for _, id := range ids {
		s.Completed = append(s.Completed, sched.Completion{Job: id, At: schedtest.At(at)})
	}
	return &sched.Cycle{Now: schedtest.At(at), Stage: sched.StagePlan, Snapshot: s}
}

func TestDeadlines(t *testing.T) {
	m, r := newMetrics(t)
	m.Observe(begin(0, map[string]float64{"a": 0.92, "b": 1, "c": 0.35, "d": sched.UnknownProbability, "e": math.NaN(),
		"f": 0.5, "g": 0.5}))
	m.Observe(end(100, "a", "c", "d", "e", "stranger"))
	stopped := &sched.Cycle{Stage: sched.StageDone, Snapshot: &sched.Snapshot{}, Plan: &sched.Plan{
		Decisions: []sched.Decision{{Job: "f", Kind: sched.Preempt}}}}
	m.Observe(stopped)
	m.Observe(begin(50, map[string]float64{"g": 0.71})) // it had come back
	m.Observe(end(101, "b", "f", "g"))
	of := func(name string) map[string]float64 {
		all := values(t, r, name)
		assert.Len(t, all, 10)
		for k, v := range all {
			if v == 0 {
				delete(all, k)
			}
		}
		return all
	}
	assert.Equal(t, map[string]float64{"0.9": 2, "0.3": 1, "0.7": 1}, of("hedge_deadline_jobs_total"))
	assert.InDeltaMapValues(t, map[string]float64{"0.9": 1.92, "0.3": 0.35, "0.7": 0.71}, of("hedge_deadline_told_total"),
		1e-9)
	assert.Equal(t, map[string]float64{"0.9": 1, "0.3": 1}, of("hedge_deadline_met_total"))
	m.Observe(begin(0, map[string]float64{"h": 0.5}))
	m.StandBy()
	m.Observe(end(1, "h"))
	assert.NotContains(t, of("hedge_deadline_jobs_total"), "0.5", "what was told in another term")
}

// TestStarts: estimates are those of a real estimator, of jobs that wait in line on one node for 100 s each.
func TestStarts(t *testing.T) {
	m, r := newMetrics(t)
	e, err := outlook.New(outlook.Config{Seed: 1})
	require.NoError(t, err)
	cluster := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(1, 1))
	var jobs []*schedtest.JobBuilder
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		b := schedtest.Job(id, 1).Runs(100)
		jobs = append(jobs, b)
		cluster.Submit(b.Job(), 100)
	}
	loop, err := sched.NewLoop(cluster, baseline.NewFIFO(), schedtest.Forecasts(jobs...), sched.WithCycle(10*time.Second),
		sched.WithObserver(func(c *sched.Cycle) {
			told, err := e.Look(c.Snapshot, c.Plan)
			require.NoError(t, err)
			m.Estimated(c, told)
		}))
	require.NoError(t, err)
	for at := 0.0; at < 600; at += 10 {
		cluster.Advance(schedtest.At(at))
		_, err := loop.Step(t.Context(), schedtest.At(at))
		require.NoError(t, err)
	}
	total := 0.0
	for _, n := range values(t, r, "hedge_start_estimates_total") {
		total += n
	}
	assert.Equal(t, 4.0, total, "the first started at once")
	waits := values(t, r, "hedge_start_wait_seconds")
	assert.Equal(t, []float64{0, 2, 4}, []float64{waits["81"], waits["243"], waits["729"]}, "100, 200, 300 and 400 s")
	n, err := testutil.GatherAndCount(r, "hedge_start_error_seconds")
	require.NoError(t, err)
	assert.Equal(t, 1, n)
}
