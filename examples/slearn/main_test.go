package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/live/loopback"
)

func TestMain(m *testing.M) {
	o := flags(flag.CommandLine)
	flag.Parse()
	loopback.Main(o.alive)
	os.Exit(m.Run())
}

func small(t *testing.T) *options {
	o := flags(flag.NewFlagSet("slearn", flag.ContinueOnError))
	o.jobs, o.speed, o.dir, o.systems = 4, 4000, t.TempDir(), "gs-3sigma,gs-slearn"
	return o
}

// A small run is done with each system.
func TestRun(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	var out bytes.Buffer
	require.NoError(t, run(ctx, small(t), &out))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 4)
	assert.Contains(t, lines[0], "4 jobs of two stages")
	for i, name := range []string{"gs-3sigma", "gs-slearn"} {
		words := strings.Fields(lines[2+i])
		require.Len(t, words, 6)
		assert.Equal(t, name, words[0])
	}
}

func TestRunRefusesOtherSystems(t *testing.T) {
	for name, want := range map[string]string{"kairos": "none of GS's", "gs-oracle": "no truth", "gs-none": "gs-none"} {
		o := small(t)
		o.systems = name
		assert.ErrorContains(t, run(t.Context(), o, new(bytes.Buffer)), want)
	}
}

// The stages of a job are of one user and name, its second stage follows the first, and half of the jobs are wide.
func TestDraw(t *testing.T) {
	d, err := small(t).draw()
	require.NoError(t, err)
	require.Len(t, d.Jobs, 8)
	require.Len(t, d.Attributes, 8)
	wide := 0
	for i := 0; i < len(d.Jobs); i += 2 {
		assert.Zero(t, d.Jobs[i].Phase)
		assert.EqualValues(t, 1, d.Jobs[i+1].Phase)
		for _, same := range []string{"user", "name"} {
			assert.Equal(t, d.Attributes[i][same], d.Attributes[i+1][same])
		}
		if max(d.Jobs[i].Tasks, d.Jobs[i+1].Tasks) >= 3 {
			wide++
		}
	}
	assert.Equal(t, 2, wide)
	o := small(t)
	o.jobs = 1000
	_, err = o.draw()
	assert.ErrorContains(t, err, "such jobs, of 1000")
}
