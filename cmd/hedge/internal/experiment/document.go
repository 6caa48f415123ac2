package experiment

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/adapters/sim/workload"
	"github.com/hedgesched/hedge/sched/backfill"

	"github.com/hedgesched/hedge/cmd/hedge/internal/records"
)

// Document is the document of hedge compare.
type Document struct {
	Schema   int      `json:"schema"`
	Command  string   `json:"command"`
	Workload Workload `json:"workload"`
	Planning Planning `json:"planning"`
	Runs     []Run    `json:"runs"`
	// Summary has a row a policy, in the order asked for.
	Summary []Summary `json:"summary"`
	// CI95Null says why the summary's intervals are null, if they are.
	CI95Null string `json:"ci95_null,omitempty"`
}

// noInterval is CI95Null of a document of one seed.
const noInterval = "one seed has no spread: give at least two for intervals"

// Workload says what was run. With several seeds the numbers are those of the first;
// Seeds has them all.
type Workload struct {
	Trace        string  `json:"trace"`
	Format       string  `json:"format"`
	Kind         string  `json:"kind"`
	Jobs         int     `json:"jobs"`
	SLOJobs      int     `json:"slo_jobs"`
	Stages       int     `json:"stages,omitempty"` // of a workload of jobs of stages
	Tasks        int     `json:"tasks"`
	MachineHours float64 `json:"machine_hours"`
	SpanS        float64 `json:"span_s"`
	TraceSpanS   float64 `json:"trace_span_s"`
	Load         float64 `json:"load"`
	Nodes        int     `json:"nodes"`
	Racks        int     `json:"racks"`
	TasksPerNode int     `json:"tasks_per_node"`
	Trained      int     `json:"trained_jobs"`
	records.Records
	// IgnoredDemands are the resources that the log says tasks hold, which the simulated nodes do not tell
	// apart: a task takes a node, or its share of one by tasks per node.
	IgnoredDemands []string `json:"ignored_demands,omitempty"`
	// UnmatchedSpeeds are the labels by which the log says how fast jobs run, where no simulated node has them.
	UnmatchedSpeeds []string `json:"unmatched_speeds,omitempty"`
	// Reordered counts the jobs that the log has after one submitted later.
	Reordered int            `json:"reordered,omitempty"`
	Seeds     []SeedWorkload `json:"seeds"`
}

// SeedWorkload is one seed's workload.
type SeedWorkload struct {
	Seed         int64   `json:"seed"`
	Jobs         int     `json:"jobs"`
	SLOJobs      int     `json:"slo_jobs"`
	MachineHours float64 `json:"machine_hours"`
	Load         float64 `json:"load"`
	Trained      int     `json:"trained_jobs"`
}

// Planning says how policies were asked, defaults filled in.
type Planning struct {
	Engine  string  `json:"engine"`
	CycleS  float64 `json:"cycle_s"`
	WindowS float64 `json:"window_s"`
	SlotS   float64 `json:"slot_s"`
	Budget  float64 `json:"budget"`
	// Estimate is by what easy and conservative plan; empty where that is the times requested.
	Estimate string `json:"estimate,omitempty"`
	// ReserveAfterS is for how long a job waits until 3sigma and keep reserve nodes for it; absent where they never do.
	ReserveAfterS float64 `json:"reserve_after_s,omitempty"`
	// MachineHours is the work that one more met deadline is worth to keep; absent where it is keep's default.
	MachineHours float64 `json:"machine_hours,omitempty"`
	// Work limits engines whose plans work alone fixes, Time the others; the one that does not is 0.
	Work  int64   `json:"work_per_cycle"`
	TimeS float64 `json:"time_per_cycle_s"`
}

// Run is one policy on one seed's workload.
type Run struct {
	sim.Metrics
	// RealisedUtility is the sum of what completed jobs are worth at their completion, whole jobs where they have stages.
	RealisedUtility float64 `json:"realised_utility"`
	// BestEffort is what became of jobs without deadlines; nil for schemes of GS, which place tasks and not jobs.
	BestEffort *BestEffort `json:"best_effort"`
	// All are the jobs of a workload of stages, each counted once.
	All *All `json:"all,omitempty"`
	// StartEstimates are there if they were asked for.
	StartEstimates *StartEstimates `json:"start_estimates,omitempty"`
	// Jobs, Series, Picture and Gantt are kept for charts only. Schemes of GS have whole jobs in Jobs and no series.
	Jobs    []sim.JobRecord `json:"-"`
	Series  sim.Series      `json:"-"`
	Picture *Picture        `json:"-"`
	Gantt   *Gantt          `json:"-"`
}

// All is the completed jobs of a run.
type All struct {
	Jobs int        `json:"jobs"`
	JCT  sim.Spread `json:"jct_s"`
}

// single is the document of hedge simulate.
type single struct {
	Schema   int      `json:"schema"`
	Command  string   `json:"command"`
	Workload Workload `json:"workload"`
	Planning Planning `json:"planning"`
	Run      Run      `json:"run"`
}

// Single returns the document of hedge simulate; d has one run.
func (d *Document) Single() json.Marshaler {
	return marshal(single{Schema: d.Schema, Command: "simulate", Workload: d.Workload, Planning: d.Planning,
		Run: d.Runs[0]})
}

type marshal single

func (m marshal) MarshalJSON() ([]byte, error) { return json.Marshal(single(m)) }

func (s *Spec) workloadDocument(e *Experiment, built []*workload.Workload) Workload {
	log, w := e.log, built[0]
	d := Workload{Trace: log.Name, Format: log.Format, Kind: string(w.Spec.Kind), Jobs: w.Whole, SLOJobs: w.SLOJobs,
		Tasks: w.Tasks, MachineHours: w.MachineHours, SpanS: w.Span.Seconds(), TraceSpanS: w.TraceSpan.Seconds(),
		Load: w.Load, Nodes: s.Nodes, Racks: s.Racks, TasksPerNode: s.TasksPerNode, Trained: len(w.Train),
		Records: records.Of(log)}
	if w.From != nil {
		d.Stages = len(w.Jobs)
	}
	for reason, n := range w.Skipped {
		d.Skipped[reason] += n
	}
	if e.history != nil {
		d.AddBad(e.history)
	}
	d.IgnoredDemands, d.UnmatchedSpeeds, d.Reordered = e.demands, e.unmatched, log.Reordered
	for i, w := range built {
		d.Seeds = append(d.Seeds, SeedWorkload{Seed: s.Seeds[i], Jobs: w.Whole, SLOJobs: w.SLOJobs,
			MachineHours: w.MachineHours, Load: w.Load, Trained: len(w.Train)})
	}
	return d
}

// demands are the names of the resources that the log's jobs ask for, in order.
func demands(log *trace.Log) []string {
	names := map[string]bool{}
	for i := range log.Jobs {
		for name := range log.Jobs[i].Demand {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// unmatched are the labels of the log's speeds that no node has, in order.
func (s *Spec) unmatched(log *trace.Log) []string {
	have, out := map[string]bool{}, map[string]bool{}
	for i := range log.Jobs {
		if len(log.Jobs[i].Speeds) > 0 && len(have) == 0 {
			for _, n := range s.nodes() {
				for label, value := range n.Labels {
					have[label+"="+value] = true
				}
			}
		}
		for on := range log.Jobs[i].Speeds {
			if strings.Contains(on, "=") && !have[on] {
				out[on] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(out))
}

func (s *Spec) planningDocument(window, slot time.Duration) Planning {
	estimate := ""
	if s.Estimate != backfill.Requested() {
		estimate = s.Estimate.String()
	}
	return Planning{Engine: s.Engine, Estimate: estimate,
		CycleS: s.Cycle.Seconds(), WindowS: window.Seconds(), SlotS: slot.Seconds(),
		ReserveAfterS: s.Reserve.Seconds(), MachineHours: s.MachineHours, Budget: s.Budget,
		Work: s.workPerCycle(), TimeS: s.timePerCycle().Seconds()}
}
