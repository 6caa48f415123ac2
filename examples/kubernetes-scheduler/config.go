package main

import (
	"fmt"
	"os"
	"reflect"

	"github.com/goccy/go-yaml"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/hedgesched/hedge/adapters/kubernetes"
	"github.com/hedgesched/hedge/adapters/service/settings"
)

// config is the configuration file, whose keys README.md explains. Those of settings.Common are the same for
// all schedulers here.
type config struct {
	settings.Common `yaml:",inline"`

	SchedulerName string               `yaml:"scheduler_name"`
	Namespace     string               `yaml:"namespace"`
	NodeSelector  string               `yaml:"node_selector"`
	Lease         kubernetes.LeaseName `yaml:"lease"`
}

// load reads the file, if there is one; what it does not say is as here, and keys that are not known are errors.
func load(file string) (*config, error) {
	c := &config{
		Common:        settings.Default(kubernetes.LeaseFor),
		SchedulerName: "hedge", Lease: kubernetes.LeaseName{Namespace: "hedge-system", Name: "hedge"},
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
	if _, err := labels.Parse(c.NodeSelector); err != nil {
		return fmt.Errorf("node_selector: %w", err)
	}
	return c.Common.Check()
}

// options are the driver's. Calls must be over, and answers of the lease not be believed any more, within the margin in
// which a lease that is not renewed is given up: a quarter of what it is granted for.
func (c *config) options() kubernetes.Options {
	return kubernetes.Options{SchedulerName: c.SchedulerName, Namespace: c.Namespace, NodeSelector: c.NodeSelector,
		Lease: c.Lease, Timeout: c.LeaseFor / 7, CheckLease: c.LeaseFor / 15}
}
