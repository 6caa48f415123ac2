package threesigma

import (
	"fmt"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/utility"
)

// runtimes are the distributions of a job's runtime on preferred nodes and elsewhere.
type runtimes struct {
	preferred, elsewhere dist.Distribution
}

// on returns the distribution for a job that is slowed or not.
func (r runtimes) on(slowed bool) dist.Distribution {
	if slowed {
		return r.elsewhere
	}
	return r.preferred
}

// before are the times from a stage's start to the end of its whole job, which takes rest after the stage, whatever
// the stage has taken. A nil rest is none. Slows tells that the two distributions differ.
func (r runtimes) before(rest *dist.Histogram, slows bool) (runtimes, error) {
	if rest == nil {
		return r, nil
	}
	preferred, err := dist.Sum(r.preferred, rest)
	if err != nil {
		return runtimes{}, err
	}
	out := runtimes{preferred: preferred, elsewhere: preferred}
	if slows {
		if out.elsewhere, err = dist.Sum(r.elsewhere, rest); err != nil {
			return runtimes{}, err
		}
	}
	return out, nil
}

// forecast turns a prediction into the distributions that are planned with.
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

// valuation is what completing a job is worth.
type valuation struct {
	// own is the job's utility, and curve the same with a tail if [OverEstimate] gives it one.
	own, curve utility.Utility
	// guard is what is below both if the utility is of a foreign type.
	guard *guard
	// deadline is in seconds since submission; 0 means that there is none.
	deadline float64
	// tailed tells whether there is a tail.
	tailed bool
}

// value decides whether the job's deadline gets a tail, and adds it. It goes by the time that the job takes, of a stage
// by that from its start to the end of the whole job. Only a utility that is 0 after the deadline gets one. Any other
// utility says itself what a late completion is worth, and is not changed.
func (c *Config) value(j *sched.Job, r runtimes) (valuation, error) {
	u, g := worthOf(j)
	v := valuation{own: u, curve: u, guard: g, deadline: j.Deadline.Seconds()}
	if j.Deadline <= 0 || c.OverEstimate == Off || c.TailWeight == 0 {
		return v, nil
	}
	chance := r.preferred.CDF(v.deadline)
	if c.OverEstimate == Adaptive && chance > 0 && chance >= c.Threshold {
		return v, nil
	}
	// The tail is long enough to be positive even if the job waits for another window and then runs for nearly the
	// longest time of its distribution. So the job does not look worthless for long.
	far := min(2*(r.elsewhere.Quantile(0.99)+c.Window.Seconds()+v.deadline), maxTail)
	curve, tailed, err := utility.WithTail(u, v.deadline, far, c.TailWeight)
	if err != nil {
		return v, fmt.Errorf("job %s: %w", j.ID, err)
	}
	v.curve, v.tailed = curve, tailed
	return v, nil
}

// maxTail is the longest tail in seconds.
const maxTail = 8e9

// expected fills dst[s] with the expected utility of a start at starts[s] seconds after submission (equation 1).
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
