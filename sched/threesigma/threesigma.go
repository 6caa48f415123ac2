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
// Two things differ from the paper on purpose. A start after the deadline cannot be
// saved by a wrong estimate, so the over-estimate tail is all but closed for it
// ([Config.LateWeight]). And a preemption that no started job of higher priority needs
// is taken back ([Policy] keeps best-effort jobs from preempting each other, which the
// MILP of section 4.3.5 leaves open).
//
// The package never reads a clock except to time its own stages through
// [Config.Stopwatch], and draws no randomness.
package threesigma

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"strings"
	"time"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native"
)

// ErrConfig is returned, wrapped with the field and value, for a configuration out of range.
var ErrConfig = errors.New("invalid 3Sigma configuration")

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
	// Pruning drops options of no utility and terms of no consumption (section 4.3.6).
	Pruning
	// SoftPreferences offers nodes outside the preferred set, at the slowed runtime.
	SoftPreferences
)

// Config of a policy. The zero value is the paper's 3Sigma with this package's defaults.
type Config struct {
	// Name is the policy's name in reports; empty means "3sigma".
	Name string
	// Solver chooses the options; nil means the native engine.
	Solver solver.Solver
	// Options bound each solve. Zero Work and Time mean Work: 10,000, so that plans do
	// not depend on the machine's speed.
	Options solver.Options
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
	// policy takes a job for an over-estimate; 0 means 0.05.
	Threshold float64
	// TailWeight is the tail's value just after the deadline as a share of the value at the
	// deadline, in (0, 1); 0 means 0.25.
	TailWeight float64
	// LateWeight is the share of the tail that is left to an option that starts after the
	// deadline; 0 means 0.01.
	LateWeight float64
	// PreemptWeight prices a preemption as a multiple of the utility the running job is
	// expected to earn if left alone; 0 means 1.
	PreemptWeight float64
	// Without is the set of mechanisms that are off.
	Without Mechanism
	// Stopwatch reads a monotonic clock for Stats; nil leaves the times 0.
	Stopwatch func() time.Duration
}

// DefaultWork bounds a solve when Config.Options bounds neither work nor time.
const DefaultWork = 10_000

// variants are the systems of systems of the paper's Table 1 and Figure 8.
var variants = map[string]Config{
	"3sigma":         {},
	"3sigma-nodist":  {Point: true},
	"3sigma-nooe":    {OverEstimate: Off},
	"3sigma-noadapt": {OverEstimate: Always},
	"point-perfect":  {Point: true, OverEstimate: Off},
	"point-real":     {Point: true, OverEstimate: Off},
}

// Variant returns the configuration of a named system of the paper. point-perfect and
// point-real differ only in the predictor they are given.
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

// withDefaults fills zero fields in and checks the rest.
func (c Config) withDefaults() (Config, error) {
	def := func(f *float64, v float64) {
		if *f == 0 {
			*f = v
		}
	}
	def(&c.Threshold, 0.05)
	def(&c.TailWeight, 0.25)
	def(&c.LateWeight, 0.01)
	def(&c.PreemptWeight, 1)
	if c.Name == "" {
		c.Name = "3sigma"
	}
	if c.Solver == nil {
		c.Solver = native.New(nil)
	}
	if c.Slot == 0 {
		c.Slot = 2 * time.Minute
	}
	if c.Window == 0 {
		c.Window = 12 * c.Slot
	}
	if c.Cycle == 0 {
		c.Cycle = 10 * time.Second
	}
	if c.Options.Work == 0 && c.Options.Time == 0 {
		c.Options.Work = DefaultWork
	}
	if c.Stopwatch == nil {
		c.Stopwatch = func() time.Duration { return 0 }
	}
	return c, c.check()
}

func (c Config) check() error {
	switch {
	case c.Slot < 0:
		return fmt.Errorf("%w: Slot %v, want more than 0", ErrConfig, c.Slot)
	case c.Window < c.Slot:
		return fmt.Errorf("%w: Window %v, want at least a slot of %v", ErrConfig, c.Window, c.Slot)
	case c.Window/c.Slot > maxSlots:
		return fmt.Errorf("%w: Window %v holds more than %d slots of %v", ErrConfig, c.Window, maxSlots, c.Slot)
	case c.Cycle < 0:
		return fmt.Errorf("%w: Cycle %v, want more than 0", ErrConfig, c.Cycle)
	case c.OverEstimate < Adaptive || c.OverEstimate > Always:
		return fmt.Errorf("%w: OverEstimate %d", ErrConfig, c.OverEstimate)
	}
	for _, f := range []struct {
		name   string
		v, max float64
	}{
		{"Threshold", c.Threshold, 1},
		{"TailWeight", c.TailWeight, 1},
		{"LateWeight", c.LateWeight, 1},
		{"PreemptWeight", c.PreemptWeight, math.MaxFloat64},
	} {
		if math.IsNaN(f.v) || f.v < 0 || f.v > f.max {
			return fmt.Errorf("%w: %s %v, want 0 to %v", ErrConfig, f.name, f.v, f.max)
		}
	}
	return nil
}

const maxSlots = 1 << 12
