package adapters

import (
	"errors"
	"fmt"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// phase is the state of a job as a whole, derived from its tasks.
type phase uint8

const (
	waiting  phase = iota // no tasks
	starting              // some tasks run or are requested, and the rest may follow
	running               // all run
	broken                // must be stopped: the gang can no longer be whole
	stopping              // is being stopped and holds room
	finished              // all tasks have finished
	over                  // no task holds room and none will be started
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

// holding is the number of tasks that hold room.
func (n *sum) holding() int { return n[Requested] + n[Running] + n[Stopping] + n[Lost] }

// phase derives the job's phase from its tasks. If the job must be stopped, it also returns the cause.
func (j *Job) phase() (phase, Cause) {
	n := j.sum()
	idle := n.holding() == n[Stopping] // no task is left that must be told to stop
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

// errWide is the problem of a gang with more than [MaxTasks] tasks.
var errWide = errors.New("adapters: the gang is too large")

// valid returns what is wrong with the job's description, or nil.
func (j *Job) valid() error {
	if j.Spec.Tasks > MaxTasks {
		return fmt.Errorf("%w: job %q has %d tasks, at most %d are scheduled", errWide, j.Spec.ID, j.Spec.Tasks, MaxTasks)
	}
	return j.Spec.Validate()
}

// bare is a job with tasks, stripped of those hints that may be wrong. It is nil if the job has no tasks or cannot be
// described even so.
func (j *Job) bare() *sched.Job {
	spec := *j.Spec
	spec.Speeds, spec.After = sched.Speeds{}, nil
	spec.Deadline = max(0, spec.Deadline)
	if b := (Job{Spec: &spec}); len(j.Tasks) == 0 || b.valid() != nil {
		return nil
	}
	return &spec
}

// nodes are the nodes of the tasks, or of those tasks that hold room.
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

// started is when the last task began to run. It is zero if not all have.
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

// ran is how long the whole gang ran. It is 0 if that is not known: a task has no start time, or a clock was set back.
// With clocks of whole seconds, a job may end at the moment it started. Its time is the shortest above 0.
func (j *Job) ran() time.Duration {
	started, ended := j.started(), j.ended()
	if started.IsZero() || ended.Before(started) {
		return 0
	}
	return max(1, ended.Sub(started))
}

// TaskError is the error of a task that failed.
type TaskError struct {
	// Job is the task's job. Node is the task's node.
	Job, Node string
	// Err is why the task failed. It may be nil.
	Err error
}

// Error names the job, the node and the cause.
func (e *TaskError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("adapters: job %q: a task failed on node %q", e.Job, e.Node)
	}
	return fmt.Sprintf("adapters: job %q: a task failed on node %q: %v", e.Job, e.Node, e.Err)
}

// Unwrap returns the cause.
func (e *TaskError) Unwrap() error { return e.Err }

// errStart is the error of a start without effect.
var errStart = errors.New("adapters: the start had no effect")

// why is the error of an attempt that was stopped for that cause.
func (j *Job) why(cause Cause) error {
	for i := range j.Tasks {
		if t := &j.Tasks[i]; t.State == Failed {
			return &TaskError{Job: j.Spec.ID, Node: t.Node, Err: t.Err}
		}
	}
	if cause == "" {
		return fmt.Errorf("%w: job %q", errStart, j.Spec.ID) // no order of ours has stopped it
	}
	if cause == CauseShort && j.Err != nil {
		return fmt.Errorf("%w: job %q: %s: %w", errStart, j.Spec.ID, cause, j.Err)
	}
	return fmt.Errorf("%w: job %q: %s", errStart, j.Spec.ID, cause)
}
