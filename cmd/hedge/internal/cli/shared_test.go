package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fewMachines is a comparison on shared machines that takes a second.
func fewMachines(more ...string) []string {
	return append([]string{"compare", "--workload", "shared", "--nodes", "8", "--hours", "0.3", "--policies",
		"dist,point"}, more...)
}

func TestCompareShared(t *testing.T) {
	logs := t.TempDir()
	args := fewMachines("--nodes", "8,6", "--assignments", "2", "--json")
	d := document(t, hedge(t, "", append(args, "--log", logs)...))
	assert.Equal(t, d, document(t, hedge(t, "", args...)), "the same flags give the same numbers")
	doc := d.(map[string]any)
	runs := doc["runs"].([]any)
	require.Len(t, runs, 8)
	require.Len(t, doc["summary"], 4)
	segments := doc["workload"].(map[string]any)["segments"].([]any)
	require.Len(t, segments, 2)
	for _, s := range segments {
		assert.InDelta(t, 0.8, s.(map[string]any)["offered_load"], 0.08)
	}
	for _, r := range runs {
		run := r.(map[string]any)
		assert.Positive(t, run["effective_load"])
		assert.Positive(t, run["admitted_cpu_hours"])
	}

	names, err := filepath.Glob(filepath.Join(logs, "*.jsonl.gz"))
	require.NoError(t, err)
	require.Len(t, names, 8)
	for _, name := range names {
		replay := document(t, hedge(t, "", "replay", name, "--json")).(map[string]any)
		assert.Equal(t, true, replay["passed"], name)
	}
}

func TestCompareSharedTables(t *testing.T) {
	for flag, dealt := range map[string]string{"--control": "dealt out among all jobs",
		"--blind": "dealt out among the jobs of the history"} {
		r := hedge(t, "", fewMachines(flag)...)
		require.Zero(t, r.code, r.err)
		for _, want := range []string{"load 0.8 of machines with 0.5 CPU and 0.25 memory", dealt, "missed %"} {
			assert.Contains(t, r.out, want)
		}
	}
}

func TestCompareSharedFills(t *testing.T) {
	rows := "collection_id,user,collection_logical_name,req_cpus,req_memory,avg_cpus,avg_memory,max_cpus,max_memory\n"
	for range 5 {
		rows += "5,u1,l1,0.5,0.5,0.25,0.125,0.5,0.125\n"
	}
	fill := filepath.Join(t.TempDir(), "rows.csv")
	require.NoError(t, os.WriteFile(fill, []byte(rows), 0o600))
	d := document(t, hedge(t, "", fewMachines("--fill", fill, "--json")...)).(map[string]any)
	work := d["workload"].(map[string]any)
	assert.Equal(t, []any{fill, "google2011_usage (built in)"}, work["fill"])
	assert.InDelta(t, 1, work["groups"], 0)
}

// --frontier runs policies with several settings, and the report shows the frontier, the sizes and the machines.
func TestCompareSharedReport(t *testing.T) {
	dir := t.TempDir()
	r := hedge(t, "", "compare", "--workload", "shared", "--nodes", "8,6", "--hours", "0.3", "--policies",
		"dist-trust,borg-max,point", "--frontier", "--blind", "--report", dir)
	require.Zero(t, r.code, r.err)
	for _, want := range []string{"dist-trust risk 0.05", "borg-max sigmas 2", "point ", "at the violations of borg-max"} {
		assert.Contains(t, r.out, want)
	}
	html, err := os.ReadFile(filepath.Join(dir, "index.html"))
	require.NoError(t, err)
	for _, want := range []string{"Admitted work against overload", "Never started by size", "Evictions over time",
		"Machines over time under dist-trust risk 0.001", "Where a cycle&#39;s time goes", "forecast "} {
		assert.Contains(t, string(html), want)
	}
}

func TestCompareSharedRefusesBadFlags(t *testing.T) {
	for want, args := range map[string][]string{
		"--policies":                       {"--policies", "3sigma"},
		"--nodes: found 8":                 {"--nodes", "8,8"},
		"--nodes: found 0":                 {"--nodes", "4,0"},
		"--assignments: found 0":           {"--assignments", "0"},
		"--epsilon: found 1":               {"--epsilon", "1"},
		"--machine":                        {"--machine", "1"},
		"not enough work in the trace":     {"--machine", "1e9,1e9"}, // not copied for ever
		"--cycle: found 0s":                {"--cycle", "0s"},
		"--control: found with --blind":    {"--control", "--blind"},
		"--epsilon: found with --policies": {"--epsilon", "0.1", "--policies", "point,borg-max"},
		"--frontier: found with --policie": {"--frontier", "--policies", "actual,request"},
		"--racks: found with --workload":   {"--racks", "2"},
		"--fill":                           {"--fill", "nowhere.csv"},
		"expected --workload shared":       {"--workload", "window", "--fill", "x"},
		"--nodes: found 8,6 with --worklo": {"--workload", "window", "--policies", "fifo", "--hours", "1", "--nodes", "8,6"},
	} {
		r := hedge(t, "", fewMachines(args...)...)
		assert.Equal(t, 2, r.code, want)
		assert.Contains(t, r.err, want)
	}
}

// A log of what tasks use is a workload by itself.
func TestCompareSharedOfUsage(t *testing.T) {
	rows := "task_name,instances,job_name,status,start_s,end_s,duration_s,plan_cpu,plan_mem,cpu_usage_sum,mem_usage_sum\n"
	for i := range 40 {
		rows += fmt.Sprintf("M1,2,j_%d,Terminated,%d,0,60,100,0.5,80,0.4\n", i, 10*i)
	}
	log := filepath.Join(t.TempDir(), "usage.csv")
	require.NoError(t, os.WriteFile(log, []byte(rows), 0o600))
	d := document(t, hedge(t, "", "compare", "--workload", "shared", "--trace", log, "--machine", "4,1", "--nodes", "1",
		"--hours", "0.1", "--policies", "request", "--json")).(map[string]any)
	run := d["runs"].([]any)[0].(map[string]any)
	assert.Zero(t, run["evictions"])
	assert.Positive(t, run["effective_load"])
}
