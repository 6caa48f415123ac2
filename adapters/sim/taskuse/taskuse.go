// Package taskuse has the type for what a task uses over time: a series of CPU and memory.
//
// A [Series] says what a task uses if it gets all the CPU that it wants. It never says what a task was given; that is
// up to the simulator.
package taskuse

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// ErrSeries is wrapped by errors about invalid series.
var ErrSeries = errors.New("taskuse: invalid series")

// MaxSegment bounds the length of a segment. Up to it, a float64 holds every number of nanoseconds exactly.
const MaxSegment = 100 * 24 * time.Hour

// Segment is a period of constant use.
type Segment struct {
	// Duration is how long it lasts at full speed, above 0 and at most MaxSegment.
	Duration time.Duration
	// CPU and Memory are what the task uses, finite and not negative, in the units of the nodes' capacities.
	CPU, Memory float64
}

// Series is a task's use from its start to its end. A valid series has at least one segment and takes at most 50 years.
type Series []Segment

// maxRuntime bounds a series, as it does all work in the simulator.
const maxRuntime = 50 * 365 * 24 * time.Hour

// Validate checks the series. Its error wraps [ErrSeries] and names the segment.
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

// CPUTime is the CPU integrated over seconds.
func (s Series) CPUTime() float64 {
	total := 0.0
	for i := range s {
		total += float64(s[i].CPU * s[i].Duration.Seconds())
	}
	return total
}

// Mean is the average use of CPU and memory over time; 0 for an empty series.
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

// Max is the peak of CPU and of memory.
func (s Series) Max() (cpu, memory float64) {
	for i := range s {
		cpu, memory = max(cpu, s[i].CPU), max(memory, s[i].Memory)
	}
	return cpu, memory
}

// Scale returns the series with CPU and memory multiplied by these factors.
func (s Series) Scale(cpu, memory float64) Series {
	out := make(Series, len(s))
	for i := range s {
		out[i] = Segment{Duration: s[i].Duration, CPU: s[i].CPU * cpu, Memory: s[i].Memory * memory}
	}
	return out
}

// Stretch returns the series stretched or shrunk to a runtime above 0. Ends of segments are rounded to the nanosecond.
// Segments that become empty are dropped, and those that become longer than [MaxSegment] are split. An empty series
// stays empty.
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

// Joined merges adjacent segments with equal use. Only the number of segments changes.
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
