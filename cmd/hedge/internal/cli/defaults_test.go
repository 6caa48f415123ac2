package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/cmd/hedge/internal/bench"
)

// TestDefaultsFollow: a flag that was not given follows those that were, and never makes one of them wrong.
func TestDefaultsFollow(t *testing.T) {
	for _, tt := range []struct {
		args  string
		racks float64
	}{
		{"--nodes 4", 4},
		{"--nodes 1", 1},
		{"--nodes 7", 7},
		{"--nodes 8", 8},
		{"--nodes 24", 8},
		{"--nodes 24 --racks 3", 3},
		{"--nodes 4 --workload e2e", 4},
		{"--nodes 4 --jobs-per-hour 200", 4},
		{"--nodes 8 --slot 100ms --policy 3sigma --hours 0.01", 8},
		{"--nodes 8 --slot 720h --policy 3sigma --hours 0.01", 8},
		{"--nodes 8 --window 100ms --policy 3sigma --hours 0.01", 8},
	} {
		args := append([]string{"simulate", "--policy", "fifo", "--hours", "0.05", "--cycle", "1m", "--work", "500",
			"--json"}, strings.Fields(tt.args)...)
		got := hedge(t, "", args...)
		require.Equal(t, 0, got.code, "%s: %s", tt.args, got.err)
		var doc struct {
			Workload struct{ Racks, Nodes float64 }
		}
		require.NoError(t, json.Unmarshal([]byte(got.out), &doc), tt.args)
		assert.InDelta(t, tt.racks, doc.Workload.Racks, 0, tt.args)
	}
}

// TestReachNeedsNoEngine: an engine that is to be compared with the default ones is one of them.
func TestReachNeedsNoEngine(t *testing.T) {
	t.Setenv("HEDGE_TEST_PROGRAM", "1")
	path := filepath.Join(t.TempDir(), "p.json")
	require.NoError(t, os.WriteFile(path, []byte(problem), 0o600))
	for reach, engines := range map[string]int{"native": 2, "native,greedy": 3} {
		got := hedge(t, "", "bench", "--problems", path, "--reach", reach, "--at", "20ms", "--json")
		require.Zero(t, got.code, got.err)
		var doc bench.Document
		require.NoError(t, json.Unmarshal([]byte(got.out), &doc))
		assert.Equal(t, reach, doc.Reach.Engine)
		assert.Len(t, doc.Problems[0].Runs, engines)
	}
	got := hedge(t, "", "bench", "--problems", path, "--engine", "greedy", "--reach", "native")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.err, "--reach")
}
