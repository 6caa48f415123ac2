package main

import (
	"bytes"
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/live"
	"github.com/hedgesched/hedge/adapters/live/loopback"
)

// small is a run of some seconds.
var small = options{speed: 500, jobs: 3, seed: 1}

func TestMain(m *testing.M) {
	loopback.Main(func() (*live.System, error) { return alive(small) })
	os.Exit(m.Run())
}

// A small run is done, and tells of both classes of jobs that it has.
func TestRun(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out bytes.Buffer
	o := small
	o.dir = t.TempDir()
	require.NoError(t, run(ctx, o, &out))
	assert.Contains(t, out.String(), "3 short")
	assert.Contains(t, out.String(), "live/simulated")
}
