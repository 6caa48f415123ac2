package adapters

import (
	"errors"
	"slices"

	"github.com/hedgesched/hedge/sched"
)

// Failures are what operators want to know about a cycle: its failed starts and preemptions, and the jobs that failed
// for good. Jobs that were cancelled or have a wrong description did not fail.
func Failures(c *sched.Cycle) []sched.Event {
	return slices.DeleteFunc(slices.Clone(c.Failed), func(e sched.Event) bool {
		return errors.Is(e.Err, ErrProblem) || errors.Is(e.Err, ErrCancelled)
	})
}
