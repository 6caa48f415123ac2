//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A program that prints a run's document stands for hedge.
func TestScale(t *testing.T) {
	program := filepath.Join(t.TempDir(), "hedge")
	script := "#!/bin/sh\necho '{\"workload\":{\"tasks\":'${11}'},\"run\":{\"messages\":8}}'\n"
	require.NoError(t, os.WriteFile(program, []byte(script), 0o700))
	g := scaling{program: program, mix: "yahoo", policies: []string{"eagle", "pigeon"}, workers: 5, jobs: 3, doublings: 1}
	found, err := g.measure(context.Background())
	require.NoError(t, err)
	require.Len(t, found, 12)
	for i, want := range [][2]int{{5, 3}, {10, 6}, {5, 3}, {5, 6}, {5, 3}, {10, 3}} {
		for _, s := range []scaled{found[i], found[6+i]} {
			assert.Equal(t, want, [2]int{s.Workers, s.Jobs})
			assert.Equal(t, s.Jobs, s.Tasks, "the script's")
			assert.Equal(t, 8, s.Messages)
			assert.Positive(t, s.PeakMiB)
		}
	}
	_, err = (&scaling{program: "false", policies: []string{"eagle"}}).measure(context.Background())
	require.ErrorContains(t, err, "eagle")
}

func TestScalesHaveTheirSlopes(t *testing.T) {
	var found []scaled
	for _, d := range []string{"both", "workers"} {
		for _, n := range []int{1, 2, 4} {
			found = append(found, scaled{Policy: "hawk", Dimension: d, Workers: n, Tasks: n, CPUS: float64(n * n)})
		}
	}
	assert.Contains(t, scales(found), "| hawk | both | 2.00 |")
	assert.Contains(t, scales(found), "| hawk | workers | 2.00 |")
	path := filepath.Join(t.TempDir(), "scale.svg")
	require.NoError(t, drawScale(found, path))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Contains(t, string(text), "hawk")
}
