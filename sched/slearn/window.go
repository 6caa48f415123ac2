package slearn

import (
	"sync"
	"time"

	"github.com/hedgesched/hedge/predict"
)

// Window is a predictor that knows only recent jobs (the history windows of section 4.2): those submitted within a
// fixed length of time before the job that it forecasts. A history of package predict cannot unlearn. So a Window keeps
// its observations, and builds a new history from them each time an eighth of its length has passed. In between it also
// knows jobs that are up to an eighth of its length too old. It is safe for concurrent use.
type Window struct {
	length time.Duration
	make   func() (predict.Predictor, error)

	mu   sync.Mutex
	of   predict.Predictor
	seen []predict.Observation // in the order in which they came
	made time.Time             // the start of the window when the history was built
}

// NewWindow returns a window of a length above 0. Make returns an empty history; its error is returned as it is.
func NewWindow(length time.Duration, make func() (predict.Predictor, error)) (*Window, error) {
	of, err := make()
	if err != nil {
		return nil, err
	}
	return &Window{length: length, make: make, of: of}, nil
}

// Predict implements [predict.Predictor].
func (w *Window) Predict(j predict.Job) predict.Prediction {
	w.mu.Lock()
	defer w.mu.Unlock()
	if from := j.Submitted.Add(-w.length); from.Sub(w.made) >= w.length/8 {
		w.renew(from)
	}
	return w.of.Predict(j)
}

// renew builds a new history of the jobs submitted from a time on. If it cannot be made, the old one stays.
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

// Observe implements [predict.Predictor].
func (w *Window) Observe(o predict.Observation) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.of.Observe(o); err != nil {
		return err
	}
	w.seen = append(w.seen, o)
	return nil
}
