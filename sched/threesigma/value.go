package threesigma

import (
	"fmt"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/utility"
)

// runtimes are the distributions of a job's runtime at the speeds of its levels ([sched.Job.Levels]), the fastest
// first.
type runtimes []dist.Distribution

// before are the times from a stage's start to the end of its whole job, which takes rest after the stage, whatever
// the stage has taken. A nil rest is none.
func (r runtimes) before(rest *dist.Histogram) (runtimes, error) {
	if rest == nil {
		return r, nil
	}
	out := make(runtimes, len(r))
	for l, d := range r {
		var err error
		if out[l], err = dist.Sum(d, rest); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// runtimes are the distributions that are planned with.
func (c *Config) runtimes(j *sched.Job, p predict.Prediction, levels []sched.Speed) (runtimes, error) {
	r := make(runtimes, len(levels))
	for l := range levels {
		var err error
		if r[l], err = c.forecast(j, p, levels[l].Factor); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// forecast is the distribution of a job's runtime at a speed.
func (c *Config) forecast(j *sched.Job, p predict.Prediction, speed float64) (dist.Distribution, error) {
	d := p.Dist
	if c.Point || d == nil {
		pt, err := dist.NewPoint(p.Point)
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", j.ID, err)
		}
		d = pt
	}
	if s := sched.Stretch(speed); s > 1 {
		slow, err := dist.Scale(d, s)
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", j.ID, err)
		}
		d = slow
	}
	return d, nil
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
	chance := r[0].CDF(v.deadline)
	if c.OverEstimate == Adaptive && chance > 0 && chance >= c.Threshold {
		return v, nil
	}
	// The tail is long enough to be positive even if the job waits for another window and then runs for nearly the
	// longest time of its distribution. So the job does not look worthless for long.
	far := min(2*(r[len(r)-1].Quantile(0.99)+c.Window.Seconds()+v.deadline), maxTail)
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
