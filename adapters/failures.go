package adapters

import (
	"errors"
	"slices"

	"github.com/hedgesched/hedge/sched"
)

// Failures are a cycle's starts and preemptions that failed, and jobs that failed for good: what operators want to know
// of. Jobs that were cancelled, or of which only the description is wrong, did not fail.
func Failures(c *sched.Cycle) []sched.Event {
	return slices.DeleteFunc(slices.Clone(c.Failed), func(e sched.Event) bool {
		return errors.Is(e.Err, ErrProblem) || errors.Is(e.Err, ErrCancelled)
	})
}
