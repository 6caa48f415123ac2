package metrics_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/metrics"
	"github.com/hedgesched/hedge/adapters/service"
	"github.com/hedgesched/hedge/sched"
)

var _ service.Metrics = (*metrics.Metrics)(nil)

func TestMetrics(t *testing.T) {
	r := prometheus.NewRegistry()
	m, err := metrics.New(r)
	require.NoError(t, err)
	m.Lead(3)
	m.Refused(adapters.Refused{Incomplete: 3, Invalid: 5})
	failed := []sched.Event{{Kind: sched.StartFailed, Err: adapters.ErrStale},
		{Kind: sched.Withdrawn, Err: errors.New("exit code 1")},
		{Kind: sched.Withdrawn, Err: fmt.Errorf("%w: %w", adapters.ErrProblem, adapters.ErrIncomplete)},
		{Kind: sched.Withdrawn, Err: fmt.Errorf("%w: by its user", adapters.ErrCancelled)}}
	m.Observe(&sched.Cycle{Pending: 3, Delayed: 1, Failed: failed, Running: 2, Started: 2, Preempted: 1,
		PlanTime: time.Second, Plan: &sched.Plan{}, Stage: sched.StageDone})
	m.Warn()
	m.Fail(errors.New("gone"))
	assert.NoError(t, testutil.GatherAndCompare(r, strings.NewReader(`
# HELP hedge_errors_total Cycles and renewals of the lease that failed.
# TYPE hedge_errors_total counter
hedge_errors_total 2
# HELP hedge_jobs_failed_total Starts and preemptions that failed, and jobs that failed for good.
# TYPE hedge_jobs_failed_total counter
hedge_jobs_failed_total 2
# HELP hedge_jobs_pending Jobs that wait, but for those refused.
# TYPE hedge_jobs_pending gauge
hedge_jobs_pending 4
# HELP hedge_jobs_preempted_total Preemptions that were planned.
# TYPE hedge_jobs_preempted_total counter
hedge_jobs_preempted_total 1
# HELP hedge_jobs_refused Jobs that wait and cannot be scheduled as they are.
# TYPE hedge_jobs_refused gauge
hedge_jobs_refused{reason="incomplete"} 3
hedge_jobs_refused{reason="invalid"} 5
# HELP hedge_jobs_running Jobs that run or start.
# TYPE hedge_jobs_running gauge
hedge_jobs_running 2
# HELP hedge_jobs_started_total Starts that were planned.
# TYPE hedge_jobs_started_total counter
hedge_jobs_started_total 2
# HELP hedge_leader_epoch Epoch of the lease, 0 while another instance leads.
# TYPE hedge_leader_epoch gauge
hedge_leader_epoch 3
`), "hedge_errors_total", "hedge_jobs_failed_total", "hedge_jobs_pending",
		"hedge_jobs_preempted_total", "hedge_jobs_refused", "hedge_jobs_running",
		"hedge_jobs_started_total", "hedge_leader_epoch"))

	m.Observe(&sched.Cycle{})
	assert.NoError(t, testutil.GatherAndCompare(r, strings.NewReader(`
# HELP hedge_jobs_pending Jobs that wait, but for those refused.
# TYPE hedge_jobs_pending gauge
hedge_jobs_pending 4
# HELP hedge_jobs_running Jobs that run or start.
# TYPE hedge_jobs_running gauge
hedge_jobs_running 2
`), "hedge_jobs_pending", "hedge_jobs_running"), "a cluster that does not answer says nothing of its jobs")
	assert.Equal(t, map[string]uint64{"snapshot": 1, "predict": 1, "plan": 1, "apply": 1}, stages(t, r))
	m.Observe(&sched.Cycle{Pending: 1, Stage: sched.StagePlan}) // the policy has failed
	assert.Equal(t, map[string]uint64{"snapshot": 2, "predict": 2, "plan": 2, "apply": 1}, stages(t, r))
	m.Observe(&sched.Cycle{Plan: &sched.Plan{}, Stage: sched.StageApply}) // the cluster has
	assert.Equal(t, map[string]uint64{"snapshot": 3, "predict": 3, "plan": 3, "apply": 2}, stages(t, r))
	m.StandBy()
	n, err := testutil.GatherAndCount(r, "hedge_jobs_refused")
	require.NoError(t, err)
	assert.Zero(t, n, "another instance has them")
}

// stages are how many samples there are of each stage.
func stages(t *testing.T, r *prometheus.Registry) map[string]uint64 {
	t.Helper()
	all, err := r.Gather()
	require.NoError(t, err)
	out := map[string]uint64{}
	for _, f := range all {
		if f.GetName() == "hedge_cycle_seconds" {
			for _, m := range f.GetMetric() {
				out[m.GetLabel()[0].GetValue()] = m.GetHistogram().GetSampleCount()
			}
		}
	}
	return out
}

// TestNewTwice: a second scheduler in one registry is an error and leaves the first as it is.
func TestNewTwice(t *testing.T) {
	r := prometheus.NewRegistry()
	r.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "hedge_jobs_running", Help: "Another's."}))
	_, err := metrics.New(r)
	require.Error(t, err)
	n, err := testutil.GatherAndCount(r)
	require.NoError(t, err)
	assert.Equal(t, 1, n)
}

// TestNames: the page for operators has all metrics.
func TestNames(t *testing.T) {
	page, err := os.ReadFile("../../docs/operate.md")
	require.NoError(t, err)
	r := prometheus.NewRegistry()
	m, err := metrics.New(r)
	require.NoError(t, err)
	m.Observe(&sched.Cycle{Pending: 1, Stage: sched.StageDone,
		Plan: &sched.Plan{Rest: sched.Reason{Code: sched.ReasonWaiting}, Stats: sched.Stats{Engine: "native"}}})
	m.Refused(adapters.Refused{})
	all, err := r.Gather()
	require.NoError(t, err)
	require.Equal(t, 26, len(all))
	for _, f := range all {
		assert.Contains(t, string(page), "`"+f.GetName()+"`")
	}
}

func ExampleNew() {
	r := prometheus.NewRegistry() // which promhttp.HandlerFor serves
	m, err := metrics.New(r)
	if err != nil {
		fmt.Println(err)
		return
	}
	m.Lead(1)
	m.Observe(&sched.Cycle{Pending: 2, Plan: &sched.Plan{}, Stage: sched.StageDone}) // sched.WithObserver(m.Observe)
	all, err := r.Gather()
	for _, f := range all {
		if f.GetName() == "hedge_jobs_pending" {
			fmt.Println(f.GetName(), f.GetMetric()[0].GetGauge().GetValue(), err)
		}
	}
	// Output: hedge_jobs_pending 2 <nil>
}
