package settings_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/service/settings"
)

// Example makes what an instance is made of, as a configuration file might have it.
func Example() {
	c := settings.Default(15 * time.Second)
	c.Policy = "keep"
	if err := c.Check(); err != nil {
		fmt.Println(err)
		return
	}
	policy, err := c.Options().Policy()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(policy.Name(), c.Options().Cycle)
	// Output: keep 2s
}

func TestCheck(t *testing.T) {
	good := settings.Default(15 * time.Second)
	require.NoError(t, good.Check())
	for want, change := range map[string]func(*settings.Common){
		"lease_for is 1ms":     func(c *settings.Common) { c.LeaseFor = time.Millisecond },
		"cycle is 0s":          func(c *settings.Common) { c.Cycle = 0 },
		"slot is -1s":          func(c *settings.Common) { c.Slot = -time.Second },
		"save_every is 0s":     func(c *settings.Common) { c.SaveEvery = 0 },
		"parallel is 0":        func(c *settings.Common) { c.Parallel = 0 },
		"machine_hours is -1":  func(c *settings.Common) { c.MachineHours = -1 },
		"machine_hours is NaN": func(c *settings.Common) { c.MachineHours = math.NaN() },
		`policy is "fast", expected one of 3sigma, 3sigma-nodist`: func(c *settings.Common) { c.Policy = "fast" },
	} {
		c := good
		change(&c)
		err := c.Check()
		require.ErrorIs(t, err, settings.ErrSetting)
		require.ErrorContains(t, err, want)
	}
	for _, name := range []string{"3sigma", "keep"} {
		c := good
		c.Policy, c.Window, c.Slot = name, time.Second, time.Hour
		require.ErrorContains(t, c.Check(), "Window = 1s", "a policy that plans ahead is told what was set")
	}
}

// TestPolicies: those that are offered can be made and have their own names, and those that a real cluster cannot run
// are not offered.
func TestPolicies(t *testing.T) {
	list := settings.Policies()
	assert.Subset(t, list, []string{"3sigma", "keep", "prio", "fifo", "edf", "sjf", "easy", "conservative", "chronus"})
	for _, name := range list {
		c := settings.Default(time.Minute)
		c.Policy = name
		p, err := c.NewPolicy()
		require.NoError(t, err, name)
		assert.Equal(t, name, p.Name())
	}
	for _, name := range []string{
		"point-perfect", "keep-perfect", "hydra", // go by true runtimes
		"dist", "borg-max", // share machines
		"critical-path", "3sigma-posterior", // are for stages
		"eagle", "gs-slearn", // are agents
	} {
		assert.NotContains(t, list, name)
	}
}

func TestOptions(t *testing.T) {
	c := settings.Default(15 * time.Second)
	c.History, c.Parallel, c.SaveEvery = "file", 3, time.Hour
	o := c.Options()
	assert.Equal(t, adapters.HistoryFile("file"), o.History)
	assert.Equal(t, 3, o.Cluster.Parallel)
	assert.Equal(t, time.Hour, o.Save)
	assert.Equal(t, 15*time.Second, o.LeaseFor)
	assert.NotNil(t, o.Estimates)
	c.Estimates = false
	assert.Nil(t, c.Options().Estimates)
}
