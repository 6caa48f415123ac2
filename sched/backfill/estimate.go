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

// ErrEstimate is the sentinel of errors about estimates that there are not.
var ErrEstimate = errors.New("backfill: invalid estimate")

// Estimate says by which runtimes is planned. The zero value is [Requested].
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

// Requested plans by the time that a job's user has asked for, [sched.Job].Requested, and by the forecast where nobody
// has asked for a time. It is what batch systems do.
func Requested() Estimate { return Estimate{} }

// Forecast plans by the forecast's point (Tsafrir, Etsion and Feitelson, "Backfilling using system-generated
// predictions rather than user runtime estimates", TPDS 2007).
func Forecast() Estimate { return Estimate{kind: forecast} }

// Quantile plans by the q-quantile of the forecast's distribution, of what runs given that it has run for so long. Q is
// above 0 and below 1; other values are an error that wraps [ErrEstimate].
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

// String is what [ParseEstimate] reads.
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

// UnmarshalText reads it.
func (e *Estimate) UnmarshalText(text []byte) (err error) {
	*e, err = ParseEstimate(string(text))
	return err
}

// longest bounds an estimate, so that sums of a few do not overflow: 50 years.
const longest = int64(50 * 365 * 24 * time.Hour)

// nanoseconds rounds a number of seconds up. It is at least 1 ns and at most 50 years.
func nanoseconds(seconds float64) int64 {
	if ns := math.Ceil(seconds * 1e9); ns < float64(longest) {
		return max(1, int64(ns)) // also of what is not a number
	}
	return longest
}

// of is the estimate of a job on its preferred nodes, in nanoseconds.
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

// slowed is an estimate off the preferred nodes.
func slowed(ns int64, j *sched.Job) int64 {
	if factor := j.SlowdownOrOne(); factor > 1 {
		return int64(min(math.Ceil(float64(ns)*factor), float64(longest)))
	}
	return ns
}

// left is how long a running job still takes, in nanoseconds, at least 1. A job that has run for longer than its
// estimate is expected to run on for as long again as it is over, but for one cycle at least.
func (e Estimate) left(r *sched.Running, now time.Time, cycle time.Duration) int64 {
	ran := max(0, int64(now.Sub(r.Started)))
	whole := e.whole(r, ran)
	if r.Slowed {
		whole = slowed(whole, r.Job)
	}
	if whole > ran {
		return whole - ran
	}
	return min(max(ran-whole, int64(cycle), 1), longest)
}

// whole is the estimate at full speed of a job that has run for so long.
func (e Estimate) whole(r *sched.Running, ran int64) int64 {
	d := r.Prediction.Dist
	if e.kind != quantile || d == nil {
		return e.of(r.Job, &r.Prediction)
	}
	elapsed := float64(ran) / 1e9
	if r.Slowed {
		elapsed /= r.Job.SlowdownOrOne()
	}
	survival := 1 - d.CDF(elapsed)
	return nanoseconds(d.Quantile(1 - float64((1-e.quantile)*survival)))
}
