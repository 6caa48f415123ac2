package sim

import (
	"math"
	"slices"
	"strings"
	"time"
)

// Metrics are the figures of a run as `hedge compare --json` prints them.
// Machine-hours are task-hours divided by the tasks per node. Percentiles are by nearest rank:
// the smallest value that at least p percent of the values do not exceed.
// Figures over no values are 0.
type Metrics struct {
	Policy string `json:"policy"`
	Seed   int64  `json:"seed"`
	// SLO counts jobs with a deadline, BE those without.
	SLO SLOCount `json:"slo"`
	BE  BECount  `json:"be"`
	// Goodput is, over completed jobs (late ones too), the time from last start to completion times the
	// machines held. A job that runs slowed counts for longer.
	Goodput PerClass `json:"goodput_machine_hours"`
	// WorkInWindow is, over jobs completed within the arrival window, their runtime at full speed times the
	// machines they need: what was got done, wherever it ran.
	WorkInWindow PerClass `json:"work_in_window_machine_hours"`
	// BELatency is completion less submission of completed best-effort jobs, JCT that of all completed jobs, in
	// seconds.
	BELatency Spread `json:"be_latency_s"`
	JCT       Spread `json:"jct_s"`
	// Preemptions counts them; LostMachineHours is the work they threw away.
	Preemptions      int     `json:"preemptions"`
	LostMachineHours float64 `json:"lost_machine_hours"`
	// Utilisation is the machine time held, lost work included, over capacity until the makespan.
	Utilisation         float64 `json:"utilisation"`
	UtilisationInWindow float64 `json:"utilisation_in_window"`
	// MakespanS is when the last task stopped, by completion or preemption, in seconds.
	MakespanS float64 `json:"makespan_s"`
	// Cycles is how often the policy was asked.
	Cycles int `json:"cycles"`
	// CycleMS is wall-clock milliseconds of whole cycles, PhaseMS their mean parts.
	CycleMS CycleMS `json:"cycle_ms"`
	PhaseMS PhaseMS `json:"phase_ms"`
	Solver  Solver  `json:"solver"`
}

// SLOCount counts jobs with a deadline.
type SLOCount struct {
	// Jobs is how many were submitted, Completed how many ran to their end, in time or late.
	Jobs      int `json:"jobs"`
	Completed int `json:"completed"`
	// Missed is how many did not complete by their deadline, those never completed included.
	Missed int `json:"missed"`
	// MissRate is Missed over Jobs.
	MissRate float64 `json:"miss_rate"`
}

// BECount counts best-effort jobs.
type BECount struct {
	Jobs      int `json:"jobs"`
	Completed int `json:"completed"`
}

// PerClass is a figure for jobs with and without a deadline.
type PerClass struct {
	SLO float64 `json:"slo"`
	BE  float64 `json:"be"`
}

// Spread sums up many values.
type Spread struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
}

// CycleMS is how long cycles took, in wall-clock milliseconds.
type CycleMS struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// PhaseMS is the mean wall-clock milliseconds of a cycle's parts.
type PhaseMS struct {
	Snapshot float64 `json:"snapshot"`
	Options  float64 `json:"options"`
	Solve    float64 `json:"solve"`
	Apply    float64 `json:"apply"`
}

// Solver sums up the solves; gaps are over the cycles in which an engine was used.
type Solver struct {
	// Engine is the engine's name, several joined by commas; empty if none was used.
	Engine string `json:"engine"`
	// GapMean and GapP99 are nil, null in JSON, where engines were used and none proved a bound: the gap is unknown.
	GapMean *float64 `json:"gap_mean"`
	GapP99  *float64 `json:"gap_p99"`
	// Stops counts why solves stopped.
	Stops map[string]int `json:"stops"`
}

// nearestRank is the p-th percentile of ascending values, 0 of none.
func nearestRank(ascending []float64, p float64) float64 {
	if len(ascending) == 0 {
		return 0
	}
	rank := int(math.Ceil(p / 100 * float64(len(ascending))))
	return ascending[min(max(rank, 1), len(ascending))-1]
}

// mean is the mean of values, 0 of none.
func mean(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// spread sorts values and sums them up.
func spread(values []float64) Spread {
	slices.Sort(values)
	return Spread{
		Mean: mean(values),
		P50:  nearestRank(values, 50),
		P90:  nearestRank(values, 90),
		P99:  nearestRank(values, 99),
	}
}

// cycleStats gathers what cycles cost.
type cycleStats struct {
	wall                             []float64 // milliseconds
	snapshot, options, solve, commit float64   // milliseconds, summed
	engines                          []string
	gaps                             []float64
	stops                            map[string]int
}

func (c *cycleStats) observe(s *step, wall time.Duration) {
	const ms = 1e3
	c.wall = append(c.wall, wall.Seconds()*ms)
	c.snapshot += float64(s.snapshot.Seconds() * ms)
	c.commit += float64(s.apply.Seconds() * ms)
	if s.plan == nil {
		return
	}
	stats := &s.plan.Stats
	c.options += float64(stats.ValueTime * ms)
	c.solve += float64(stats.SolveTime * ms)
	if stats.Engine == "" {
		return
	}
	if !slices.Contains(c.engines, stats.Engine) {
		c.engines = append(c.engines, stats.Engine)
	}
	if stats.Stop != "" {
		c.stops[stats.Stop]++
	}
	if !math.IsNaN(stats.Gap) && !math.IsInf(stats.Gap, 0) {
		c.gaps = append(c.gaps, stats.Gap)
	}
}

func (c *cycleStats) cycleMS() CycleMS {
	sorted := slices.Sorted(slices.Values(c.wall))
	return CycleMS{P50: nearestRank(sorted, 50), P99: nearestRank(sorted, 99), Max: nearestRank(sorted, 100)}
}

func (c *cycleStats) phaseMS() PhaseMS {
	n := float64(max(len(c.wall), 1))
	return PhaseMS{Snapshot: c.snapshot / n, Options: c.options / n, Solve: c.solve / n, Apply: c.commit / n}
}

func (c *cycleStats) solver() Solver {
	slices.Sort(c.engines)
	sorted := slices.Sorted(slices.Values(c.gaps))
	s := Solver{Engine: strings.Join(c.engines, ","), Stops: c.stops}
	if len(sorted) > 0 || s.Engine == "" {
		s.GapMean, s.GapP99 = new(mean(sorted)), new(nearestRank(sorted, 99))
	}
	return s
}
