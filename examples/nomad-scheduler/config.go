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
	"github.com/hedgesched/hedge/adapters/service/settings"
)

// config is the configuration file, whose keys README.md explains. Those of settings.Common are the same for
// all schedulers here. The token, the region and certificates come from NOMAD_TOKEN, NOMAD_REGION, NOMAD_CACERT, ...
type config struct {
	settings.Common `yaml:",inline"`

	NomadAddress string   `yaml:"nomad_address"`
	Namespaces   []string `yaml:"namespaces"`
}

// load reads the file, if there is one; what it does not say is as here, and keys that are not known are errors.
func load(file string) (*config, error) {
	c := &config{Common: settings.Default(nomad.LeaseFor)}
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
		err = c.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
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
