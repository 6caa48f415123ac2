package predict

import (
	"math"

	"github.com/hedgesched/hedge/dist"
)

// Belief is a normal distribution over the mean task time of one job, as in section 4.1 of SLearn (NSDI 2022). Mean is
// in seconds, Variance in seconds². History gives the prior, and each task that ends sharpens it. An infinite Variance
// means that nothing is known. A Belief is a plain value.
type Belief struct{ Mean, Variance float64 }

// Unknown is the belief that knows nothing.
func Unknown() Belief { return Belief{Variance: math.Inf(1)} }

// The levels of the quantiles one standard deviation below and above the mean of a normal distribution.
const (
	below = 0.15865525393145707
	above = 1 - below
)

// BeliefOf turns a forecast into a belief. The mean is the forecast's median. The standard deviation is half the
// distance between its 15.87 % and 84.13 % quantiles. Unlike the forecast's own mean and variance, these are robust
// against the long tails of runtimes.
func BeliefOf(d dist.Distribution) Belief {
	half := (d.Quantile(above) - d.Quantile(below)) / 2
	return Belief{Mean: d.Quantile(0.5), Variance: half * half}
}

// After is the posterior once count tasks have taken sum seconds in total. The variance is that of a task's time about
// the job's mean, in seconds². With m tasks y, σ₁² that variance and (µ, σ₀²) the prior, the posterior's mean is
// (Σy/σ₁² + µ/σ₀²) / (m/σ₁² + 1/σ₀²) and its variance 1 / (m/σ₁² + 1/σ₀²). Feeding the tasks one by one gives the same
// up to rounding. With no tasks the belief stays as it is. If both variances are 0, the prior wins.
func (b Belief) After(count int, sum, variance float64) Belief {
	switch m := float64(count); {
	case count == 0:
		return b
	case variance == 0 && b.Variance > 0, math.IsInf(b.Variance, 1):
		return Belief{Mean: sum / m, Variance: variance / m}
	case b.Variance == 0:
		return b
	default:
		precision := m/variance + 1/b.Variance
		return Belief{Mean: (sum/variance + b.Mean/b.Variance) / precision, Variance: 1 / precision}
	}
}

// Doubted widens the belief if the mean of count tasks lies farther away than the variances explain. It raises the
// belief's variance to the most likely value given that mean, (ȳ-µ)² - σ₁²/m, and never lowers it. The parameters are
// those of After. So a prior that is wrong for this job does not outweigh the job's own tasks.
func (b Belief) Doubted(count int, sum, variance float64) Belief {
	if count == 0 {
		return b
	}
	off := sum/float64(count) - b.Mean
	b.Variance = max(b.Variance, float64(off*off)-variance/float64(count))
	return b
}

// Within tells whether the interval of that many standard deviations on either side of the mean lies in [low, high).
func (b Belief) Within(low, high, deviations float64) bool {
	reach := float64(deviations * math.Sqrt(b.Variance))
	return b.Mean-reach >= low && b.Mean+reach < high
}

// Forecast is the belief as a distribution truncated at 0. If the mean or variance is not valid for one, such as an
// infinite variance, the error is that of package dist.
func (b Belief) Forecast() (dist.Distribution, error) {
	if b.Variance == 0 {
		return dist.NewPoint(b.Mean)
	}
	return dist.NewNormal(b.Mean, math.Sqrt(b.Variance))
}

// Drift detects that forecasts have become biased. It takes the value of each forecast's CDF at the actual runtime: if
// forecasts are right, these values are uniform on [0, 1]. Two cumulative sums (CUSUM, Page 1954) grow while the values
// lean to one side. The alarm is raised when a sum reaches a limit, and ends when both are below half of it. The zero
// value is ready for use. It is not safe for concurrent use.
type Drift struct {
	longer, shorter float64
	alarm           bool
}

const (
	// driftSlack is how far the mean value may be from a half without an alarm.
	driftSlack = 0.15
	// driftLimit is the sum at which the alarm is raised. If all values are 0, or all are 1, that takes nine jobs. With
	// independent uniform values a false alarm takes tens of thousands.
	driftLimit = 3
)

// Observe takes the value of a forecast's CDF at the actual runtime. Values outside [0, 1] are clamped.
func (d *Drift) Observe(place float64) {
	lean := min(max(place, 0), 1) - 0.5
	d.longer = min(max(0, d.longer+lean-driftSlack), driftLimit)
	d.shorter = min(max(0, d.shorter-lean-driftSlack), driftLimit)
	switch most := max(d.longer, d.shorter); {
	case most >= driftLimit:
		d.alarm = true
	case most < driftLimit/2.0:
		d.alarm = false
	}
}

// Alarm tells whether the forecasts are biased at present.
func (d *Drift) Alarm() bool { return d.alarm }
