package main

import (
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/hedgesched/hedge/adapters/kubernetes"
	"github.com/hedgesched/hedge/sched/threesigma"
)

// config is the configuration file's content, in YAML. Window is how far ahead is planned, in slots; what is not given has the policy's defaults.
type config struct {
	SchedulerName string               `json:"schedulerName"`
	Namespace     string               `json:"namespace"`
	NodeSelector  string               `json:"nodeSelector"`
	Lease         kubernetes.LeaseName `json:"lease"`
	Cycle         duration             `json:"cycle"`
	Window        duration             `json:"window"`
	Slot          duration             `json:"slot"`
	Parallel      int                  `json:"parallel"` // calls at a time
	History       string               `json:"history"`
	Address       string               `json:"address"`
}

// duration is a time.Duration that is written as 5s.
type duration time.Duration

// UnmarshalText reads it.
func (d *duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err == nil && v <= 0 {
		err = fmt.Errorf("a duration of %v, expected one above 0", v)
	}
	*d = duration(v)
	return err
}

// load reads the file; fields that it does not know are errors.
func load(path string) (*config, error) {
	c := &config{SchedulerName: "hedge", Lease: kubernetes.LeaseName{Namespace: "hedge-system", Name: "hedge"}, Cycle: duration(2 * time.Second), Parallel: 16, Address: "127.0.0.1:9464"}
	if path == "" {
		return c, nil
	}
	data, err := os.ReadFile(path)
	if err == nil {
		err = yaml.UnmarshalStrict(data, c)
	}
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return nil, fmt.Errorf("configuration %s: %w", path, err)
	}
	return c, nil
}

// check tries what a leader will make of it: a standby whose configuration is wrong should not find out when it is needed.
func (c *config) check() error {
	if c.Parallel < 1 {
		return fmt.Errorf("parallel is %d, expected at least 1", c.Parallel)
	}
	if _, err := labels.Parse(c.NodeSelector); err != nil {
		return fmt.Errorf("nodeSelector: %w", err)
	}
	_, err := c.policy()
	return err
}

// policy is 3Sigma as configured.
func (c *config) policy() (*threesigma.Policy, error) {
	return threesigma.New(threesigma.Config{Cycle: time.Duration(c.Cycle), CutOff: 0.5, Window: time.Duration(c.Window), Slot: time.Duration(c.Slot)})
}
