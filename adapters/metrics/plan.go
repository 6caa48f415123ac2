package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/hedgesched/hedge/sched"
)

// plan is how the last plan came about.
type plan struct {
	options, value, gap prometheus.Gauge
	solves              *prometheus.CounterVec
	faults              prometheus.Counter
}

func newPlan() plan {
	return plan{
		options: gauge("hedge_plan_options", "Placement options valued for the last plan."),
		value:   gauge("hedge_plan_value", "Expected utility of the last plan."),
		gap:     gauge("hedge_plan_gap", "Gap of the last plan as a share of its value, NaN where no bound was proved."),
		solves: counters("hedge_solves_total", "Plans that a solver has made, by its engine and by why it stopped.",
			"engine", "stop"),
		faults: counter("hedge_plan_faults_total", "Plans made in spite of an error of a solver or a job."),
	}
}

func (p *plan) all() []prometheus.Collector {
	return []prometheus.Collector{p.options, p.value, p.gap, p.solves, p.faults}
}

func (p *plan) observe(s *sched.Stats) {
	p.options.Set(float64(s.Options))
	p.value.Set(s.Value)
	if s.Fault != "" {
		p.faults.Inc()
	}
	if s.Engine != "" {
		p.gap.Set(s.Gap)
		p.solves.WithLabelValues(s.Engine, s.Stop).Inc()
	}
}
