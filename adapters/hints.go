package adapters

import (
	"strconv"
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/utility"
)

// Expected is what a hint should have been that is something else. It is the error of all that reads hints, so that
// they mean the same on every cluster; whoever wraps it says which hint it is and what was found.
type Expected string

// Error begins with "expected".
func (e Expected) Error() string { return "expected " + string(e) }

// leastDeadline is the shortest deadline as a duration. Nothing that runs on a cluster is done sooner.
const leastDeadline = time.Second

// Deadline is by when a job should be done, as its user writes it: so long after its submission, or at a time if that
// is not zero.
type Deadline struct {
	After time.Duration
	At    time.Time
}

// ParseDeadline reads a duration of at least a second, as 2h30m, or a time, as 2026-01-02T15:04:05Z. The error is an
// [Expected].
func ParseDeadline(text string) (Deadline, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil && !at.IsZero() {
		return Deadline{At: at}, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < leastDeadline {
		return Deadline{}, Expected("a duration of at least 1s, as 2h30m, or a time, as 2026-01-02T15:04:05Z")
	}
	return Deadline{After: d}, nil
}

// From is the deadline of a job that was submitted then, for [sched.Job].Deadline. A time that was over by then is
// refused with an [Expected]: it is a deadline below 0, which nothing could meet. One that is over only now is a
// deadline that was missed.
func (d Deadline) From(submitted time.Time) (time.Duration, error) {
	if d.At.IsZero() {
		return d.After, nil
	}
	if !d.At.After(submitted) {
		return 0, Expected("a time after the submission at " + submitted.UTC().Format(time.RFC3339))
	}
	return d.At.Sub(submitted), nil
}

// ParseUtility reads what [utility.Marshal] writes. One that is never above 0 is refused, since a policy that goes by
// it never starts the job. The error wraps those of [utility.Unmarshal], or is an [Expected].
func ParseUtility(data []byte) (utility.Utility, error) {
	u, err := utility.Unmarshal(data)
	if err != nil {
		return nil, err
	}
	if c, ok := u.(*utility.Curve); ok {
		if _, most := c.Range(); most <= 0 {
			return nil, Expected("a utility that is above 0 at some time, as no other job is ever started")
		}
	}
	return u, nil
}

// ParseSlowdown reads a slowdown, a number from 1 to 1e6. The error is an [Expected]; the number is 0 then, that of a
// job that does not say one.
func ParseSlowdown(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 1 && v <= 1e6) {
		return 0, Expected("a number from 1 to 1e6")
	}
	return v, nil
}

// CheckPreferred tells with an [Expected] that a job says a slowdown, which is 0 of one that does not, and no preferred
// nodes, whose hint has that name.
func CheckPreferred(slowdown float64, preferred sched.EquivalenceSet, name string) error {
	if slowdown != 0 && preferred.IsAny() {
		return Expected("none without " + name)
	}
	return nil
}
