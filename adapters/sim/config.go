package sim

import (
	"errors"
	"io"
	"time"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
)

// What Run refuses; the errors it returns wrap one of these and name the offender.
var (
	// ErrConfig is a configuration that makes no sense.
	ErrConfig = errors.New("sim: invalid configuration")
	// ErrNode is a node without a name, with another's name, or with an impossible capacity.
	ErrNode = errors.New("sim: invalid node")
	// ErrJob is a job with a field out of range.
	ErrJob = errors.New("sim: invalid job")
	// ErrDuplicateJob is a job id given twice.
	ErrDuplicateJob = errors.New("sim: duplicate job id")
	// ErrTooWide is a gang that the idle cluster could not hold.
	ErrTooWide = errors.New("sim: gang larger than the cluster")
	// ErrTimeOverflow is a completion beyond what a time.Duration holds, 292 years.
	ErrTimeOverflow = errors.New("sim: simulated time overflows")
	// ErrLivelock is a policy that preempts a job over and over while nothing arrives and nothing finishes.
	ErrLivelock = errors.New("sim: policy gets nowhere")
)

// Config is one run. Nodes, Policy and Predictor are required; the inputs are not modified.
type Config struct {
	// Nodes is the cluster; see [Nodes].
	Nodes []sched.Node
	// Jobs in any order; ids are unique.
	Jobs []Job
	// Policy decides. It must be fresh, since policies may keep state.
	Policy sched.Policy
	// Predictor forecasts; completions teach it as the simulation runs.
	Predictor predict.Predictor
	// Cycle is the time between decisions, which fall on its multiples;
	// 0 asks the policy at each instant at which something arrived or finished.
	Cycle time.Duration
	// Span is the arrival window for the figures "in window"; 0 is up to the last submission.
	Span time.Duration
	// TasksPerNode turns tasks into machines for machine-hours; 0 is the most
	// "node" units that a node offers, or 1.
	TasksPerNode int
	// Seed is only reported.
	Seed int64
	// Log receives the decision log, a JSON object a line, as package decisionlog describes;
	// nil keeps none. Run buffers and flushes but does not close it.
	Log io.Writer
	// ChargeSolverTime lets the wall-clock time a cycle has taken pass in the simulated
	// world before its plan is carried out. Runs are then no longer repeatable.
	ChargeSolverTime bool
	// Stopwatch is the wall clock that times cycles, since any origin; nil is the machine's.
	Stopwatch func() time.Duration
	// Progress, if not nil, is told how many of the jobs are finished or dropped, when that changed in a cycle.
	Progress func(done, total int)
	// CycleObserver, if not nil, sees every cycle after it was carried out and must not keep or change it.
	CycleObserver func(*sched.Cycle)
}

// Class says whether a job has a deadline.
type Class string

// The classes.
const (
	SLO        Class = "slo"
	BestEffort Class = "be"
)

// JobRecord is what became of a job. Times are since the start of the simulation.
type JobRecord struct {
	ID    string
	Class Class
	Tasks int
	// Submit is when it arrived.
	Submit time.Duration
	// Deadline is absolute; 0 for best-effort jobs.
	Deadline time.Duration
	// FirstStart and Start are its first and its last start; -1 if it never started.
	FirstStart, Start time.Duration
	// Finish is its completion; -1 if it was dropped.
	Finish time.Duration
	// Preemptions is how often it was stopped, Lost the time that it had run by then, summed, of a job that loses its
	// work so.
	Preemptions int
	Lost        time.Duration
	// Slowed tells that the last start was outside its preferred nodes.
	Slowed bool
	// Told is the probability of meeting the deadline that the policy told with the last start;
	// [sched.UnknownProbability] if it told none, or if the job never started.
	Told float64
	// Nodes held its tasks after the last start.
	Nodes []sched.NodeTasks
}

// Missed tells that the job had a deadline and did not complete by it.
func (r *JobRecord) Missed() bool {
	return r.Class == SLO && (r.Finish < 0 || r.Finish > r.Deadline)
}

// Result is what a run gave.
type Result struct {
	Metrics Metrics
	// Jobs are in order of arrival, ties by id.
	Jobs []JobRecord
	// Series is the use of the cluster over time.
	Series Series
	// Events is the number of simulated events: submissions, starts, completions, preemptions, drops.
	Events int
	// Rejections is the number of decisions that the loop or the cluster refused; a sound policy has none.
	Rejections int
	// BusyMachineHours is all machine time that tasks held: goodput and lost work.
	BusyMachineHours float64
}
