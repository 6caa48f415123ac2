//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/solvertest"
)

func TestExponents(t *testing.T) {
	var of []grown
	for _, x := range []float64{1, 2, 4, 8} {
		of = append(of, grown{Places: x, RootMS: 3 * x * x, PlanMS: 7})
	}
	assert.InDelta(t, 2, exponent(of, places, rootMS), 1e-9)
	assert.InDelta(t, 0, exponent(of, places, planMS), 1e-9)
}

func TestGrowth(t *testing.T) {
	g := growing{base: solvertest.Shape{Jobs: 8, Partitions: 2, Slots: 6, Widest: 0.05, Resources: 1}, doublings: 1,
		each: 1, gap: 0.01, work: 100_000}
	found, err := g.measure(context.Background())
	require.NoError(t, err)
	require.Len(t, found, 6)
	assert.Equal(t, []int{16, 2, 6}, []int{found[1].Shape.Jobs, found[1].Shape.Partitions, found[1].Shape.Slots})
	assert.Equal(t, []int{8, 4, 6}, []int{found[3].Shape.Jobs, found[3].Shape.Partitions, found[3].Shape.Slots})
	assert.Equal(t, []int{8, 2, 12}, []int{found[5].Shape.Jobs, found[5].Shape.Partitions, found[5].Shape.Slots})
	for i := range found {
		assert.Equal(t, clusterNodes, found[i].Shape.Nodes*found[i].Shape.Partitions)
		assert.Positive(t, found[i].PlanWork)
		assert.GreaterOrEqual(t, found[i].Places, found[i].Options)
	}
	assert.Equal(t, found[0].PlanWork, found[2].PlanWork, "work is the same at any time")
	assert.Contains(t, growths(found, g.gap), "plan within 1 % ms")

	path := filepath.Join(t.TempDir(), "growth.svg")
	require.NoError(t, draw(found, path))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Contains(t, string(text), "places (options")
}
