// Package agents holds workloads of tasks for simulations of schedulers that place each task by itself: every task has
// its own runtime, as in the traces of Sparrow, Hawk and Eagle.
package agents

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/trace"
)

// ErrWorkload is wrapped by errors about a workload that cannot be simulated.
var ErrWorkload = errors.New("bad workload")

// Job is a job of a [Workload]; times are since the workload's origin.
type Job struct {
	Submit time.Duration
	// Mean is the mean duration of a task, as the trace states it.
	Mean time.Duration
	// First and Tasks say which of the workload's runtimes are the job's.
	First, Tasks int32
	// Phase is 0, or above 0 for a later phase of a job, such as its reduces after its maps: a job that follows the one
	// in front of it in the workload, whose Phase is one less. It is submitted when that is done; its Submit is
	// meaningless.
	Phase int32
}

// Workload is jobs in order of submission, each with its later phases behind it, and what each of their tasks takes:
// flat, so that half a million jobs are two slices.
type Workload struct {
	Jobs     []Job
	Runtimes []time.Duration
	// After has, if it is not nil, an element for each of Jobs: the indexes of those in front of it that it waits for. A
	// job that waits for none is submitted at its Submit, and the others when those are done, whatever their phases. The
	// stages of a job are then its phases, in an order in which each is behind those that it waits for.
	After [][]int32
	// Attributes has, if it is not nil, an element for each of Jobs: what systems are told of it as its Attributes.
	Attributes []map[string]string
}

// Add appends a job of a log. A job without runtimes of its own tasks has tasks that all take its runtime.
func (w *Workload) Add(j *trace.Job) error {
	switch n := len(w.Jobs); {
	case n > 0 && j.Submit < w.Jobs[n-1].Submit:
		return fmt.Errorf("%w: job %s is submitted at %v, before the job in front of it", ErrWorkload, j.ID, j.Submit)
	case j.Submit < 0 || j.Runtime < 0 || j.Tasks < 1:
		return fmt.Errorf("%w: job %s has submission %v, runtime %v, %d tasks; expected none below 0 and a task",
			ErrWorkload, j.ID, j.Submit, j.Runtime, j.Tasks)
	case n == math.MaxInt32 || len(w.Runtimes)+j.Tasks > math.MaxInt32:
		return fmt.Errorf("%w: job %s is too much: expected at most %d jobs and tasks", ErrWorkload, j.ID, math.MaxInt32)
	}
	w.Jobs = append(w.Jobs, Job{Submit: j.Submit, Mean: j.Runtime, First: int32(len(w.Runtimes)), Tasks: int32(j.Tasks)})
	if len(j.TaskRuntimes) == j.Tasks {
		w.Runtimes = append(w.Runtimes, j.TaskRuntimes...)
		return nil
	}
	for range j.Tasks {
		w.Runtimes = append(w.Runtimes, j.Runtime)
	}
	return nil
}

// Read makes a workload of the jobs of a log, which must be in order of submission.
func Read(r trace.Reader) (*Workload, error) {
	w := new(Workload)
	for {
		j, err := r.Read()
		if errors.Is(err, io.EOF) {
			return w, nil
		}
		if err != nil {
			return nil, err
		}
		if err := w.Add(&j); err != nil {
			return nil, err
		}
	}
}

// Tasks are the runtimes of a job's tasks, in the trace's order. They must not be changed.
func (w *Workload) Tasks(j *Job) []time.Duration { return w.Runtimes[j.First : j.First+j.Tasks] }
