package slearn

import (
	"math"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched/agent"
)

// Past is what a predictor knows of earlier jobs, and goes on learning. The runtime of a job is there that of its mean
// task, in seconds.
type Past struct {
	// Of forecasts and learns; it must not be nil.
	Of predict.Predictor
	// Describe tells a job's features, and when it was submitted; it must not be nil.
	Describe func(*agent.Job) predict.Job
}

// Learn observes a job that is done.
func (p *Past) Learn(o *Outcome) {
	// An error is of a runtime that is none; the sums of times that were measured are runtimes.
	_ = p.Of.Observe(predict.Observation{Job: p.Describe(&o.Job), Runtime: max(0, o.Ended.Mean())})
}

// History is a predictor that asks history alone (section 5.1.3). It tells the size when the job comes, and never
// changes it.
type History struct {
	Past
	// Median takes the median of the forecast, which is the paper's Point-Est. Otherwise the task time is the one whose
	// utility is what history lets expect, where the utility of a runtime t is 1/t²: 3Sigma's predictor, as section 4.3
	// describes it.
	Median bool
}

// Estimate is that of [Predictor].
func (h *History) Estimate(s *Sample) Answer {
	d := h.Of.Predict(h.Describe(&s.Job)).Dist
	seconds := 0.0
	if h.Median {
		seconds = d.Quantile(0.5)
	} else {
		seconds = UtilityTime(d)
	}
	return Answer{Size: seconds * float64(s.Job.Tasks)}
}

// shortest is what runtimes below count as, in seconds: their utility would be without bound.
const shortest = 1e-3

// UtilityTime is E[T⁻²]^(−½) in seconds, of a runtime T of that distribution: the runtime whose utility, 1/t², is the
// expected one. Runtimes below a millisecond count as one. A histogram is integrated exactly, others at 512 quantiles.
func UtilityTime(d dist.Distribution) float64 {
	if h, ok := d.(*dist.Histogram); ok {
		return 1 / math.Sqrt(utility(h))
	}
	const points = 512
	sum := 0.0
	for i := range points {
		t := max(d.Quantile((float64(i)+0.5)/points), shortest)
		sum += 1 / (t * t)
	}
	return 1 / math.Sqrt(sum/points)
}

// utility is the expected 1/t² of a histogram: over a uniform piece from a to b it is 1/(ab).
func utility(h *dist.Histogram) float64 {
	below := func(x float64) float64 { return max(x, shortest) }
	x, cum := h.Knot(0)
	sum := 0.0
	for i := 1; i < h.Len(); i++ {
		to, upTo := h.Knot(i)
		mass := upTo - cum
		short := 0.0
		if x < shortest && to > x { // that share counts as a millisecond
			short = min(1, (shortest-x)/(to-x))
		}
		sum += float64(mass * (1 - short) / (below(x) * below(to)))
		sum += float64(mass * short / (shortest * shortest))
		x, cum = to, upTo
	}
	return sum
}
