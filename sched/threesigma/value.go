package threesigma

import (
	"fmt"
	"time"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/utility"
)

// runtimes are a job's distributions on preferred nodes and elsewhere.
type runtimes struct {
	preferred, elsewhere dist.Distribution
}

// on returns the distribution on the job's nodes.
func (r runtimes) on(slowed bool) dist.Distribution {
	if slowed {
		return r.elsewhere
	}
	return r.preferred
}

// forecast turns a prediction into the distributions the variant plans with.
func (c *Config) forecast(j *sched.Job, p predict.Prediction) (runtimes, error) {
	d := p.Dist
	if c.Point || d == nil {
		pt, err := dist.NewPoint(p.Point)
		if err != nil {
			return runtimes{}, fmt.Errorf("job %s: %w", j.ID, err)
		}
		d = pt
	}
	r := runtimes{preferred: d, elsewhere: d}
	if j.Slowdown > 1 {
		slow, err := dist.Scale(d, j.Slowdown)
		if err != nil {
			return runtimes{}, fmt.Errorf("job %s: %w", j.ID, err)
		}
		r.elsewhere = slow
	}
	return r, nil
}

// valuation is what completing a job is worth, with and without the mercy of the tail.
type valuation struct {
	// curve is the job's utility, with the tail where the policy grants one.
	curve utility.Utility
	// deadline in seconds since submission; 0 for none.
	deadline float64
	// tailed tells that curve has a tail.
	tailed bool
}

// value decides whether the job's deadline gets a tail and builds it.
func (c *Config) value(j *sched.Job, r runtimes) (valuation, error) {
	u := worthOf(j)
	v := valuation{curve: u, deadline: j.Deadline.Seconds()}
	if j.Deadline <= 0 || c.OverEstimate == Off {
		return v, nil
	}
	if c.OverEstimate == Adaptive && r.preferred.CDF(v.deadline) >= c.Threshold {
		return v, nil
	}
	worth := u.At(v.deadline)
	if !(worth > 0) {
		return v, nil
	}
	// The tail must still be positive when the whole distribution lies past the deadline
	// and the job has waited through another window, so that it never looks worthless.
	far := r.elsewhere.Quantile(0.99) + c.Window.Seconds() + v.deadline
	tailed, err := utility.DeadlineTail(j.Deadline, seconds(2*far), worth, worth*c.TailWeight)
	if err != nil {
		return v, fmt.Errorf("job %s: %w", j.ID, err)
	}
	v.curve, v.tailed = tailed, true
	return v, nil
}

// worthOf is the job's utility; a job that does not say is worth nothing, which a
// reason tells, rather than a fault that stops every other job.
func worthOf(j *sched.Job) utility.Utility {
	if j.Utility == nil {
		return worthless{}
	}
	return j.Utility
}

type worthless struct{}

func (worthless) At(float64) float64 { return 0 }

// seconds is s as a duration, or the longest there is.
func seconds(s float64) time.Duration {
	if s >= maxSeconds {
		return maxSeconds * time.Second
	}
	return time.Duration(s * float64(time.Second))
}

// maxSeconds leaves room to add two durations.
const maxSeconds = 4e9

// expected fills dst[s] with the expected utility of starting at starts[s] seconds
// after submission (equation 1).
func (v *valuation) expected(dst []float64, d dist.Distribution, starts []float64, lateWeight float64) {
	utility.ExpectedAll(dst, v.curve, d, starts)
	if !v.tailed {
		return
	}
	for s, at := range starts {
		if at >= v.deadline {
			dst[s] *= lateWeight
		}
	}
}
