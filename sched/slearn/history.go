package slearn

import (
	"math"
	"strconv"
	"time"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched/agent"
)

// Past forecasts mean task times from earlier jobs, and learns from each job that is done. The runtime of package
// predict is a job's mean task time here, in seconds.
type Past struct {
	// Of forecasts and learns. It must not be nil.
	Of predict.Predictor
	// Describe gives a job's features and time of submission. It must not be nil.
	Describe func(*agent.Job) predict.Job
}

// Describe gives what the job itself says: its attributes, and its time of submission, counted from 1970.
func Describe(j *agent.Job) predict.Job {
	return predict.Job{ID: strconv.Itoa(int(j.ID)), Attributes: j.Attributes,
		Submitted: time.Unix(0, int64(j.Submitted)).UTC()}
}

// Learn implements [Learner].
func (p *Past) Learn(o *Outcome) {
	// Observe fails only for an invalid runtime, which a mean of measured times cannot be.
	_ = p.Of.Observe(predict.Observation{Job: p.Describe(&o.Job), Runtime: max(0, o.Ended.Mean())})
}

// History is a predictor that uses history alone (section 5.1.3). It answers when the job arrives, and never changes
// its answer.
type History struct {
	Past
	// Median takes the forecast's median as the mean task time: the paper's Point-Est. Otherwise it is [UtilityTime]:
	// 3Sigma's predictor, as section 4.3 describes it.
	Median bool
}

// Estimate implements [Predictor].
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

// shortest is the least runtime, in seconds; shorter ones count as this. It keeps utilities finite.
const shortest = 1e-3

// UtilityTime is E[T⁻²]^(−½) in seconds, for a runtime T with that distribution: the time whose utility 1/t² equals the
// expected utility of T. Runtimes below a millisecond count as a millisecond. A histogram is integrated exactly, any
// other distribution at 512 quantiles.
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
		if x < shortest && to > x { // the share of the piece that counts as a millisecond
			short = min(1, (shortest-x)/(to-x))
		}
		sum += float64(mass * (1 - short) / (below(x) * below(to)))
		sum += float64(mass * short / (shortest * shortest))
		x, cum = to, upTo
	}
	return sum
}
