// Package threesigma is the 3Sigma scheduler (Park et al., EuroSys 2018). A placement option is a set of nodes and a
// time slot in which a job could start. In every cycle the scheduler
//   - values each option of each pending job by its expected utility under the predicted runtime distribution,
//   - takes what running jobs are expected to use off the capacity of a plan-ahead window,
//   - lets a [solver.Solver] choose options and preemptions together, and
//   - starts the jobs whose chosen option starts now. All other jobs are planned again in the next cycle.
//
// Each mechanism can be switched off. [Variant] names the combinations that the paper compares (Table 1 and
// section 6.2).
//
// The package settles what the paper leaves open, and departs from it, in these points:
//
//   - Exp-inc and the price of a preemption count in cycles. A cycle is as long as [sched.Snapshot] says.
//
//   - The paper gives jobs that seem unable to meet their deadline a tail: some value after the deadline, in case the
//     estimate is too long. A start after the deadline is late whatever the estimate, so it gets only a small
//     share of the tail ([Config.LateWeight]).
//
//   - Only a job of higher priority preempts another. The MILP of section 4.3.5 does not express this. The problem has
//     priorities for it ([solver.Running]).
//
//   - Of two starts with the same value the earlier one is planned ([Config.Haste]).
//
//   - The price of a preemption is the victim's expected utility plus the work that is lost ([Config.PreemptWeight]).
//
//   - The MILP counts resources per partition, not per node. A gang may fit in that sum but not on any
//     nodes ([ReasonFragmented]). It is then planned for the slot in which nodes are expected to have room, so that it
//     does not block others until then.
//
//   - A start that blocks nobody is not put off. An engine without a bound may leave such starts behind; they are made
//     after it. An engine with a bound may put one off within the gap that it proves, unless nothing runs.
//
//   - A best-effort job that is worth nothing any more still starts where there is room that the plan does not use. A
//     job with a deadline that it cannot meet any more is given up, as in the paper, unless [Config.RunLate] is set.
//
//   - A wide job may starve behind narrow ones, since its options are worth no more for having waited. [Config.Reserve]
//     keeps nodes for the oldest.
//
//   - The probability of meeting a deadline that a decision tells is learnt from what became of earlier jobs. It starts
//     from the forecast's. No decision depends on it.
//
// The package reads no clock but [Config.Stopwatch], with which it times its own stages. It uses no randomness.
package threesigma

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sort"
	"strings"
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native"
)

// wrong is the error about a field.
func wrong(field string, value any, want string) error {
	return &sched.ConfigError{Policy: "3Sigma", Field: field, Value: value, Want: want}
}

// ErrVariant is returned by [Variant] for an unknown name.
var ErrVariant = errors.New("unknown 3Sigma variant")

// OverEstimate says which jobs with a deadline get a tail: value that decays after the deadline, in case their runtime
// is over-estimated (sections 4.2.2 and 4.2.3).
type OverEstimate int

// The over-estimate policies.
const (
	// Adaptive gives a tail to jobs that are unlikely to meet their deadline, see [Config.Threshold].
	Adaptive OverEstimate = iota
	// Off gives none.
	Off
	// Always gives one to every job with a deadline.
	Always
)

// Mechanism is a part of 3Sigma that can be switched off with [Config.Without].
type Mechanism uint

// The mechanisms of the paper, by section.
const (
	// Conditioning updates a running job's distribution by the time that it has run already (equation 2).
	Conditioning Mechanism = 1 << iota
	// ExpInc expects a job that has run longer than its distribution allows to end 1 cycle later, then 2 cycles
	// after that, then 4, and so on (section 4.2.1). Without it such a job is always expected to end at once.
	ExpInc
	// Preemption lets the solver preempt running jobs at a price (section 4.3.5).
	Preemption
	// WarmStart gives the solver the last cycle's plan as a first guess (section 4.3.6), and what it has learned in the
	// last cycles, see [solver.Memory].
	WarmStart
	// Pruning leaves options without utility, and slots without consumption, out of the problem (section 4.3.6).
	// Without it they are kept. Their amounts are then [Negligible], as a [solver.Problem] allows no 0. The plans
	// are the same unless the solver stops early, but solving takes longer.
	Pruning
	// SoftPreferences also considers nodes on which a job runs slower than on others.
	SoftPreferences

	mechanisms = SoftPreferences<<1 - 1
)

// Negligible is the value of an option, and the consumption in a slot, that would be 0 and is kept without [Pruning].
const Negligible = 1e-12

// None stands for the number 0 in those fields of [Config] whose zero value means a default.
const None = -1

// Config of a policy. The zero value is the paper's 3Sigma with this package's defaults.
//
// Threshold, TailWeight, LateWeight, Haste, PreemptWeight and CutOff are positive, 0 for the default, or [None] for
// the number 0. Times are positive, or 0 for the default.
type Config struct {
	// Name is the policy's name in reports; empty means "3sigma".
	Name string
	// Solver chooses the options; nil means the native engine. It must not use a problem after its Solve has
	// returned, since the next cycle's problem is made in the same memory.
	Solver solver.Solver
	// Options limit each solve. If none of Work, Time and CutOff is set, Work is [DefaultWork]. Plans then do not
	// depend on the machine's speed. An engine that counts no work ([solver.Timed]) gets half of a cycle as its Time
	// instead. Memory is not used: the policy keeps its own.
	Options solver.Options
	// CutOff is the share of a cycle, in wall-clock time, that solving may take (section 4.3.6). Then the best plan so
	// far is used. It is at most 1; the default is None: no limit.
	CutOff float64
	// Window is the plan-ahead window; 0 means 12 slots.
	Window time.Duration
	// Slot is the length of a time slot; 0 means a twelfth of the window. If neither is set, both follow from the jobs
	// that wait and run, by [place.PlanAhead] of their times to the deadline or, of jobs without one, of their predicted
	// runtimes. A slot is then no shorter than a cycle, and both stay as they are until the window should be less than
	// half or more than twice as long.
	Slot time.Duration
	// Point makes the policy plan with the prediction's point instead of its distribution.
	Point bool
	// OverEstimate says which deadlines get a tail.
	OverEstimate OverEstimate
	// Threshold is for [Adaptive]: a job gets a tail if the probability that its runtime is within its deadline is
	// below it, or is 0. It is at most 1; 0 means 0.05.
	Threshold float64
	// TailWeight is the value of the tail just after the deadline, as a share of the value at the deadline. It is
	// at most 1; 0 means 0.25.
	TailWeight float64
	// LateWeight is the share of the tail's value that an option gets if it starts at or after the deadline. It is
	// at most 1; 0 means 0.01.
	LateWeight float64
	// Haste is the share of its value that an option would lose if it started at the end of the window instead of
	// now. In between it loses in proportion. So of two starts with the same value the earlier one is
	// planned, which is better, as capacity not used now is lost. It is at most 1; 0 means 0.002. With None such
	// choices are left to the solver, as in the paper.
	Haste float64
	// PreemptWeight is multiplied with the price of every preemption. The price is the utility that the running job is
	// expected to earn if it goes on, times 1 plus the share of its work that is done and would be lost. 0 means 1.
	// With None preempting costs nothing.
	PreemptWeight float64
	// Surcharge is added to the price of a preemption that throws work away: what it costs beside the utility, at least
	// 0. It is told the job and for how long it has run. Nil adds nothing. It is called by the goroutine that plans.
	Surcharge func(job *sched.Running, ran time.Duration) float64
	// Without is the set of mechanisms that are switched off.
	Without Mechanism
	// RunLate lets jobs with a deadline run that are worth nothing any more, too: where there is room that the plan does
	// not use. A job that is late is then done late. Without it such jobs wait until they are withdrawn. That is the
	// paper's way, which leaves options without utility out (section 4.3.6), and keeps the room for jobs to come.
	RunLate bool
	// Reserve is for how long a job may wait before nodes are kept for it, so that it does not starve behind smaller
	// jobs; 0 means for ever, as in the paper. Only one job at a time has a reservation: of those that have waited for
	// longer, the one submitted first. It gets the nodes that running jobs leave first, by the 90 % quantile of
	// their remaining times. What becomes free there stays idle until all of the gang fits ([ReasonReserved]). Only a
	// preemption for a job of higher priority may still take it. Jobs with a deadline that has passed get none, unless
	// [Config.RunLate] is set.
	Reserve time.Duration
	// Stopwatch reads a monotonic clock, for the times in [sched.Stats]. If it is nil, they are 0.
	Stopwatch func() time.Duration

	// follows tells that neither Window nor Slot was set.
	follows bool
}

// DefaultWork is the work limit of a solve that has no other limit.
const DefaultWork = 10_000

// UnknownCycle is the cycle that a policy reckons with if the snapshot tells of none.
const UnknownCycle = 10 * time.Second

// limits are what bounds a solve, in a cycle of that length.
func (c *Config) limits(cycle time.Duration) solver.Options {
	o := c.Options
	if c.CutOff > 0 {
		limit := max(1, time.Duration(c.CutOff*float64(cycle)))
		o.Time = min(cmp.Or(o.Time, limit), limit)
	}
	switch {
	case o.Work > 0 || o.Time > 0:
	case solver.Timed(c.Solver):
		o.Time = max(1, cycle/2)
	default:
		o.Work = DefaultWork
	}
	return o
}

// defaultSlot is the slot until there are jobs from which it follows.
const defaultSlot = 2 * time.Minute

// variants are the systems of the paper's Table 1 and Figure 8. The paper's PointPerfEst and PointRealEst have the same
// configuration. They differ in their predictor, which is not part of the policy.
var variants = map[string]Config{
	"3sigma":         {},
	"3sigma-nodist":  {Point: true},
	"3sigma-nooe":    {OverEstimate: Off},
	"3sigma-noadapt": {OverEstimate: Always},
	"point-perfect":  {Point: true, OverEstimate: Off},
	"point-real":     {Point: true, OverEstimate: Off},
}

// Variant returns the configuration of a named system of the paper. Those of point-perfect and point-real differ only
// in their names. Use point-perfect with a predictor that knows the true runtimes, such as predict.NewPerfect, and
// point-real with one that learns from a history, such as predict.NewHistory.
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
	c.Name = cmp.Or(c.Name, "3sigma")
	switch c.follows = c.Slot == 0 && c.Window == 0; {
	case c.follows:
		c.Slot = defaultSlot
	case c.Slot == 0:
		c.Slot = max(1, c.Window/12)
	}
	c.Window = cmp.Or(c.Window, 12*c.Slot)
	if c.Solver == nil {
		c.Solver = native.New(nil)
	}
	if c.Stopwatch == nil {
		c.Stopwatch = func() time.Duration { return 0 }
	}
	switch {
	case c.Window < c.Slot:
		return c, wrong("Window", c.Window, fmt.Sprintf("at least a slot of %v", c.Slot))
	case c.Window/c.Slot > maxSlots:
		return c, wrong("Window", c.Window, fmt.Sprintf("at most %d slots of %v", maxSlots, c.Slot))
	}
	return c, nil
}

// weight is a field in which 0 stands for a default and None for the number 0.
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

// check returns an error for the first field that is out of range.
func (c *Config) check() error {
	for _, w := range c.weights() {
		if v := *w.v; v != None && !(v >= 0 && v <= w.max) {
			return wrong(w.name, v, fmt.Sprintf("a number from 0 to %g, or None", w.max))
		}
	}
	for _, d := range []struct {
		name string
		v    time.Duration
	}{{"Window", c.Window}, {"Slot", c.Slot}, {"Options.Time", c.Options.Time}, {"Reserve", c.Reserve}} {
		if d.v < 0 {
			return wrong(d.name, d.v, "no negative time")
		}
	}
	switch o := &c.Options; {
	case o.Work < 0:
		return wrong("Options.Work", o.Work, "at least 0")
	case math.IsNaN(o.Gap):
		return wrong("Options.Gap", o.Gap, "a number")
	case o.Splits < solver.SplitsInteger || o.Splits > solver.SplitsNow:
		return wrong("Options.Splits", int(o.Splits), "one of the split rules")
	case c.OverEstimate < Adaptive || c.OverEstimate > Always:
		return wrong("OverEstimate", int(c.OverEstimate), "Adaptive, Off or Always")
	case c.Without&^mechanisms != 0:
		return wrong("Without", c.Without, "the mechanisms of this package")
	}
	return nil
}

const (
	maxSlots = 1 << 12
	// maxPreemptWeight keeps prices in the range that a solver accepts.
	maxPreemptWeight = 1e6
)
