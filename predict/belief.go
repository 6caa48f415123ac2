package predict

import (
	"math"

	"github.com/hedgesched/hedge/dist"
)

// Belief is what is known of the mean task time of one job, in seconds: a normal distribution, as in section 4.1 of
// SLearn (NSDI 2022). History gives the first belief, and each task that ends sharpens it. An infinite Variance is no
// knowledge at all. It is a plain value, safe for concurrent use.
type Belief struct{ Mean, Variance float64 }

// Unknown is the belief before anything is known.
func Unknown() Belief { return Belief{Variance: math.Inf(1)} }

// Spread of a normal distribution: its 15.87 % and 84.13 % quantiles are a standard deviation from the mean.
const (
	below = 0.15865525393145707
	above = 1 - below
)

// BeliefOf is the belief that a forecast amounts to: its median, and half the distance between the quantiles that a
// normal distribution has a standard deviation below and above. Both bear the long tails that runtimes have, which a
// mean and a variance do not.
func BeliefOf(d dist.Distribution) Belief {
	half := (d.Quantile(above) - d.Quantile(below)) / 2
	return Belief{Mean: d.Quantile(0.5), Variance: half * half}
}

// After is the belief after count tasks took sum seconds together, each of which has that variance about the job's
// mean: (Σy/σ₁² + µ/σ₀²) / (m/σ₁² + 1/σ₀²), with the variance 1 / (m/σ₁² + 1/σ₀²). The order of the tasks does not
// matter, nor whether they are told at once. Without tasks the belief is as it was; a variance of 0 leaves no doubt.
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

// Doubted is the belief in the light of a mean of count tasks that it did not expect. If the mean is further off than
// the variances explain, the belief's own variance was too small, and the distance tells how large it is: (ȳ-µ)² -
// σ₁²/m is the most likely one. So a belief that is wrong for this job does not outweigh what the job shows.
func (b Belief) Doubted(count int, sum, variance float64) Belief {
	if count == 0 {
		return b
	}
	off := sum/float64(count) - b.Mean
	b.Variance = max(b.Variance, float64(off*off)-variance/float64(count))
	return b
}

// Within tells whether all means up to so many standard deviations away are from low to below high.
func (b Belief) Within(low, high, deviations float64) bool {
	reach := float64(deviations * math.Sqrt(b.Variance))
	return b.Mean-reach >= low && b.Mean+reach < high
}

// Forecast is the belief as a distribution, cut off at 0, for whatever plans with one. A belief that knows nothing, or
// is of no runtime, is refused with an error of package dist.
func (b Belief) Forecast() (dist.Distribution, error) {
	if b.Variance == 0 {
		return dist.NewPoint(b.Mean)
	}
	return dist.NewNormal(b.Mean, math.Sqrt(b.Variance))
}

// Drift watches whether forecasts have become wrong. It is told of each runtime the place that it had in its forecast,
// the value of the forecast's CDF: such places are even from 0 to 1 if the forecasts are right. Two sums
// (CUSUM, Page 1954) grow as the places lean to one side. Where one exceeds a limit there is an alarm, until it has
// sunk to half of that. The zero value is ready for use. It is not safe for concurrent use.
type Drift struct {
	longer, shorter float64
	alarm           bool
}

const (
	// driftSlack is by how much the mean place may lean unnoticed.
	driftSlack = 0.15
	// driftLimit is where the alarm is. Forecasts whose places all lean to the end of one side reach it in nine jobs; with
	// even, independent places it is a matter of tens of thousands.
	driftLimit = 3
)

// Observe takes the place of a runtime, from 0 to 1.
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

// Alarm tells whether forecasts should not be trusted.
func (d *Drift) Alarm() bool { return d.alarm }
