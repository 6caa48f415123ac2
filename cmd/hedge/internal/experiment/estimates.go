package experiment

import (
	"math"
	"slices"
	"time"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/backfill"
	"github.com/hedgesched/hedge/sched/outlook"
)

// StartEstimates tells how estimates of starts came out. Each job that waits is taken once, with what was told in the
// first cycle that did not start it.
type StartEstimates struct {
	// Jobs is how many were told something.
	Jobs int `json:"jobs"`
	// Coverage is the share of jobs that started within the interval told, by the interval's percentage.
	Coverage map[string]float64 `json:"coverage"`
	// Waited is how many waited for five cycles at least, and started. The errors are theirs: the median distance in
	// seconds between the median told and the start, and the same of a batch system's plan by the times asked for.
	Waited         int      `json:"waited_jobs"`
	MedianErrorS   float64  `json:"median_error_s"`
	WalltimeErrorS *float64 `json:"walltime_median_error_s"`
	// Reliability is of the probabilities of meeting the deadline, in ten bins.
	Reliability []Told `json:"deadline_reliability"`
	// Waits are the jobs that started, in the order of the records: in seconds from the estimate, the median estimated and
	// the true start. They are for the report.
	Waits [][2]float64 `json:"-"`
	// LookMS is the mean wall-clock time of a cycle's estimates.
	LookMS float64 `json:"estimate_ms"`
}

// Told is the jobs that were told a probability in one part of [0, 1].
type Told struct {
	// Told is the mean of what was told, Came the share of which it came true.
	Told float64 `json:"told"`
	Came float64 `json:"came"`
	Jobs int     `json:"jobs"`
}

// manyCycles is from how many cycles on a wait is long.
const manyCycles = 5

// estimateWatch watches a run.
type estimateWatch struct {
	estimator *outlook.Estimator
	first     map[string]*firstTold
	asked     bool // some job has asked for a time
	cycles    int
	spent     time.Duration
	err       error
}

// firstTold is what was told of a job.
type firstTold struct {
	at       time.Duration // since the start of the simulation
	outlook  outlook.Outlook
	walltime float64
	cycles   int
}

func newEstimates(seed uint64) (*estimateWatch, error) {
	e, err := outlook.New(outlook.Config{Seed: seed})
	return &estimateWatch{estimator: e, first: map[string]*firstTold{}}, err
}

// see is a simulation's observer of cycles.
func (w *estimateWatch) see(c *sched.Cycle) {
	began := time.Now()
	told, err := w.estimator.Look(c.Snapshot, c.Plan)
	w.spent += time.Since(began)
	w.cycles++
	if err != nil {
		w.err = err
		return
	}
	now := c.Now.Sub(sim.Epoch())
	fresh := false
	for i := range told {
		if told[i].Start.Quantile(1) == 0 {
			continue // it starts
		}
		f := w.first[told[i].Job]
		if f == nil {
			f = &firstTold{at: now, outlook: told[i], walltime: math.Inf(1)}
			w.first[told[i].Job] = f
			fresh = true
		}
		f.cycles++
	}
	if fresh {
		w.plan(c.Snapshot, now)
	}
}

// plan asks a batch system's planner about the jobs that came.
func (w *estimateWatch) plan(s *sched.Snapshot, now time.Duration) {
	starts, err := backfill.Starts(s, backfill.Requested())
	if err != nil {
		w.err = err
		return
	}
	for i := range s.Pending {
		j := s.Pending[i].Job
		w.asked = w.asked || j.Requested > 0
		if f := w.first[j.ID]; f != nil && f.at == now && !starts[i].IsZero() {
			f.walltime = starts[i].Sub(s.Now).Seconds()
		}
	}
}

// compare looks at what became of the jobs.
func (w *estimateWatch) compare(jobs []sim.JobRecord) *StartEstimates {
	out := &StartEstimates{Coverage: map[string]float64{"50": 0, "80": 0, "95": 0}, Reliability: make([]Told, bins)}
	var ours, theirs []float64
	for i := range jobs {
		r := &jobs[i]
		f := w.first[r.ID]
		if f == nil || r.FirstStart >= 0 && r.FirstStart < f.at {
			continue // it was told of only when it waited again after a preemption
		}
		out.Jobs++
		waited := math.Inf(1)
		if r.FirstStart >= 0 {
			waited = (r.FirstStart - f.at).Seconds()
		}
		f.count(out, waited)
		if r.FirstStart >= 0 {
			out.Waits = append(out.Waits, [2]float64{f.outlook.Start.Quantile(0.5), waited})
		}
		if f.cycles >= manyCycles && r.FirstStart >= 0 {
			ours = append(ours, math.Abs(f.outlook.Start.Quantile(0.5)-waited))
			theirs = append(theirs, math.Abs(f.walltime-waited))
		}
		if p := f.outlook.MeetsDeadline; !math.IsNaN(p) {
			out.Reliability[min(int(p*bins), bins-1)].add(p, !r.Missed())
		}
	}
	for i := range out.Reliability {
		out.Reliability[i].mean()
	}
	for name := range out.Coverage {
		out.Coverage[name] /= float64(max(out.Jobs, 1))
	}
	out.Waited, out.MedianErrorS = len(ours), median(ours)
	if w.asked {
		walltime := median(theirs)
		out.WalltimeErrorS = &walltime
	}
	out.LookMS = w.spent.Seconds() * 1e3 / float64(max(w.cycles, 1))
	return out
}

// bins is the number of equal parts of [0, 1] into which the probabilities told are sorted.
const bins = 10

func (t *Told) add(p float64, came bool) {
	t.Jobs++
	t.Told += p
	if came {
		t.Came++
	}
}

// mean turns sums into means.
func (t *Told) mean() {
	if t.Jobs > 0 {
		t.Told /= float64(t.Jobs)
		t.Came /= float64(t.Jobs)
	}
}

// count notes in which intervals a job's start was.
func (f *firstTold) count(out *StartEstimates, waited float64) {
	for name, tail := range map[string]float64{"50": 0.25, "80": 0.1, "95": 0.025} {
		lo, hi := f.outlook.Start.Quantile(tail), f.outlook.Start.Quantile(1-tail)
		if lo <= waited && waited <= hi {
			out.Coverage[name]++
		}
	}
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[(len(v)-1)/2]
}
