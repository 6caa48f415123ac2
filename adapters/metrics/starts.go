package metrics

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/outlook"
)

// starts compare estimates of when jobs start with when they did.
type starts struct {
	early, inside, late prometheus.Counter
	vector              *prometheus.CounterVec
	wrong, waits        prometheus.Histogram
	first               map[string]estimate
	round               int
}

// estimate is what was told of a job first.
type estimate struct {
	at             time.Time
	lo, median, hi float64 // seconds from then
	seen           int     // the round in which the job was told of last
}

func newStarts() starts {
	buckets := prometheus.ExponentialBuckets(1, 3, 12) // to two days
	vector := counters("hedge_start_estimates_total",
		"Jobs that have started, by where in the 80 % interval that was told of them first.", "outcome")
	return starts{
		vector: vector,
		early:  vector.WithLabelValues("early"), inside: vector.WithLabelValues("inside"),
		late:  vector.WithLabelValues("late"),
		wrong: histogram("hedge_start_error_seconds", "How far a start was from the median told first.", buckets),
		waits: histogram("hedge_start_wait_seconds", "How long the same jobs waited from then on.", buckets),
		first: map[string]estimate{},
	}
}

func (s *starts) all() []prometheus.Collector {
	return []prometheus.Collector{s.vector, s.wrong, s.waits}
}

func (s *starts) forget() { clear(s.first) }

// Estimated compares estimates of starts with what came true. It is for programs that have an [outlook.Estimator]: they
// call it with each cycle that has a plan, and what [outlook.Estimator.Look] tells of it. A job counts once, when a
// plan starts it, with the first estimate of it. Jobs that start in the cycle in which they come are not counted:
// nothing was told of them before.
func (m *Metrics) Estimated(c *sched.Cycle, told []outlook.Outlook) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.starts
	s.round++
	for i := range told {
		o := &told[i]
		e, known := s.first[o.Job]
		if o.Start.Quantile(1) == 0 { // the plan starts it
			if known && c.Stage == sched.StageDone {
				delete(s.first, o.Job)
				s.compare(e, c.Now.Sub(e.at).Seconds())
			}
			continue
		}
		if !known {
			e = estimate{at: c.Now, lo: o.Start.Quantile(0.1), median: o.Start.Quantile(0.5), hi: o.Start.Quantile(0.9)}
		}
		e.seen = s.round
		s.first[o.Job] = e
	}
	if len(s.first) > 2*len(told)+spare {
		for id, e := range s.first {
			if e.seen < s.round {
				delete(s.first, id)
			}
		}
	}
}

// compare counts a job that has waited for some seconds since it was told of. A median of never is wrong by all of
// them.
func (s *starts) compare(e estimate, waited float64) {
	switch {
	case waited < e.lo:
		s.early.Inc()
	case waited > e.hi:
		s.late.Inc()
	default:
		s.inside.Inc()
	}
	off := math.Abs(waited - e.median)
	if math.IsInf(off, 0) {
		off = waited
	}
	s.wrong.Observe(off)
	s.waits.Observe(waited)
}
