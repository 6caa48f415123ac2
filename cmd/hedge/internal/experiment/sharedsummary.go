package experiment

import (
	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
)

// SharedSummary is a policy's figures on a number of machines, over seeds and assignments.
type SharedSummary struct {
	Policy       string         `json:"policy"`
	Setting      *Setting       `json:"setting,omitempty"`
	Nodes        int            `json:"nodes"`
	SLOMissRate  stats.Interval `json:"slo_miss_rate"`
	NeverStarted stats.Interval `json:"never_started"`
	Goodput      struct {
		SLO stats.Interval `json:"slo"`
		BE  stats.Interval `json:"be"`
	} `json:"goodput_core_hours"`
	BELatency            stats.Interval `json:"be_latency_mean_s"`
	Evictions            stats.Interval `json:"evictions"`
	Preemptions          stats.Interval `json:"preemptions"`
	ThrottlesPerNodeHour stats.Interval `json:"throttles_per_node_hour"`
	ViolationShare       stats.Interval `json:"violation_share"`
	EffectiveLoad        stats.Interval `json:"effective_load"`
	Admitted             stats.Interval `json:"admitted_cpu_hours"`
	Completed            stats.Interval `json:"completed_cpu_hours"`
	CycleP50             stats.Interval `json:"cycle_p50_ms"`
	CycleP99             stats.Interval `json:"cycle_p99_ms"`
	// Evicted compares probabilities of evictions with what came true, over all runs.
	Evicted []EvictionBin `json:"eviction_reliability,omitempty"`
	// Phases has the parts of a cycle: the snapshot, the sums of what machines' tasks use ("solve"), options and their
	// values, and what carries plans out. They are means over cycles.
	Phases struct {
		Snapshot stats.Interval `json:"snapshot"`
		Solve    stats.Interval `json:"solve"`
		Options  stats.Interval `json:"options"`
		Apply    stats.Interval `json:"apply"`
	} `json:"phase_ms"`
}

// Label is the policy's name, with its setting if it has one.
func (s *SharedSummary) Label() string { return s.Setting.name(s.Policy, " ") }

// summariseShared sums up the runs of each arm and size.
func summariseShared(arms []arm, sizes []int, runs []SharedRun) []SharedSummary {
	out := make([]SharedSummary, 0, len(arms)*len(sizes))
	works := len(runs) / max(1, len(arms)*len(sizes))
	for i := range arms {
		for k, size := range sizes {
			from := (i*len(sizes) + k) * works
			out = append(out, summariseOne(&arms[i], size, runs[from:from+works]))
		}
	}
	return out
}

func summariseOne(a *arm, size int, runs []SharedRun) SharedSummary {
	of := func(figure func(*SharedRun) float64) stats.Interval {
		values := make([]float64, len(runs))
		for i := range runs {
			values[i] = figure(&runs[i])
		}
		return stats.Of(values)
	}
	s := SharedSummary{
		Policy: a.of.Name, Setting: a.setting, Nodes: size,
		SLOMissRate:          of(func(r *SharedRun) float64 { return r.SLO.MissRate }),
		NeverStarted:         of(func(r *SharedRun) float64 { return float64(r.NeverStarted) }),
		BELatency:            of(func(r *SharedRun) float64 { return r.BELatency.Mean }),
		Evictions:            of(func(r *SharedRun) float64 { return float64(r.Evictions) }),
		Preemptions:          of(func(r *SharedRun) float64 { return float64(r.Preemptions) }),
		ThrottlesPerNodeHour: of(func(r *SharedRun) float64 { return r.ThrottlesPerNodeHour }),
		ViolationShare:       of(func(r *SharedRun) float64 { return r.ViolationShare }),
		EffectiveLoad:        of(func(r *SharedRun) float64 { return r.EffectiveLoad }),
		Admitted:             of(func(r *SharedRun) float64 { return r.Admitted }),
		Completed:            of(func(r *SharedRun) float64 { return r.Completed }),
		CycleP99:             of(func(r *SharedRun) float64 { return r.CycleMS.P99 }),
	}
	s.Evicted = sumBins(runs)
	s.CycleP50 = of(func(r *SharedRun) float64 { return r.CycleMS.P50 })
	s.Phases.Snapshot = of(func(r *SharedRun) float64 { return r.PhaseMS.Snapshot })
	s.Phases.Solve = of(func(r *SharedRun) float64 { return r.PhaseMS.Solve })
	s.Phases.Options = of(func(r *SharedRun) float64 { return r.PhaseMS.Options })
	s.Phases.Apply = of(func(r *SharedRun) float64 { return r.PhaseMS.Apply })
	s.Goodput.SLO = of(func(r *SharedRun) float64 { return r.Goodput.SLO })
	s.Goodput.BE = of(func(r *SharedRun) float64 { return r.Goodput.BE })
	return s
}
