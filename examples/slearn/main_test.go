package main

import (
	"bytes"
	"context"
	"flag"
	"math"
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

// Options that make no sense are refused by name, before anything runs.
func TestRunRefusesOptions(t *testing.T) {
	for name, set := range map[string]func(*options){
		"-jobs: found 0":       func(o *options) { o.jobs = 0 },
		"-jobs: found -5":      func(o *options) { o.jobs = -5 },
		"-speed: found 0":      func(o *options) { o.speed = 0 },
		"-speed: found NaN":    func(o *options) { o.speed = math.NaN() },
		"-speed: found 1e+300": func(o *options) { o.speed = 1e300 },
		"-load: found 0":       func(o *options) { o.load = 0 },
		"-load: found -1":      func(o *options) { o.load = -1 },
		"-load: found NaN":     func(o *options) { o.load = math.NaN() },
		"-load: found +Inf":    func(o *options) { o.load = math.Inf(1) },
		"-delay: found -1s":    func(o *options) { o.delay = -time.Second },
		"-begin: found -1s":    func(o *options) { o.begin = -time.Second },
		"-task: ":              func(o *options) { o.task = "/no/such/program" },
	} {
		t.Run(name, func(t *testing.T) {
			o := small(t)
			set(o)
			var out bytes.Buffer
			require.ErrorContains(t, run(t.Context(), o, &out), name)
			assert.Empty(t, out.String())
		})
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
