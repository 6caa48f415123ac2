package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/engines"
)

// faulty is an engine that reports a plan of job b and then fails, with its report or before it.
type faulty struct{ plan bool }

func (faulty) Name() string { return "faulty" }

func (f faulty) Solve(_ context.Context, _ *solver.Problem, _ solver.Options,
	report func(*solver.Solution)) (*solver.Solution, error) {
	if f.plan {
		report(&solver.Solution{Choice: map[string]solver.Choice{"b": {Split: []solver.Split{{Count: 1}}}}})
	}
	return nil, errors.New("the licence has run out")
}

// TestThePlanOfAnEngineThatFailsIsKept: what it had by then is written, whatever the form, and the status is that of a
// failure.
func TestThePlanOfAnEngineThatFailsIsKept(t *testing.T) {
	known := engines.Builtin()
	for name, plan := range map[string]bool{"late": true, "soon": false} {
		known.Add(engines.Info{Name: name}, func(engines.Spec) (solver.Solver, error) { return faulty{plan}, nil })
	}
	path, out := problemFile(t), filepath.Join(t.TempDir(), "plan.json")
	got := hedgeWith(t, known, "", "solve", "--problem", path, "--engine", "late", "--json", "--out", out)
	assert.Equal(t, 1, got.code)
	assert.Equal(t, "hedge: "+path+": engine faulty: solver: engine failed: the licence has run out\n", got.err)
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	assert.Equal(t, got.out, string(text))
	sol, err := solver.ReadSolution(strings.NewReader(got.out))
	require.NoError(t, err)
	assert.Equal(t, solver.StopError, sol.Stop)
	assert.Equal(t, 2.0, sol.Objective)
	assert.Contains(t, sol.Choice, "b")

	got = hedgeWith(t, known, problem, "solve", "--problem", "-", "--engine", "late")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.out, "stopped (error): it failed; this is the best plan that it had by then")
	assert.Contains(t, got.out, "1 job planned, 1 of them to start now")
	assert.True(t, strings.HasPrefix(got.err, "hedge: stdin: engine faulty: "), got.err)

	got = hedgeWith(t, known, problem, "solve", "--problem", "-", "--engine", "soon", "--json")
	assert.Equal(t, 1, got.code)
	assert.Empty(t, got.out, "there is no plan")
}
