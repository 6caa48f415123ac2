// Package utility says what finishing a job at a given time is worth, and
// computes the expected worth of starting it when its runtime is a distribution
// (3Sigma, section 3.1, equation 1).
//
// Times are seconds since the job's submission. Utilities are plain numbers;
// only their ratios matter. The package never reads a clock. Refused arguments
// are a [*dist.ParamError] that wraps [dist.ErrInvalid].
package utility

// Utility is the worth of completing a job t seconds after its submission.
// Implementations are immutable and safe for concurrent use. [Curve] covers the utilities of
// the papers and has exact expectations; those of other implementations are computed numerically.
type Utility interface {
	At(t float64) float64
}
