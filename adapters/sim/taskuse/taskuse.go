// Package taskuse is what tasks use over time: series of CPU and memory, and readers of public logs that have them.
//
// A [Series] is a task's own: what it would use if nobody else were there. It never says what a task was given; that is
// the simulator's matter. The readers never schedule and never invent values. A record that cannot be is left out and
// counted by its reason.
package taskuse

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// ErrSeries is the sentinel of series that no task can have.
var ErrSeries = errors.New("taskuse: invalid series")

// MaxSegment bounds the length of a segment. Up to it, a float64 holds every number of nanoseconds exactly.
const MaxSegment = 100 * 24 * time.Hour

// Segment is a time in which a task's use does not change.
type Segment struct {
	// Duration is how long it lasts at full speed, above 0 and at most MaxSegment.
	Duration time.Duration
	// CPU and Memory are what the task uses, finite and not negative, in the units of the nodes' capacities.
	CPU, Memory float64
}

// Series is a task's use from its start to its end. It has at least one segment, and takes at most 50 years.
type Series []Segment

// maxRuntime bounds a series, as it does all work in the simulator.
const maxRuntime = 50 * 365 * 24 * time.Hour

// Validate returns an error that wraps [ErrSeries] and names the segment, unless the series is one that a task can
// have.
func (s Series) Validate() error {
	if len(s) == 0 {
		return fmt.Errorf("%w: no segments", ErrSeries)
	}
	total := time.Duration(0)
	for i := range s {
		g := &s[i]
		switch {
		case g.Duration <= 0 || g.Duration > MaxSegment:
			return fmt.Errorf("%w: segment %d lasts %v, want above 0 and at most %v", ErrSeries, i, g.Duration, MaxSegment)
		case !amount(g.CPU):
			return fmt.Errorf("%w: segment %d uses %v CPU, want a number from 0", ErrSeries, i, g.CPU)
		case !amount(g.Memory):
			return fmt.Errorf("%w: segment %d uses %v memory, want a number from 0", ErrSeries, i, g.Memory)
		}
		if total += g.Duration; total > maxRuntime {
			return fmt.Errorf("%w: longer than 50 years", ErrSeries)
		}
	}
	return nil
}

func amount(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }

// Runtime is how long the series takes at full speed.
func (s Series) Runtime() time.Duration {
	total := time.Duration(0)
	for i := range s {
		total += s[i].Duration
	}
	return total
}

// CPUTime is CPU times seconds, summed.
func (s Series) CPUTime() float64 {
	total := 0.0
	for i := range s {
		total += float64(s[i].CPU * s[i].Duration.Seconds())
	}
	return total
}

// Mean is the average use of CPU and memory, weighted by time; 0 of an empty series.
func (s Series) Mean() (cpu, memory float64) {
	for i := range s {
		seconds := s[i].Duration.Seconds()
		cpu += float64(s[i].CPU * seconds)
		memory += float64(s[i].Memory * seconds)
	}
	if total := s.Runtime().Seconds(); total > 0 {
		return cpu / total, memory / total
	}
	return 0, 0
}

// Max is the most CPU and the most memory of any segment.
func (s Series) Max() (cpu, memory float64) {
	for i := range s {
		cpu, memory = max(cpu, s[i].CPU), max(memory, s[i].Memory)
	}
	return cpu, memory
}

// Scale returns the series with its amounts multiplied.
func (s Series) Scale(cpu, memory float64) Series {
	out := make(Series, len(s))
	for i := range s {
		out[i] = Segment{Duration: s[i].Duration, CPU: s[i].CPU * cpu, Memory: s[i].Memory * memory}
	}
	return out
}

// Stretch returns the series stretched or shrunk to a runtime above 0. Ends of segments are rounded to the nanosecond.
// Segments that become empty are left out, and such that become longer than [MaxSegment] are cut. An empty series stays
// empty.
func (s Series) Stretch(to time.Duration) Series {
	whole := s.Runtime().Seconds()
	if whole <= 0 || to <= 0 {
		return nil
	}
	out := make(Series, 0, len(s))
	before, passed := time.Duration(0), time.Duration(0)
	for i := range s {
		passed += s[i].Duration
		end := to
		if i < len(s)-1 {
			end = min(to, time.Duration(math.Round(passed.Seconds()/whole*float64(to))))
		}
		g := s[i]
		for left := end - before; left > 0; left -= g.Duration {
			g.Duration = min(left, MaxSegment)
			out = append(out, g)
		}
		before = max(before, end)
	}
	return out
}

// Joined returns the series with equal neighbours made one, which changes nothing but the number of segments.
func (s Series) Joined() Series {
	var out Series
	for _, g := range s {
		if n := len(out) - 1; n >= 0 && out[n].CPU == g.CPU && out[n].Memory == g.Memory &&
			g.Duration <= MaxSegment-out[n].Duration {
			out[n].Duration += g.Duration
			continue
		}
		out = append(out, g)
	}
	return out
}
