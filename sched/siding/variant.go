package siding

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrVariant is wrapped by the error about a name that no variant has.
var ErrVariant = errors.New("unknown variant")

// variant is a name for mechanisms.
type variant struct {
	name string
	c    Config
}

func variants() []variant {
	full := Config{Bound: 0.1, Patience: 0.5, Bypass: 5, Lean: 1}
	without := func(change func(*Config)) Config {
		c := full
		change(&c)
		return c
	}
	return []variant{
		{"siding", full},
		{"siding-nopause", without(func(c *Config) { c.Bound, c.Reserved = 0, 2 })},
		{"siding-nobound", without(func(c *Config) { c.Bound = maxFactor })},
		{"siding-nopatience", without(func(c *Config) { c.Patience = 0 })},
		{"siding-fifo", without(func(c *Config) { c.Bypass, c.Lean = 0, 0 })},
		{"siding-noyard", without(func(c *Config) { c.Local = true })},
	}
}

// Named returns the mechanisms of a variant, to which the numbers of workers and such are to be added. It is siding; or
// siding-nopause, which pauses no task and has two reserved workers in a group in place of that; or siding without its
// bound of pauses, patience, orders by estimates, and yard for short tasks: siding-nobound, siding-nopatience,
// siding-fifo, siding-noyard. An unknown name is an [ErrVariant].
func Named(name string) (Config, error) {
	for _, v := range variants() {
		if v.name == name {
			return v.c, nil
		}
	}
	return Config{}, fmt.Errorf("%w: found %q, expected one of %s", ErrVariant, name, strings.Join(Names(), ", "))
}

// Names are the variants that [Named] knows.
func Names() []string {
	var names []string
	for _, v := range variants() {
		names = append(names, v.name)
	}
	return slices.Clip(names)
}
