// Package profile measures how well predictors forecast the runtimes of a log:
// it walks the log in order of time, predicts every job at its submission,
// shows the predictor each completion when it would have happened, and scores what was
// said of the jobs after the training share (systems: 3Sigma, section 2.2 and figure 2d).
package profile

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/predict"

	"github.com/hedgesched/hedge/cmd/hedge/internal/records"
	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
)

// Options say how to walk.
type Options struct {
	// Train is the share of the jobs, in order of submission, that are not scored.
	Train float64
	// Origin turns log time into calendar time for derived features.
	Origin time.Time
	// Now is the wall clock that times predictions; nil leaves predict_us at zero.
	Now func() time.Time
	// Step is called now and then with the number of jobs done; nil for never.
	Step func(done int)
	// Experts gives the estimates a predictor chose from; nil reports none.
	Experts func(predict.Job) []Estimate
}

// Estimate is one expert's forecast of a job.
type Estimate struct {
	Feature, Estimator string
	Point              float64
}

// Result is the error profile of one predictor: an element of "predictors" in the
// document of hedge predict.
type Result struct {
	Name           string             `json:"name"`
	Within2x       float64            `json:"within_2x"`
	MedianAPE      float64            `json:"median_ape"`
	P90APE         float64            `json:"p90_ape"`
	NMAE           float64            `json:"nmae"`
	Pinball        Pinball            `json:"pinball"`
	CRPS           float64            `json:"crps_normalised"`
	Coverage       map[string]float64 `json:"coverage"`
	ErrorHistogram []Bucket           `json:"error_histogram"`
	Chosen         map[string]float64 `json:"chosen"`
	Experts        []Expert           `json:"experts,omitempty"`
	PredictUS      Latency            `json:"predict_us"`
}

// Pinball holds mean pinball losses divided by the mean runtime of the tested jobs.
type Pinball struct {
	// MeanOverDeciles is the mean over the nine deciles.
	MeanOverDeciles float64 `json:"mean_over_deciles_normalised"`
	P10             float64 `json:"p10"`
	P50             float64 `json:"p50"`
	P90             float64 `json:"p90"`
}

// Bucket is a share of the jobs by percent error, (estimate-actual)/actual*100;
// From belongs to it and To does not. The last one has no To.
type Bucket struct {
	From  float64  `json:"from"`
	To    *float64 `json:"to"`
	Share float64  `json:"share"`
}

// Expert is the profile of one (feature, estimator) over the jobs where it had an estimate.
type Expert struct {
	Feature   string  `json:"feature"`
	Estimator string  `json:"estimator"`
	Jobs      int     `json:"jobs"`
	Within2x  float64 `json:"within_2x"`
	MedianAPE float64 `json:"median_ape"`
	NMAE      float64 `json:"nmae"`
}

// Latency is the time one prediction took, in microseconds of the wall clock.
type Latency struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// Counts says how many jobs the walk saw.
type Counts struct {
	// Jobs is all of the log, Tested those scored, NoHistory those of them predicted from a prior.
	Jobs, Tested, NoHistory int
}

// Usable tells whether a job's runtime counts as one: it ran, and the log does not say that
// it failed or was killed.
func Usable(j *trace.Job) bool {
	return j.Runtime > 0 && j.Outcome != trace.Failed && j.Outcome != trace.Killed
}

// JobOf is what a predictor may know of a job of the log.
func JobOf(j *trace.Job, origin time.Time) predict.Job {
	return predict.Job{ID: j.ID, Attributes: j.Attributes, Submitted: origin.Add(j.Submit)}
}

// Walk profiles p over the log. Completions become visible in order of their
// time (submission + wait + runtime, an unknown wait being 0), those before a
// submission ahead of its prediction. The jobs need not be sorted.
func Walk(name string, p predict.Predictor, jobs []trace.Job, o Options) (Result, Counts, error) {
	order := submissionOrder(jobs)
	first := int(math.Ceil(o.Train * float64(len(order))))
	w := walker{p: p, jobs: jobs, o: o, score: newScore()}
	for i, at := range order {
		if o.Step != nil && i%1000 == 0 {
			o.Step(i)
		}
		j := &jobs[at]
		if err := w.completeBefore(j.Submit); err != nil {
			return Result{}, Counts{}, err
		}
		if Usable(j) {
			w.submit(at, i >= first)
		}
	}
	counts := Counts{Jobs: len(jobs), Tested: w.score.n, NoHistory: w.score.noHistory}
	return w.score.result(name), counts, nil
}

func submissionOrder(jobs []trace.Job) []int {
	order := make([]int, len(jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(jobs[a].Submit, jobs[b].Submit) })
	return order
}

type walker struct {
	p       predict.Predictor
	jobs    []trace.Job
	o       Options
	pending completions
	score   *score
}

// completeBefore shows the predictor what completed before t.
func (w *walker) completeBefore(t time.Duration) error {
	for len(w.pending) > 0 && w.pending[0].at < t {
		c := heap.Pop(&w.pending).(completion)
		j := &w.jobs[c.job]
		if err := w.p.Observe(predict.Observation{Job: JobOf(j, w.o.Origin), Runtime: j.Runtime.Seconds()}); err != nil {
			return fmt.Errorf("job %s: %w", j.ID, err)
		}
	}
	return nil
}

func (w *walker) submit(at int, scored bool) {
	j := &w.jobs[at]
	end := j.Submit + j.Runtime
	if j.Wait > 0 {
		end += j.Wait
	}
	heap.Push(&w.pending, completion{at: end, job: at})
	if !scored {
		return
	}
	job := JobOf(j, w.o.Origin)
	if w.o.Experts != nil {
		w.score.experts(w.o.Experts(job), j.Runtime.Seconds())
	}
	took := 0.0
	var pr predict.Prediction
	if w.o.Now == nil {
		pr = w.p.Predict(job)
	} else {
		began := w.o.Now()
		pr = w.p.Predict(job)
		took = float64(w.o.Now().Sub(began).Nanoseconds()) / 1e3
	}
	w.score.add(pr, j.Runtime.Seconds(), took)
}

type completion struct {
	at  time.Duration
	job int
}

type completions []completion

func (c completions) Len() int { return len(c) }
func (c completions) Less(i, j int) bool {
	if c[i].at != c[j].at {
		return c[i].at < c[j].at
	}
	return c[i].job < c[j].job
}
func (c completions) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c *completions) Push(x any)   { *c = append(*c, x.(completion)) }
func (c *completions) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

var _ heap.Interface = (*completions)(nil)

// latencyOf returns the quantiles of times in microseconds.
func latencyOf(us []float64) Latency {
	s := stats.Sorted(us)
	return Latency{P50: stats.Quantile(s, .5), P99: stats.Quantile(s, .99)}
}

// Document is the document of hedge predict.
type Document struct {
	Schema  int     `json:"schema"`
	Command string  `json:"command"`
	Trace   string  `json:"trace"`
	Train   float64 `json:"train"`
	Jobs    int     `json:"jobs"`
	records.Records
	Tested     int      `json:"tested"`
	NoHistory  int      `json:"no_history"`
	Predictors []Result `json:"predictors"`
}
