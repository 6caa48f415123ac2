package ortools_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/engines"
	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/ortools"
)

// problem is one gang of two tasks on a rack of two nodes.
func problem() *solver.Problem {
	return &solver.Problem{
		SlotSeconds: 60, Slots: 2, Resources: []string{"node"},
		Partitions: []solver.Partition{{Name: "rack", Nodes: 2}},
		Capacity:   [][][]float64{{{2, 2}}},
		Jobs: []solver.Job{{ID: "a", Options: []solver.Option{
			{Set: "any", Count: 2, Demand: []float64{1}, Partitions: []int{0}, Usage: []float64{1}, Value: 10},
		}}},
	}
}

// A program that has the engines it imports. The service is not there and CBC is not part of the program, so that
// the native engine answers.
func ExampleRegister() {
	set := engines.Builtin()
	ortools.Register(set)
	engine, err := set.Open("milp+ortools://127.0.0.1:1?solver=GSCIP,milp+cbc,native,greedy")
	if err != nil {
		fmt.Println(err)
		return
	}
	sol, err := solver.Solve(context.Background(), engine, problem(), solver.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sol.Engine, sol.Stop, sol.Objective)
	for _, rung := range sol.Rungs {
		fmt.Println(rung.Engine, errors.Is(rung.Err, milp.ErrUnavailable), errors.Is(rung.Err, engines.ErrMissing),
			errors.Is(rung.Err, solver.ErrSkipped))
	}
	// Output:
	// native optimal 10
	// milp+ortools-gscip true false false
	// milp+cbc false true false
	// native false false false
	// greedy false false true
}

func TestRegisterTakesTLSAndAnyCase(t *testing.T) {
	set := engines.Builtin()
	ortools.Register(set)
	a := newAuthority(t)
	cert, key, ca := a.write(t)
	for _, text := range []string{
		"MILP+ORTools://127.0.0.1:1?Solver=cp_sat&TLS=True", "milp+ortools://127.0.0.1:1?solver=CP-SAT&ca=" + ca,
		"milp+ortools://127.0.0.1:1?solver=CP_SAT&cert=" + cert + "&key=" + key,
	} {
		e, err := set.Open(text)
		require.NoError(t, err, text)
		assert.Equal(t, "milp+ortools-cp-sat", e.Name())
	}
	for text, want := range map[string]string{
		"milp+ortools://h:1?tls=perhaps":        `tls: found "perhaps", expected true or false`,
		"milp+ortools://h:1?cert=" + cert:       "found one of cert and key, expected both",
		"milp+ortools://h:1?tls=false&ca=" + ca: "found tls=false and files for TLS",
		"milp+ortools://h:1?colour=red":         "found the option colour",
	} {
		_, err := set.Open(text)
		require.ErrorIs(t, err, engines.ErrSpec, text)
		assert.ErrorContains(t, err, want)
	}
	var failed *engines.OpenError
	_, err := set.Open("milp+ortools://h:1?ca=/no/such/file,native")
	require.ErrorAs(t, err, &failed, "a mistake in the configuration is no missing rung")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = set.Open("milp+ortools://h:1?solver=cplex")
	require.ErrorAs(t, err, &failed)
}

const outside = `package main

import (
	"context"
	"fmt"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/engines"
	"github.com/hedgesched/hedge/solver/milp/highs"
	"github.com/hedgesched/hedge/solver/milp/ortools"
)

func main() {
	set := engines.Builtin()
	ortools.Register(set)
	highs.Register(set)
	engine, err := set.Open("MILP+ORTOOLS://127.0.0.1:1?solver=GSCIP&tls=true,milp+highs?library=/no/such/file," +
		"milp+clp,native,greedy")
	if err != nil {
		panic(err)
	}
	p := &solver.Problem{SlotSeconds: 60, Slots: 1, Resources: []string{"node"}, Partitions: ` +
	`[]solver.Partition{{Nodes: 2}},
		Capacity: [][][]float64{{{2}}}, Jobs: []solver.Job{{ID: "a", Options: []solver.Option{
			{Count: 2, Demand: []float64{1}, Partitions: []int{0}, Usage: []float64{1}, Value: 10}}}}}
	sol, err := solver.Solve(context.Background(), engine, p, solver.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println(sol.Engine, sol.Objective, len(sol.Rungs))
}
`

// TestAProgramOutside builds and runs a program of a module of its own, by its own choice of versions.
func TestAProgramOutside(t *testing.T) {
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	dir := t.TempDir()
	put := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	put("main.go", outside)
	module := "module example.com/outside\n\ngo 1.26\n\nrequire (\n"
	for _, m := range []string{"", "/solver/milp/highs", "/solver/milp/ortools"} {
		module += "\tgithub.com/hedgesched/hedge" + m + " v0.0.0\n"
	}
	module += ")\n"
	for _, m := range []string{"", "/solver/milp/highs", "/solver/milp/ortools"} {
		module += fmt.Sprintf("\nreplace github.com/hedgesched/hedge%s => %s%[1]s\n", m, root)
	}
	put("go.mod", module)
	sums, err := os.ReadFile("go.sum")
	require.NoError(t, err)
	more, err := os.ReadFile("../highs/go.sum")
	require.NoError(t, err)
	put("go.sum", string(sums)+string(more))
	run := exec.Command("go", "run", "-mod=mod", ".")
	run.Dir = dir
	run.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0")
	var told bytes.Buffer // what is downloaded is told there
	run.Stderr = &told
	out, err := run.Output()
	require.NoError(t, err, told.String())
	assert.Equal(t, "native 10 5\n", string(out))
}
