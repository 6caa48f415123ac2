package sim

import (
	"errors"
	"io"
	"time"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
)

// What Run refuses. The errors it returns wrap one of these and name the offender.
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
	// ErrTimeOverflow is a completion later than a time.Duration can hold, 292 years.
	ErrTimeOverflow = errors.New("sim: simulated time overflows")
	// ErrLivelock is a policy that preempts a job over and over while nothing arrives and nothing finishes.
	ErrLivelock = errors.New("sim: policy gets nowhere")
)

// Config is one run. Nodes, Policy and Predictor are required. The inputs are not modified.
type Config struct {
	// Nodes is the cluster; see [Nodes].
	Nodes []sched.Node
	// Jobs are in any order. Ids are unique.
	Jobs []Job
	// Policy decides. It must be fresh, since policies may keep state.
	Policy sched.Policy
	// Predictor forecasts. Completions teach it as the simulation runs.
	Predictor predict.Predictor
	// Fresh has jobs that wait forecast again in every cycle in which something was learnt, as
	// [sched.WithFreshPredictions] does. Otherwise a job is forecast once, when it is submitted.
	Fresh bool
	// Cycle is the time between decisions, which fall on its multiples. With 0 the policy is asked at each instant at
	// which something arrived or finished.
	Cycle time.Duration
	// Span is the arrival window, for the figures "in window". 0 means up to the last submission.
	Span time.Duration
	// Until ends the simulation, at the first cycle from then on: what runs is stopped, and all that is not finished is
	// dropped. 0 goes on until every job is finished or dropped. On shared nodes a policy may start again and again what
	// is evicted every time.
	Until time.Duration
	// Outages are times in which shared nodes are lost, in any order. Nodes that are not shared have none.
	Outages []Outage
	// TasksPerNode is how many tasks make a machine in machine-hours. 0 means the most "node" units that a node
	// offers, at least 1.
	TasksPerNode int
	// Seed is only reported.
	Seed int64
	// Log receives the decision log, one JSON object per line, as package decisionlog describes. Nil keeps none. Run
	// buffers and flushes but does not close it.
	Log io.Writer
	// LogRanges has starts in the log name ranges of nodes in place of each node: the log's schema 2.
	LogRanges bool
	// Ranges has plans and records hold ranges of nodes in place of names, where the policy is a [sched.RangePolicy]: a
	// wide gang then costs no more than a narrow one. CycleObserver sees such plans and snapshots. It changes no result
	// but that [JobRecord] has Ranges in place of Nodes.
	Ranges bool
	// ChargeSolverTime has the wall-clock time of a cycle pass in the simulation too, before its plan is carried out.
	// Runs are then not repeatable.
	ChargeSolverTime bool
	// Stopwatch is the wall clock that times cycles, since any origin. Nil is the machine's clock.
	Stopwatch func() time.Duration
	// Progress is told the number of jobs that are finished or dropped, after each cycle that changed it. It may be nil.
	Progress func(done, total int)
	// CycleObserver sees every cycle after it was carried out. It must not keep or change it. It may be nil.
	CycleObserver func(*sched.Cycle)
}
