package adapters

import (
	"fmt"
	"strconv"
	"strings"
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

// ParseSpeeds reads how fast a job runs on which nodes, like "gpu=a100 1; gpu=v100 0.66; other 0.39": sets as
// [ParseSet] reads them, each with a speed from 1e-6 to 1, and "other" for all nodes. There are at most
// [sched.MaxSpeeds] of them. On nodes in none of the sets the job has the lowest of the speeds. The example shows
// labels of this kind of cluster. The error is or wraps an [Expected].
func ParseSpeeds(text, example string) (sched.Speeds, error) {
	var of []sched.Speed
	for part := range strings.SplitSeq(text, ";") {
		part = strings.TrimSpace(part)
		at := strings.LastIndexAny(part, " \t")
		if at < 0 {
			return sched.Speeds{}, fmt.Errorf("%q, %w", part, Expected(fmt.Sprintf("nodes and speeds like %q", example)))
		}
		factor, err := strconv.ParseFloat(part[at+1:], 64)
		if err != nil || !(factor >= 1e-6 && factor <= 1) {
			return sched.Speeds{}, fmt.Errorf("%q, %w", part[at+1:], Expected("a speed from 1e-6 to 1"))
		}
		on, set := sched.AnyNode(), strings.TrimSpace(part[:at])
		if set != otherNodes {
			if on, err = ParseSet(set, example); err != nil {
				return sched.Speeds{}, err
			}
		}
		of = append(of, sched.Speed{On: on, Factor: factor})
	}
	if len(of) > sched.MaxSpeeds {
		return sched.Speeds{}, Expected(fmt.Sprintf("at most %d sets of nodes", sched.MaxSpeeds))
	}
	return sched.SpeedsOf(of...), nil
}

// otherNodes stands for all nodes in [ParseSpeeds].
const otherNodes = "other"
