// Package experiment runs policies on a workload made from a log: it reads the
// log, builds one workload a seed, trains one predictor a seed, simulates every
// (policy, seed) pair on all cores, and gathers the documents of hedge compare
// and hedge simulate. The order of runs and every number but the measured times are the
// same whatever the number of cores.
package experiment

import (
	"maps"
	"time"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/backfill"
)

// NodeLabel is a label and the number of nodes that have it.
type NodeLabel struct {
	Key, Value string
	Nodes      int
}

// Spec says what to run; the fields are the flags of hedge compare.
type Spec struct {
	// Trace is the log's path, "-" for stdin, "" for the built-in log; Format is empty to recognise it.
	Trace, Format string
	// Strict and MaxBad say which logs are refused, as in trace.Options.
	Strict bool    `json:",omitempty"`
	MaxBad float64 `json:",omitempty"`
	// Policies are names in the order of the report.
	Policies []string
	// Nodes, Racks and TasksPerNode make the cluster.
	Nodes, Racks, TasksPerNode int
	// Labels are given to the nodes in turn; nodes that are left over get none.
	Labels []NodeLabel `json:",omitempty"`
	// Load is offered machine time over capacity.
	Load float64
	// Hours is the length of the measured submissions; StartHour where the window begins, as in workload.Spec:
	// 0 to choose, negative for the log's origin.
	Hours, StartHour float64
	// Slack are the deadline slacks, as fractions of the runtime.
	Slack []float64
	// SLOShare, PreferShare and PreferSlowdown shape the jobs.
	SLOShare, PreferShare, PreferSlowdown float64
	// Train is "", a share of the log before the window, or a file.
	Train string
	// Workload is window, e2e or replay.
	Workload string
	// JobsPerHour is an arrival rate (e2e), 0 for the log's own.
	JobsPerHour float64
	// Estimate is by which runtimes backfill plans.
	Estimate backfill.Estimate `json:",omitzero"`
	// Engine is the solver, as engines.Open takes it.
	Engine string
	// Cycle is the scheduling period; 0 decides at every event.
	Cycle time.Duration
	// Window and Slot are the plan-ahead window and its slots; 0 follows the workload.
	Window, Slot time.Duration
	// Reserve is for how long a job may wait until 3Sigma and keep reserve nodes for it; 0 is for ever.
	Reserve time.Duration `json:",omitzero"`
	// MachineHours is the work, in machine-hours, that one more met deadline is worth to keep; 0 is its default.
	MachineHours float64 `json:",omitzero"`
	// Budget is the share of a cycle the solver may use.
	Budget float64
	// Work caps the solver's deterministic work units a cycle.
	Work int64
	// ChargeSolverTime makes planning time pass in the simulation.
	ChargeSolverTime bool
	// Seeds are the repetitions.
	Seeds []int64
	// LogDir receives the decision logs; "" for none.
	LogDir string
	// LogRanges has decision logs name ranges of nodes.
	LogRanges bool `json:"-"`
	// CaptureDir receives every cycle's placement problem, POLICY-SEED-CYCLE.json.gz each; "" for none.
	CaptureDir string
	// SnapshotDir receives every cycle's snapshot, POLICY-SEED-CYCLE.json.gz each; "" for none.
	SnapshotDir string `json:",omitempty"`
	// MaxSamples limits the predictor's history per feature value (E2E-SAMPLE-n); 0 is no limit.
	MaxSamples int
	// Perturb replaces predictions by a normal of this shift and CoV around the truth; nil for none.
	Perturb *Perturb
	// Estimates has starts estimated while they are simulated, and compared with what came true.
	Estimates bool `json:",omitzero"`
	// Observe keeps what the report's charts need of the first seed's runs.
	Observe bool
	// ReportCycle is the simulated time of the cycle whose plan is kept for the report: the first that is
	// not before it. Negative keeps the plan with the most starts. It changes no number.
	ReportCycle time.Duration `json:"-"`
	// Gantt is the job of stages whose Gantt chart the report has; "" for one with most stages. It changes no number.
	Gantt string `json:"-"`
}

// Perturb is the paper's perturbation study (3Sigma, section 6.3): the
// scheduler is told N(runtime*(1+shift), runtime*CoV) with shift ~ N(Shift, 0.1).
// CoV 0 tells it a point.
type Perturb struct {
	Shift, CoV float64
}

// nodes are those of the cluster, with their labels.
func (s *Spec) nodes() []sched.Node {
	nodes := sim.Nodes(s.Nodes, s.Racks, 1)
	at := 0
	for _, l := range s.Labels {
		for end := min(at+l.Nodes, len(nodes)); at < end; at++ {
			nodes[at].Labels = maps.Clone(nodes[at].Labels)
			nodes[at].Labels[l.Key] = l.Value
		}
	}
	return nodes
}
