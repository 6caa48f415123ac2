package adapters

import (
	"errors"
	"fmt"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// phase is what a job's tasks amount to.
type phase uint8

const (
	waiting  phase = iota // no tasks
	starting              // some run or are asked for, and the rest may come
	running               // all run
	broken                // must be stopped: the gang cannot be whole any more
	stopping              // is being stopped and holds room
	finished              // all have done their work
	over                  // nothing holds room and nothing will be started
)

// sum counts tasks by state.
type sum [taskStates]int

func (j *Job) sum() sum {
	var n sum
	for i := range j.Tasks {
		if s := j.Tasks[i].State; int(s) < len(n) {
			n[s]++
		}
	}
	return n
}

// Holds tells whether a task in this state holds room.
func (s TaskState) Holds() bool { return s != Finished && s != Failed }

// holding is how many tasks hold room.
func (n *sum) holding() int { return n[Requested] + n[Running] + n[Stopping] + n[Lost] }

// phase works out what the job's tasks amount to and, of one that must be stopped, why.
func (j *Job) phase() (phase, Cause) {
	n := j.sum()
	idle := n.holding() == n[Stopping] // nothing is left to be told to stop
	switch {
	case n[Finished] > 0 && n[Finished] == j.Spec.Tasks:
		return finished, ""
	case j.Over && n.holding() == 0:
		return over, ""
	case n[Stopping] > 0 && idle:
		return stopping, ""
	case j.Over:
		return broken, CauseOver
	case n[Lost] > 0:
		return broken, CauseLost
	case n[Failed] > 0:
		return broken, CauseFailed
	case n[Stopping] > 0:
		return broken, CauseStopped
	case j.Short:
		return broken, CauseShort
	case len(j.Tasks) == 0:
		return waiting, ""
	case n[Requested] == 0 && len(j.Tasks) == j.Spec.Tasks:
		return running, ""
	}
	return starting, ""
}

// errWide is the problem of a gang of more than [MaxTasks] tasks.
var errWide = errors.New("adapters: the gang is too wide")

// valid is what is wrong with the job's description, nil if nothing is.
func (j *Job) valid() error {
	if j.Spec.Tasks > MaxTasks {
		return fmt.Errorf("%w: job %q has %d tasks, at most %d are scheduled", errWide, j.Spec.ID, j.Spec.Tasks, MaxTasks)
	}
	return j.Spec.Validate()
}

// bare is a job that has tasks without those of its hints that may be wrong; nil if it has none, or cannot be described
// even so.
func (j *Job) bare() *sched.Job {
	spec := *j.Spec
	spec.Slowdown, spec.Preferred = 0, sched.AnyNode()
	spec.Deadline = max(0, spec.Deadline)
	if b := (Job{Spec: &spec}); len(j.Tasks) == 0 || b.valid() != nil {
		return nil
	}
	return &spec
}

// nodes are where the tasks are, or those that hold room.
func (j *Job) nodes(holdingOnly bool) []sched.NodeTasks {
	var out []sched.NodeTasks
	at := make(map[string]int)
	for i := range j.Tasks {
		t := &j.Tasks[i]
		if holdingOnly && !t.State.Holds() {
			continue
		}
		k, ok := at[t.Node]
		if !ok {
			k = len(out)
			at[t.Node] = k
			out = append(out, sched.NodeTasks{Node: t.Node})
		}
		out[k].Tasks++
	}
	return out
}

// started is when all tasks ran, zero if not all have.
func (j *Job) started() time.Time {
	var last time.Time
	for i := range j.Tasks {
		s := j.Tasks[i].Started
		if s.IsZero() {
			return time.Time{}
		}
		if s.After(last) {
			last = s
		}
	}
	return last
}

// ended is when the last task ended.
func (j *Job) ended() time.Time {
	var last time.Time
	for i := range j.Tasks {
		if e := j.Tasks[i].Ended; e.After(last) {
			last = e
		}
	}
	return last
}

// ran is how long the whole gang ran. It is 0 where that is not known: no task has told when it started or ended, or a
// clock was set back. A job that ended at the moment it started, as clocks of whole seconds have it, ran for as
// little as there is.
func (j *Job) ran() time.Duration {
	started, ended := j.started(), j.ended()
	if started.IsZero() || ended.Before(started) {
		return 0
	}
	return max(1, ended.Sub(started))
}

// TaskError is a task that failed.
type TaskError struct {
	// Job and Node are the task's.
	Job, Node string
	// Err is why; it may be nil.
	Err error
}

// Error names job, node and cause.
func (e *TaskError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("adapters: job %q: a task failed on node %q", e.Job, e.Node)
	}
	return fmt.Sprintf("adapters: job %q: a task failed on node %q: %v", e.Job, e.Node, e.Err)
}

// Unwrap is the cause.
func (e *TaskError) Unwrap() error { return e.Err }

// errStart is a start that came to nothing.
var errStart = errors.New("adapters: the start came to nothing")

// why is the error of an attempt that was stopped for a cause.
func (j *Job) why(cause Cause) error {
	for i := range j.Tasks {
		if t := &j.Tasks[i]; t.State == Failed {
			return &TaskError{Job: j.Spec.ID, Node: t.Node, Err: t.Err}
		}
	}
	if cause == "" {
		return fmt.Errorf("%w: job %q", errStart, j.Spec.ID) // nobody here has stopped it
	}
	if cause == CauseShort && j.Err != nil {
		return fmt.Errorf("%w: job %q: %s: %w", errStart, j.Spec.ID, cause, j.Err)
	}
	return fmt.Errorf("%w: job %q: %s", errStart, j.Spec.ID, cause)
}
