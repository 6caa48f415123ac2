// Package sim runs a scheduling policy on a simulated cluster: one
// deterministic discrete-event engine, whole-gang starts, completions, preemption
// with lost or kept work, slow-down off preferred nodes, a decision log from which every figure can
// be recomputed, and the metrics of the papers.
//
// It draws no randomness and reads no wall clock except to time the policy.
package sim

import (
	"time"

	"github.com/hedgesched/hedge/sched"
)

// Job is a job with what only the simulated world knows of it.
type Job struct {
	sched.Job
	// Arrive is when it is submitted, since the start of the simulation.
	// sched.Job.Submitted is filled in from it.
	Arrive time.Duration
	// Runtime is how long it runs on preferred nodes.
	Runtime time.Duration
}
