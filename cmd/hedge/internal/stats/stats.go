// Package stats has the few statistics the command line reports: means with
// Student-t confidence intervals, quantiles, boxes, and the Kolmogorov-Smirnov
// test. Inputs are never modified; empty inputs give zeros, not NaN, because
// every number ends in a JSON document.
package stats

import (
	"math"
	"slices"
)

// Mean returns the arithmetic mean, 0 for no values.
func Mean(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// Variance returns the sample variance (n-1), 0 for fewer than two values.
func Variance(x []float64) float64 {
	if len(x) < 2 {
		return 0
	}
	m, sum := Mean(x), 0.0
	for _, v := range x {
		sum += float64((v - m) * (v - m))
	}
	return sum / float64(len(x)-1)
}

// CoV returns the coefficient of variation, standard deviation over mean; 0
// when the mean is 0.
func CoV(x []float64) float64 {
	m := Mean(x)
	if m == 0 {
		return 0
	}
	return math.Sqrt(Variance(x)) / math.Abs(m)
}

// Interval is a mean with its two-sided 95 % confidence interval over
// independent repetitions, from Student's t with n-1 degrees of freedom.
type Interval struct {
	Mean float64 `json:"mean"`
	// CI95 is nil, null in JSON, for fewer than two repetitions: one has no spread.
	CI95 *[2]float64 `json:"ci95"`
}

// Known is the interval of those of x that are known; nil if none is.
func Known(x []*float64) *Interval {
	var values []float64
	for _, v := range x {
		if v != nil {
			values = append(values, *v)
		}
	}
	if len(values) == 0 {
		return nil
	}
	return new(Of(values))
}

// Of returns the mean of x and its interval.
func Of(x []float64) Interval {
	iv := Interval{Mean: Mean(x)}
	if len(x) >= 2 {
		half := float64(StudentT975(len(x)-1) * math.Sqrt(Variance(x)/float64(len(x))))
		iv.CI95 = &[2]float64{iv.Mean - half, iv.Mean + half}
	}
	return iv
}

// StudentT975 is the 97.5 % quantile of Student's t with df >= 1 degrees of
// freedom: a table up to 30, Cornish-Fisher's expansion (good to four digits) above.
func StudentT975(df int) float64 {
	table := [...]float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
		2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
		2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042}
	switch {
	case df < 1:
		return math.Inf(1)
	case df <= len(table):
		return table[df-1]
	}
	const z = 1.959964
	n := float64(df)
	return z + (z*z*z+z)/(4*n) + (float64(5*math.Pow(z, 5))+16*z*z*z+3*z)/(96*n*n)
}

// Sorted returns a sorted copy.
func Sorted(x []float64) []float64 {
	s := slices.Clone(x)
	slices.Sort(s)
	return s
}

// Quantile returns the p-quantile of sorted values by nearest rank, as the simulator's figures are: the
// smallest value that at least a share p of the values do not exceed; 0 for none.
func Quantile(sorted []float64, p float64) float64 {
	n := len(sorted)
	if n == 0 {
		return 0
	}
	rank := int(math.Ceil(float64(p*float64(n)) - 1e-9)) // 0.9 of 10 values is 9, whatever the product rounds to
	return sorted[min(max(rank, 1), n)-1]
}

// Between returns the p-quantile of sorted values by linear interpolation between the closest ranks, as the papers of
// schedulers made of messages have it; there is at least one value.
func Between(sorted []float64, p float64) float64 {
	at := float64(p * float64(len(sorted)-1))
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + float64((at-float64(i))*(sorted[i+1]-sorted[i]))
}

// Spread is a distribution in a few numbers.
type Spread struct {
	Mean float64 `json:"mean"`
	Min  float64 `json:"min"`
	P10  float64 `json:"p10"`
	P25  float64 `json:"p25"`
	P50  float64 `json:"p50"`
	P75  float64 `json:"p75"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
	CoV  float64 `json:"cov"`
}

// SpreadOf describes x.
func SpreadOf(x []float64) Spread {
	s := Sorted(x)
	q := func(p float64) float64 { return Quantile(s, p) }
	return Spread{Mean: Mean(s), Min: q(0), P10: q(.1), P25: q(.25), P50: q(.5), P75: q(.75),
		P90: q(.9), P99: q(.99), Max: q(1), CoV: CoV(s)}
}

// Box is a Tukey box: quartiles, and whiskers at the furthest values within
// 1.5 interquartile ranges of them.
type Box struct {
	Low    float64 `json:"low"`
	P25    float64 `json:"p25"`
	Median float64 `json:"median"`
	P75    float64 `json:"p75"`
	High   float64 `json:"high"`
	// Outliers counts the values beyond the whiskers.
	Outliers int `json:"outliers"`
}

// BoxOf returns the Tukey box of x.
func BoxOf(x []float64) Box {
	s := Sorted(x)
	if len(s) == 0 {
		return Box{}
	}
	b := Box{P25: Quantile(s, .25), Median: Quantile(s, .5), P75: Quantile(s, .75)}
	reach := float64(1.5 * (b.P75 - b.P25))
	lo, hi := b.P25-reach, b.P75+reach
	b.Low, b.High = b.P25, b.P75
	for _, v := range s {
		if v < lo || v > hi {
			b.Outliers++
			continue
		}
		b.Low, b.High = min(b.Low, v), max(b.High, v)
	}
	return b
}

// KS is a one-sample Kolmogorov-Smirnov test.
type KS struct {
	// Statistic is the largest distance between the two CDFs.
	Statistic float64 `json:"statistic"`
	// P is the asymptotic p-value.
	P float64 `json:"p_value"`
	// Rejected tells that P < 0.05.
	Rejected bool `json:"rejected"`
}

// KSTest compares the sample with cdf. The p-value is Kolmogorov's asymptotic
// one with Stephens's correction for n; where cdf was fitted on the sample it is conservative.
func KSTest(sample []float64, cdf func(float64) float64) KS {
	s := Sorted(sample)
	n := float64(len(s))
	if n == 0 {
		return KS{P: 1}
	}
	d := 0.0
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && s[j] == s[i] {
			j++
		}
		f := cdf(s[i])
		below := cdf(math.Nextafter(s[i], math.Inf(-1)))
		d = max(d, math.Abs(float64(j)/n-f), math.Abs(below-float64(i)/n))
		i = j
	}
	root := math.Sqrt(n)
	p := kolmogorovTail((root + 0.12 + 0.11/root) * d)
	return KS{Statistic: d, P: p, Rejected: p < 0.05}
}

// kolmogorovTail is P(K > x) of Kolmogorov's distribution.
func kolmogorovTail(x float64) float64 {
	if x < 0.2 {
		return 1
	}
	sum, sign := 0.0, 1.0
	for k := 1; k <= 100; k++ {
		term := math.Exp(-2 * float64(k*k) * x * x)
		sum += float64(sign * term)
		if term < 1e-12 {
			break
		}
		sign = -sign
	}
	return min(1, max(0, 2*sum))
}
