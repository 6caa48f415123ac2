package threesigma

import (
	"fmt"
	"math"
	"slices"

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

// valuation is what completing a job is worth, with the mercy of the tail where it is granted.
type valuation struct {
	// curve is the job's utility, with the tail where the policy grants one.
	curve utility.Utility
	// deadline in seconds since submission; 0 for none.
	deadline float64
	// tailed tells that curve has a tail.
	tailed bool
}

// value decides whether the job's deadline gets a tail and builds it. A utility that is not a step, one that says
// itself what being late is worth, is left as it is.
func (c *Config) value(j *sched.Job, r runtimes) (valuation, error) {
	u := worthOf(j)
	v := valuation{curve: u, deadline: j.Deadline.Seconds()}
	if j.Deadline <= 0 || c.OverEstimate == Off || c.TailWeight == 0 {
		return v, nil
	}
	chance := r.preferred.CDF(v.deadline)
	if c.OverEstimate == Adaptive && chance > 0 && chance >= c.Threshold {
		return v, nil
	}
	// The tail must still be positive when the whole distribution lies past the deadline
	// and the job has waited through another window, so that it never looks worthless.
	far := min(2*(r.elsewhere.Quantile(0.99)+c.Window.Seconds()+v.deadline), maxTail)
	worth := u.At(v.deadline)
	if !(worth > 0) || !nothingAfter(u, v.deadline, far) {
		return v, nil
	}
	tailed, err := extend(u, v.deadline, far, worth*c.TailWeight)
	if err != nil {
		return v, fmt.Errorf("job %s: %w", j.ID, err)
	}
	v.curve, v.tailed = tailed, true
	return v, nil
}

// maxTail bounds a tail in seconds where the forecast has no end.
const maxTail = 8e9

// probes is at how many times a utility that is no curve is asked what being late is worth.
const probes = 32

// nothingAfter tells whether a utility is a step at the deadline: worth 0 whenever later. A utility that
// is no curve is asked at times that get sparser up to far after the deadline.
func nothingAfter(u utility.Utility, deadline, far float64) bool {
	c, ok := u.(*utility.Curve)
	if !ok {
		for i := range probes {
			if u.At(deadline+math.Ldexp(far, -i)) != 0 {
				return false
			}
		}
		return true
	}
	points := c.Points()
	for i, p := range points {
		if p.V == 0 {
			continue
		}
		// A point at the deadline itself counts if the curve leaves from there.
		if last := i == len(points)-1; p.T > deadline || last || p.T == deadline && points[i+1].T > p.T {
			return false
		}
		if p.T < deadline && points[i+1].T > deadline {
			return false
		}
	}
	return true
}

// extend is a step utility with a tail that falls from height to 0 in length seconds after its deadline.
func extend(u utility.Utility, deadline, length, height float64) (utility.Utility, error) {
	c, ok := u.(*utility.Curve)
	if !ok {
		return tailed{Utility: u, deadline: deadline, length: length, height: height}, nil
	}
	points := slices.DeleteFunc(c.Points(), func(p utility.Point) bool { return p.T >= deadline })
	points = append(points, utility.Point{T: deadline, V: u.At(deadline)},
		utility.Point{T: deadline, V: height}, utility.Point{T: deadline + length})
	return utility.Piecewise(points)
}

// tailed is extend of a utility that is no curve.
type tailed struct {
	utility.Utility
	deadline, length, height float64
}

func (t tailed) At(s float64) float64 {
	if s <= t.deadline {
		return t.Utility.At(s)
	}
	return max(0, t.height*(1-(s-t.deadline)/t.length))
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
