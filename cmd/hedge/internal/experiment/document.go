package experiment

import (
	"encoding/json"
	"time"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/adapters/sim/workload"

	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
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
}

// Workload says what was run. With several seeds the numbers are those of the first;
// Seeds has them all.
type Workload struct {
	Trace        string         `json:"trace"`
	Format       string         `json:"format"`
	Kind         string         `json:"kind"`
	Jobs         int            `json:"jobs"`
	SLOJobs      int            `json:"slo_jobs"`
	Tasks        int            `json:"tasks"`
	MachineHours float64        `json:"machine_hours"`
	SpanS        float64        `json:"span_s"`
	TraceSpanS   float64        `json:"trace_span_s"`
	Load         float64        `json:"load"`
	Nodes        int            `json:"nodes"`
	Racks        int            `json:"racks"`
	TasksPerNode int            `json:"tasks_per_node"`
	Trained      int            `json:"trained_jobs"`
	Skipped      map[string]int `json:"skipped"`
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
	Work    int64   `json:"work_per_cycle"`
}

// Run is one policy on one seed's workload.
type Run struct {
	sim.Metrics
	// Jobs, Series and Picture are kept for charts only.
	Jobs    []sim.JobRecord `json:"-"`
	Series  sim.Series      `json:"-"`
	Picture *Picture        `json:"-"`
}

// Summary is a policy's figures over the seeds, each a mean with its 95 % interval.
type Summary struct {
	Policy        string         `json:"policy"`
	MissRate      stats.Interval `json:"miss_rate"`
	SLOGoodput    stats.Interval `json:"slo_goodput_machine_hours"`
	BEGoodput     stats.Interval `json:"be_goodput_machine_hours"`
	WindowGoodput stats.Interval `json:"goodput_in_window_machine_hours"`
	BELatency     stats.Interval `json:"be_latency_s"`
	JCT           stats.Interval `json:"jct_s"`
	Preemptions   stats.Interval `json:"preemptions"`
	LostHours     stats.Interval `json:"lost_machine_hours"`
	Utilisation   stats.Interval `json:"utilisation"`
	CycleP99      stats.Interval `json:"cycle_p99_ms"`
	GapMean       stats.Interval `json:"gap_mean"`
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
	return marshal(single{Schema: d.Schema, Command: "simulate", Workload: d.Workload, Planning: d.Planning, Run: d.Runs[0]})
}

type marshal single

func (m marshal) MarshalJSON() ([]byte, error) { return json.Marshal(single(m)) }

// summarise gathers runs, which are in order of policies, by policy.
func summarise(policies []string, runs []Run) []Summary {
	out := make([]Summary, 0, len(policies))
	for _, name := range policies {
		of := func(figure func(*sim.Metrics) float64) stats.Interval {
			var values []float64
			for i := range runs {
				if runs[i].Policy == name {
					values = append(values, figure(&runs[i].Metrics))
				}
			}
			return stats.Of(values)
		}
		out = append(out, Summary{
			Policy:        name,
			MissRate:      of(func(m *sim.Metrics) float64 { return m.SLO.MissRate }),
			SLOGoodput:    of(func(m *sim.Metrics) float64 { return m.Goodput.SLO }),
			BEGoodput:     of(func(m *sim.Metrics) float64 { return m.Goodput.BE }),
			WindowGoodput: of(func(m *sim.Metrics) float64 { return m.GoodputInWindow.SLO + m.GoodputInWindow.BE }),
			BELatency:     of(func(m *sim.Metrics) float64 { return m.BELatency.Mean }),
			JCT:           of(func(m *sim.Metrics) float64 { return m.JCT.Mean }),
			Preemptions:   of(func(m *sim.Metrics) float64 { return float64(m.Preemptions) }),
			LostHours:     of(func(m *sim.Metrics) float64 { return m.LostMachineHours }),
			Utilisation:   of(func(m *sim.Metrics) float64 { return m.Utilisation }),
			CycleP99:      of(func(m *sim.Metrics) float64 { return m.CycleMS.P99 }),
			GapMean:       of(func(m *sim.Metrics) float64 { return m.Solver.GapMean }),
		})
	}
	return out
}

func (s *Spec) workloadDocument(log *trace.Log, built []*workload.Workload) Workload {
	w := built[0]
	d := Workload{Trace: log.Name, Format: log.Format, Kind: string(w.Spec.Kind), Jobs: len(w.Jobs), SLOJobs: w.SLOJobs,
		Tasks: w.Tasks, MachineHours: w.MachineHours, SpanS: w.Span.Seconds(), TraceSpanS: w.TraceSpan.Seconds(),
		Load: w.Load, Nodes: s.Nodes, Racks: s.Racks, TasksPerNode: s.TasksPerNode, Trained: len(w.Train),
		Skipped: map[string]int{}}
	for reason, n := range log.Skipped {
		d.Skipped[reason] += n
	}
	for reason, n := range w.Skipped {
		d.Skipped[reason] += n
	}
	d.Reordered = log.Reordered
	for i, w := range built {
		d.Seeds = append(d.Seeds, SeedWorkload{Seed: s.Seeds[i], Jobs: len(w.Jobs), SLOJobs: w.SLOJobs,
			MachineHours: w.MachineHours, Load: w.Load, Trained: len(w.Train)})
	}
	return d
}

func (s *Spec) planningDocument(window, slot time.Duration) Planning {
	return Planning{Engine: s.Engine, CycleS: s.Cycle.Seconds(), WindowS: window.Seconds(), SlotS: slot.Seconds(),
		Budget: s.Budget, Work: s.workPerCycle()}
}
