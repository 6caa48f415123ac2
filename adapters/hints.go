package adapters

import (
	"strconv"
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/utility"
)

// Expected is the error of a wrong hint: it says what the hint should have been. All functions that read hints return
// it, so that hints mean the same on every cluster. The caller adds the hint's name and the text that was found.
type Expected string

// Error begins with "expected".
func (e Expected) Error() string { return "expected " + string(e) }

// leastDeadline is the shortest deadline that may be given as a duration. Nothing on a cluster finishes sooner.
const leastDeadline = time.Second

// Deadline is the deadline that a user wrote: a duration after submission, or a time if At is not zero.
type Deadline struct {
	After time.Duration
	At    time.Time
}

// ParseDeadline reads a duration of at least a second, like 2h30m, or a time, like 2026-01-02T15:04:05Z. The error is
// an [Expected].
func ParseDeadline(text string) (Deadline, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil && !at.IsZero() {
		return Deadline{At: at}, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < leastDeadline {
		return Deadline{}, Expected("a duration of at least 1s, like 2h30m, or a time, like 2026-01-02T15:04:05Z")
	}
	return Deadline{After: d}, nil
}

// From is the deadline of a job that was submitted at that time, for [sched.Job].Deadline. A time before the submission
// is refused with an [Expected], since it would be a negative deadline that nothing could meet. A time that has passed
// only since the submission is a missed deadline.
func (d Deadline) From(submitted time.Time) (time.Duration, error) {
	if d.At.IsZero() {
		return d.After, nil
	}
	if !d.At.After(submitted) {
		return 0, Expected("a time after the submission at " + submitted.UTC().Format(time.RFC3339))
	}
	return d.At.Sub(submitted), nil
}

// ParseUtility reads what [utility.Marshal] writes. A utility that is never above 0 is refused, since a policy that
// goes by it would never start the job. The error wraps those of [utility.Unmarshal], or is an [Expected].
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

// ParseSlowdown reads a slowdown, a number from 1 to 1e6. The error is an [Expected]. The number is then 0, as for a
// job without a slowdown.
func ParseSlowdown(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 1 && v <= 1e6) {
		return 0, Expected("a number from 1 to 1e6")
	}
	return v, nil
}

// CheckPreferred returns an [Expected] if a job has a slowdown but no preferred nodes. A slowdown of 0 means that the
// job has none. Name is the name of the hint for preferred nodes.
func CheckPreferred(slowdown float64, preferred sched.EquivalenceSet, name string) error {
	if slowdown != 0 && preferred.IsAny() {
		return Expected("none without " + name)
	}
	return nil
}
