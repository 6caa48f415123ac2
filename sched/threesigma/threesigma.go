// Package threesigma is the 3Sigma scheduler (Park et al., EuroSys 2018): it
// values every placement option of every pending job by its expected utility
// under the predicted runtime distribution, keeps the expected consumption of
// running jobs off the capacity of a plan-ahead window, and lets a
// [solver.Solver] choose options and preemptions together. Only options that start
// now are dispatched; everything else is planned again next cycle.
//
// Each mechanism can be switched off, which gives the paper's variants (Table 1 and
// section 6.2) under the names of [Variant].
//
// Where the paper leaves a choice, or this package another one:
//   - A start after the deadline cannot be saved by a wrong estimate, so the over-estimate tail is all but closed
//     for it ([Config.LateWeight]).
//   - Only jobs of higher priority preempt. The MILP of section 4.3.5 cannot say so, so preemptions that no start is
//     entitled to are taken out of the model, and the cycle is solved again.
//   - Of starts that are worth the same the earlier is planned ([Config.Haste]).
//   - A preemption is priced by the victim's expected utility and by the work it throws away ([Config.PreemptWeight]).
//   - The MILP reckons with sums over partitions. A gang that has no room on single nodes ([ReasonFragmented])
//     is planned again for when they are expected to have it, so that it holds nobody up.
//
// The package never reads a clock except to time its own stages through
// [Config.Stopwatch], and draws no randomness.
package threesigma

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sort"
	"strings"
	"time"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native"
)

// ErrConfig is the sentinel of every [*ConfigError].
var ErrConfig = errors.New("invalid 3Sigma configuration")

// ConfigError names the field of a [Config] that is refused. It wraps [ErrConfig].
type ConfigError struct {
	Field string
	Value any
	// Want says what would have been accepted.
	Want string
}

// Error implements error.
func (e *ConfigError) Error() string {
	return fmt.Sprintf("%v: %s = %v, want %s", ErrConfig, e.Field, e.Value, e.Want)
}

// Unwrap returns [ErrConfig].
func (e *ConfigError) Unwrap() error { return ErrConfig }

// ErrVariant is returned by [Variant] for an unknown name.
var ErrVariant = errors.New("unknown 3Sigma variant")

// OverEstimate says when a deadline gets a decaying tail (section 4.2.2 and 4.2.3).
type OverEstimate int

// The over-estimate policies: only for jobs unlikely to have a true chance by their
// distribution, never, or for every job with a deadline.
const (
	Adaptive OverEstimate = iota
	Off
	Always
)

// Mechanism is a part of 3Sigma that can be switched off with [Config.Without].
type Mechanism uint

// The mechanisms of the paper, by section.
const (
	// Conditioning renormalises a running job's distribution by its elapsed time (equation 2).
	Conditioning Mechanism = 1 << iota
	// ExpInc moves the finish of a job that outlived its distribution 2^t cycles on (section 4.2.1).
	ExpInc
	// Preemption lets the model buy back running jobs of lower priority (section 4.3.5).
	Preemption
	// WarmStart hints the last cycle's plan to the solver (section 4.3.6).
	WarmStart
	// Pruning keeps options of no utility and terms of no consumption out of the model (section 4.3.6).
	// Without it they are in it at [Negligible], since a solver.Problem has no room for
	// nothing, and change no plan but by the time that they cost.
	Pruning
	// SoftPreferences offers nodes outside the preferred set, at the slowed runtime.
	SoftPreferences

	mechanisms = SoftPreferences<<1 - 1
)

// Negligible is the value of an option, and the consumption of a term, that [Pruning] would have
// left out.
const Negligible = 1e-12

// None asks for none of it at all in a field of [Config] whose 0 stands for a default.
const None = -1

// Config of a policy. The zero value is the paper's 3Sigma with this package's defaults.
//
// In Threshold, TailWeight, LateWeight, Haste, PreemptWeight and CutOff 0 stands for the default and
// [None] for nothing; they are otherwise positive. Times are positive or 0 for the default.
type Config struct {
	// Name is the policy's name in reports; empty means "3sigma".
	Name string
	// Solver chooses the options; nil means the native engine. It must not keep a problem beyond its
	// Solve: the next cycle's is made in the same memory.
	Solver solver.Solver
	// Options bound each solve. Where neither Work nor Time nor CutOff bounds it, Work is
	// [DefaultWork], so that plans do not depend on the machine's speed.
	Options solver.Options
	// CutOff stops a cycle's solving after this share of Cycle by the wall clock, with the best
	// plan found (section 4.3.6); at most 1. The default is None.
	CutOff float64
	// Window is the plan-ahead window; 0 means 12 slots.
	Window time.Duration
	// Slot is the length of a time slot; 0 means 2 minutes.
	Slot time.Duration
	// Cycle is the time between cycles, the unit of exponential increments; 0 means 10 s.
	Cycle time.Duration
	// Point plans with the prediction's point instead of its distribution.
	Point bool
	// OverEstimate says when deadlines get a tail.
	OverEstimate OverEstimate
	// Threshold is the probability of running within the deadline below which the adaptive
	// policy takes a job for an over-estimate, at most 1; 0 means 0.05. Jobs without any chance always are
	// over-estimates, with None only they.
	Threshold float64
	// TailWeight is the tail's value just after the deadline as a share of the value at the
	// deadline, at most 1; 0 means 0.25.
	TailWeight float64
	// LateWeight is the share of the tail that is left to an option that starts after the
	// deadline, at most 1; 0 means 0.01.
	LateWeight float64
	// Haste is the share of its value that an option loses from the first slot to the end of the window,
	// at most 1; 0 means 0.002: of starts that are worth the same the earlier is planned, since capacity
	// does not keep. With None they are left to the solver, as in the paper.
	Haste float64
	// PreemptWeight prices a preemption as a multiple of the utility the running job is expected to
	// earn if left alone, plus as much again for the share of its work that is done and would be lost; 0
	// means 1. With None preempting costs nothing.
	PreemptWeight float64
	// Without is the set of mechanisms that are off.
	Without Mechanism
	// Stopwatch reads a monotonic clock for Stats; nil leaves the times 0.
	Stopwatch func() time.Duration
}

// DefaultWork bounds a solve that nothing else bounds.
const DefaultWork = 10_000

// variants are the systems of the paper's Table 1 and Figure 8. PointPerfEst and PointRealEst schedule alike;
// what sets them apart is the predictor, which is not the policy's: the truth
// (predict.NewPerfect) for the one, a history (predict.NewHistory) for the other.
var variants = map[string]Config{
	"3sigma":         {},
	"3sigma-nodist":  {Point: true},
	"3sigma-nooe":    {OverEstimate: Off},
	"3sigma-noadapt": {OverEstimate: Always},
	"point-perfect":  {Point: true, OverEstimate: Off},
	"point-real":     {Point: true, OverEstimate: Off},
}

// Variant returns the configuration of a named system of the paper. Those of
// point-perfect and point-real differ in name only: the former is point-real in a [sched.Loop] whose
// predictor knows the true runtimes, as predict.NewPerfect does.
func Variant(name string) (Config, error) {
	c, ok := variants[name]
	if !ok {
		return Config{}, fmt.Errorf("%w: %q, known are %s", ErrVariant, name, strings.Join(Variants(), ", "))
	}
	c.Name = name
	return c, nil
}

// Variants returns the known names in alphabetical order.
func Variants() []string {
	names := make([]string, 0, len(variants))
	for n := range variants {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// withDefaults checks the fields and replaces what stands for something else by what it stands for.
func (c Config) withDefaults() (Config, error) {
	if err := c.check(); err != nil {
		return c, err
	}
	for _, w := range c.weights() {
		switch *w.v {
		case 0:
			*w.v = w.def
		case None:
			*w.v = 0
		}
	}
	c.Name = cmp.Or(c.Name, "3sigma")
	c.Slot = cmp.Or(c.Slot, 2*time.Minute)
	c.Window = cmp.Or(c.Window, 12*c.Slot)
	c.Cycle = cmp.Or(c.Cycle, 10*time.Second)
	if c.Solver == nil {
		c.Solver = native.New(nil)
	}
	if c.CutOff > 0 {
		limit := max(1, time.Duration(c.CutOff*float64(c.Cycle)))
		c.Options.Time = min(cmp.Or(c.Options.Time, limit), limit)
	}
	if c.Options.Work == 0 && c.Options.Time == 0 {
		c.Options.Work = DefaultWork
	}
	if c.Stopwatch == nil {
		c.Stopwatch = func() time.Duration { return 0 }
	}
	switch {
	case c.Window < c.Slot:
		return c, &ConfigError{"Window", c.Window, fmt.Sprintf("at least a slot of %v", c.Slot)}
	case c.Window/c.Slot > maxSlots:
		return c, &ConfigError{"Window", c.Window, fmt.Sprintf("at most %d slots of %v", maxSlots, c.Slot)}
	}
	return c, nil
}

// weight is a field in which 0 stands for a default and None for 0.
type weight struct {
	name     string
	v        *float64
	def, max float64
}

func (c *Config) weights() [6]weight {
	return [...]weight{
		{"Threshold", &c.Threshold, 0.05, 1},
		{"TailWeight", &c.TailWeight, 0.25, 1},
		{"LateWeight", &c.LateWeight, 0.01, 1},
		{"Haste", &c.Haste, 0.002, 1},
		{"PreemptWeight", &c.PreemptWeight, 1, maxPreemptWeight},
		{"CutOff", &c.CutOff, 0, 1},
	}
}

// check refuses what no default can mend.
func (c *Config) check() error {
	for _, w := range c.weights() {
		if v := *w.v; v != None && !(v >= 0 && v <= w.max) {
			return &ConfigError{w.name, v, fmt.Sprintf("a number from 0 to %g, or None", w.max)}
		}
	}
	for _, d := range []struct {
		name string
		v    time.Duration
	}{{"Window", c.Window}, {"Slot", c.Slot}, {"Cycle", c.Cycle}, {"Options.Time", c.Options.Time}} {
		if d.v < 0 {
			return &ConfigError{d.name, d.v, "no negative time"}
		}
	}
	switch o := &c.Options; {
	case o.Work < 0:
		return &ConfigError{"Options.Work", o.Work, "at least 0"}
	case math.IsNaN(o.Gap):
		return &ConfigError{"Options.Gap", o.Gap, "a number"}
	case o.Splits < solver.SplitsInteger || o.Splits > solver.SplitsNow:
		return &ConfigError{"Options.Splits", int(o.Splits), "one of the split rules"}
	case c.OverEstimate < Adaptive || c.OverEstimate > Always:
		return &ConfigError{"OverEstimate", int(c.OverEstimate), "Adaptive, Off or Always"}
	case c.Without&^mechanisms != 0:
		return &ConfigError{"Without", c.Without, "the mechanisms of this package"}
	}
	return nil
}

const (
	maxSlots = 1 << 12
	// maxPreemptWeight keeps prices within what a solver takes.
	maxPreemptWeight = 1e6
)
