// Package predict turns history into runtime distributions: 3σPredict of the
// 3Sigma paper (section 4.1), its point-estimate parent JVuPredict, and perfect and
// fixed predictors for experiments.
//
// It knows jobs only by id, attributes and submission time; it never knows
// what schedules them, and never reads a clock.
//
// # How a distribution comes about
//
// As in the paper, every value of every feature (a user, a user and a job name, ...) keeps a
// histogram and four point estimators. Each estimator is scored by its normalised mean absolute error
// (NMAE). The paper forecasts with the histogram of the one feature value whose estimator scored best.
// The intervals of such forecasts are too narrow: the best of many histories has often been lucky, it
// may hold two samples, and those may be of last month. So [History] forecasts a mixture:
//
//   - The [HistoryOptions].Blend best feature values take part, each with the share
//     n/(n+1) / NMAE², n being its completions: relative errors weighted as inverse
//     variances. A history that predicts clearly best has the forecast nearly to itself;
//     those about as good as one another share it.
//   - Within a history half of the mass is on the recent values and half on all values. Recent
//     values serve where runtimes drift, all values where a user submits long series of alike jobs,
//     and which of the two it is cannot be known beforehand.
//   - After n completions the next one lies outside of what was seen about once in n+1 times. That
//     mass comes from the best history that has at least four times as many completions.
//
// What else a job uses, such as CPU, memory and CPU time, is forecast in the same way where
// [HistoryOptions].Quantities asks for it (DSPredict of the DistSched thesis, section 5.3.1).
//
// The constants are the same for every log, and little hangs on them: on six public logs (Google 2011
// twice, KTH-SP2, Theta, Philly, Blue Waters) NMAE³ for NMAE², eight histories for four, or twice for four
// times as many completions moved the decile pinball loss by at most 1.1 %. Points, and the expert
// that [Prediction] names, are the paper's.
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
	// Of names the whole job that this one is a stage of; empty if it is none. Only [Posterior] looks at it.
	Of string
}

// Prediction is a runtime forecast and how it came about.
type Prediction struct {
	// Dist is the forecast runtime in seconds, never nil.
	Dist dist.Distribution
	// Point is the forecast as one number, in seconds.
	Point float64
	// Expert is the feature value and estimator that were chosen; Point is what they say.
	Expert Expert
	// Samples is the number of completions of the expert's feature value; 0 for priors and oracles.
	Samples int
	// Usage forecasts what else the job will use; nil where nothing is forecast but the runtime.
	Usage *Usage
}

// Expert names a feature value and a point estimator. An example is the feature "user+name" with the
// value "u7 resnet" and the estimator "median".
type Expert struct {
	// Feature is the feature's name; empty for a prior or an oracle.
	Feature string
	// Value is the job's value of that feature, shortened beyond [MaxValue].
	Value string
	// Estimator is mean, median, rolling, recent, or the name of a prior or oracle.
	Estimator string
}

// Observation is what one run of a job has shown: that it completed, and after how many seconds. Name
// the fields when you make one. Later versions may add fields about runs that did not complete;
// their zero values will say what an Observation says today.
type Observation struct {
	// Job is the job as it was given to Predict.
	Job Job
	// Runtime is how long it ran, in seconds, without the slow-down of the nodes it ran on.
	Runtime float64
	// Used is what else the run has shown. Quantities that the predictor does not forecast are passed over.
	Used []Used
}

// Predictor forecasts runtimes and learns from completions. Implementations
// are safe for concurrent use.
type Predictor interface {
	// Predict never fails: without history it answers with its prior.
	Predict(Job) Prediction
	// Observe learns from a run. It refuses NaN, infinite and negative runtimes and amounts used, and then
	// changes nothing.
	Observe(Observation) error
}
