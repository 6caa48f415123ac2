// Package eagle names the mechanisms of Eagle (Delgado et al., SoCC 2016) and of the schedulers that it is compared
// with, each on a switch: Hawk, Sparrow, least work left with stale and with perfect knowledge, and ablations.
//
// Package adapters/sim/published simulates them by the rules of the authors' simulator.
package eagle

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrVariant is wrapped by the error about a name that no variant has.
var ErrVariant = errors.New("unknown variant")

// Switches say which mechanisms a variant has. [Named] has those of the literature.
type Switches struct {
	// Partition keeps the short partition free of long tasks.
	Partition bool
	// Central places long tasks by least work left; without it they are probed for as short ones are.
	Central bool
	// CentralShort places short tasks so too, on all nodes.
	CentralShort bool
	// Stale places by the work that the last heartbeat told of, instead of the newest.
	Stale bool
	// Share is Succinct State Sharing: nodes with long tasks reject probes and tell where long tasks are.
	Share bool
	// Ideal probes only nodes that hold no long task at that moment.
	Ideal bool
	// Sticky is Sticky Batch Probing: a probe stays until its job has no task left.
	Sticky bool
	// Shortest lets the job with the least work left go first, within the bypass bound.
	Shortest bool
	// Steal lets an idle node take short probes that wait behind long tasks elsewhere.
	Steal bool
	// MinProbes sends a least number of probes, however few tasks a job has.
	MinProbes bool
}

// variant is a name for switches.
type variant struct {
	name string
	s    Switches
}

func variants() []variant {
	full := Switches{Partition: true, Central: true, Share: true, Sticky: true, Shortest: true, MinProbes: true}
	without := func(change func(*Switches)) Switches {
		s := full
		change(&s)
		return s
	}
	return []variant{
		{"eagle", full},
		{"hawk", Switches{Partition: true, Central: true, Steal: true}},
		{"sparrow", Switches{}},
		{"dlwl", Switches{Partition: true, Central: true, CentralShort: true, Stale: true, Shortest: true}},
		{"clwl", Switches{Partition: true, Central: true, CentralShort: true}},
		{"ideal-eagle", Switches{Partition: true, Central: true, Ideal: true, Sticky: true, MinProbes: true}},
		{"eagle-nosss", without(func(s *Switches) { s.Share = false })},
		{"eagle-nosbp", without(func(s *Switches) { s.Sticky = false })},
		{"eagle-nosrpt", without(func(s *Switches) { s.Shortest = false })},
		{"eagle-nosbpsrpt", without(func(s *Switches) { s.Sticky, s.Shortest = false, false })},
		{"eagle-nomin", without(func(s *Switches) { s.MinProbes = false })},
	}
}

// Named returns the switches of a variant: eagle, hawk, sparrow, dlwl, clwl, ideal-eagle, and Eagle without
// one of its mechanisms: eagle-nosss, eagle-nosbp, eagle-nosrpt, eagle-nosbpsrpt, eagle-nomin.
// An unknown name is an [ErrVariant].
func Named(name string) (Switches, error) {
	for _, v := range variants() {
		if v.name == name {
			return v.s, nil
		}
	}
	return Switches{}, fmt.Errorf("%w: found %q, expected one of %s", ErrVariant, name, strings.Join(Names(), ", "))
}

// Names are the variants that [Named] knows.
func Names() []string {
	var names []string
	for _, v := range variants() {
		names = append(names, v.name)
	}
	return slices.Clip(names)
}
