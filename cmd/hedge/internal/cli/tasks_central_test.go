package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const yahooTasks = "../../../../adapters/sim/published/testdata/yahoo.tr"

func tasksOf(t *testing.T, args string) tasksComparison {
	t.Helper()
	r := hedge(t, "", strings.Fields("compare --workload tasks --json "+args)...)
	require.Zero(t, r.code, r.err)
	var d tasksComparison
	require.NoError(t, json.Unmarshal([]byte(r.out), &d))
	return d
}

// Policies that plan stand beside systems of agents: the same jobs, and no messages.
func TestPlannersBesideAgents(t *testing.T) {
	d := tasksOf(t, "--trace "+yahooTasks+" --nodes 100 --policies sjf,fifo,edf,pigeon,siding --seeds 1,2")
	require.Len(t, d.Runs, 10)
	by := map[string]*tasksRun{}
	for i := range d.Runs {
		r := &d.Runs[i]
		by[r.Policy] = r
		assert.Equal(t, d.Runs[0].Short.Jobs, r.Short.Jobs, r.Policy)
		assert.Equal(t, d.Runs[0].Long.Jobs, r.Long.Jobs, r.Policy)
		assert.Equal(t, r.Policy == "pigeon" || r.Policy == "siding", r.Messages != nil, r.Policy)
	}
	for i := range d.Summary {
		assert.Equal(t, by[d.Summary[i].Policy].Messages == nil, d.Summary[i].Messages == nil)
	}
	half := func(policy string) float64 { return by[policy].Short.JCT.P50 }
	assert.Less(t, half("sjf"), half("siding"), "it goes by estimates alone")
	assert.Less(t, half("siding"), half("pigeon"))
	assert.Less(t, half("pigeon"), half("fifo"))
	assert.Equal(t, by["fifo"].All, by["edf"].All, "no job has a deadline")
	assert.Equal(t, d.Runs[0].All, d.Runs[1].All, "seeds draw nothing here")
}

// A planner's first decision is at the next multiple of its cycle; its knowledge is what --estimate says.
func TestPlannersAreTold(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "x.tr")
	// Means 10, 20 and 30 s of two tasks each, on one node: the third job's tasks take 1 s each in truth.
	require.NoError(t, os.WriteFile(trace, []byte("0 2 20 20 20\n0 2 10 10 10\n0 2 30 59 1\n"), 0o600))
	ends := func(args ...string) string {
		r := hedge(t, "", append(strings.Fields("simulate --workload tasks --nodes 1 --jobs-out - --cycle 0s --trace "+trace),
			args...)...)
		require.Zero(t, r.code, r.err)
		return strings.Join(strings.Split(r.out, "\n")[:3], "|")
	}
	assert.Equal(t, "1 40.0000 0|2 60.0000 0|3 120.0000 0", ends("--policy", "fifo"))
	assert.Equal(t, "1 60.0000 0|2 20.0000 0|3 120.0000 0", ends("--policy", "sjf"))
	assert.Equal(t, "1 60.0000 0|2 20.0000 0|3 120.0000 0", ends("--policy", "sjf", "--estimate", "uniform:0.5,0.5"))
	assert.NotEmpty(t, ends("--policy", "3sigma"))
	assert.NotEmpty(t, ends("--policy", "point-perfect"))
	// What has ended teaches: after the first task of the first job took 20 s, no other job is known to be shorter.
	assert.Equal(t, "1 40.0000 0|2 60.0000 0|3 120.0000 0", ends("--policy", "sjf", "--estimate", "history"))
}

// With history the tasks of a job that have ended are known to its others, and --train is known from the beginning.
func TestPlannersLearn(t *testing.T) {
	base := "--trace " + googleTasks + " --nodes 20 --load 1 --max-tasks 10 --policies sjf --cycle 5m "
	mean, history := tasksOf(t, base), tasksOf(t, base+"--estimate history")
	other := tasksOf(t, base+"--estimate history --train "+googleTasks)
	assert.NotEqual(t, mean.Runs[0].All, history.Runs[0].All)
	assert.NotEqual(t, other.Runs[0].All, history.Runs[0].All)
	wrong := tasksOf(t, base+"--estimate uniform:0.1,1 --seeds 1,2")
	assert.NotEqual(t, wrong.Runs[0].All, wrong.Runs[1].All, "the factors are drawn by the seed")
}

func TestPlannersLogAndReport(t *testing.T) {
	dir := t.TempDir()
	d := tasksOf(t, "--trace "+yahooTasks+" --nodes 60 --cores 2 --policies sjf,pigeon --jobs 60 --pause-cost 1s --log "+
		dir+" --report "+dir)
	require.Len(t, d.Runs, 2)
	for _, name := range []string{"sjf", "pigeon"} {
		var o, e bytes.Buffer
		status := Main(t.Context(), []string{"replay", filepath.Join(dir, name+"-1.tasks")}, Host{Out: &o, Err: &e})
		assert.Zero(t, status, "%s: %s", name, e.String())
	}
	page, err := os.ReadFile(filepath.Join(dir, "index.html"))
	require.NoError(t, err)
	assert.Contains(t, string(page), "sjf")
	only := t.TempDir()
	tasksOf(t, "--trace "+yahooTasks+" --nodes 100 --policies sjf --jobs 20 --report "+only)
	page, err = os.ReadFile(filepath.Join(only, "index.html"))
	require.NoError(t, err)
	assert.NotContains(t, string(page), "Messages for each task")
}

// A flag that no system of a command heeds is refused, and the systems that do are named.
func TestFlagsOfOtherSystemsAreRefused(t *testing.T) {
	for args, want := range map[string]string{
		"--policy eagle --quantum 10s":            "--quantum: found with eagle, expected one of kairos, kairos-random",
		"--policy eagle --queue 2":                "--queue: found with eagle",
		"--policy yarn-fifo --guard 1":            "--guard: found with yarn-fifo",
		"--policy pigeon --short-nodes 90":        "--short-nodes: found with pigeon, expected one of big-c",
		"--policy kairos --group-size 10":         "--group-size: found with kairos, expected one of pigeon, siding",
		"--policy siding --reserved 1":            "--reserved: found with siding, expected one of pigeon, siding-nopause",
		"--policy eagle --thin-limit 2":           "--thin-limit: found with eagle, expected one of gs-slearn",
		"--policy eagle --cycle 2s":               "--cycle: found with eagle, expected one of 3sigma",
		"--policy fifo --cycle 1ns":               "--cycle: found 1ns, expected 0s or at least 100ms",
		"--policy 3sigma --slot -1s":              "--slot: found -1s, expected 0s or at least 100ms",
		"--policy 3sigma --delay 1ms":             "--delay: found with 3sigma, expected one of eagle",
		"--policy sjf --fail 1":                   "--fail: found with sjf",
		"--policy sjf --pause-cost 1s":            "--pause-cost: found with sjf",
		"--policy sjf --quantum 1s":               "--quantum: found with sjf",
		"--policy eagle --estimate history":       "--estimate: found history with eagle, expected a policy that plans",
		"--policy 3sigma --engine nope":           "--engine",
		"--policy 3sigma --window 100h --slot 1s": "--window: found 100h0m0s in slots of 1s",
	} {
		_, errs, status := simulateTasks(t, strings.Fields(args)...)
		assert.Equal(t, exitUsage, status, args)
		assert.Contains(t, errs, want, args)
	}
	args := strings.Fields("--policies eagle,kairos,sjf --quantum 10s --cycle 1s --delay 1ms")
	_, errs, status := onTasks(t, "compare", args...)
	assert.Zero(t, status, errs)
}
