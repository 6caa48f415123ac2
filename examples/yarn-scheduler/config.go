package main

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/hedgesched/hedge/adapters/yarn"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/outlook"
	"github.com/hedgesched/hedge/sched/threesigma"
)

// config is the configuration file, whose keys README.md explains. Those of the first block are the same for all
// schedulers here.
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

	ResourceManagers []string `yaml:"resource_managers"`
	Spool            string   `yaml:"spool"`
	User             string   `yaml:"user"`
	Instance         string   `yaml:"instance"`
	Pools            []string `yaml:"pools"`
	HeadroomMB       int      `yaml:"headroom_mb"`
	HeadroomVCores   int      `yaml:"headroom_vcores"`
	Master           master   `yaml:"application_master"`
}

// master is how ApplicationMasters of gangs run.
type master struct {
	Classpath string `yaml:"classpath"`
	Archive   string `yaml:"archive"`
	MemoryMB  int    `yaml:"memory_mb"`
	VCores    int    `yaml:"vcores"`
	Label     string `yaml:"label"`
}

// load reads the file, if there is one; what it does not say is as here, and keys that are not known are errors.
func load(file string) (*config, error) {
	c := &config{
		Listen: "127.0.0.1:9464", LeaseFor: yarn.LeaseFor, Cycle: 2 * time.Second, Slot: time.Minute, Parallel: 16,
		SaveEvery: time.Minute, Estimates: true,
		ResourceManagers: []string{"http://127.0.0.1:8088"}, Spool: "spool",
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
	if c.Master.Classpath == "" && len(c.Pools) == 0 {
		return errors.New(
			"application_master.classpath is empty, without which no gang can start, and there are no pools for applications")
	}
	_, err := c.policy()
	return err
}

// options are the driver's and the lease's. Calls must be over well within the margin in which a lease that is not
// renewed is given up: a quarter of what it is granted for.
func (c *config) options() yarn.Options {
	return yarn.Options{
		URLs: c.ResourceManagers, Spool: c.Spool, User: c.User, Instance: c.Instance, Pools: c.Pools,
		HeadroomMB: c.HeadroomMB, HeadroomVCores: c.HeadroomVCores,
		AM: yarn.AM{Classpath: c.Master.Classpath, Archive: c.Master.Archive, MemoryMB: c.Master.MemoryMB,
			VCores: c.Master.VCores, Label: c.Master.Label},
		Timeout: c.LeaseFor / 5,
	}
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
