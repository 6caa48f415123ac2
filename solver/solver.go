// Package solver chooses placement options: given pending jobs with valued
// options, capacities per partition, resource and time slot, and running jobs
// that may be preempted at a price, it says which option each job takes
// (3Sigma, section 4.3.3, as plain numbers).
//
// Callers use the concrete function [Solve]; engines implement [Solver]. The
// package knows nothing of clusters, clocks or distributions.
package solver

import "context"

// Problem is one scheduling cycle in plain numbers; its JSON form is the
// exchange format of hedge solve. Slices are not modified by solvers.
type Problem struct {
	// SlotSeconds is the length of a time slot; slot 0 starts now.
	SlotSeconds float64 `json:"slot_seconds"`
	// Slots is T, the number of capacity slots.
	Slots int `json:"slots"`
	// Resources names the R resources.
	Resources []string `json:"resources"`
	// Partitions are disjoint groups of nodes.
	Partitions []Partition `json:"partitions"`
	// Capacity is [partition][resource][slot] of free amounts, running jobs'
	// expected consumption already taken off.
	Capacity [][][]float64 `json:"capacity"`
	// Jobs are the pending jobs; each takes at most one of its options.
	Jobs []Job `json:"jobs"`
	// Running are the jobs that may be preempted.
	Running []Running `json:"running,omitempty"`
	// Hint maps a job id to last cycle's option index; it may be stale.
	Hint map[string]int `json:"hint,omitempty"`
}

// Partition is a group of nodes that no job tells apart.
type Partition struct {
	Name  string `json:"name"`
	Nodes int    `json:"nodes"`
}

// Job is a pending job and its placement options.
type Job struct {
	ID string `json:"id"`
	// Priority says whose room its options may take, see [Running].
	Priority int      `json:"priority,omitempty"`
	Options  []Option `json:"options"`
}

// Option is a placement option: a gang of Count tasks on an equivalence set
// from a start slot on.
type Option struct {
	// Set is the equivalence set's name; information only.
	Set string `json:"set"`
	// Start is the start slot, in [0, Slots).
	Start int `json:"start"`
	// Count is k, the tasks of the gang.
	Count int `json:"count"`
	// Demand is what one task holds of each resource.
	Demand []float64 `json:"demand"`
	// Partitions are the partitions the tasks may be split over.
	Partitions []int `json:"partitions"`
	// Usage[t] is the probability of still running t slots after the start;
	// missing entries are 0.
	Usage []float64 `json:"usage"`
	// Value is the expected utility if chosen, > 0.
	Value float64 `json:"value"`
}

// Running is a running job that may be preempted at a price. Jobs of priority MinPriority and higher may take its room:
// what all jobs below any priority take of a row is at most its capacity and what preempted jobs of a MinPriority below
// it held. Where nobody sets a priority every job may take all.
type Running struct {
	ID          string    `json:"id"`
	PreemptCost float64   `json:"preempt_cost"`
	MinPriority int       `json:"min_priority,omitempty"`
	Demand      []float64 `json:"demand"`
	// Usage[t] is the probability of still running at slot t.
	Usage []float64 `json:"usage"`
	Alloc []Alloc   `json:"alloc"`
}

// Alloc is a number of a gang's tasks in one partition.
type Alloc struct {
	Partition int `json:"partition"`
	Count     int `json:"count"`
}

// Solver is a solving engine. [Solve] has validated the problem before it
// calls an engine, and verifies what the engine returns.
type Solver interface {
	// Name is the engine's name as the command line and Solution.Engine give it.
	Name() string
	// Solve returns the best plan found before ctx ends or the work is used up.
	// Whenever a better plan is found it is handed to report, which is not nil and copies it,
	// so that nothing is lost when the engine is abandoned at the deadline. ctx has a deadline where
	// opts.Time is set, which only tells an engine how to share its time; who calls an engine directly must see to that.
	Solve(ctx context.Context, p *Problem, opts Options, report func(*Solution)) (*Solution, error)
}

// Caps says what an engine can do.
type Caps struct {
	// Exact: it solves small problems to optimality and says so.
	Exact bool
	// Bound: every solution has a proven upper bound, unless the engine was left behind past its deadline.
	Bound bool
	// Anytime: it has a plan within milliseconds of some thousand jobs on some hundred partitions (more take longer: the time goes with jobs, options and partitions), and betters it while it has time.
	Anytime bool
	// Deterministic: a solve limited by work only gives the same plan every time, and
	// says in Solution.Work how much it took.
	Deterministic bool
}
