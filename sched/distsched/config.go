package distsched

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// ErrConfig is the sentinel of every [*ConfigError].
var ErrConfig = errors.New("invalid DistSched configuration")

// ErrVariant is returned by [Variant] for an unknown name.
var ErrVariant = errors.New("unknown DistSched variant")

// ConfigError tells which field of a [Config] is invalid. It wraps [ErrConfig].
type ConfigError struct {
	Field string
	Value any
	// Want says what is valid.
	Want string
}

// Error implements error.
func (e *ConfigError) Error() string {
	return fmt.Sprintf("%v: %s = %v, want %s", ErrConfig, e.Field, e.Value, e.Want)
}

// Unwrap returns [ErrConfig].
func (e *ConfigError) Unwrap() error { return ErrConfig }

// Estimate says what the policy believes of what a task uses.
type Estimate int

// The estimates.
const (
	// Distributions are those of the prediction.
	Distributions Estimate = iota
	// Points are the prediction's points.
	Points
	// Requests are what the job demands. Its CPU time is the prediction's point.
	Requests
)

// Order says which of the jobs that fit is started first.
type Order int

// The orders. All but the first are ours; ties go to the job that was submitted first.
const (
	// ByUtility starts the job with the highest expected utility first (section 5.2.3).
	ByUtility Order = iota
	// ByDensity starts the job first that has the highest expected utility for what it takes of the cluster's CPU and
	// memory, the larger share of the two.
	ByDensity
	// ByDeadline starts the job first that is due first, and those without a deadline last.
	ByDeadline
	// ByRuntime starts the job first that is expected to run for the shortest time.
	ByRuntime
)

// Mechanism is a part of DistSched that can be switched off with [Config.Without].
type Mechanism uint

// The mechanisms, by section of the thesis.
const (
	// Overpacking lets a machine be used beyond its capacity with a small probability (section 5.2.3).
	Overpacking Mechanism = 1 << iota
	// Tail lets a job that seems too late be worth something, in case its CPU time is over-estimated (section 5.3.2).
	Tail
	// Conditioning expects a restarted task to need at least the CPU time that it has had before (section 5.3.2).
	Conditioning
	// Observation takes what a task has been seen to use in place of a prediction that was too low (section 5.3.2).
	Observation
	// Preemption stops tasks of lower priority on machines whose CPU is contended (section 5.3.2).
	Preemption

	mechanisms = Preemption<<1 - 1
	mitigation = mechanisms
)

// None stands for the number 0 in those fields of [Config] whose zero value means a default.
const None = -1

// Config of a policy. The zero value is Dist. Numbers are positive, 0 for the default, or [None] for the number 0.
type Config struct {
	// Name is the policy's name in reports; empty means "dist".
	Name string
	// Estimate is what is believed of usage.
	Estimate Estimate
	// Maximum goes by the most that a task uses at a time instead of its average.
	Maximum bool
	// Order is that of starting jobs.
	Order Order
	// Without is the set of mechanisms that are switched off.
	Without Mechanism
	// MemoryRisk is the largest probability with which tasks may use more than a machine's memory, and CPURisk the same
	// for its CPU, for a machine that is to take another task. They are at most 1; 0 means 0.05. The thesis gives no
	// numbers.
	MemoryRisk, CPURisk float64
	// Risks are memory risks by priority, each from 0 to 1, for priorities that should have another than MemoryRisk. A
	// machine takes a task if the risk is small enough for it and for each task that runs there.
	Risks map[int]float64
	// WholeLife goes by the most memory that a task uses at a time, and by its average CPU. MemoryRisk then bounds the
	// probability that memory runs short at any time while the tasks run, since no sum of theirs is ever larger than that
	// of their maxima: a chance constraint. It is ours.
	WholeLife bool
	// EvictAt is the share of a machine's memory at which tasks are evicted. It is at most 1; 0 means 0.95.
	EvictAt float64
	// PreemptTo is the share of a machine's CPU to which preemption brings down what its tasks want. 0 means 1.
	PreemptTo float64
	// TailWeight is the worth of a job just after its deadline, as a share of what it is worth at the deadline. It is at
	// most 1; 0 means 0.25, as in 3Sigma.
	TailWeight float64
	// Cells is the number of cells of the distributions of what a machine's tasks use, 64 to 65536; 0 means 512.
	Cells int
	// Atoms is the number of values that a task's distribution is cut into, 8 to 256; 0 means 16.
	Atoms int
	// Seed is of the numbers that break ties between machines that are alike.
	Seed uint64
	// Stopwatch reads a monotonic clock, for the times in [sched.Stats]. If it is nil, they are 0.
	Stopwatch func() time.Duration
}

// variants are the systems of section 5.4.1 and two of ours, which switch conditioning off and bound the probability of
// evictions.
var variants = map[string]Config{
	"dist":           {},
	"dist-max":       {Maximum: true},
	"actual":         {Estimate: Points, Without: mitigation},
	"actual-max":     {Estimate: Points, Without: mitigation, Maximum: true},
	"point":          {Estimate: Points, Without: mitigation},
	"point-max":      {Estimate: Points, Without: mitigation, Maximum: true},
	"request":        {Estimate: Requests, Without: mitigation},
	"dist-nodist":    {Estimate: Points},
	"dist-nopack":    {Without: Overpacking},
	"dist-noover":    {Without: Tail},
	"dist-noobs":     {Without: Observation},
	"dist-nopreempt": {Without: Preemption},
	"dist-nocond":    {Without: Conditioning},
	"dist-chance":    {WholeLife: true, MemoryRisk: 0.01},
}

// Variant returns the configuration of a named system of the thesis (section 5.4.1). Those of actual and point differ
// only in their names: actual is for a predictor that knows what jobs use, such as predict.NewPerfectUsage.
func Variant(name string) (Config, error) {
	c, ok := variants[name]
	if !ok {
		return Config{}, fmt.Errorf("%w: %q, known are %s", ErrVariant, name, strings.Join(Variants(), ", "))
	}
	c.Name = name
	return c, nil
}

// Variants returns the known names in alphabetical order.
func Variants() []string { return slices.Sorted(maps.Keys(variants)) }

// weight is a field in which 0 stands for a default and None for the number 0.
type weight struct {
	name     string
	v        *float64
	def, max float64
}

func (c *Config) weights() [5]weight {
	return [...]weight{
		{"MemoryRisk", &c.MemoryRisk, 0.05, 1},
		{"CPURisk", &c.CPURisk, 0.05, 1},
		{"EvictAt", &c.EvictAt, 0.95, 1},
		{"PreemptTo", &c.PreemptTo, 1, 1e6},
		{"TailWeight", &c.TailWeight, 0.25, 1},
	}
}

// withDefaults checks the fields, then fills in defaults and replaces None by 0.
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
	if c.Without&Overpacking != 0 {
		c.MemoryRisk, c.CPURisk = 0, 0
	}
	if c.Without&Tail != 0 {
		c.TailWeight = 0
	}
	c.Name = cmp.Or(c.Name, "dist")
	c.Cells, c.Atoms = cmp.Or(c.Cells, 512), cmp.Or(c.Atoms, 16)
	if c.Stopwatch == nil {
		c.Stopwatch = func() time.Duration { return 0 }
	}
	return c, nil
}

// check returns an error for the first field that is out of range.
func (c *Config) check() error {
	for _, w := range c.weights() {
		if v := *w.v; v != None && !(v >= 0 && v <= w.max) {
			return &ConfigError{w.name, v, fmt.Sprintf("a number from 0 to %g, or None", w.max)}
		}
	}
	for priority, risk := range c.Risks {
		if !(risk >= 0 && risk <= 1) {
			return &ConfigError{"Risks", fmt.Sprintf("%v at priority %d", risk, priority), "numbers from 0 to 1"}
		}
	}
	switch {
	case c.EvictAt == None:
		return &ConfigError{"EvictAt", c.EvictAt, "a number above 0"}
	case c.Estimate < Distributions || c.Estimate > Requests:
		return &ConfigError{"Estimate", int(c.Estimate), "Distributions, Points or Requests"}
	case c.Order < ByUtility || c.Order > ByRuntime:
		return &ConfigError{"Order", int(c.Order), "one of the orders"}
	case c.Without&^mechanisms != 0:
		return &ConfigError{"Without", c.Without, "the mechanisms of this package"}
	case c.Cells != 0 && (c.Cells < 64 || c.Cells > 1<<16):
		return &ConfigError{"Cells", c.Cells, "64 to 65536"}
	case c.Atoms != 0 && (c.Atoms < 8 || c.Atoms > 256):
		return &ConfigError{"Atoms", c.Atoms, "8 to 256"}
	}
	return nil
}

// riskAt is the memory risk that tasks of a priority may be exposed to.
func (c *Config) riskAt(priority int) float64 {
	if risk, ok := c.Risks[priority]; ok && c.has(Overpacking) {
		return risk
	}
	return c.MemoryRisk
}

// has tells whether a mechanism is on.
func (c *Config) has(m Mechanism) bool { return c.Without&m == 0 }
