// Package metrics exports to Prometheus what a scheduling loop does on a cluster. A program calls its methods with what
// the loop reports, or lets package adapters/service do so. The package serves nothing itself, never logs, and knows no
// cluster.
package metrics

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// Metrics are the metrics hedge_* of one scheduler. Its methods are safe for concurrent use.
type Metrics struct {
	epoch, pending, running           prometheus.Gauge
	started, preempted, failed, wrong prometheus.Counter
	refused                           *prometheus.GaugeVec
	stages                            *prometheus.HistogramVec
}

// New registers the metrics, all of them or none. The error is Prometheus's, for example if a metric is already
// registered.
func New(r prometheus.Registerer) (*Metrics, error) {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	m := &Metrics{
		epoch:   gauge("hedge_leader_epoch", "Epoch of the lease, 0 while another instance leads."),
		pending: gauge("hedge_jobs_pending", "Jobs that wait, but for those refused."),
		refused: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "hedge_jobs_refused",
			Help: "Jobs that wait and cannot be scheduled as they are."}, []string{"reason"}),
		running:   gauge("hedge_jobs_running", "Jobs that run or start."),
		started:   counter("hedge_jobs_started_total", "Starts that were planned."),
		preempted: counter("hedge_jobs_preempted_total", "Preemptions that were planned."),
		failed:    counter("hedge_jobs_failed_total", "Starts and preemptions that failed, and jobs that failed for good."),
		wrong:     counter("hedge_errors_total", "Cycles and renewals of the lease that failed."),
		stages: prometheus.NewHistogramVec(
			prometheus.HistogramOpts{Name: "hedge_cycle_seconds", Help: "Time of a cycle's stages."}, []string{"stage"}),
	}
	all := []prometheus.Collector{m.epoch, m.pending, m.refused, m.running, m.started, m.preempted, m.failed, m.wrong,
		m.stages}
	for i, c := range all {
		if err := r.Register(c); err != nil {
			for _, done := range all[:i] {
				r.Unregister(done)
			}
			return nil, fmt.Errorf("metrics: %w", err)
		}
	}
	return m, nil
}

// Lead records the beginning of a term with the lease's epoch.
func (m *Metrics) Lead(epoch uint64) { m.epoch.Set(float64(epoch)) }

// StandBy records the end of a term: another instance leads, and has the jobs.
func (m *Metrics) StandBy() {
	m.epoch.Set(0)
	m.pending.Set(0)
	m.running.Set(0)
	m.refused.Reset()
}

// Observe counts a cycle: its jobs, and the times of its stages. It is for [sched.WithObserver].
func (m *Metrics) Observe(c *sched.Cycle) {
	if c.Stage >= sched.StagePlan {
		m.pending.Set(float64(c.Pending + c.Delayed))
		m.running.Set(float64(c.Running))
		m.stages.WithLabelValues("snapshot").Observe(c.SnapshotTime.Seconds())
		m.stages.WithLabelValues("plan").Observe(c.PlanTime.Seconds())
	}
	if c.Stage >= sched.StageApply {
		m.stages.WithLabelValues("apply").Observe(c.ApplyTime.Seconds())
	}
	m.started.Add(float64(c.Started))
	m.preempted.Add(float64(c.Preempted))
	m.failed.Add(float64(len(adapters.Failures(c))))
}

// Refused records the number of jobs that the loop does not know because something is wrong with them, from
// [adapters.Cluster.Refused].
func (m *Metrics) Refused(r adapters.Refused) {
	m.refused.WithLabelValues("incomplete").Set(float64(r.Incomplete))
	m.refused.WithLabelValues("invalid").Set(float64(r.Invalid))
}

// Fail counts a failed cycle. It is for [sched.WithErrorHandler].
func (m *Metrics) Fail(error) { m.wrong.Inc() }

// Warn counts a failure outside of cycles, such as a failed renewal of the lease.
func (m *Metrics) Warn() { m.wrong.Inc() }
