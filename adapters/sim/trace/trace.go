// Package trace reads cluster logs: the Standard Workload Format, the format
// of the Sparrow, Hawk and Eagle simulators, Google's 2011 job table, other public job
// lists, and hedge's own CSV and JSONL. Readers stream, read gzip as it is, and name
// file, line and field of what they refuse.
//
// It never schedules and never invents values: what a log does not say is zero.
package trace

import "time"

// Outcome says how a job ended.
type Outcome string

// The outcomes. Unknown is the zero value: the log does not say.
const (
	Unknown  Outcome = ""
	Finished Outcome = "finished"
	Failed   Outcome = "failed"
	Killed   Outcome = "killed"
)

// Job is one job of a log. Times are since the log's origin.
type Job struct {
	// ID is unique in the log.
	ID string
	// Line is where the job stands in its file, from 1.
	Line int
	// Submit is when it arrived.
	Submit time.Duration
	// Wait is from submission to start; negative when unknown.
	Wait time.Duration
	// Runtime is how long it ran, from its start.
	Runtime time.Duration
	// Tasks is the gang's size, at least 1, in the log's own unit (tasks, processors or nodes).
	Tasks int
	// TaskRuntimes are the tasks' own durations, where known.
	TaskRuntimes []time.Duration
	// Requested is the user's runtime estimate or limit; 0 when unknown.
	Requested time.Duration
	// Deadline is the time since submission, 0 for none.
	Deadline time.Duration
	// Demand is what one task holds, where the log says (cpu, memory, gpu).
	Demand map[string]float64
	// Attributes are the log's features: user, name, queue, group, ...
	Attributes map[string]string
	// Outcome says how it ended.
	Outcome Outcome
}

// Reader streams a log in file order.
type Reader interface {
	// Read returns the next job, or io.EOF after the last.
	Read() (Job, error)
	// Skipped counts, by reason, the records a log is known to hold that are
	// no jobs (SWF's -1 runtimes).
	Skipped() map[string]int
}
