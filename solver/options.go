package solver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// Options bound a solve. The zero value means: no time limit, the engine's default
// work, a gap of 1e-4, one thread, integer splits, seed 1.
type Options struct {
	// Time is the wall-clock limit. With 0, only ctx limits the time.
	Time time.Duration
	// Work is the deterministic limit, in engine-defined units; a two-core machine does about a million per second. With
	// 0, it is the engine's default, or unlimited if Time is set. The limit is per thread: a solve with more threads does
	// more work and takes about as long, if there is a processor for each.
	Work int64
	// Gap stops the solve when (bound-objective)/|bound| is at most this. 0 means [DefaultGap]. A negative gap means zero:
	// stop only at proven optima, as defined by [StopOptimal].
	Gap float64
	// Threads is the maximum number of threads, for engines that can use more than one; 0 means 1. Native uses up to 64,
	// greedy one. The result of a work-limited solve depends on Threads, but not on the number of processors. Each thread
	// has memory of its own, which native keeps for the next solve: about 20 MB per thread for 2,000 jobs on 20
	// partitions.
	Threads int
	// Splits says for which options the split over partitions must be in whole tasks.
	Splits SplitRule
	// Seed drives randomised search; 0 means 1.
	Seed int64
	// Memory is that of the last problem's solution, moved on with [Memory.Later], or new(Memory) the first time. Nil uses
	// no memory and returns none.
	Memory *Memory
	// Start is a plan of the problem to start from, nil for none. It must obey the problem's rules and Splits. The
	// solution's plan is worth at least as much. If no better plan is found, the solution has Start's plan and Engine.
	Start *Solution
}

// validate returns an error for the first option that is out of range.
func (o *Options) validate() error {
	switch {
	case o.Time < 0:
		return fmt.Errorf("%w: Time of %v, expected at least 0s", ErrOptions, o.Time)
	case o.Work < 0:
		return fmt.Errorf("%w: Work of %d, expected at least 0", ErrOptions, o.Work)
	case math.IsNaN(o.Gap):
		return fmt.Errorf("%w: Gap is not a number", ErrOptions)
	case o.Threads < 0:
		return fmt.Errorf("%w: Threads of %d, expected at least 0", ErrOptions, o.Threads)
	case o.Splits < SplitsInteger || o.Splits > SplitsNow:
		return fmt.Errorf("%w: Splits of %d, expected %d to %d", ErrOptions, o.Splits, SplitsInteger, SplitsNow)
	}
	return nil
}

// SplitRule says how a gang may be split over partitions.
type SplitRule int

// The split rules: whole tasks for every option; fractions for every option; or whole tasks only for options that start
// now, because later ones are planned again anyway.
const (
	SplitsInteger SplitRule = iota
	SplitsContinuous
	SplitsNow
)

// Stop says why an engine stopped. The zero value means not solved.
type Stop string

// The reasons to stop. StopOptimal means that the plan is proven to be optimal within the engine's tolerance. That is
// at most [Tolerance] of the plan's value; native's is 3e-7. If the bound is above the objective, a plan that is better
// by no more than that is possible.
const (
	StopNone     Stop = ""
	StopOptimal  Stop = "optimal"
	StopGap      Stop = "gap"
	StopTime     Stop = "time"
	StopWork     Stop = "iterations"
	StopCanceled Stop = "canceled"
	StopError    Stop = "error"
)

// StopOf is the reason to stop for the end of a context, where err is its Err.
func StopOf(err error) Stop {
	if errors.Is(err, context.Canceled) {
		return StopCanceled
	}
	return StopTime
}

// Solution is the best plan found, a bound, and why the engine stopped.
type Solution struct {
	Engine    string  `json:"engine"`
	Stop      Stop    `json:"stop"`
	Objective float64 `json:"objective"`
	// Bound is a proven upper bound; nil when the engine has none.
	Bound *float64 `json:"bound"`
	// Gap is (Bound-Objective)/max(|Bound|, 1e-9); nil without a bound.
	Gap    *float64 `json:"gap"`
	WallMS float64  `json:"wall_ms"`
	// Work is what the engine has spent, in the units of Options.Work; 0 if it does not count. With several threads, it is
	// the largest of theirs.
	Work int64 `json:"work,omitempty"`
	// Choice maps a job id to its option and split; other jobs are left out of the plan.
	Choice map[string]Choice `json:"choice"`
	// Preempt lists running jobs to preempt, in problem order.
	Preempt []string `json:"preempt"`
	// Rungs lists the outcomes of a [Ladder]'s engines, in order. It is not part of the file format.
	Rungs []Rung `json:"-"`

	proved int // index in Rungs of the rung whose bound is Bound
	// Memory is for the Options of the next solve; nil if Options.Memory was nil. It is not part of the file format.
	Memory *Memory `json:"-"`
}

// Choice is a job's option and how its tasks are split over partitions.
type Choice struct {
	Option int     `json:"option"`
	Split  []Split `json:"split"`
}

// Split is a chosen number of tasks in one partition; fractional only where Options.Splits allows.
type Split struct {
	Partition int     `json:"partition"`
	Count     float64 `json:"count"`
}
