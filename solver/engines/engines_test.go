package engines_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/engines"
	"github.com/hedgesched/hedge/solver/greedy"
	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/solvertest"
)

func TestOpen(t *testing.T) {
	for spec, name := range map[string]string{"native": "native", "greedy": "greedy", "native, greedy": "native,greedy"} {
		e, err := engines.Open(spec)
		require.NoError(t, err, spec)
		assert.Equal(t, name, e.Name())
	}
}

func TestOpenUnknown(t *testing.T) {
	for _, spec := range []string{"", "cplex", "native,", "native,cplex"} {
		_, err := engines.Open(spec)
		require.ErrorIs(t, err, engines.ErrUnknown, spec)
		assert.ErrorContains(t, err,
			"greedy, milp+cbc, milp+clp, milp+highs, milp+lpsolve, milp+ortools, milp+process:cbc, milp+process:glpsol, ")
	}
}

// TestOpenWithAnAddress: engines outside the program need one, and may not be there.
func TestOpenWithAnAddress(t *testing.T) {
	s, away := engines.Builtin(), errors.New("no answer")
	var asked []engines.Spec
	s.Add(engines.Info{Name: "milp+far"}, func(spec engines.Spec) (solver.Solver, error) {
		if asked = append(asked, spec); len(asked) > 1 {
			return nil, away
		}
		return greedy.New(), nil
	})
	e, err := s.Open("milp+far://host:5?solver=x, native")
	require.NoError(t, err)
	assert.Equal(t, "greedy,native", e.Name())
	assert.Equal(t, []engines.Spec{{Text: "milp+far://host:5?solver=x", Name: "milp+far", Address: "host:5",
		Options: url.Values{"solver": {"x"}}}}, asked)

	_, err = s.Open("native,milp+far")
	var failed *engines.OpenError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, "milp+far", failed.Spec)
	require.ErrorIs(t, err, away)
	assert.NotErrorIs(t, err, engines.ErrUnknown)
}

func TestBadStrings(t *testing.T) {
	s := engines.Builtin()
	s.AddBackend("none", "", true, func(engines.Spec) (milp.Backend, error) { return none{}, nil }, "colour")
	for text, want := range map[string]string{
		"native://host":                   `found the address "host", expected none`,
		"native?splits=now":               "found the option splits, expected share",
		"native?share=2":                  `share: found "2", expected a number above 0 and up to 1`,
		"native?share=x,greedy":           `share: found "x"`,
		"native?share=1&share=0.5":        "option share: found 2 values, expected one",
		"native?%zz":                      "invalid URL escape",
		"milp+none?splits=half":           `splits: found "half", expected integer, now or continuous`,
		"milp+none?relax=half":            `relax: found "half", expected none, later or all`,
		"milp+none?relax=all&splits=now":  "found relax and splits",
		"milp+none?taste=sweet":           "found the option taste, expected relax, splits, colour, share",
		"greedy,milp+none://x?splits=now": `found the address "x"`,
	} {
		_, err := s.Open(text)
		require.ErrorIs(t, err, engines.ErrSpec, text)
		assert.ErrorContains(t, err, want, text)
	}
	e, err := s.Open("milp+none?splits=now&colour=red&share=0.3, greedy")
	require.NoError(t, err)
	assert.Equal(t, "milp+none,greedy", e.Name())
}

// TestRelax: the option has two names, whose values mean the same.
func TestRelax(t *testing.T) {
	s := engines.Builtin()
	s.AddBackend("none", "", true, func(engines.Spec) (milp.Backend, error) { return none{}, nil })
	open := func(options string) solver.Solver {
		e, err := s.Open("milp+none" + options)
		require.NoError(t, err, options)
		return e
	}
	for same, values := range map[string][]string{"": {"?relax=none", "?splits=integer"}, "?relax=later": {"?splits=now"},
		"?relax=all": {"?splits=continuous"}} {
		for _, value := range values {
			assert.Equal(t, open(same), open(value), value)
		}
	}
	assert.NotEqual(t, open("?relax=later"), open("?relax=all"))
	assert.NotEqual(t, open("?relax=later"), open(""))
}

// none is a backend that solves nothing.
type none struct{}

func (none) Name() string    { return "none" }
func (none) Caps() milp.Caps { return milp.Caps{Integer: true} }
func (none) Solve(context.Context, *milp.Model, milp.Options) (*milp.Result, error) {
	return nil, milp.ErrUnavailable
}

func TestAnEngineThatIsNotPartOfTheProgramSaysHowToGetIt(t *testing.T) {
	_, err := engines.Open("milp+cbc")
	var failed *engines.OpenError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, "milp+cbc", failed.Spec)
	require.ErrorIs(t, err, engines.ErrMissing)
	assert.ErrorContains(t, err, "make hedge-full")
	assert.ErrorContains(t, err, "calls cbc.Register(set)")
	_, err = engines.Open("milp+ortools://127.0.0.1:1?solver=GSCIP")
	require.ErrorIs(t, err, engines.ErrMissing)
	assert.ErrorContains(t, err, "(make hedge)")
	_, err = engines.Open("milp+cbc, milp+process:cbc?path=/nowhere/cbc")
	require.ErrorIs(t, err, engines.ErrMissing, "nothing is left")
	require.ErrorIs(t, err, milp.ErrUnavailable)
}

// TestARungThatIsNotPartOfTheProgram is passed over, and the solution says so.
func TestARungThatIsNotPartOfTheProgram(t *testing.T) {
	for _, text := range []string{"milp+cbc,milp+ortools://h:1?solver=GSCIP&tls=true,native", "native,milp+cbc,milp+clp"} {
		e, err := engines.Open(text)
		require.NoError(t, err, text)
		sol, err := solver.Solve(context.Background(), e, solvertest.Tiny(1), solver.Options{})
		require.NoError(t, err, text)
		assert.Equal(t, "native", sol.Engine, text)
		assert.Equal(t, solver.StopOptimal, sol.Stop, text)
		can, err := engines.Builtin().Caps(text)
		require.NoError(t, err)
		assert.Equal(t, solver.Caps{Exact: true, Bound: true, Deterministic: true, Anytime: true}, can,
			"those of the rungs there are")
	}
}

// TestCase: names and words are the same in any case; what may be a file's name is not touched.
func TestCase(t *testing.T) {
	s := engines.Builtin()
	var asked engines.Spec
	s.Add(engines.Info{Name: "milp+Far"}, func(spec engines.Spec) (solver.Solver, error) {
		asked = spec
		return greedy.New(), nil
	})
	s.AddBackend("none", "", true, func(engines.Spec) (milp.Backend, error) { return none{}, nil }, "colour")
	e, err := s.Open("MILP+FAR://Host:5?Solver=GSCIP&CA=/Tmp/Ca.pem&SHARE=0.5, Native,GREEDY")
	require.NoError(t, err)
	assert.Equal(t, "greedy,native,greedy", e.Name())
	assert.Equal(t, "milp+far", asked.Name)
	assert.Equal(t, "Host:5", asked.Address)
	assert.Equal(t, "gscip", asked.Word("solver"))
	assert.Equal(t, "/Tmp/Ca.pem", asked.Options.Get("ca"))
	later, err := s.Open("milp+none?relax=later")
	require.NoError(t, err)
	for _, text := range []string{"MILP+None?Relax=Later", "milp+NONE?SPLITS=NOW"} {
		e, err := s.Open(text)
		require.NoError(t, err)
		assert.Equal(t, later, e, text)
	}
	_, err = s.Open("native?share=1&Share=0.5")
	require.ErrorIs(t, err, engines.ErrSpec)
	can, err := s.Caps("NATIVE")
	require.NoError(t, err)
	assert.True(t, can.Exact)
}

func TestExecutables(t *testing.T) {
	e, err := engines.Open("milp+process:cbc?path=/nowhere/cbc, greedy")
	require.NoError(t, err, "a rung that is not there does not cost the ladder")
	p := solvertest.Tiny(1)
	sol, err := solver.Solve(context.Background(), e, p, solver.Options{})
	require.NoError(t, err)
	assert.Equal(t, "greedy", sol.Engine)
	require.Len(t, sol.Rungs, 2)
	require.ErrorIs(t, sol.Rungs[0].Err, milp.ErrUnavailable)

	_, err = engines.Open("milp+process:cbc?path=/nowhere/cbc")
	var failed *engines.OpenError
	require.ErrorAs(t, err, &failed)
	require.ErrorIs(t, err, milp.ErrUnavailable)
	assert.ErrorContains(t, err, "/nowhere/cbc")
	_, err = engines.Open("milp+process:cplex")
	require.ErrorIs(t, err, engines.ErrUnknown)
}

func TestListIsSortedAndOpens(t *testing.T) {
	list := engines.List()
	require.NotEmpty(t, list)
	for i, info := range list {
		if i > 0 {
			assert.Less(t, list[i-1].Name, info.Name)
		}
		e, err := engines.Open(info.Name)
		if info.Missing != "" {
			require.ErrorIs(t, err, engines.ErrMissing)
			continue
		}
		if strings.HasPrefix(info.Name, "milp+process:") && err != nil {
			require.ErrorIs(t, err, milp.ErrUnavailable, "%s is not on this machine", info.Name)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, info.Name, e.Name())
	}
}

func TestConformanceOfLadder(t *testing.T) {
	e, err := engines.Open("native,greedy")
	require.NoError(t, err)
	solvertest.Run(t, e, solvertest.Claims{Caps: solver.Caps{Exact: true, Bound: true, Deterministic: true, Anytime: true},
		Seeds: 60})
}

func ExampleOpen() {
	engine, err := engines.Open("native,greedy")
	if err != nil {
		fmt.Println(err)
		return
	}
	p := &solver.Problem{
		SlotSeconds: 60, Slots: 2, Resources: []string{"node"},
		Partitions: []solver.Partition{{Name: "rack", Nodes: 2}},
		Capacity:   [][][]float64{{{2, 2}}},
		Jobs: []solver.Job{{ID: "a", Options: []solver.Option{
			{Set: "any", Count: 2, Demand: []float64{1}, Partitions: []int{0}, Usage: []float64{1}, Value: 10},
		}}},
	}
	sol, err := solver.Solve(context.Background(), engine, p, solver.Options{})
	fmt.Println(sol.Engine, sol.Stop, sol.Objective, err)
	// Output: native optimal 10 <nil>
}

// closing is an engine that counts how often it is closed.
type closing struct {
	solver.Solver
	closed *int
}

func (c closing) Close() error { *c.closed++; return nil }

// TestOpenClosesSharedEngines: an engine with a share is closed where another cannot be opened, and when it is alone.
func TestOpenClosesSharedEngines(t *testing.T) {
	closed := 0
	s := new(engines.Set)
	s.Add(engines.Info{Name: "mine"}, func(engines.Spec) (solver.Solver, error) {
		return closing{greedy.New(), &closed}, nil
	})
	_, err := s.Open("mine?share=0.5,bogus")
	require.ErrorIs(t, err, engines.ErrUnknown)
	assert.Equal(t, 1, closed)
	e, err := s.Open(" mine?share=0.5")
	require.NoError(t, err)
	assert.IsType(t, closing{}, e, "one engine has no share")
}
