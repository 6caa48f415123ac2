package slearn

import (
	"sync"
	"time"

	"github.com/hedgesched/hedge/predict"
)

// Window is a predictor that forgets: it knows the jobs that were submitted in the last so much time before the job
// that it is asked about (the history windows of section 4.2). A history of package predict cannot unlearn. So a
// Window keeps what it has observed, and has a new history learn that when an eighth of its length has passed. It is
// safe for concurrent use.
type Window struct {
	length time.Duration
	make   func() (predict.Predictor, error)

	mu   sync.Mutex
	of   predict.Predictor
	seen []predict.Observation // in the order in which they came
	made time.Time             // from when on they were to be known
}

// NewWindow is a window of some length, above 0, over histories that make returns.
func NewWindow(length time.Duration, make func() (predict.Predictor, error)) (*Window, error) {
	of, err := make()
	if err != nil {
		return nil, err
	}
	return &Window{length: length, make: make, of: of}, nil
}

// Predict is that of [predict.Predictor].
func (w *Window) Predict(j predict.Job) predict.Prediction {
	w.mu.Lock()
	defer w.mu.Unlock()
	if from := j.Submitted.Add(-w.length); from.Sub(w.made) >= w.length/8 {
		w.renew(from)
	}
	return w.of.Predict(j)
}

// renew has a new history learn what was submitted from a time on. If there is an error, the old one stays.
func (w *Window) renew(from time.Time) {
	of, err := w.make()
	if err != nil {
		return
	}
	kept := w.seen[:0]
	for i := range w.seen {
		if o := &w.seen[i]; !o.Job.Submitted.Before(from) && of.Observe(*o) == nil {
			kept = append(kept, *o)
		}
	}
	clear(w.seen[len(kept):])
	w.seen, w.of, w.made = kept, of, from
}

// Observe is that of [predict.Predictor].
func (w *Window) Observe(o predict.Observation) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.of.Observe(o); err != nil {
		return err
	}
	w.seen = append(w.seen, o)
	return nil
}
