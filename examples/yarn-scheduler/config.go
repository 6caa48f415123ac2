package main

import (
	"errors"
	"fmt"
	"os"
	"reflect"

	"github.com/goccy/go-yaml"

	"github.com/hedgesched/hedge/adapters/service/settings"
	"github.com/hedgesched/hedge/adapters/yarn"
)

// config is the configuration file, whose keys README.md explains. Those of settings.Common are the same for
// all schedulers here.
type config struct {
	settings.Common `yaml:",inline"`

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
		Common:           settings.Default(yarn.LeaseFor),
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

// check tries what a leader will make of it.
func (c *config) check() error {
	if err := c.Common.Check(); err != nil {
		return err
	}
	if c.Master.Classpath == "" && len(c.Pools) == 0 {
		return errors.New(
			"application_master.classpath is empty, without which no gang can start, and there are no pools for applications")
	}
	return nil
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
