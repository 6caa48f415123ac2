package results

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const comparison = `{"workload":{"jobs":2,"tasks":3,"nodes":50,"offered_load":0.5},"runs":[
{"policy":"eagle","short":{"jct_s":{"p99":100}},"long":{"jct_s":{"p99":1000}}},
{"policy":"kairos","short":{"jct_s":{"p99":40}},"long":{"jct_s":{"p99":1500}}}],"summary":[
{"policy":"eagle","short":{"p50_s":{"mean":10},"p90_s":{"mean":20},"p99_s":{"mean":100}},
 "long":{"mean_s":{"mean":500},"p50_s":{"mean":300},"p90_s":{"mean":900},"p99_s":{"mean":1000}},"messages":{"mean":77}},
{"policy":"kairos","short":{"p50_s":{"mean":11},"p90_s":{"mean":21},"p99_s":{"mean":40}},
 "long":{"mean_s":{"mean":600},"p50_s":{"mean":301},"p90_s":{"mean":901},"p99_s":{"mean":1500}}}]}`

// A comparison of tasks is run once for each setting, kept, and written as a table.
func TestTasksPage(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "x.tr")
	require.NoError(t, os.WriteFile(log, []byte("0 1 5 5\n"), 0o600))
	traces, err := ParseTraceFile("f",
		"x="+log+"?only=tasks&tasks=--nodes+50+--policies+eagle,kairos&tasks=--nodes+9 of a test\n")
	require.NoError(t, err)
	var asked []string
	p := &Plan{Traces: traces, Only: []string{"tasks"}, Cache: dir, Commit: "c", Sweeps: []string{"x"},
		Tell: func(string) {}, Step: func(int, int, string) {},
		Compare: func(_ context.Context, args []string) ([]byte, error) {
			asked = append(asked, strings.Join(args, " "))
			return []byte(comparison), nil
		}}
	text, err := Run(t.Context(), p)
	require.NoError(t, err)
	assert.Equal(t, []string{"--trace " + log + " --json --nodes 50 --policies eagle,kairos",
		"--trace " + log + " --json --nodes 9"}, asked)
	for _, line := range []string{
		"**x**, `--nodes 50 --policies eagle,kairos`: 2 jobs of 3 tasks, 50 nodes, load 0.50",
		"| eagle | 10 | 20 | 100 | 0 | 300 | 900 | 1000 | 0 | 500 | 77 |",
		"| kairos | 11 | 21 | 40 | -60.0 | 301 | 901 | 1500 | 50.0 | 600 | – |",
	} {
		assert.Contains(t, text, line)
	}
	again, err := Run(t.Context(), p)
	require.NoError(t, err)
	assert.Len(t, asked, 2, "what is kept is not run again")
	assert.Equal(t, text, again)
	p.Compare = func(context.Context, []string) ([]byte, error) { return nil, errors.New("--nodes: found 0") }
	p.Fresh = true
	_, err = Run(t.Context(), p)
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, "tasks on x at --nodes 50 --policies eagle,kairos: --nodes: found 0")
}

// The logs of the page have their comparisons, and Kairos beside Eagle at two loads on each.
func TestTheLogsOfTasks(t *testing.T) {
	traces := logsOf(t, "../../../../docs/tasks.txt")
	require.NotEmpty(t, traces)
	p := &Plan{Only: []string{"tasks"}}
	for i := range traces {
		cells := p.cells("tasks", &traces[i])
		assert.GreaterOrEqual(t, len(cells), 2, traces[i].Name)
		for _, c := range cells {
			assert.Contains(t, c.setting, "eagle")
			assert.Contains(t, c.setting, "kairos")
		}
		assert.True(t, p.takesPart("tasks", &traces[i]))
		assert.False(t, p.takesPart("variants", &traces[i]))
	}
}
