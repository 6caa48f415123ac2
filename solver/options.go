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
	// Time is the wall-clock limit; 0 is none but ctx's.
	Time time.Duration
	// Work is the deterministic limit, in engine-defined units of which a
	// two-core machine does about a million a second; 0 is the engine's default,
	// or unlimited when Time is set. It is the limit of each thread, so that a solve
	// with more threads does more work and takes about as long, if there is a processor for each.
	Work int64
	// Gap stops when (bound-objective)/|bound| is at most this. 0 means [DefaultGap];
	// negative means zero, that is to stop at proven optima alone, as [StopOptimal] has them.
	Gap float64
	// Threads is how many threads engines that can use more than one may use; 0 means 1. Native uses up to 64, greedy
	// one. The result of a work-limited solve depends on it, but not on how many processors there are to run the
	// threads. Each thread has memory of its own: of 2,000 jobs on 20 partitions native takes about 20 MB a thread, and
	// keeps it for the next solve.
	Threads int
	// Splits says which options' splits over partitions must be whole tasks.
	Splits SplitRule
	// Seed drives randomised search; 0 means 1.
	Seed int64
	// Memory is that of the last problem's solution, moved on with [Memory.Later]; new(Memory) the first time. Nil is
	// no memory, and asks for none.
	Memory *Memory
	// Start is a plan of the problem to start from, nil for none. It must keep the problem's rules and Splits. The
	// solution's plan is worth at least as much; where no better one is found it is Start's, and so is Engine.
	Start *Solution
}

// validate names the first option that no solve can have.
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

// The split rules: whole tasks for every option, fractions allowed everywhere, or whole
// tasks only for options that start now, because later ones are planned again anyway.
const (
	SplitsInteger SplitRule = iota
	SplitsContinuous
	SplitsNow
)

// Stop says why an engine stopped; the zero value means not solved.
type Stop string

// The reasons to stop. StopOptimal is for plans that are proven to be the best but for an engine's tolerance, which may
// be as much as [Tolerance] of their value; native's is 3e-7. Where the bound is above the objective a plan that is
// better by no more than that is not ruled out.
const (
	StopNone     Stop = ""
	StopOptimal  Stop = "optimal"
	StopGap      Stop = "gap"
	StopTime     Stop = "time"
	StopWork     Stop = "iterations"
	StopCanceled Stop = "canceled"
	StopError    Stop = "error"
)

// StopOf is the reason to stop that the end of a context is, err being its Err.
func StopOf(err error) Stop {
	if errors.Is(err, context.Canceled) {
		return StopCanceled
	}
	return StopTime
}

// Solution is the best plan in hand, a bound, and why the engine stopped.
type Solution struct {
	Engine    string  `json:"engine"`
	Stop      Stop    `json:"stop"`
	Objective float64 `json:"objective"`
	// Bound is a proven upper bound; nil when the engine has none.
	Bound *float64 `json:"bound"`
	// Gap is (Bound-Objective)/max(|Bound|, 1e-9); nil without a bound.
	Gap    *float64 `json:"gap"`
	WallMS float64  `json:"wall_ms"`
	// Work is what the engine has spent, in the units of Options.Work; 0 if it does
	// not count. Of several threads it is that of the one that has spent the most.
	Work int64 `json:"work,omitempty"`
	// Choice maps a job id to its option and split; other jobs are left out of the plan.
	Choice map[string]Choice `json:"choice"`
	// Preempt lists running jobs to preempt, in problem order.
	Preempt []string `json:"preempt"`
	// Rungs lists, for a [Ladder], what became of each of its engines, in order; it is not part of the file format.
	Rungs []Rung `json:"-"`

	proved int // the index in Rungs of the one whose bound is Bound
	// Memory is what to give the next solve in its Options; nil if Options.Memory was.
	// It is not part of the file format.
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
