package sim

import (
	"math"
	"slices"
	"strings"
	"time"
)

// cycleStats gathers what cycles cost.
type cycleStats struct {
	wall                             []float64 // milliseconds
	skipped                          int       // cycles in which the policy was not asked
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

// cycles is the number of cycles so far.
func (c *cycleStats) cycles() int { return len(c.wall) + c.skipped }

func (c *cycleStats) cycleMS() CycleMS {
	sorted := slices.Clone(c.wall)
	slices.Sort(sorted)
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
