// Package metrics exports to Prometheus what a scheduling loop does on a cluster, and how far its forecasts come true.
// A program calls its methods with what the loop reports, or lets package adapters/service do so. The package serves
// nothing itself, never logs, decides nothing, and knows no cluster. docs/operate.md tells what to watch.
package metrics

import (
	_ "embed" // for Dashboard
	"fmt"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// Metrics are the metrics hedge_* of one scheduler. Its methods are safe for concurrent use.
type Metrics struct {
	epoch, pending, held, running                        prometheus.Gauge
	started, preempted, failed, rejected, ignored, wrong prometheus.Counter
	refused                                              *prometheus.GaugeVec
	decisions                                            *prometheus.CounterVec
	stages                                               *prometheus.HistogramVec
	plan                                                 plan
	forecasts                                            forecasts

	mu     sync.Mutex
	odds   odds
	starts starts
}

// New registers the metrics, all of them or none. The error is Prometheus's, for example if a metric is already
// registered.
func New(r prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		epoch:     gauge("hedge_leader_epoch", "Epoch of the lease, 0 while another instance leads."),
		pending:   gauge("hedge_jobs_pending", "Jobs that wait, but for those refused."),
		held:      gauge("hedge_jobs_held", "Jobs that wait for others to finish."),
		running:   gauge("hedge_jobs_running", "Jobs that run or start."),
		refused:   gauges("hedge_jobs_refused", "Jobs that wait and cannot be scheduled as they are.", "reason"),
		started:   counter("hedge_jobs_started_total", "Starts that were planned."),
		preempted: counter("hedge_jobs_preempted_total", "Preemptions that were planned."),
		failed:    counter("hedge_jobs_failed_total", "Starts and preemptions that failed, and jobs that failed for good."),
		rejected:  counter("hedge_jobs_rejected_total", "Submissions that were rejected."),
		ignored:   counter("hedge_events_ignored_total", "Events of the cluster that made no sense."),
		wrong:     counter("hedge_errors_total", "Cycles and renewals of the lease that failed."),
		decisions: counters("hedge_decisions_total", "Decisions by kind and reason, one a cycle for each job that waits.",
			"decision", "reason"),
		stages: prometheus.NewHistogramVec(
			prometheus.HistogramOpts{Name: "hedge_cycle_seconds", Help: "Time of a cycle's stages, and of predict, " +
				"a part of snapshot, and of options and solve, parts of plan."}, []string{"stage"}),
		plan: newPlan(), forecasts: newForecasts(), odds: newOdds(), starts: newStarts(),
	}
	all := slices.Concat([]prometheus.Collector{m.epoch, m.pending, m.held, m.running, m.refused, m.started, m.preempted,
		m.failed, m.rejected, m.ignored, m.wrong, m.decisions, m.stages},
		m.plan.all(), m.forecasts.all(), m.odds.all(), m.starts.all())
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

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
}

func gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
}

//go:embed dashboard.json
var dashboard []byte

// Dashboard is a Grafana dashboard of these metrics, as JSON to import. It asks for the Prometheus data source when it
// is opened.
func Dashboard() []byte { return slices.Clone(dashboard) }

// Lead records the beginning of a term with the lease's epoch.
func (m *Metrics) Lead(epoch uint64) { m.epoch.Set(float64(epoch)) }

// StandBy records the end of a term: another instance leads, and has the jobs. What was told of jobs is forgotten.
func (m *Metrics) StandBy() {
	m.epoch.Set(0)
	m.pending.Set(0)
	m.held.Set(0)
	m.running.Set(0)
	m.refused.Reset()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.odds.forget()
	m.starts.forget()
}

// Observe counts a cycle: its jobs, its decisions, the times of its stages, and how far forecasts of jobs that have
// finished came true. It is for [sched.WithObserver].
func (m *Metrics) Observe(c *sched.Cycle) {
	m.time(c)
	if c.Stage >= sched.StagePlan {
		m.pending.Set(float64(c.Pending + c.Delayed))
		m.held.Set(float64(c.Held))
		m.running.Set(float64(c.Running))
	}
	m.started.Add(float64(c.Started))
	m.preempted.Add(float64(c.Preempted))
	m.failed.Add(float64(len(adapters.Failures(c))))
	m.rejected.Add(float64(len(c.Rejected)))
	m.ignored.Add(float64(len(c.Ignored)))
	for i := range c.Learnt {
		m.forecasts.learn(&c.Learnt[i])
	}
	if c.Plan != nil {
		m.plan.observe(&c.Plan.Stats)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.odds.finish(c.Snapshot)
	if c.Stage == sched.StageDone && c.Plan != nil {
		m.decide(c)
		m.odds.tell(c)
	}
}

// time records the times of a cycle's stages and of their parts.
func (m *Metrics) time(c *sched.Cycle) {
	if c.Stage < sched.StagePlan {
		return
	}
	m.stages.WithLabelValues("snapshot").Observe(c.SnapshotTime.Seconds())
	m.stages.WithLabelValues("predict").Observe(c.PredictTime.Seconds())
	m.stages.WithLabelValues("plan").Observe(c.PlanTime.Seconds())
	if c.Plan != nil && c.Plan.Stats.Engine != "" {
		m.stages.WithLabelValues("options").Observe(c.Plan.Stats.ValueTime)
		m.stages.WithLabelValues("solve").Observe(c.Plan.Stats.SolveTime)
	}
	if c.Stage >= sched.StageApply {
		m.stages.WithLabelValues("apply").Observe(c.ApplyTime.Seconds())
	}
}

// decide counts the decisions of a cycle that is done.
func (m *Metrics) decide(c *sched.Cycle) {
	type of struct {
		kind sched.Kind
		code sched.ReasonCode
	}
	count := map[of]int{}
	rest := c.Pending
	for i := range c.Plan.Decisions {
		d := &c.Plan.Decisions[i]
		if d.Kind != sched.Preempt {
			rest--
		}
		count[of{d.Kind, d.Reason.Code}]++
	}
	count[of{sched.Defer, c.Plan.Rest.Code}] += rest
	for of, n := range count {
		if n > 0 {
			m.decisions.WithLabelValues(kind(of.kind), string(of.code)).Add(float64(n))
		}
	}
}

func kind(k sched.Kind) string {
	switch k {
	case sched.Start:
		return "start"
	case sched.Preempt:
		return "preempt"
	default:
		return "defer"
	}
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
