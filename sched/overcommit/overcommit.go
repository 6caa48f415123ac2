// Package overcommit runs any policy on machines whose CPU and memory are overcommitted, as clusters do today. Before
// each cycle it predicts the peak use of each machine. The policy sees a machine's capacity less that peak as free,
// instead of the capacity less what the tasks demand.
//
// The peak predictors are those of Bashir et al., "Take it to the limit: peak prediction-driven resource overcommitment
// in datacenters" (EuroSys 2021), and a fixed factor, as operators set by hand. [Variant] names them. They use
// measurements ([sched.Running].Use) and no distributions. They are the baselines of package distsched. Unlike the
// paper, which predicts CPU, the package treats memory as CPU is treated.
//
// The package starts and stops nothing itself, reads no clock and draws no random numbers.
package overcommit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
)

// The sentinels of this package's errors.
var (
	// ErrConfig is wrapped by the error about a [Config] that is out of range.
	ErrConfig = errors.New("invalid over-commitment")
	// ErrVariant is wrapped by the error about a name that [Variant] does not know.
	ErrVariant = errors.New("unknown over-commitment")
)

// Config says how a machine's peak is predicted. Share, Percentile and Sigmas each enable a predictor if they are above
// 0. The peak is the largest of the enabled predictions, capped at the tasks' total demand. With none enabled it is the
// total demand.
type Config struct {
	// Name is the policy's name in reports; empty means the name of the wrapped policy.
	Name string
	// Capacity multiplies each machine's capacity. It is at least 1; 0 means 1.
	Capacity float64
	// Share predicts this share of the total demand, in [0, 1]. Borg's default is 0.9.
	Share float64
	// Percentile predicts the sum over tasks of this percentile of each task's use, in [0, 100], as Resource Central does.
	Percentile float64
	// Sigmas predicts the mean of the tasks' summed use plus this many standard deviations. It is at least 0.
	Sigmas float64
	// WarmUp is how long a task must have run before Percentile and Sigmas go by its use. Until then it counts at its
	// demand. 0 means 2 h.
	WarmUp time.Duration
	// Window is how far back use is remembered, at least Sample and at most 4096 times Sample; 0 means 10 h.
	Window time.Duration
	// Sample is the least time between two samples of use; 0 means 5 min.
	Sample time.Duration
}

// variants are configurations by their names in the paper and among operators.
var variants = map[string]Config{
	"overcommit-1.5": {Capacity: 1.5},
	"overcommit-2":   {Capacity: 2},
	"borg-default":   {Share: 0.9},
	"rc-like":        {Percentile: 99},
	"n-sigma":        {Sigmas: 5},
	"borg-max":       {Percentile: 99, Sigmas: 5},
}

// Variant returns a configuration by name. Its error wraps [ErrVariant].
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

// withDefaults checks the fields and fills in defaults.
func (c Config) withDefaults() (Config, error) {
	wrong := func(field string, v any, want string) (Config, error) {
		return c, fmt.Errorf("%w: %s = %v, want %s", ErrConfig, field, v, want)
	}
	switch {
	case c.Capacity != 0 && !(c.Capacity >= 1) || math.IsInf(c.Capacity, 0):
		return wrong("Capacity", c.Capacity, "at least 1")
	case !(c.Share >= 0 && c.Share <= 1):
		return wrong("Share", c.Share, "0 to 1")
	case !(c.Percentile >= 0 && c.Percentile <= 100):
		return wrong("Percentile", c.Percentile, "0 to 100")
	case !(c.Sigmas >= 0) || math.IsInf(c.Sigmas, 0):
		return wrong("Sigmas", c.Sigmas, "at least 0")
	}
	if c.Capacity == 0 {
		c.Capacity = 1
	}
	for _, d := range [...]struct {
		field string
		v     *time.Duration
		def   time.Duration
	}{
		{"WarmUp", &c.WarmUp, 2 * time.Hour},
		{"Window", &c.Window, 10 * time.Hour},
		{"Sample", &c.Sample, 5 * time.Minute},
	} {
		if *d.v < 0 {
			return wrong(d.field, *d.v, "at least 0")
		}
		*d.v = cmp.Or(*d.v, d.def)
	}
	if c.Window < c.Sample || c.Window/c.Sample > maxSamples {
		return wrong("Window", c.Window, fmt.Sprintf("1 to %d samples of %v", maxSamples, c.Sample))
	}
	return c, nil
}

// maxSamples bounds the samples kept of a task.
const maxSamples = 1 << 12

// Policy wraps a policy and shows it predicted peaks in place of demands. It is for one goroutine at a time.
type Policy struct {
	cfg     Config
	below   sched.Policy
	history history
	free    []float64
	peaks   peaks
}

// New wraps the policy below. Its error wraps [ErrConfig].
func New(below sched.Policy, cfg Config) (*Policy, error) {
	if below == nil {
		return nil, fmt.Errorf("%w: no policy", ErrConfig)
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if cfg.Name == "" {
		cfg.Name = below.Name()
	}
	return &Policy{cfg: cfg, below: below, history: newHistory(&cfg)}, nil
}

// Name implements [sched.Policy]: it is the configured name.
func (p *Policy) Name() string { return p.cfg.Name }

// Plan implements [sched.Policy]. Its plan is that of the wrapped policy, with CPU and memory marked as overpacked.
func (p *Policy) Plan(ctx context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	if err := sched.CheckSnapshot(s); err != nil {
		return nil, err
	}
	p.history.sample(s)
	shown := *s
	shown.Free = p.room(s)
	plan, err := p.below.Plan(ctx, &shown)
	if plan == nil {
		return nil, err
	}
	for _, r := range [...]string{usage.CPU, usage.Memory} {
		if _, ok := slices.BinarySearch(s.Nodes.Resources(), r); ok {
			plan.Overpacks = append(plan.Overpacks, r)
		}
	}
	return plan, err
}

// room is what is free on each node: of CPU and memory by the predicted peaks, of other resources as the snapshot says.
func (p *Policy) room(s *sched.Snapshot) []float64 {
	p.free = append(p.free[:0], s.Free...)
	resources := s.Nodes.Resources()
	p.peaks.collect(s, &p.history)
	for r, name := range resources {
		if name != usage.CPU && name != usage.Memory {
			continue
		}
		for n := range s.Nodes.Len() {
			at := n*len(resources) + r
			others := 0.0
			if s.Others != nil {
				others = amount(s.Others[n], name)
			}
			p.free[at] = float64(p.cfg.Capacity*s.Nodes.Capacity()[at]) - p.peaks.of(&p.cfg, int32(n), name) - others
		}
	}
	return p.free
}

// amount is that of CPU or memory.
func amount(l usage.Level, resource string) float64 {
	if resource == usage.CPU {
		return l.CPU
	}
	return l.Memory
}
