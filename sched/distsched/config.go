package distsched

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// ErrVariant is returned by [Variant] for an unknown name.
var ErrVariant = errors.New("unknown DistSched variant")

// wrong is the error about a field.
func wrong(field string, value any, want string) error {
	return &sched.ConfigError{Policy: "DistSched", Field: field, Value: value, Want: want}
}

// Estimate says which forecast of a task's use the policy believes.
type Estimate int

// The estimates.
const (
	// Distributions takes the forecast distributions.
	Distributions Estimate = iota
	// Points takes the point forecasts.
	Points
	// Requests takes the job's demand for CPU and memory, and the point forecast of its CPU time.
	Requests
)

// Order says which of the jobs that fit starts first.
type Order int

// The orders. All but the first are ours. Ties go to the job that comes first in the snapshot.
const (
	// ByUtility starts the job with the highest expected utility first (section 5.2.3).
	ByUtility Order = iota
	// ByDensity starts the job with the highest expected utility per share of the cluster first. The share is the larger
	// of those of CPU and memory.
	ByDensity
	// ByDeadline starts the job with the earliest deadline first, and jobs without a deadline last.
	ByDeadline
	// ByRuntime starts the job with the shortest expected runtime first.
	ByRuntime
)

// Mechanism is a part of DistSched that [Config.Without] can switch off. Mechanisms combine by |.
type Mechanism uint

// The mechanisms, by section of the thesis.
const (
	// Overpacking accepts a small probability that a machine's tasks exceed its capacity (section 5.2.3).
	Overpacking Mechanism = 1 << iota
	// Tail leaves a job some utility after its deadline, in case its CPU time is over-estimated (section 5.3.2).
	Tail
	// Conditioning expects a restarted task to need at least the CPU time that it attained before (section 5.3.2).
	Conditioning
	// Observation replaces a forecast that was too low by what the task is observed to use (section 5.3.2).
	Observation
	// Preemption stops tasks of lower priority on machines whose CPU is contended (section 5.3.2).
	Preemption

	mechanisms = Preemption<<1 - 1 // all of them
)

// None stands for 0 in the float64 fields of [Config], in which 0 means the default.
const None = -1

// Config configures a policy. The zero value is the thesis's Dist. In its float64 fields 0 means the default and [None]
// means 0.
type Config struct {
	// Name is the policy's name in reports; empty means "dist".
	Name string
	// Estimate is the forecast of usage that the policy believes.
	Estimate Estimate
	// Maximum goes by a task's peak CPU and memory instead of its averages.
	Maximum bool
	// Order is the order in which jobs start.
	Order Order
	// Without is the set of mechanisms that are switched off.
	Without Mechanism
	// MemoryRisk and CPURisk bound the probability that a machine's memory, or CPU, is exceeded once it has taken another
	// task. Memory is exceeded at EvictAt. They are in [0, 1]; 0 means 0.05. The thesis gives no numbers.
	MemoryRisk, CPURisk float64
	// Risks replaces MemoryRisk for some priorities. Values are in [0, 1], and 0 means 0. A machine takes a task only if
	// the risk is within the bound of that task and of every task that runs there.
	Risks map[int]float64
	// WholeLife goes by a task's peak memory and its average CPU. The sum of the peaks bounds the tasks' memory at all
	// times, so MemoryRisk bounds the probability that memory ever runs short while the tasks run: a chance constraint.
	// It is ours.
	WholeLife bool
	// Trust is how long a task must have run before its forecast gives way to what it was observed to use: each observed
	// value for as long as it was observed, and the forecast for the time that the task is expected to run on. 0 means
	// never, as in the thesis, where only use above the forecast counts. Without Observation it has no effect.
	Trust time.Duration
	// EvictAt is the share of a machine's memory at which tasks are evicted, in (0, 1]; 0 means 0.95.
	EvictAt float64
	// PreemptTo is the share of a machine's CPU above which its tasks' wishes are contention, and to which preemption
	// reduces them. It is in [0, 1e6]; 0 means 1.
	PreemptTo float64
	// TailWeight is a job's utility just after its deadline over that at the deadline, in [0, 1]; 0 means 0.25, as in
	// 3Sigma.
	TailWeight float64
	// Cells is the number of grid cells of a machine's distribution, 64 to 65536; 0 means 512.
	Cells int
	// Atoms is the number of values that a task's distribution is cut into, 8 to 256; 0 means 16.
	Atoms int
	// Seed breaks ties between machines.
	Seed uint64
	// Stopwatch reads a monotonic clock, for the times in [sched.Stats]. If it is nil, they are 0.
	Stopwatch func() time.Duration
}

// variants are the systems of section 5.4.1 and, from dist-nocond on, ours.
var variants = map[string]Config{
	"dist":           {},
	"dist-max":       {Maximum: true},
	"actual":         {Estimate: Points, Without: mechanisms},
	"actual-max":     {Estimate: Points, Without: mechanisms, Maximum: true},
	"point":          {Estimate: Points, Without: mechanisms},
	"point-max":      {Estimate: Points, Without: mechanisms, Maximum: true},
	"request":        {Estimate: Requests, Without: mechanisms},
	"dist-nodist":    {Estimate: Points},
	"dist-nopack":    {Without: Overpacking},
	"dist-noover":    {Without: Tail},
	"dist-noobs":     {Without: Observation},
	"dist-nopreempt": {Without: Preemption},
	"dist-nocond":    {Without: Conditioning},
	"dist-chance":    {WholeLife: true, MemoryRisk: 0.01},
	"dist-trust":     {Trust: 5 * time.Minute, Without: Preemption},
	"dist-density":   {Order: ByDensity},
	"dist-edf":       {Order: ByDeadline},
	"dist-sjf":       {Order: ByRuntime},
}

// Variant returns the configuration of a system by name: those of section 5.4.1 of the thesis, and ours.
// Actual and point differ only in their names, because actual is point with a predictor that knows what jobs use, such
// as predict.NewPerfectUsage. The error wraps [ErrVariant].
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
			return wrong(w.name, v, fmt.Sprintf("a number from 0 to %g, or None", w.max))
		}
	}
	for priority, risk := range c.Risks {
		if !(risk >= 0 && risk <= 1) {
			return wrong("Risks", fmt.Sprintf("%v at priority %d", risk, priority), "numbers from 0 to 1")
		}
	}
	switch {
	case c.Trust < 0:
		return wrong("Trust", c.Trust, "no negative time")
	case c.EvictAt == None:
		return wrong("EvictAt", c.EvictAt, "a number above 0")
	case c.Estimate < Distributions || c.Estimate > Requests:
		return wrong("Estimate", int(c.Estimate), "Distributions, Points or Requests")
	case c.Order < ByUtility || c.Order > ByRuntime:
		return wrong("Order", int(c.Order), "one of the orders")
	case c.Without&^mechanisms != 0:
		return wrong("Without", c.Without, "the mechanisms of this package")
	case c.Cells != 0 && (c.Cells < 64 || c.Cells > 1<<16):
		return wrong("Cells", c.Cells, "64 to 65536")
	case c.Atoms != 0 && (c.Atoms < minAtoms || c.Atoms > 256):
		return wrong("Atoms", c.Atoms, "8 to 256")
	}
	return nil
}

// riskAt is the largest memory risk for tasks of a priority.
func (c *Config) riskAt(priority int) float64 {
	if risk, ok := c.Risks[priority]; ok && c.has(Overpacking) {
		return risk
	}
	return c.MemoryRisk
}

// has tells whether a mechanism is on.
func (c *Config) has(m Mechanism) bool { return c.Without&m == 0 }
