// Package usage is what tasks are measured to use of the machines that they share. Clusters tell it in batches, one a
// cycle; snapshots show it to policies.
//
// It measures nothing, forecasts nothing and decides nothing.
package usage

import (
	"fmt"
	"math"
	"time"
)

// The resources that tasks of a machine share, as nodes and demands name them. Any other resource is reserved.
const (
	// CPU is in cores. It is shared in time: a task that gets less of it than it wants takes longer.
	CPU = "cpu"
	// Memory is in bytes, or in any unit that nodes and tasks have in common. Where it runs short, tasks are evicted.
	Memory = "memory"
)

// Level is an amount of each shared resource.
type Level struct{ CPU, Memory float64 }

// IsZero tells whether there is none of either.
func (l Level) IsZero() bool { return l == Level{} }

// Task is what one task of a running job uses. It is one of Job.Tasks, of an event or of a snapshot.
type Task struct {
	// Index is the task's number in its gang, from 0. A task keeps it for as long as it runs.
	Index int
	// Node is where it runs.
	Node string
	// Ran is for how long it has run.
	Ran time.Duration
	// Now is what it uses at present, Mean its average since it started, by time, and Max the most of each.
	Now, Mean, Max Level
	// Throttled tells that it has wanted more CPU than it got at some time since it started. What it wants is then at
	// least what it got.
	Throttled bool
}

// Work is the CPU time that the task has had since it started, in core-seconds.
func (t *Task) Work() float64 { return t.Mean.CPU * t.Ran.Seconds() }

// Job is what the tasks of a running job use.
type Job struct {
	// ID names the job.
	ID string
	// Tasks are all of its tasks that run, by index.
	Tasks []Task
}

// Node is what a node is used for by work that the scheduler did not start.
type Node struct {
	// Name names the node.
	Name string
	// Others is what that work uses at present.
	Others Level
}

// Batch is what a cluster has measured since the last one. A job or node that is in no batch stays as it was told
// before.
type Batch struct {
	Jobs  []Job
	Nodes []Node
}

// Check refuses what cannot have been measured: amounts and times that are negative, infinite or NaN, and tasks with a
// negative index.
func (t *Task) Check() error {
	switch {
	case t.Index < 0:
		return fmt.Errorf("task %d: negative index", t.Index)
	case t.Ran < 0:
		return fmt.Errorf("task %d: has run for %v", t.Index, t.Ran)
	}
	for _, l := range [...]Level{t.Now, t.Mean, t.Max} {
		if err := l.Check(); err != nil {
			return fmt.Errorf("task %d: %w", t.Index, err)
		}
	}
	return nil
}

// Check refuses amounts that are negative, infinite or NaN.
func (l Level) Check() error {
	if !isAmount(l.CPU) {
		return fmt.Errorf("%s of %v", CPU, l.CPU)
	}
	if !isAmount(l.Memory) {
		return fmt.Errorf("%s of %v", Memory, l.Memory)
	}
	return nil
}

func isAmount(x float64) bool { return x >= 0 && !math.IsInf(x, 1) }
