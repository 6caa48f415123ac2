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

// OpenError is an engine that is known and could not be opened: a program or a
// library is missing, a server does not answer, an address is malformed.
type OpenError struct {
	// Spec is the engine's part of what Open was given.
	Spec string
	// Err is what was wrong; never nil.
	Err error
}

// Error names the spec and what was wrong.
func (e *OpenError) Error() string { return fmt.Sprintf("engines: opening %q: %v", e.Spec, e.Err) }

// Unwrap is Err.
func (e *OpenError) Unwrap() error { return e.Err }

// Info says what an engine is.
type Info struct {
	// Name is what Open takes.
	Name string
	// Summary is one line about it.
	Summary string
	// Caps is what it can do.
	solver.Caps
}

// Opener makes an engine from spec, which is its name, or its name and an
// address, as in name://host:port?option=value. It must be safe for concurrent use.
type Opener func(spec string) (solver.Solver, error)

type engine struct {
	info Info
	open Opener
}

// Set is a set of engines by name. Its zero value is empty and ready for Add;
// it is safe for concurrent use once nothing is added any more.
type Set struct{ known map[string]engine }

// Add makes open known as info.Name, replacing an engine of that name.
func (s *Set) Add(info Info, open Opener) {
	if s.known == nil {
		s.known = map[string]engine{}
	}
	s.known[info.Name] = engine{info, open}
}

// List returns the known engines by name.
func (s *Set) List() []Info {
	list := make([]Info, 0, len(s.known))
	for _, e := range s.known {
		list = append(list, e.info)
	}
	sort.Slice(list, func(a, b int) bool { return list[a].Name < list[b].Name })
	return list
}

// Open returns the engine that spec names: one name, or several separated by
// commas for a [solver.Ladder]; a name may be followed by :// and an address. An
// unknown or empty name is [ErrUnknown], with the names that are known; an engine
// that cannot be had is an [*OpenError].
func (s *Set) Open(spec string) (solver.Solver, error) {
	var rungs []solver.Solver
	for _, one := range strings.Split(spec, ",") {
		one = strings.TrimSpace(one)
		name, _, _ := strings.Cut(one, "://")
		known, ok := s.known[name]
		if !ok {
			return nil, fmt.Errorf("%w %q in %q; known are %s", ErrUnknown, name, spec, s.names())
		}
		e, err := known.open(one)
		if err != nil {
			return nil, &OpenError{Spec: one, Err: err}
		}
		rungs = append(rungs, e)
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
	s.Add(Info{Name: "greedy", Summary: "value per capacity, one pass; a millisecond or two, no bound",
		Caps: solver.Caps{Deterministic: true}},
		local(func() solver.Solver { return greedy.New() }))
	s.Add(Info{Name: "native", Summary: "exact linear relaxation, branch and price, local search; anytime, with a bound",
		Caps: solver.Caps{Exact: true, Bound: true, Deterministic: true}},
		local(func() solver.Solver { return native.New(nil) }))
	return s
}

// local opens an engine that is part of the program and has no address.
func local(open func() solver.Solver) Opener {
	return func(spec string) (solver.Solver, error) {
		if _, address, has := strings.Cut(spec, "://"); has {
			return nil, fmt.Errorf("found the address %q, expected none", address)
		}
		return open(), nil
	}
}

// Open is Builtin().Open(spec).
func Open(spec string) (solver.Solver, error) { return Builtin().Open(spec) }

// List is Builtin().List().
func List() []Info { return Builtin().List() }
