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

func replayLog(args ...string) (out, errs string, status int) {
	var o, e bytes.Buffer
	host := Host{In: bytes.NewReader(nil), Out: &o, Err: &e}
	status = Main(context.Background(), append([]string{"replay"}, args...), host)
	return o.String(), e.String(), status
}

// A run's log gives its figures again, whatever its rules and its kind.
func TestTaskLogsAreReplayed(t *testing.T) {
	dir := t.TempDir()
	for policy, args := range map[string][]string{
		"eagle": {"--fail", "100", "--cores", "2"}, "hawk": {"--rules", "published"}, "kairos": {"--quantum", "3s"},
		"gs-slearn": nil,
	} {
		out, errs, status := simulateTasks(t, append(args, "--policy", policy, "--log", dir, "--seed", "3", "--json")...)
		require.Zero(t, status, errs)
		var run tasksDocument
		require.NoError(t, json.Unmarshal([]byte(out), &run))
		out, errs, status = replayLog(filepath.Join(dir, policy+"-3.tasks"), "--json")
		require.Zero(t, status, errs)
		var again replayedTasks
		require.NoError(t, json.Unmarshal([]byte(out), &again))
		assert.Equal(t, policy, again.Run.Policy)
		assert.EqualValues(t, 3, again.Run.Seed)
		assert.Equal(t, run.Run.All.Jobs, again.Run.All.Jobs)
		assert.InDelta(t, run.Run.All.JCT.P90, again.Run.All.JCT.P90, 1e-6, policy)
		assert.InDelta(t, run.Run.MakespanS, again.Run.MakespanS, 1e-6, policy)
		out, _, status = replayLog(filepath.Join(dir, policy+"-3.tasks"))
		assert.Zero(t, status)
		assert.Contains(t, out, "2 jobs, 3 tasks on 50 nodes: passed. "+policy+", seed 3")
	}
}

func TestBadTaskLogsAreRefused(t *testing.T) {
	dir := t.TempDir()
	_, errs, status := simulateTasks(t, "--log", dir)
	require.Zero(t, status, errs)
	path := filepath.Join(dir, "eagle-1.tasks")
	log, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, log[:len(log)-150], 0o600))
	_, errs, status = replayLog(path)
	assert.Equal(t, exitUsage, status)
	assert.Contains(t, errs, path+": record")
	log[len(log)-1] ^= 0x10 // the makespan
	require.NoError(t, os.WriteFile(path, log, 0o600))
	_, errs, status = replayLog(path)
	assert.Equal(t, exitFailed, status)
	assert.Contains(t, errs, "the makespan is")
}

// The page has charts of completion and slowdown by class, of queues and of messages; one class may be missing.
func TestTasksReport(t *testing.T) {
	for command, args := range map[string][]string{
		"simulate": {"--policy", "gs-slearn", "--cutoff", "1000"},
		"compare":  {"--policies", "eagle,pigeon", "--seeds", "1,2"},
	} {
		dir := t.TempDir()
		_, errs, status := onTasks(t, command, append(args, "--report", dir)...)
		require.Zero(t, status, errs)
		b, err := os.ReadFile(filepath.Join(dir, "index.html"))
		require.NoError(t, err)
		for _, title := range []string{"Completion of short jobs", "Slowdown of short jobs", "Waiting tasks of long jobs",
			"Messages for each task", "All numbers"} {
			assert.Contains(t, string(b), title, command)
		}
		assert.Equal(t, command == "compare", bytes.Contains(b, []byte("Completion of long jobs")))
	}
}
