package main

import (
	"cmp"
	"fmt"
	"os"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/hashicorp/nomad/api"

	"github.com/hedgesched/hedge/adapters/nomad"
	"github.com/hedgesched/hedge/sched/threesigma"
)

// config is the configuration file. Token, region and certificates come from NOMAD_TOKEN, NOMAD_REGION, NOMAD_CACERT, ...
type config struct {
	Address    string        `yaml:"address"`
	Namespaces []string      `yaml:"namespaces"` // none is all
	LeaseFor   time.Duration `yaml:"lease_for"`
	Cycle      time.Duration `yaml:"cycle"`
	Slot       time.Duration `yaml:"slot"`
	Parallel   int           `yaml:"parallel"` // calls at a time
	Window     time.Duration `yaml:"window"`   // how far ahead is planned; none is 12 slots
	History    string        `yaml:"history"`  // a file
	SaveEvery  time.Duration `yaml:"save_every"`
	Listen     string        `yaml:"listen"`
}

// load reads the file, if there is one; what it does not say is as here.
func load(file string) (*config, error) {
	c := &config{Cycle: 2 * time.Second, Slot: time.Minute, Parallel: 16, LeaseFor: nomad.LeaseFor, SaveEvery: time.Minute,
		History: "hedge.history", Listen: "127.0.0.1:9464"}
	if file == "" {
		return c, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if err := yaml.UnmarshalWithOptions(text, c, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, d := range []struct {
		key   string
		value time.Duration
	}{{"lease_for", c.LeaseFor}, {"cycle", c.Cycle}, {"slot", c.Slot}, {"save_every", c.SaveEvery}} {
		if d.value <= 0 {
			return nil, fmt.Errorf("%s: %s is %v, expected more than 0", file, d.key, d.value)
		}
	}
	if c.Parallel < 1 {
		return nil, fmt.Errorf("%s: parallel is %d, expected at least 1", file, c.Parallel)
	}
	return c, nil
}

// api is the client's configuration.
func (c *config) api() *api.Config {
	out := api.DefaultConfig()
	out.Address = cmp.Or(c.Address, out.Address)
	return out
}

// options are the driver's and the lease's. Calls must be over well within the margin in which a lease that is not renewed is given up.
func (c *config) options() nomad.Options {
	return nomad.Options{Namespaces: c.Namespaces, Timeout: c.LeaseFor / 5, CheckLease: min(time.Second, c.LeaseFor/15)}
}

// policy is 3Sigma as configured. It is made as the program starts, too: a standby whose configuration is wrong should not find out when it is needed.
func (c *config) policy() (*threesigma.Policy, error) {
	return threesigma.New(threesigma.Config{Cycle: c.Cycle, Slot: c.Slot, Window: c.Window, CutOff: 0.5})
}
