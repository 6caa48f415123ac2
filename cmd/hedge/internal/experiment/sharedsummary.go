package experiment

import (
	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
)

// SharedSummary is a policy's figures on a number of machines, over seeds and assignments.
type SharedSummary struct {
	Policy       string         `json:"policy"`
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
	CycleP99             stats.Interval `json:"cycle_p99_ms"`
}

// summariseShared sums up the runs of each policy and size.
func summariseShared(policies []string, sizes []int, runs []SharedRun) []SharedSummary {
	out := make([]SharedSummary, 0, len(policies)*len(sizes))
	for _, name := range policies {
		for _, size := range sizes {
			out = append(out, summariseOne(name, size, runs))
		}
	}
	return out
}

func summariseOne(name string, size int, runs []SharedRun) SharedSummary {
	of := func(figure func(*SharedRun) float64) stats.Interval {
		var values []float64
		for i := range runs {
			if r := &runs[i]; r.Policy == name && r.Nodes == size {
				values = append(values, figure(r))
			}
		}
		return stats.Of(values)
	}
	s := SharedSummary{
		Policy: name, Nodes: size,
		SLOMissRate:          of(func(r *SharedRun) float64 { return r.SLO.MissRate }),
		NeverStarted:         of(func(r *SharedRun) float64 { return float64(r.NeverStarted) }),
		BELatency:            of(func(r *SharedRun) float64 { return r.BELatency.Mean }),
		Evictions:            of(func(r *SharedRun) float64 { return float64(r.Evictions) }),
		Preemptions:          of(func(r *SharedRun) float64 { return float64(r.Preemptions) }),
		ThrottlesPerNodeHour: of(func(r *SharedRun) float64 { return r.ThrottlesPerNodeHour }),
		ViolationShare:       of(func(r *SharedRun) float64 { return r.ViolationShare }),
		EffectiveLoad:        of(func(r *SharedRun) float64 { return r.EffectiveLoad }),
		Admitted:             of(func(r *SharedRun) float64 { return r.Admitted }),
		CycleP99:             of(func(r *SharedRun) float64 { return r.CycleMS.P99 }),
	}
	s.Goodput.SLO = of(func(r *SharedRun) float64 { return r.Goodput.SLO })
	s.Goodput.BE = of(func(r *SharedRun) float64 { return r.Goodput.BE })
	return s
}
