package demo_test

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/examples/internal/demo"
)

// TestProcess: what runs has no error, what has ended has, and nothing is left of what was stopped.
func TestProcess(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	p, err := demo.Start(log, "/bin/sh", "-c", "echo began >&2; exec sleep 1000")
	require.NoError(t, err)
	defer p.Stop()
	require.NoError(t, p.Err())
	require.NoError(t, syscall.Kill(p.ID(), 0), "it is there")
	p.Stop()
	require.ErrorIs(t, syscall.Kill(p.ID(), 0), syscall.ESRCH)
	require.ErrorContains(t, p.Err(), "sh has ended")
	p.Stop()

	p, err = demo.Start(log, "/bin/sh", "-c", "echo no cluster >&2; exit 1")
	require.NoError(t, err)
	defer p.Stop()
	require.NoError(t, demo.Until(t.Context(), time.Minute, "it has ended", func() (bool, error) {
		return p.Err() != nil, nil
	}))
	assert.EqualError(t, p.Err(), "sh has ended: no cluster")

	_, err = demo.Start(log, "/no/such/program")
	require.ErrorContains(t, err, "start /no/such/program")
	_, err = demo.Start(filepath.Join(log, "log"), "/bin/sh")
	require.Error(t, err, "the log is no folder")
}

func TestBuildRefuses(t *testing.T) {
	_, err := demo.Build(t.Context(), t.TempDir(), "./none")
	require.ErrorContains(t, err, "build ./none")
}
