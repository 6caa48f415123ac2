package demo_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/examples/internal/demo"
	"github.com/hedgesched/hedge/sched/baseline"
)

// compared is a comparison as the command line has it.
func compared(t *testing.T, args ...string) demo.Comparison {
	t.Helper()
	c := demo.DefaultComparison()
	c.Own, c.Nearest = "own", baseline.NewPrio
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	c.Flags(flags)
	require.NoError(t, flags.Parse(args))
	return c
}

// stopped is a run whose jobs were stopped n times in all.
func stopped(n int) *demo.Result {
	return &demo.Result{Jobs: []sim.JobRecord{{Class: sim.BestEffort, Finish: time.Second, Preemptions: n}}}
}

// TestComparison: schedulers take turns, each has its line and that of the simulator, and the line has medians.
func TestComparison(t *testing.T) {
	w, err := demo.New(small())
	require.NoError(t, err)
	c := compared(t, "-policies", "3sigma,keep", "-runs", "3", "-cycle", "1s")
	var out strings.Builder
	var turns []demo.Turn
	stops := map[string][]int{"own": {30, 10, 20}, "hedge, 3sigma": {4, 6, 5}, "hedge, keep": {0, 0, 3}}
	require.NoError(t, c.Run(t.Context(), w, &out, func(_ context.Context, turn demo.Turn) (*demo.Result, error) {
		turns = append(turns, turn)
		return stopped(stops[turn.Name][turn.At/3]), nil
	}))
	require.Len(t, turns, 9)
	assert.Equal(t, []demo.Turn{{Name: "own"}, {Name: "hedge, 3sigma", Policy: "3sigma", At: 1},
		{Name: "hedge, keep", Policy: "keep", At: 2}, {Name: "own", At: 3}}, turns[:4])
	var lines []string
	for _, m := range regexp.MustCompile(`(?m)^ *([a-z0-9:, ]+?)  +\d+ of .* s +(\d+) +0 +\d+ s`).FindAllStringSubmatch(
		out.String(), -1) {
		if lines = append(lines, m[1]); !strings.HasPrefix(m[1], "simulated") {
			lines = append(lines, m[2])
		}
	}
	assert.Equal(t, []string{"own", "20", "simulated: prio", "hedge, 3sigma", "5", "simulated: 3sigma", "hedge, keep",
		"0", "simulated: keep"}, lines, out.String())
}

// TestComparisonAlone: the cluster's own scheduler may be left out.
func TestComparisonAlone(t *testing.T) {
	w, err := demo.New(small())
	require.NoError(t, err)
	c := compared(t, "-alone")
	var names []string
	require.NoError(t, c.Run(t.Context(), w, io.Discard, func(_ context.Context, turn demo.Turn) (*demo.Result, error) {
		names = append(names, turn.Name)
		return stopped(0), nil
	}))
	assert.Equal(t, []string{"hedge, 3sigma"}, names)
}

// TestComparisonRefuses: nothing is started with what is wrong, and what fails ends it.
func TestComparisonRefuses(t *testing.T) {
	w, err := demo.New(small())
	require.NoError(t, err)
	never := func(context.Context, demo.Turn) (*demo.Result, error) {
		t.Error("a turn was taken")
		return nil, nil
	}
	c := compared(t, "-policies", "3sigma,fastest")
	require.ErrorContains(t, c.Run(t.Context(), w, io.Discard, never), `policy is "fastest"`)
	c = compared(t, "-runs", "0")
	require.ErrorIs(t, c.Run(t.Context(), w, io.Discard, never), demo.ErrOptions)
	c = compared(t, "-alone", "-policies", "")
	require.ErrorContains(t, c.Run(t.Context(), w, io.Discard, never), `policy is ""`)
	c, broken := compared(t), errors.New("broken")
	require.ErrorIs(t, c.Run(t.Context(), w, io.Discard, func(context.Context, demo.Turn) (*demo.Result, error) {
		return nil, broken
	}), broken)
}
