// Package settings has what every scheduler made on package service lets its user set: the policy by name, the cycle,
// the history and so on. A program has its own struct for its configuration file, with a [Common] in it, and calls
// [Common.Check] on what it has read and [Common.Options] to make its instance:
//
//	type config struct {
//		settings.Common `yaml:",inline"`
//		Namespace string `yaml:"namespace"`
//	}
//
// The package reads no file and knows no format: its struct tags are for readers of YAML. It runs nothing.
package settings

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/service"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/backfill"
	"github.com/hedgesched/hedge/sched/outlook"
	"github.com/hedgesched/hedge/sched/systems"
	"github.com/hedgesched/hedge/solver"
)

// ErrSetting is wrapped by errors about a value out of range. They name the key of the file.
var ErrSetting = errors.New("settings: invalid setting")

// Common are the settings. [Default] has their defaults.
type Common struct {
	// Listen is the address where metrics and health are asked for.
	Listen string `yaml:"listen"`
	// LeaseFor is for how long the lease is granted, at least a second.
	LeaseFor time.Duration `yaml:"lease_for"`
	// Policy is one of [Policies].
	Policy string `yaml:"policy"`
	// Cycle is the time between plans, above 0. Half of it is what a policy that solves may take for that.
	Cycle time.Duration `yaml:"cycle"`
	// Slot is the step of the plan-ahead window, above 0, and Window its length; 0 means 12 slots.
	Slot   time.Duration `yaml:"slot"`
	Window time.Duration `yaml:"window"`
	// Reserve is how long a job may wait until nodes are kept for it; 0 means for ever.
	Reserve time.Duration `yaml:"reserve_after"`
	// MachineHours is the work, in machine-hours, that one more met deadline is worth to keep; 0 means its default.
	MachineHours float64 `yaml:"machine_hours"`
	// Estimates has starts of waiting jobs estimated.
	Estimates bool `yaml:"estimates"`
	// Parallel is how many calls to the cluster are made at a time, at least 1.
	Parallel int `yaml:"parallel"`
	// History is the file that keeps what was learnt of runtimes; "" keeps nothing. It is saved every SaveEvery, which
	// is above 0.
	History   string        `yaml:"history"`
	SaveEvery time.Duration `yaml:"save_every"`
}

// Default are the defaults, with a lease for that long.
func Default(leaseFor time.Duration) Common {
	return Common{Listen: "127.0.0.1:9464", LeaseFor: leaseFor, Policy: "3sigma", Cycle: 2 * time.Second,
		Slot: time.Minute, Estimates: true, Parallel: 16, SaveEvery: time.Minute}
}

// Check makes what a leader will make, the policy too: a standby whose settings are wrong should not find out when it
// is needed. Its errors wrap [ErrSetting] or are the policy's.
func (c *Common) Check() error {
	if c.LeaseFor < time.Second {
		return fmt.Errorf("%w: lease_for is %v, expected at least 1s", ErrSetting, c.LeaseFor)
	}
	for _, d := range []struct {
		key   string
		value time.Duration
	}{{"cycle", c.Cycle}, {"slot", c.Slot}, {"save_every", c.SaveEvery}} {
		if d.value <= 0 {
			return fmt.Errorf("%w: %s is %v, expected more than 0", ErrSetting, d.key, d.value)
		}
	}
	if c.Parallel < 1 {
		return fmt.Errorf("%w: parallel is %d, expected at least 1", ErrSetting, c.Parallel)
	}
	if !(c.MachineHours >= 0) || math.IsInf(c.MachineHours, 0) {
		return fmt.Errorf("%w: machine_hours is %g, expected at least 0", ErrSetting, c.MachineHours)
	}
	_, err := c.NewPolicy()
	return err
}

// NewPolicy makes the policy. With a Cycle of 0, solves have the policy's own limit, of work. Its errors wrap
// [ErrSetting], with the list of names, or are those of making it.
func (c *Common) NewPolicy() (sched.Policy, error) {
	list := offered()
	at := slices.IndexFunc(list, func(s systems.System) bool { return s.Name == c.Policy })
	if at < 0 {
		return nil, fmt.Errorf("%w: policy is %q, expected one of %s", ErrSetting, c.Policy,
			strings.Join(names(list), ", "))
	}
	began := time.Now()
	return list[at].Policy(&systems.Planning{
		Options: solver.Options{Time: c.Cycle / 2},
		Window:  c.Window, Slot: c.Slot, Reserve: c.Reserve, MachineHours: c.MachineHours,
		Estimate:  backfill.Forecast(), // users of these clusters tell no runtimes
		Stopwatch: func() time.Duration { return time.Since(began) },
	})
}

// Options are those of an instance, but for what differs from program to program: Explain, Log, Metrics and
// Cluster.Notes, among others.
func (c *Common) Options() service.Options {
	o := service.Options{Policy: c.NewPolicy, LeaseFor: c.LeaseFor, Cycle: c.Cycle,
		Cluster: adapters.Options{Parallel: c.Parallel}, History: adapters.HistoryFile(c.History), Save: c.SaveEvery}
	if c.Estimates {
		o.Estimates = &outlook.Config{}
	}
	return o
}

// Policies are the names that a scheduler of a real cluster can be given, in the order of reports: those of
// [systems.Builtin] that have a policy, leave machines unshared and jobs whole, and forecast by history alone or not at
// all.
func Policies() []string { return names(offered()) }

func names(of []systems.System) []string {
	list := make([]string, len(of))
	for i := range of {
		list[i] = of[i].Name
	}
	return list
}

// offered are these systems.
func offered() []systems.System {
	return slices.DeleteFunc(systems.Builtin().List(), func(s systems.System) bool {
		if s.Policy == nil || s.Shares || s.Stages {
			return true
		}
		_, err := s.Predictor(&systems.Knowledge{History: func() (predict.Predictor, error) {
			return predict.NewHistory(nil)
		}})
		return err != nil // it needs true runtimes, which only a simulator knows
	})
}
