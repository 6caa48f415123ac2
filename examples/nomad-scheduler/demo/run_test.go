package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/examples/internal/demo"
)

// TestRun: a small run on real servers prints all six lines, and what is interrupted leaves nothing behind.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it runs real servers for some minutes")
	}
	s := settings{options: demo.Default(), compare: demo.DefaultComparison()}
	s.compare.Policies, s.compare.Cycle = []string{"3sigma", "keep"}, time.Second
	s.options.Nodes, s.options.Hours = 8, 0.1
	t.Setenv("TMPDIR", t.TempDir())
	var out bytes.Buffer
	require.NoError(t, s.run(t.Context(), &out))
	for _, name := range []string{"nomad", "simulated: prio without preemption", "hedge, 3sigma", "simulated: 3sigma",
		"hedge, keep", "simulated: keep"} {
		assert.Contains(t, out.String(), fmt.Sprintf("%s  ", name))
	}
	t.Log(out.String())
	empty(t)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := s.run(ctx, writer(func(text string) {
		if strings.HasPrefix(text, "nomad:") && strings.Contains(text, "handed in") {
			cancel() // as an interrupt does
		}
	}))
	require.ErrorIs(t, err, context.Canceled)
	empty(t)
}

// empty checks that the folder of temporary files holds nothing of a run's, and that no process works there.
func empty(t *testing.T) {
	t.Helper()
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	for _, e := range left {
		assert.False(t, strings.HasPrefix(e.Name(), "hedge-demo"), e.Name())
	}
	processes, err := os.ReadDir("/proc")
	require.NoError(t, err)
	for _, p := range processes {
		at, _ := os.Readlink("/proc/" + p.Name() + "/cwd") // it may have ended, or be none
		assert.False(t, strings.HasPrefix(at, os.TempDir()), "process %s works in %s", p.Name(), at)
	}
}

type writer func(string)

func (w writer) Write(p []byte) (int, error) {
	w(string(p))
	return len(p), nil
}
