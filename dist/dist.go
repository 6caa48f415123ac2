// Package dist holds probability distributions of quantities that are not known yet: a
// runtime, a CPU demand, a memory footprint.
//
// Distributions are immutable and safe for concurrent use. All quantities are
// float64; the unit (seconds, cores, bytes) is the caller's choice. [Sketch]
// learns from a stream; it is not a Distribution itself, but [Sketch.Distribution] returns
// one. [Marshal] encodes any distribution of the package as JSON and [Unmarshal] decodes it.
//
// The package never reads a clock, never draws randomness of its own and
// never integrates numerically where a closed form exists.
package dist

// Distribution is a probability distribution of a non-negative quantity.
//
// Implementations are immutable. CDF is right-continuous and non-decreasing
// from 0 to 1; Quantile is its generalised inverse,
//
//	Quantile(p) = inf{x : CDF(x) >= p},  0 <= p <= 1,
//
// with Quantile(0) the lower bound. Mean is finite. Bounds are the smallest
// and largest possible values; the upper one may be +Inf.
type Distribution interface {
	CDF(x float64) float64
	Quantile(p float64) float64
	Mean() float64
	Bounds() (lo, hi float64)
}
