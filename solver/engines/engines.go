// Package engines opens solving engines by name, for programs that let their
// users choose: "native", "greedy", or a ladder of them, "native,greedy".
package engines

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/greedy"
	"github.com/hedgesched/hedge/solver/native"
)

// ErrUnknown is returned for an engine name that is not known.
var ErrUnknown = errors.New("engines: unknown engine")

// Info says what an engine can do.
type Info struct {
	// Name is what Open takes.
	Name string
	// Summary is one line about it.
	Summary string
	// Exact engines prove small problems optimal.
	Exact bool
	// Bound is whether it gives proven upper bounds.
	Bound bool
	// Deterministic is whether a work limit alone makes its result reproducible.
	Deterministic bool

	open func() solver.Solver
}

// Set is a set of engines by name. Its zero value is empty and ready for Add;
// it is safe for concurrent use once nothing is added any more.
type Set struct{ known map[string]Info }

// Add makes open known as info.Name, replacing an engine of that name.
func (s *Set) Add(info Info, open func() solver.Solver) {
	if s.known == nil {
		s.known = map[string]Info{}
	}
	info.open = open
	s.known[info.Name] = info
}

// List returns the known engines by name.
func (s *Set) List() []Info {
	list := make([]Info, 0, len(s.known))
	for _, info := range s.known {
		list = append(list, info)
	}
	sort.Slice(list, func(a, b int) bool { return list[a].Name < list[b].Name })
	return list
}

// Open returns the engine that spec names: one name, or several separated by
// commas for a [solver.Ladder]. An unknown or empty name is [ErrUnknown], with
// the names that are known.
func (s *Set) Open(spec string) (solver.Solver, error) {
	var rungs []solver.Solver
	for _, name := range strings.Split(spec, ",") {
		name = strings.TrimSpace(name)
		info, ok := s.known[name]
		if !ok {
			return nil, fmt.Errorf("%w %q in %q; known are %s", ErrUnknown, name, spec, s.names())
		}
		rungs = append(rungs, info.open())
	}
	if len(rungs) == 1 {
		return rungs[0], nil
	}
	return solver.Ladder(rungs...), nil
}

func (s *Set) names() string {
	var names []string
	for _, info := range s.List() {
		names = append(names, info.Name)
	}
	return strings.Join(names, ", ")
}

// Builtin returns a new set of the pure-Go engines, to which others may be added.
func Builtin() *Set {
	s := &Set{}
	s.Add(Info{Name: "greedy", Summary: "value per capacity, one pass; a millisecond or two, no bound", Deterministic: true},
		func() solver.Solver { return greedy.New() })
	s.Add(Info{Name: "native", Summary: "exact linear relaxation, branch and price, local search; anytime, with a bound", Exact: true, Bound: true, Deterministic: true},
		func() solver.Solver { return native.New(nil) })
	return s
}

// Open is Builtin().Open(spec).
func Open(spec string) (solver.Solver, error) { return Builtin().Open(spec) }

// List is Builtin().List().
func List() []Info { return Builtin().List() }
