package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/cmd/hedge/internal/bench"
	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// TestBenchTotals: hedge bench from the flags to the table, each solve in a process of its own. The larger of the
// problems has seven jobs.
func TestBenchTotals(t *testing.T) {
	t.Setenv("HEDGE_TEST_PROGRAM", "1")
	dir := t.TempDir()
	for folder, jobs := range map[string][]int{"one": {2, 7}, "two": {7}} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, folder), 0o755))
		for _, n := range jobs {
			p := solvertest.Cycle(uint64(n), n, 0)
			file, err := os.Create(filepath.Join(dir, folder, fmt.Sprintf("cycle-%d.json", n)))
			require.NoError(t, err)
			require.NoError(t, errors.Join(solver.WriteProblem(file, p), file.Close()))
		}
	}
	args := []string{"bench", "--problems", filepath.Join(dir, "one") + "," + filepath.Join(dir, "two"), "--engine",
		"greedy", "--engine", "native",
		"--work", "100000,200000", "--threads", "1,2", "--totals"}
	got := hedge(t, "", args...)
	require.Zero(t, got.code, got.err)
	_, table, _ := strings.Cut(got.out, "\n")
	golden(t, "totals.txt", table)
	got = hedge(t, "", append(args, "--jobs", "5-30", "--json")...)
	require.Zero(t, got.code, got.err)
	var d bench.Document
	require.NoError(t, json.Unmarshal([]byte(got.out), &d))
	require.Len(t, d.Problems, 2)
	assert.Equal(t, []string{"one/cycle-7", "two/cycle-7"}, []string{d.Problems[0].Name, d.Problems[1].Name})
	require.Len(t, d.Totals, 12)
	assert.Equal(t, bench.Total{Engine: "native", Threads: 2, Problems: 2, Near: []int{2, 2}, Proven: []int{2, 2},
		Optimal: []int{2, 2}, Worst: []float64{1, 1}, MeanGap: d.Totals[11].MeanGap}, d.Totals[11])
	assert.InDeltaSlice(t, []float64{0, 0}, d.Totals[11].MeanGap, 1e-6)
}

// TestAmounts: values are written with what tells them apart.
func TestAmounts(t *testing.T) {
	for want, v := range map[string]float64{"0.1234568": 0.12345678, "1129.393": 1129.39321, "18184626": 18184626.4,
		"4195324": 4195324, "1e+20": 1e20} {
		assert.Equal(t, want, amount(&v))
	}
	assert.Equal(t, "–", amount(nil))
}
