package main

import (
	"cmp"
	"fmt"
	"os"
	"reflect"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/hashicorp/nomad/api"

	"github.com/hedgesched/hedge/adapters/nomad"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/outlook"
	"github.com/hedgesched/hedge/sched/threesigma"
)

// config is the configuration file, whose keys README.md explains. Those of the first block are the same for all
// schedulers here. The token, the region and certificates come from NOMAD_TOKEN, NOMAD_REGION, NOMAD_CACERT, ...
type config struct {
	Listen    string        `yaml:"listen"`
	LeaseFor  time.Duration `yaml:"lease_for"`
	Cycle     time.Duration `yaml:"cycle"`
	Slot      time.Duration `yaml:"slot"`
	Window    time.Duration `yaml:"window"`
	Reserve   time.Duration `yaml:"reserve_after"`
	Estimates bool          `yaml:"estimates"`
	Parallel  int           `yaml:"parallel"`
	History   string        `yaml:"history"`
	SaveEvery time.Duration `yaml:"save_every"`

	NomadAddress string   `yaml:"nomad_address"`
	Namespaces   []string `yaml:"namespaces"`
}

// load reads the file, if there is one; what it does not say is as here, and keys that are not known are errors.
func load(file string) (*config, error) {
	c := &config{
		Listen: "127.0.0.1:9464", LeaseFor: nomad.LeaseFor, Cycle: 2 * time.Second, Slot: time.Minute, Parallel: 16,
		SaveEvery: time.Minute, Estimates: true,
	}
	if file == "" {
		return c, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	defaults := *c
	err = yaml.UnmarshalWithOptions(text, c, yaml.Strict())
	if reflect.ValueOf(*c).IsZero() {
		*c = defaults // the file has comments alone
	}
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

// check tries what a leader will make of it: a standby whose configuration is wrong should not find out when it is
// needed.
func (c *config) check() error {
	if c.LeaseFor < time.Second {
		return fmt.Errorf("lease_for is %v, expected at least 1s", c.LeaseFor)
	}
	for _, d := range []struct {
		key   string
		value time.Duration
	}{{"cycle", c.Cycle}, {"slot", c.Slot}, {"save_every", c.SaveEvery}} {
		if d.value <= 0 {
			return fmt.Errorf("%s is %v, expected more than 0", d.key, d.value)
		}
	}
	if c.Parallel < 1 {
		return fmt.Errorf("parallel is %d, expected at least 1", c.Parallel)
	}
	_, err := c.policy()
	return err
}

// api is the client's configuration.
func (c *config) api() *api.Config {
	out := api.DefaultConfig()
	out.Address = cmp.Or(c.NomadAddress, out.Address)
	return out
}

// options are the driver's and the lease's. Calls must be over, and answers of the lease not be believed any more,
// within the margin in which a lease that is not renewed is given up: a quarter of what it is granted for.
func (c *config) options() nomad.Options {
	return nomad.Options{Namespaces: c.Namespaces, Timeout: c.LeaseFor / 5, CheckLease: min(time.Second, c.LeaseFor/15)}
}

// policy is 3Sigma as configured.
func (c *config) policy() (sched.Policy, error) {
	began := time.Now()
	return threesigma.New(threesigma.Config{Slot: c.Slot, Window: c.Window, Reserve: c.Reserve, CutOff: 0.5,
		Stopwatch: func() time.Duration { return time.Since(began) }})
}

// estimates are how starts are estimated; nil if they are not.
func (c *config) estimates() *outlook.Config {
	if !c.Estimates {
		return nil
	}
	return &outlook.Config{}
}
