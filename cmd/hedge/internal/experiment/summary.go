package experiment

import (
	"fmt"
	"math"

	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
)

// Summary is a policy's figures over the seeds, each a mean with its 95 % interval.
type Summary struct {
	Policy          string         `json:"policy"`
	MissRate        stats.Interval `json:"miss_rate"`
	SLOGoodput      stats.Interval `json:"slo_goodput_machine_hours"`
	BEGoodput       stats.Interval `json:"be_goodput_machine_hours"`
	WorkInSpan      stats.Interval `json:"work_in_window_machine_hours"`
	SLOWorkInSpan   stats.Interval `json:"slo_work_in_window_machine_hours"`
	BEWorkInSpan    stats.Interval `json:"be_work_in_window_machine_hours"`
	GivenUp         stats.Interval `json:"given_up"`
	BELatency       stats.Interval `json:"be_latency_s"`
	JCT             stats.Interval `json:"jct_s"`
	Preemptions     stats.Interval `json:"preemptions"`
	LostHours       stats.Interval `json:"lost_machine_hours"`
	RealisedUtility stats.Interval `json:"realised_utility"`
	// BERoom and BELongestWait are nil for schemes of GS, and so is CycleP99: they have no cycles.
	BERoom            *stats.Interval `json:"be_room_machine_hours"`
	BELongestWait     *stats.Interval `json:"be_longest_wait_s"`
	Utilisation       stats.Interval  `json:"utilisation"`
	UtilisationInSpan stats.Interval  `json:"utilisation_in_window"`
	CycleP99          *stats.Interval `json:"cycle_p99_ms"`
	// GapMean is nil where engines were used and none proved a bound.
	GapMean *stats.Interval `json:"gap_mean"`
}

// Summarise gathers runs by policy.
func Summarise(policies []string, runs []Run) []Summary {
	out := make([]Summary, 0, len(policies))
	for _, name := range policies {
		of := func(figure func(*Run) float64) stats.Interval {
			var values []float64
			for i := range runs {
				if runs[i].Policy == name {
					values = append(values, figure(&runs[i]))
				}
			}
			return stats.Of(values)
		}
		out = append(out, Summary{
			Policy:            name,
			MissRate:          of(func(m *Run) float64 { return m.SLO.MissRate }),
			SLOGoodput:        of(func(m *Run) float64 { return m.Goodput.SLO }),
			BEGoodput:         of(func(m *Run) float64 { return m.Goodput.BE }),
			WorkInSpan:        of(func(m *Run) float64 { return m.WorkInWindow.SLO + m.WorkInWindow.BE }),
			SLOWorkInSpan:     of(func(m *Run) float64 { return m.WorkInWindow.SLO }),
			BEWorkInSpan:      of(func(m *Run) float64 { return m.WorkInWindow.BE }),
			GivenUp:           of(func(m *Run) float64 { return float64(m.SLO.Jobs - m.SLO.Completed) }),
			BELatency:         of(func(m *Run) float64 { return m.BELatency.Mean }),
			JCT:               of(func(m *Run) float64 { return m.JCT.Mean }),
			Preemptions:       of(func(m *Run) float64 { return float64(m.Preemptions) }),
			LostHours:         of(func(m *Run) float64 { return m.LostMachineHours }),
			Utilisation:       of(func(m *Run) float64 { return m.Utilisation }),
			UtilisationInSpan: of(func(m *Run) float64 { return m.UtilisationInWindow }),
			RealisedUtility:   of(func(m *Run) float64 { return m.RealisedUtility }),
			CycleP99: some(name, runs, func(m *Run) *float64 {
				if m.Cycles == 0 {
					return nil
				}
				return &m.CycleMS.P99
			}),
			BERoom: some(name, runs, func(m *Run) *float64 {
				if m.BestEffort == nil {
					return nil
				}
				return &m.BestEffort.RoomMachineHours
			}),
			BELongestWait: some(name, runs, func(m *Run) *float64 {
				if m.BestEffort == nil {
					return nil
				}
				return &m.BestEffort.LongestWaitS
			}),
			GapMean: some(name, runs, func(m *Run) *float64 { return m.Metrics.Solver.GapMean }),
		})
	}
	return out
}

// some is a figure of a policy's runs that have it; nil if none has.
func some(policy string, runs []Run, figure func(*Run) *float64) *stats.Interval {
	var values []*float64
	for i := range runs {
		if runs[i].Policy == policy {
			values = append(values, figure(&runs[i]))
		}
	}
	return stats.Known(values)
}

// Column is a figure of a Summary as tables for people show it.
type Column struct {
	// Head is the column's title, with its unit where it needs one.
	Head string
	// Scale turns the summary's unit into the column's.
	Scale float64
	// Of is not a number where the figure is unknown.
	Of func(*Summary) stats.Interval
}

// Columns are the figures of tables that compare policies, in their order.
func Columns() []Column {
	return []Column{
		{"SLO miss %", 100, func(s *Summary) stats.Interval { return s.MissRate }},
		{"given up", 1, func(s *Summary) stats.Interval { return s.GivenUp }},
		{"SLO goodput", 1, func(s *Summary) stats.Interval { return s.SLOWorkInSpan }},
		{"BE goodput", 1, func(s *Summary) stats.Interval { return s.BEWorkInSpan }},
		{"BE latency min", 1.0 / 60, func(s *Summary) stats.Interval { return s.BELatency }},
		{"preempted", 1, func(s *Summary) stats.Interval { return s.Preemptions }},
		{"lost", 1, func(s *Summary) stats.Interval { return s.LostHours }},
		{"busy %", 100, func(s *Summary) stats.Interval { return s.UtilisationInSpan }},
		{"gap %", 100, func(s *Summary) stats.Interval { return known(s.GapMean) }},
		{"cycle p99 ms", 1, func(s *Summary) stats.Interval { return known(s.CycleP99) }},
	}
}

// known is a figure that may not be there.
func known(figure *stats.Interval) stats.Interval {
	if figure == nil {
		return stats.Interval{Mean: math.NaN()}
	}
	return *figure
}

// WorthColumns are the figures of the table that weighs policies against what there is to be had.
func WorthColumns() []Column {
	return []Column{
		{"realised utility", 1, func(s *Summary) stats.Interval { return s.RealisedUtility }},
		{"BE goodput", 1, func(s *Summary) stats.Interval { return s.BEWorkInSpan }},
		{"BE room", 1, func(s *Summary) stats.Interval { return known(s.BERoom) }},
		{"longest BE wait min", 1.0 / 60, func(s *Summary) stats.Interval { return known(s.BELongestWait) }},
	}
}

// WorthNotes explain [WorthColumns].
func WorthNotes() [][2]string {
	return [][2]string{
		{"realised utility", "what completed jobs are worth at their completion, summed: higher is better"},
		{"BE room", "machine-hours of best-effort work that capacity can hold beside the deadlines met: a bound of " +
			"goodput"},
		{"longest BE wait", "from a best-effort job's submission to the start of the run that completed it"},
	}
}

// ColumnNotes explain the columns, a name and a sentence each.
func ColumnNotes() [][2]string {
	return [][2]string{
		{"SLO miss %", "jobs with a deadline that did not complete by it, never-started ones included: lower is better"},
		{"given up", "jobs with a deadline that were never completed, as they were worth nothing any more"},
		{"goodput", "machine-hours of work completed while jobs still arrived, SLO and best-effort (BE) apart, as it takes " +
			"at full speed: higher is better"},
		{"BE latency", "mean time from submission to completion of best-effort jobs: lower is better"},
		{"preempted, lost", "jobs stopped to make room, and the machine-hours of work thrown away with them"},
		{"busy %", "machine time held while jobs still arrived, lost work included, over capacity"},
		{"gap %", "mean distance of plans from the solver's proven bound; 0 where nothing is solved, – where no bound was " +
			"proven"},
		{"cycle p99", "wall-clock time of planning, 99th percentile"},
	}
}

// Verdict says in a sentence what the summary shows of 3Sigma against point estimates and priorities;
// "" where it does not hold them side by side.
func Verdict(summary []Summary) string {
	rate := map[string]float64{}
	for _, s := range summary {
		rate[s.Policy] = s.MissRate.Mean
	}
	ours, ok := rate["3sigma"]
	if !ok {
		return ""
	}
	text := ""
	for _, rival := range []struct{ name, what string }{{"point-real", "point estimates"}, {"prio", "strict priorities"}} {
		theirs, ok := rate[rival.name]
		switch {
		case !ok:
			continue
		case text == "":
			text = "Here "
		default:
			text += "; "
		}
		text += against(rival.what, theirs, ours)
	}
	if text != "" {
		text += "."
	}
	return text
}

// against compares a rival's miss rate with 3Sigma's.
func against(what string, theirs, ours float64) string {
	switch {
	case ours > 0:
		return fmt.Sprintf("%s miss %.1f times as many deadlines as 3sigma", what, theirs/ours)
	case theirs > 0:
		return fmt.Sprintf("%s miss %.1f %% of deadlines, 3sigma none", what, 100*theirs)
	}
	return what + " miss no deadlines, as 3sigma"
}
