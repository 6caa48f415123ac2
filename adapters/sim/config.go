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
