// Package overcommit runs any policy on machines whose CPU and memory are promised more than once: what clusters do
// today. Before each cycle it works out what the tasks on each machine will use at most, and shows the policy that much
// less room instead of what the tasks demand.
//
// Its predictors of a machine's peak are those of Bashir et al., "Take it to the limit: peak prediction-driven resource
// overcommitment in datacenters" (EuroSys 2021), and a fixed factor, as operators set by hand. [Variant] names them.
// They know what is measured ([sched.Running].Use) and nothing of distributions: package distsched is compared with
// them.
//
// The package starts and stops nothing itself, reads no clock and draws no random numbers.
package overcommit

import (
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

// Config says how the peak of a machine is predicted. It is the largest of those predictions that are not 0, but not
// more than what the tasks demand. Where all are 0, that is what they demand.
type Config struct {
	// Name is the policy's name in reports; empty means that of the policy below.
	Name string
	// Capacity is what a machine is taken to offer, as a multiple of what it does, at least 1; 0 means 1.
	Capacity float64
	// Share predicts this share of what the tasks demand, in [0, 1]: Borg's default is 0.9.
	Share float64
	// Percentile predicts the sum of each task's percentile of what it has used, in [0, 100]: as Resource Central.
	Percentile float64
	// Sigmas predicts the mean of what the tasks have used together, and so many standard deviations.
	Sigmas float64
	// WarmUp is for how long a task must have run to be predicted by what it has used; before, it uses what it demands.
	// 0 means 2 h.
	WarmUp time.Duration
	// Window is for how long what was used is remembered; 0 means 10 h.
	Window time.Duration
	// Sample is the time from one sample of usage to the next; 0 means 5 min.
	Sample time.Duration
}

// variants are by the names that the paper and operators give them.
var variants = map[string]Config{
	"overcommit-1.5": {Capacity: 1.5},
	"overcommit-2":   {Capacity: 2},
	"borg-default":   {Share: 0.9},
	"rc-like":        {Percentile: 99},
	"n-sigma":        {Sigmas: 5},
	"borg-max":       {Percentile: 99, Sigmas: 5},
}

// Variant returns a configuration by name.
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
	case c.WarmUp < 0 || c.Window < 0 || c.Sample < 0:
		return wrong("times", min(c.WarmUp, c.Window, c.Sample), "none below 0")
	}
	if c.Capacity == 0 {
		c.Capacity = 1
	}
	for _, d := range []struct {
		v   *time.Duration
		def time.Duration
	}{{&c.WarmUp, 2 * time.Hour}, {&c.Window, 10 * time.Hour}, {&c.Sample, 5 * time.Minute}} {
		if *d.v == 0 {
			*d.v = d.def
		}
	}
	if c.Window < c.Sample || c.Window/c.Sample > maxSamples {
		return wrong("Window", c.Window, fmt.Sprintf("1 to %d samples of %v", maxSamples, c.Sample))
	}
	return c, nil
}

// maxSamples bounds what is remembered of a task.
const maxSamples = 1 << 12

// Policy is another policy that is shown predicted peaks in place of demands. It is for one goroutine at a time.
type Policy struct {
	cfg     Config
	below   sched.Policy
	history history
	free    []float64
	peaks   peaks
}

// New returns a policy that plans as below does. Its error wraps [ErrConfig].
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

// Plan implements [sched.Policy].
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

// room is what is free of each node's resources by the predicted peaks; of those that are reserved, what is free.
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

func amount(l usage.Level, resource string) float64 {
	if resource == usage.CPU {
		return l.CPU
	}
	return l.Memory
}
