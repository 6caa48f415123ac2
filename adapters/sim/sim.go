// Package sim runs a scheduling policy on a simulated cluster.
//
// The simulator is an engine that asks the policy once per cycle, and three parts:
//
//	           plans                starts, stops
//	engine -----------> life ------------------------> physics
//	       <-----------      <------------------------
//	        events told |           what has ended
//	                    | records
//	                    v
//	                 figures
//
// Life is what happens to jobs: they arrive, are submitted, start, are preempted, finish or are dropped. It tells the
// policy of it, writes the decision log, and keeps one record per job. Physics is what nodes do to the tasks on them:
// whether there is room, how fast tasks run, when they end. Figures are computed from the records alone, by class of
// job. [Work] is what a job does, which physics knows and the policy never sees.
//
// A simulation draws no randomness. It reads no clock but to time the policy. Package decisionlog computes every
// figure again from the decision log alone.
package sim

import (
	"time"

	"github.com/hedgesched/hedge/sched"
)

// Job is a job with what only the simulated world knows of it.
//
// The jobs that its After names arrive no later than itself.
type Job struct {
	sched.Job
	// Arrive is when it is submitted, since the start of the simulation.
	// sched.Job.Submitted is filled in from it.
	Arrive time.Duration
	// Work is what it does.
	Work Work
}
