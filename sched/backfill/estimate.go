package backfill

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
)

// ErrEstimate is wrapped by errors about an invalid estimate.
var ErrEstimate = errors.New("backfill: invalid estimate")

// Estimate chooses the runtimes that are planned with. The zero value is [Requested].
type Estimate struct {
	kind     kind
	quantile float64
}

type kind uint8

const (
	requested kind = iota
	forecast
	quantile
)

// Requested plans with the time that a job's user asked for, [sched.Job].Requested, and with the forecast's point if
// there is none. Batch systems do this.
func Requested() Estimate { return Estimate{} }

// Forecast plans with the forecast's point (Tsafrir, Etsion and Feitelson, "Backfilling using system-generated
// predictions rather than user runtime estimates", TPDS 2007).
func Forecast() Estimate { return Estimate{kind: forecast} }

// Quantile plans with the q-quantile of the forecast's distribution, 0 < q < 1. For a running job the distribution is
// conditioned on how long the job has run. The error wraps [ErrEstimate].
func Quantile(q float64) (Estimate, error) {
	if !(q > 0 && q < 1) {
		return Estimate{}, fmt.Errorf("%w: quantile %v, want above 0 and below 1", ErrEstimate, q)
	}
	return Estimate{kind: quantile, quantile: q}, nil
}

// ParseEstimate reads "requested", "forecast" or "quantile:Q". Its errors wrap [ErrEstimate].
func ParseEstimate(text string) (Estimate, error) {
	switch text {
	case "requested":
		return Requested(), nil
	case "forecast":
		return Forecast(), nil
	}
	if number, ok := strings.CutPrefix(text, "quantile:"); ok {
		if q, err := strconv.ParseFloat(number, 64); err == nil {
			return Quantile(q)
		}
	}
	return Estimate{}, fmt.Errorf("%w: found %q, expected requested, forecast, or quantile:Q with 0 < Q < 1",
		ErrEstimate, text)
}

// String writes what [ParseEstimate] reads.
func (e Estimate) String() string {
	switch e.kind {
	case forecast:
		return "forecast"
	case quantile:
		return "quantile:" + strconv.FormatFloat(e.quantile, 'g', -1, 64)
	default:
		return "requested"
	}
}

// MarshalText writes what [ParseEstimate] reads.
func (e Estimate) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads as [ParseEstimate] does.
func (e *Estimate) UnmarshalText(text []byte) (err error) {
	*e, err = ParseEstimate(string(text))
	return err
}

// longest limits an estimate to 50 years, so that sums of a few estimates do not overflow.
const longest = int64(50 * 365 * 24 * time.Hour)

// nanoseconds converts seconds, rounding up. The result is at least 1 ns and at most 50 years.
func nanoseconds(seconds float64) int64 {
	if ns := math.Ceil(seconds * 1e9); ns < float64(longest) {
		return max(1, int64(ns))
	}
	return longest
}

// of is the estimate of a job at full speed, in nanoseconds.
func (e Estimate) of(j *sched.Job, p *predict.Prediction) int64 {
	switch {
	case e.kind == requested && j.Requested > 0:
		return min(int64(j.Requested), longest)
	case e.kind == quantile && p.Dist != nil:
		return nanoseconds(p.Dist.Quantile(e.quantile))
	default:
		return nanoseconds(p.Point)
	}
}

// slowed is the same estimate at a lower speed.
func slowed(ns int64, speed float64) int64 {
	if factor := sched.Stretch(speed); factor > 1 {
		return int64(min(math.Ceil(float64(ns)*factor), float64(longest)))
	}
	return ns
}

// left is the remaining time of a running job in nanoseconds, at least 1. A job that has overrun its estimate by some
// time is expected to run for the same time again, and for at least one cycle.
func (e Estimate) left(r *sched.Running, now time.Time, cycle time.Duration) int64 {
	ran := max(0, int64(now.Sub(r.Started)))
	whole := slowed(e.whole(r, ran), r.Speed)
	if whole > ran {
		return whole - ran
	}
	return min(max(ran-whole, int64(cycle), 1), longest)
}

// whole is the estimated runtime at full speed of a job that has run for ran nanoseconds.
func (e Estimate) whole(r *sched.Running, ran int64) int64 {
	d := r.Prediction.Dist
	if e.kind != quantile || d == nil {
		return e.of(r.Job, &r.Prediction)
	}
	elapsed := float64(ran) / 1e9 / sched.Stretch(r.Speed)
	survival := 1 - d.CDF(elapsed)
	return nanoseconds(d.Quantile(1 - float64((1-e.quantile)*survival)))
}
