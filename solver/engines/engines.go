// Package engines opens solving engines by name, for programs that let their
// users choose: "native", "greedy", "milp+cbc", "milp+ortools://127.0.0.1:50051?solver=GSCIP", or a
// ladder of them, "milp+cbc?share=0.5,native,greedy".
//
// [Builtin] has what needs neither a C compiler nor a big dependency: native, greedy, and the executables of solvers.
// The others are modules of their own, each with a function Register that adds it to a set: cbc, clp, highs, lpsolve
// and ortools, all under github.com/hedgesched/hedge/solver/milp. So a program has what it imports:
//
//	set := engines.Builtin()
//	ortools.Register(set)
//	engine, err := set.Open("milp+ortools://10.0.0.7:50051?solver=GSCIP,native,greedy")
//
// A rung of a ladder that the program has not, or whose solver is not there, is passed over at each solve, and the
// solution says so with [ErrMissing] or [milp.ErrUnavailable]. The case of names does not matter.
package engines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/greedy"
	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/process"
	"github.com/hedgesched/hedge/solver/native"
)

// Errors of engines that a program has not.
var (
	// ErrUnknown is returned for an engine name that is not known.
	ErrUnknown = errors.New("engines: unknown engine")
	// ErrMissing is for an engine that is known and not part of this program. It is wrapped in an [OpenError], with how
	// to get it. Open returns it where no other rung is left, and solutions have it for a rung that was passed over.
	ErrMissing = errors.New("engines: not part of this program")
)

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
	// Missing is how to get it if it is not part of the program, else "".
	Missing string
	// Caps is what it can do.
	solver.Caps
}

// Opener makes an engine from what its string says. It must be safe for concurrent use.
type Opener func(Spec) (solver.Solver, error)

type engine struct {
	info Info
	open Opener
}

// Set is a set of engines by name. Its zero value is empty and ready for Add;
// it is safe for concurrent use once nothing is added any more.
type Set struct{ known map[string]engine }

// Add makes open known as info.Name, replacing an engine of that name. The case of names does not matter.
func (s *Set) Add(info Info, open Opener) {
	if s.known == nil {
		s.known = map[string]engine{}
	}
	s.known[strings.ToLower(info.Name)] = engine{info, open}
}

// AddBackend makes [milp.New] of what open returns known as milp+name, with the option relax: none, later or all, a
// [milp.Relax]. Its other name is splits, with the values integer, now and continuous. Open need not look at either;
// exact is whether it proves optima, and options are those that it takes besides, with "://" if it takes an address.
func (s *Set) AddBackend(name, summary string, exact bool, open func(Spec) (milp.Backend, error), options ...string) {
	info := Info{Name: "milp+" + name, Summary: summary, Caps: solver.Caps{Exact: exact, Bound: true}}
	s.Add(info, func(spec Spec) (solver.Solver, error) {
		if err := spec.Only(append([]string{"relax", "splits"}, options...)...); err != nil {
			return nil, err
		}
		relax, err := spec.relax()
		if err != nil {
			return nil, err
		}
		b, err := open(spec)
		if err != nil {
			return nil, err
		}
		return milp.New(b, &milp.Config{Relax: relax}), nil
	})
}

// addMissing makes an engine known that is not part of the program, with how to get it.
func (s *Set) addMissing(info Info) {
	s.Add(info, func(Spec) (solver.Solver, error) { return nil, fmt.Errorf("%w: %s", ErrMissing, info.Missing) })
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

// Open returns the engine that text names: one, or several separated by commas for a [solver.Ladder], each as
// [Parse] has it, where share=0.5 gives a rung at most half of the ladder's time ([solver.Share]). The engine is an
// io.Closer where one of its parts is; close it when it is no longer needed.
//
// An unknown or empty name is [ErrUnknown], with the names that are known. A malformed one is [ErrSpec]. An engine that
// cannot be had is an [*OpenError]. In a ladder, an engine that is not part of the program ([ErrMissing]) or whose
// solver is not there ([milp.ErrUnavailable]) is a rung that says so at each solve, in the solution, and takes no
// time. If no other rung is left, Open returns these errors, joined.
func (s *Set) Open(text string) (solver.Solver, error) {
	var rungs []solver.Solver
	var away []error
	for _, one := range strings.Split(text, ",") {
		one = strings.TrimSpace(one)
		e, err := s.open(one, text)
		switch {
		case errors.Is(err, milp.ErrUnavailable) || errors.Is(err, ErrMissing):
			away = append(away, err)
			e = &absent{name: one, err: err}
		case err != nil:
			return nil, errors.Join(err, closeAll(rungs))
		}
		rungs = append(rungs, e)
	}
	switch {
	case len(away) == 1 && len(rungs) == 1:
		return nil, away[0]
	case len(away) == len(rungs):
		return nil, errors.Join(away...)
	case len(rungs) > 1:
		return solver.Ladder(rungs...), nil
	}
	return rungs[0], nil
}

// closeAll closes the engines that can be closed.
func closeAll(opened []solver.Solver) error {
	var errs []error
	for _, e := range opened {
		if c, ok := e.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// absent is a rung that is not there: it says so at each solve, and the ladder goes on.
type absent struct {
	name string
	err  error
}

func (a *absent) Name() string { return a.name }

func (a *absent) Solve(context.Context, *solver.Problem, solver.Options, func(*solver.Solution)) (*solver.Solution,
	error) {
	return nil, a.err
}

// open opens one of the engines of text.
func (s *Set) open(one, text string) (solver.Solver, error) {
	spec, err := Parse(one)
	if err != nil {
		return nil, err
	}
	known, ok := s.known[spec.Name]
	if !ok {
		return nil, fmt.Errorf("%w %q in %q; known are %s", ErrUnknown, spec.Name, text, s.names())
	}
	share, err := spec.share()
	if err != nil {
		return nil, err
	}
	e, err := known.open(spec)
	switch {
	case errors.Is(err, ErrSpec):
		return nil, err
	case err != nil:
		return nil, &OpenError{Spec: one, Err: err}
	case share < 1 && one != strings.TrimSpace(text):
		return solver.Share(e, share), nil
	}
	return e, nil
}

// Caps is what the engine that text names can do: of a ladder, what all its rungs can that are part of the program.
func (s *Set) Caps(text string) (solver.Caps, error) {
	all := solver.Caps{Exact: true, Bound: true, Deterministic: true, Anytime: true}
	for _, one := range strings.Split(text, ",") {
		spec, err := Parse(strings.TrimSpace(one))
		if err != nil {
			return solver.Caps{}, err
		}
		known, ok := s.known[spec.Name]
		if !ok {
			return solver.Caps{}, fmt.Errorf("%w %q in %q; known are %s", ErrUnknown, spec.Name, text, s.names())
		}
		can := known.info.Caps
		if known.info.Missing != "" && strings.Contains(text, ",") {
			continue
		}
		all = solver.Caps{Exact: all.Exact && can.Exact, Bound: all.Bound && can.Bound,
			Deterministic: all.Deterministic && can.Deterministic, Anytime: all.Anytime && can.Anytime}
	}
	return all, nil
}

func (s *Set) names() string {
	var names []string
	for _, info := range s.List() {
		names = append(names, info.Name)
	}
	return strings.Join(names, ", ")
}

// Builtin returns a new set of the pure-Go engines, to which others may be added. It knows the names of those that are
// modules of their own.
func Builtin() *Set {
	s := &Set{}
	s.Add(Info{Name: "greedy", Summary: "value per capacity, one pass; a millisecond or two, no bound",
		Caps: solver.Caps{Deterministic: true, Anytime: true}},
		local(func() solver.Solver { return greedy.New() }))
	s.Add(Info{Name: "native", Summary: "exact linear relaxation, branch and price, local search; anytime, with a bound",
		Caps: solver.Caps{Exact: true, Bound: true, Deterministic: true, Anytime: true}},
		local(func() solver.Solver { return native.New(nil) }))
	for _, name := range process.Solvers() {
		s.AddBackend("process:"+name, "the executable "+name+", by files", true, func(spec Spec) (milp.Backend, error) {
			b, err := process.New(process.Config{Solver: name, Path: spec.Options.Get("path")})
			if err != nil {
				return nil, err
			}
			return b, b.Available()
		}, "path")
	}
	for _, b := range []struct{ name, summary, command string }{
		{"cbc", "COIN-OR CBC in the process", "hedge-full"},
		{"clp", "COIN-OR CLP: linear relaxation, dives, branch and bound", "hedge-full"},
		{"lpsolve", "lp_solve in the process", "hedge-full"},
		{"highs", "HiGHS in the process, from its shared library", "hedge"},
		{"ortools", "an OR-Tools service over gRPC: GSCIP, CP_SAT, HIGHS", "hedge"},
	} {
		s.addMissing(Info{Name: "milp+" + b.name, Summary: b.summary, Caps: solver.Caps{Exact: b.name != "clp", Bound: true},
			Missing: fmt.Sprintf("the command %s has it (make %[1]s); a program imports "+
				"github.com/hedgesched/hedge/solver/milp/%s and calls %[2]s.Register(set)", b.command, b.name)})
	}
	return s
}

// local opens an engine that is part of the program and has no address.
func local(open func() solver.Solver) Opener {
	return func(spec Spec) (solver.Solver, error) {
		if err := spec.Only(); err != nil {
			return nil, err
		}
		return open(), nil
	}
}

// Open is Builtin().Open(text).
func Open(text string) (solver.Solver, error) { return Builtin().Open(text) }

// List is Builtin().List().
func List() []Info { return Builtin().List() }
