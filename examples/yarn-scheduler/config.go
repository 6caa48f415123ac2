package main

import (
	"fmt"
	"os"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/hedgesched/hedge/adapters/yarn"
	"github.com/hedgesched/hedge/sched/threesigma"
)

// config is the configuration file.
type config struct {
	ResourceManagers []string      `yaml:"resource_managers"`
	Spool            string        `yaml:"spool"`
	User             string        `yaml:"user"`
	Instance         string        `yaml:"instance"`
	Pools            []string      `yaml:"pools"`
	HeadroomMB       int           `yaml:"headroom_mb"`
	HeadroomVCores   int           `yaml:"headroom_vcores"`
	Master           master        `yaml:"application_master"`
	LeaseFor         time.Duration `yaml:"lease_for"`
	Cycle            time.Duration `yaml:"cycle"`
	Slot             time.Duration `yaml:"slot"`
	Window           time.Duration `yaml:"window"`   // how far ahead is planned; none is 12 slots
	Parallel         int           `yaml:"parallel"` // calls at a time
	History          string        `yaml:"history"`  // a file
	SaveEvery        time.Duration `yaml:"save_every"`
	Listen           string        `yaml:"listen"`
}

// master is how ApplicationMasters of gangs run.
type master struct {
	Classpath string `yaml:"classpath"`
	Archive   string `yaml:"archive"` // of classes
	MemoryMB  int    `yaml:"memory_mb"`
	VCores    int    `yaml:"vcores"`
	Label     string `yaml:"label"`
}

// load reads the file, if there is one; what it does not say is as here.
func load(file string) (*config, error) {
	c := &config{ResourceManagers: []string{"http://127.0.0.1:8088"}, Spool: "spool", Cycle: 2 * time.Second, Slot: time.Minute, Parallel: 16, LeaseFor: yarn.LeaseFor,
		SaveEvery: time.Minute, History: "hedge.history", Listen: "127.0.0.1:9464"}
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

// options are the driver's and the lease's. Calls must be over well within the margin in which a lease that is not renewed is given up.
func (c *config) options() yarn.Options {
	return yarn.Options{
		URLs: c.ResourceManagers, Spool: c.Spool, User: c.User, Instance: c.Instance, Pools: c.Pools, HeadroomMB: c.HeadroomMB, HeadroomVCores: c.HeadroomVCores,
		AM:      yarn.AM{Classpath: c.Master.Classpath, Archive: c.Master.Archive, MemoryMB: c.Master.MemoryMB, VCores: c.Master.VCores, Label: c.Master.Label},
		Timeout: c.LeaseFor / 5,
	}
}

// policy is 3Sigma as configured. It is made as the program starts, too: a standby whose configuration is wrong should not find out when it is needed.
func (c *config) policy() (*threesigma.Policy, error) {
	return threesigma.New(threesigma.Config{Cycle: c.Cycle, Slot: c.Slot, Window: c.Window, CutOff: 0.5})
}
