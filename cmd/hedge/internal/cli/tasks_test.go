package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func simulateTasks(t *testing.T, args ...string) (out, errs string, status int) {
	trace := filepath.Join(t.TempDir(), "two.tr")
	require.NoError(t, os.WriteFile(trace, []byte("0 2 10 8 12\n5 1 100 100\n"), 0o600))
	var o, e bytes.Buffer
	base := []string{"simulate", "--workload", "tasks", "--trace", trace, "--nodes", "50"}
	status = Main(context.Background(), append(base, args...), Host{In: bytes.NewReader(nil), Out: &o, Err: &e})
	return o.String(), e.String(), status
}

func TestSimulateTasksByPublishedRules(t *testing.T) {
	jobs := filepath.Join(t.TempDir(), "jobs")
	out, errs, status := simulateTasks(t, "--policy", "clwl", "--rules", "published", "--jobs-out", jobs, "--json")
	require.Zero(t, status, errs)
	var d tasksDocument
	require.NoError(t, json.Unmarshal([]byte(out), &d))
	assert.Equal(t, 2, d.Workload.Jobs)
	assert.Equal(t, 3, d.Workload.Tasks)
	assert.Equal(t, 1, d.Run.Short.Jobs)
	assert.InDelta(t, 12.0015, d.Run.Short.JCT.P50, 1e-9)
	assert.InDelta(t, 100.0015, d.Run.Long.JCT.P99, 1e-9)
	lines, err := os.ReadFile(jobs)
	require.NoError(t, err)
	assert.Equal(t, "1 12.0015 0\n2 105.0015 1\n", string(lines))
}

func TestSimulateTasksRefusesBadFlags(t *testing.T) {
	for want, args := range map[string][]string{
		"--policy":    {"--policy", "3sigma", "--rules", "published"},
		"--rules":     {"--rules", "house"},
		"--heartbeat": {"--rules", "published", "--heartbeat", "1500ms"},
		"--estimate":  {"--rules", "published", "--estimate", "uniform:2,1"},
		"--racks":     {"--rules", "published", "--racks", "2"},
		"short share": {"--rules", "published", "--short-share", "100"},
	} {
		_, errs, status := simulateTasks(t, args...)
		assert.Equal(t, exitUsage, status, want)
		assert.Contains(t, errs, want)
	}
}

func TestQuantilesLieBetweenRanks(t *testing.T) {
	assert.InDelta(t, 1.5, between([]float64{1, 2}, 0.5), 1e-12)
	assert.InDelta(t, 3, between([]float64{3}, 0.99), 1e-12)
}
