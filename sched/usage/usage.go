// Package usage has the types for measurements of what tasks use on machines that they share. A cluster reports them in
// a [Batch] per cycle, and snapshots show them to policies.
//
// The package measures, forecasts and decides nothing.
package usage

import (
	"fmt"
	"math"
	"time"
)

// The shared resources, by their names in capacities and demands. Any other resource is reserved by the tasks that
// demand it.
const (
	// CPU is in cores, or in any other unit that nodes and tasks have in common, such as Nomad's MHz. It is shared in
	// time: a task that gets less than it wants takes longer.
	CPU = "cpu"
	// Memory is in bytes, or in any other unit that nodes and tasks have in common. If it runs short, tasks are evicted.
	Memory = "memory"
)

// LeastShare is the least weight of a task where CPU is shared, as a share of the machine's CPU. A task that requests
// less, or nothing, weighs as much. Linux has CPU shares from 2 to 262,144.
const LeastShare = 2.0 / 262144

// Level is an amount of each shared resource.
type Level struct{ CPU, Memory float64 }

// IsZero tells whether both amounts are 0.
func (l Level) IsZero() bool { return l == Level{} }

// Task is what one task of a running job uses.
type Task struct {
	// Index is the task's number in its gang, from 0. A task keeps it for as long as it runs.
	Index int
	// Node is where it runs.
	Node string
	// Ran is how long it has run.
	Ran time.Duration
	// Now is its current use, Mean the average over time since it started, and Max the peak of each resource.
	Now, Mean, Max Level
	// Throttled tells that it got less CPU than it wanted at some time since it started. Its CPU figures are then lower
	// bounds of what it wants.
	Throttled bool
}

// Work is the CPU time that the task has used since it started, in core-seconds or the unit of CPU times seconds.
func (t *Task) Work() float64 { return t.Mean.CPU * t.Ran.Seconds() }

// Job is what the tasks of a running job use.
type Job struct {
	// ID names the job.
	ID string
	// Tasks are all of its running tasks, in ascending order of Index.
	Tasks []Task
}

// Node is what work that the scheduler did not start uses on a node.
type Node struct {
	// Name names the node.
	Name string
	// Others is the current use of all such work.
	Others Level
}

// Batch is what a cluster has measured since its last batch. Jobs and nodes that are not in it keep their previous
// measurements.
type Batch struct {
	Jobs  []Job
	Nodes []Node
}

// Check returns an error for a negative index or time, and for an amount that is negative, infinite or NaN.
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

// Check returns an error for an amount that is negative, infinite or NaN.
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
