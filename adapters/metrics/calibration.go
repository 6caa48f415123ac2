package metrics

import (
	"fmt"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hedgesched/hedge/sched"
)

// forecasts are how far forecasts of runtimes came true.
type forecasts struct{ quantile, ratio prometheus.Histogram }

func newForecasts() forecasts {
	return forecasts{
		quantile: histogram("hedge_runtime_quantile", "At which quantile of its forecast a job's runtime was: "+
			"a tenth of the jobs in each bucket where forecasts are calibrated.",
			[]float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}),
		ratio: histogram("hedge_runtime_ratio", "A job's runtime as a multiple of its point forecast.",
			[]float64{0.1, 0.2, 0.5, 0.8, 0.9, 1, 1.1, 1.25, 2, 5, 10}),
	}
}

func (f *forecasts) all() []prometheus.Collector { return []prometheus.Collector{f.quantile, f.ratio} }

// learn compares a runtime with its forecast. A runtime to which the forecast gives a probability of its own is put in
// the middle of what it spans.
func (f *forecasts) learn(l *sched.Learnt) {
	if d := l.Prediction.Dist; d != nil {
		f.quantile.Observe((d.CDF(l.Ran) + d.CDF(math.Nextafter(l.Ran, math.Inf(-1)))) / 2)
	}
	if l.Prediction.Point > 0 {
		f.ratio.Observe(l.Ran / l.Prediction.Point)
	}
}

// bins is the number of equal parts of [0, 1] by which probabilities are counted.
const bins = 10

// odds compare the probabilities of meeting deadlines that were told with starts to what came true.
type odds struct {
	jobs, told, met [bins]prometheus.Counter
	vectors         []prometheus.Collector
	running         map[string]promise
}

// promise is what was told with a job's last start.
type promise struct {
	probability float64
	deadline    time.Time
}

func newOdds() odds {
	o := odds{running: map[string]promise{}}
	jobs := counters("hedge_deadline_jobs_total", "Jobs that have finished, by the probability of meeting their "+
		"deadlines that was told when they started: the tenth from `told` on.", "told")
	told := counters("hedge_deadline_told_total", "Sum of these probabilities.", "told")
	met := counters("hedge_deadline_met_total", "Those of the jobs that met their deadlines.", "told")
	for i := range bins {
		label := fmt.Sprintf("%.1f", float64(i)/bins)
		o.jobs[i], o.told[i] = jobs.WithLabelValues(label), told.WithLabelValues(label)
		o.met[i] = met.WithLabelValues(label)
	}
	o.vectors = []prometheus.Collector{jobs, told, met}
	return o
}

func (o *odds) all() []prometheus.Collector { return o.vectors }

func (o *odds) forget() { clear(o.running) }

// finish counts the jobs of which a snapshot tells that they have finished.
func (o *odds) finish(s *sched.Snapshot) {
	if s == nil {
		return
	}
	for _, c := range s.Completed {
		p, ok := o.running[c.Job]
		if !ok {
			continue
		}
		delete(o.running, c.Job)
		i := min(int(p.probability*bins), bins-1)
		o.jobs[i].Inc()
		o.told[i].Add(p.probability)
		if !c.At.After(p.deadline) {
			o.met[i].Inc()
		}
	}
}

// tell notes what a plan tells of the jobs that it starts.
func (o *odds) tell(c *sched.Cycle) {
	if c.Snapshot == nil {
		return
	}
	starting := map[string]float64{}
	for i := range c.Plan.Decisions {
		d := &c.Plan.Decisions[i]
		if d.Kind != sched.Defer {
			delete(o.running, d.Job) // it runs no more, or anew
		}
		if d.Kind == sched.Start && d.Reason.Probability >= 0 && d.Reason.Probability <= 1 {
			starting[d.Job] = d.Reason.Probability
		}
	}
	if len(starting) > 0 {
		for i := range c.Snapshot.Pending {
			j := c.Snapshot.Pending[i].Job
			if p, ok := starting[j.ID]; ok && j.Deadline > 0 {
				o.running[j.ID] = promise{p, j.Submitted.Add(j.Deadline)}
			}
		}
	}
	o.sweep(c.Snapshot)
}

// spare is how many entries may be kept of jobs that are gone.
const spare = 64

// sweep forgets jobs that do not run any more and have not finished, once there are many of them.
func (o *odds) sweep(s *sched.Snapshot) {
	if len(o.running) <= 2*(len(s.Running)+len(s.Pending))+spare {
		return
	}
	kept := make(map[string]promise, len(s.Running))
	keep := func(id string) {
		if p, ok := o.running[id]; ok {
			kept[id] = p
		}
	}
	for i := range s.Running {
		keep(s.Running[i].Job.ID)
	}
	for i := range s.Pending {
		keep(s.Pending[i].Job.ID)
	}
	o.running = kept
}
