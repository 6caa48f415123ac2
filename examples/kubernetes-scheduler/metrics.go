package main

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/hedgesched/hedge/sched"
)

// metrics are what Prometheus reads, and what the last cycle of a leader failed with.
type metrics struct {
	registry                          *prometheus.Registry
	epoch, pending, running           prometheus.Gauge
	started, preempted, failed, wrong prometheus.Counter
	stages                            *prometheus.HistogramVec
	last                              atomic.Pointer[error]
}

func newMetrics() *metrics {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	f := promauto.With(r)
	gauge := func(name, help string) prometheus.Gauge {
		return f.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	counter := func(name, help string) prometheus.Counter {
		return f.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	return &metrics{
		registry:  r,
		epoch:     gauge("hedge_leader_epoch", "Epoch of the lease, 0 while another instance leads."),
		pending:   gauge("hedge_jobs_pending", "Jobs that wait."),
		running:   gauge("hedge_jobs_running", "Jobs that run or start."),
		started:   counter("hedge_jobs_started_total", "Starts that were planned."),
		preempted: counter("hedge_jobs_preempted_total", "Preemptions that were planned."),
		failed:    counter("hedge_jobs_failed_total", "Starts and preemptions that failed."),
		wrong:     counter("hedge_errors_total", "Cycles and renewals of the lease that failed."),
		stages:    f.NewHistogramVec(prometheus.HistogramOpts{Name: "hedge_cycle_seconds", Help: "Time of a cycle's stages."}, []string{"stage"}),
	}
}

func (m *metrics) observe(c *sched.Cycle) {
	m.pending.Set(float64(c.Pending))
	m.running.Set(float64(c.Running))
	m.started.Add(float64(c.Started))
	m.preempted.Add(float64(c.Preempted))
	m.failed.Add(float64(len(c.Failed)))
	m.stages.WithLabelValues("snapshot").Observe(c.SnapshotTime.Seconds())
	m.stages.WithLabelValues("plan").Observe(c.PlanTime.Seconds())
	m.stages.WithLabelValues("apply").Observe(c.ApplyTime.Seconds())
	if c.Plan != nil {
		m.last.Store(nil)
	}
}

// standBy is the end of a term.
func (m *metrics) standBy() {
	m.epoch.Set(0)
	m.pending.Set(0)
	m.running.Set(0)
	m.last.Store(nil)
}

// problem is a cycle that failed.
func (m *metrics) problem(err error) {
	m.wrong.Inc()
	m.last.Store(&err)
}
