// Package predict turns history into runtime distributions: 3σPredict of the
// 3Sigma paper (section 4.1), its point-estimate parent JVuPredict, and perfect and
// fixed predictors for experiments.
//
// It knows jobs only by id, attributes and submission time; it never knows
// what schedules them, and never reads a clock.
package predict

import (
	"time"

	"github.com/hedgesched/hedge/dist"
)

// Job is what a predictor may know of a job.
type Job struct {
	// ID names the job; only oracle predictors look at it.
	ID string
	// Attributes are the job's features: user, name, queue, requested cores...
	Attributes map[string]string
	// Submitted is when the job arrived; derived features (hour of day) use it.
	Submitted time.Time
}

// Prediction is a runtime forecast and how it came about.
type Prediction struct {
	// Dist is the forecast runtime in seconds, never nil.
	Dist dist.Distribution
	// Point is the forecast as one number, in seconds.
	Point float64
	// Expert is the (feature value, estimator) that was chosen.
	Expert Expert
	// Samples is the number of completions behind the forecast; 0 is a prior.
	Samples int
}

// Expert names a feature value and a point estimator, as "user+name", "u7 resnet", "median".
type Expert struct {
	// Feature is the feature's name; empty for a prior or an oracle.
	Feature string
	// Value is the job's value of that feature.
	Value string
	// Estimator is mean, median, rolling, recent, or the name of a prior or oracle.
	Estimator string
}

// Predictor forecasts runtimes and learns from completions. Implementations
// are safe for concurrent use.
type Predictor interface {
	// Predict never fails: without history it answers with its prior.
	Predict(Job) Prediction
	// Observe learns that the job ran for runtime seconds. It refuses NaN,
	// infinite and negative runtimes and then changes nothing.
	Observe(job Job, runtime float64) error
}
