package sched

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/utility"
)

// ErrInvalidJob is the sentinel of every error of [Job.Validate].
var ErrInvalidJob = errors.New("sched: invalid job")

// ErrDuplicateJob is the sentinel of jobs submitted while one of the same id is pending or running.
var ErrDuplicateJob = errors.New("sched: job id in use")

// ErrTooLarge is the sentinel of gangs that the nodes they may run on could not hold even if they were empty.
var ErrTooLarge = errors.New("sched: the nodes cannot hold the gang")

// JobError names the job, the field and the value that is refused. It wraps
// a sentinel: [ErrInvalidJob], [ErrDuplicateJob], [ErrTooLarge] or [ErrUnknownResource].
type JobError struct {
	Job   string
	Field string
	Value any
	Err   error
}

// Error is one line with all there is to know.
func (e *JobError) Error() string {
	return fmt.Sprintf("%v: job %q: %s = %v", e.Err, e.Job, e.Field, e.Value)
}

// Unwrap is the sentinel.
func (e *JobError) Unwrap() error { return e.Err }

// Validate refuses jobs without id, gangs of less than one task, demands
// that are NaN, infinite, negative or nothing at all, speeds outside 1e-6 to 1,
// negative deadlines and requested times, utilities that [utility.Check] refuses, an ID or names of resources and
// attributes that are longer than [MaxName], and an After that names nothing, the job itself, or a job twice. The error
// is a [*JobError] that wraps [ErrInvalidJob].
func (j *Job) Validate() error {
	bad := func(field string, value any) error {
		return &JobError{Job: short(j.ID), Field: field, Value: value, Err: ErrInvalidJob}
	}
	switch {
	case j.ID == "":
		return bad("ID", `""`)
	case len(j.ID) > MaxName:
		return bad("ID", tooLong(j.ID))
	case len(j.PartOf) > MaxName:
		return bad("PartOf", tooLong(j.PartOf))
	case j.Tasks < 1 || j.Tasks > maxTasks:
		return bad("Tasks", j.Tasks)
	case j.Speeds.wrong() != nil:
		return bad("Speeds", j.Speeds.wrong())
	case j.Deadline < 0:
		return bad("Deadline", j.Deadline)
	case j.Requested < 0:
		return bad("Requested", j.Requested)
	}
	if err := utility.Check(j.Utility, j.Deadline); err != nil {
		return bad("Utility", err)
	}
	if name := overlong(j.Attributes); name != "" {
		return bad("Attributes", tooLong(name))
	}
	if name := overlong(j.Demand); name != "" {
		return bad("Demand", tooLong(name))
	}
	if err := j.validateStage(); err != nil {
		return err
	}
	if len(j.Demand) == 0 {
		return nil
	}
	some := false
	for _, r := range slices.Sorted(maps.Keys(j.Demand)) {
		d := j.Demand[r]
		if math.IsNaN(d) || math.IsInf(d, 0) || d < 0 {
			return bad("Demand["+r+"]", d)
		}
		some = some || d > 0
	}
	if !some {
		return bad("Demand", "nothing")
	}
	return nil
}

// defaultHalfLife is that of a best-effort job without a utility.
const defaultHalfLife = 24 * time.Hour

// Worth is the job's Utility. A nil one stands for 1 until the deadline ([utility.Deadline]) or, without a deadline,
// for 1 that halves every 24 hours ([utility.BestEffort]). So a job that says nothing of its worth runs, too.
func (j *Job) Worth() utility.Utility {
	switch {
	case j.Utility != nil:
		return j.Utility
	case j.Deadline > 0:
		u, _ := utility.Deadline(j.Deadline, 1) // no error of a deadline above 0
		return u
	default:
		u, _ := utility.BestEffort(1, defaultHalfLife) // nor of these constants
		return u
	}
}

// DemandOrNode is the demand of one task, {"node": 1} where none is given.
func (j *Job) DemandOrNode() Resources {
	if len(j.Demand) == 0 {
		return Resources{WholeNode: 1}
	}
	return j.Demand
}

// Features are what a predictor may know of the job.
func (j *Job) Features() predict.Job {
	return predict.Job{ID: j.whole(), Attributes: j.Attributes, Submitted: j.Submitted, Of: j.Of}
}

// whole names the job that this one is a part of, or itself.
func (j *Job) whole() string {
	if j.PartOf != "" {
		return j.PartOf
	}
	return j.ID
}

// Part is the job that some lost tasks of this one wait as, from 1 to Tasks of them: like it in all but its name, its
// number of tasks and [Job].PartOf. Parts of a job are numbered by the cluster, which must not give a number twice.
func (j *Job) Part(number, tasks int) *Job {
	part := *j
	part.ID, part.PartOf, part.Tasks = fmt.Sprintf("%s#%d", j.whole(), number), j.whole(), tasks
	part.After = nil // the gang has started
	return &part
}

// String names the decision as logs give it.
func (k Kind) String() string {
	switch k {
	case Defer:
		return "defer"
	case Start:
		return "start"
	case Preempt:
		return "preempt"
	default:
		return fmt.Sprintf("Kind(%d)", int(k))
	}
}

// MarshalText writes the decision's name; an unknown decision is an error.
func (k Kind) MarshalText() ([]byte, error) {
	if k < Defer || k > Preempt {
		return nil, fmt.Errorf("sched: unknown decision %d", int(k))
	}
	return []byte(k.String()), nil
}

// UnmarshalText reads the decision's name.
func (k *Kind) UnmarshalText(text []byte) error {
	for _, known := range []Kind{Defer, Start, Preempt} {
		if known.String() == string(text) {
			*k = known
			return nil
		}
	}
	return fmt.Errorf("sched: unknown decision %q", text)
}

var eventNames = [...]string{
	NodeUp: "node-up", NodeDown: "node-down", Submitted: "submitted", Started: "started",
	StartFailed: "start-failed", Preempted: "preempted", Finished: "finished", Withdrawn: "withdrawn",
	PreemptFailed: "preempt-failed", Stopping: "stopping", Measured: "measured",
}

// String names the event as logs give it.
func (k EventKind) String() string {
	if k < NodeUp || int(k) >= len(eventNames) {
		return fmt.Sprintf("EventKind(%d)", int(k))
	}
	return eventNames[k]
}

// MarshalText writes the event's name; an unknown event is an error.
func (k EventKind) MarshalText() ([]byte, error) {
	if k < NodeUp || int(k) >= len(eventNames) {
		return nil, fmt.Errorf("sched: unknown event %d", int(k))
	}
	return []byte(eventNames[k]), nil
}

// UnmarshalText reads the event's name.
func (k *EventKind) UnmarshalText(text []byte) error {
	for i := NodeUp; int(i) < len(eventNames); i++ {
		if eventNames[i] == string(text) {
			*k = i
			return nil
		}
	}
	return fmt.Errorf("sched: unknown event %q", text)
}
