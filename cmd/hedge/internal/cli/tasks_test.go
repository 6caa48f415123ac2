package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/published"
	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
	"github.com/hedgesched/hedge/sched/eagle"
	"github.com/hedgesched/hedge/sched/systems"
	"github.com/hedgesched/hedge/solver/engines"
)

func simulateTasks(t *testing.T, args ...string) (out, errs string, status int) {
	t.Helper()
	return onTasks(t, "simulate", args...)
}

// onTasks runs a command on two jobs of three tasks.
func onTasks(t *testing.T, command string, args ...string) (out, errs string, status int) {
	t.Helper()
	trace := filepath.Join(t.TempDir(), "two.tr")
	require.NoError(t, os.WriteFile(trace, []byte("0 2 10 8 12\n5 1 100 100\n"), 0o600))
	var o, e bytes.Buffer
	base := []string{command, "--workload", "tasks", "--trace", trace, "--nodes", "50"}
	status = Main(context.Background(), append(base, args...),
		Host{In: bytes.NewReader(nil), Out: &o, Err: &e, Engines: engines.Builtin()})
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
		"3sigma: found with --rules published": {"--policy", "3sigma", "--rules", "published"},
		"--rules":                              {"--rules", "house"},
		"--heartbeat":                          {"--rules", "published", "--heartbeat", "1500ms"},
		"--estimate":                           {"--rules", "published", "--estimate", "uniform:2,1"},
		"--racks":                              {"--rules", "published", "--racks", "2"},
		"--short-share: found 100, expected 0 to below 100": {"--rules", "published",
			"--short-share", "100"},
		"--short-share: found 1, expected a partition and a share of at least one of 50 nodes": {"--rules", "published",
			"--short-share", "1"},
		"--cutoff: found -1":                         {"--rules", "published", "--cutoff", "-1"},
		"--min-probes: found 51":                     {"--rules", "published", "--min-probes", "51"},
		"--heartbeat: found 1080000000":              {"--rules", "published", "--policy", "dlwl", "--heartbeat", "300000h"},
		"--nodes: found 0":                           {"--rules", "published", "--nodes", "0"},
		"--nodes: found 1, expected at least 2":      {"--rules", "published", "--nodes", "1"},
		"--jobs-out: found - with --json":            {"--rules", "published", "--jobs-out", "-", "--json"},
		`expected window, e2e, replay, dag or tasks`: {"--workload", "day"},
		"--cores":                                 {"--cores", "0"},
		"--delay":                                 {"--rules", "published", "--delay", "1ms"},
		"--delay: found -1s, expected 0s to 1h":   {"--delay", "-1s"},
		"--delay: found 2h0m0s":                   {"--delay", "2h"},
		"--pause-cost: found 2h":                  {"--policy", "siding", "--pause-cost", "2h"},
		"--fail: found 2e+06":                     {"--fail", "2000000"},
		"--fail: found NaN":                       {"--fail", "NaN"},
		"--guard: found -1":                       {"--policy", "kairos", "--guard", "-1"},
		"--guard-quanta: found 1001":              {"--policy", "kairos", "--guard-quanta", "1001"},
		"--short-nodes: found -1":                 {"--policy", "big-c", "--short-nodes", "-1"},
		"--reserved: found -1 with pigeon":        {"--policy", "pigeon", "--reserved", "-1"},
		"expected 0 to below 2, the --group-size": {"--policy", "siding-nopause", "--group-size", "2"},
		"--fail: bad parameters: too many crashes: 100000 an hour on 50 workers, so that a task of 1m40s would": {
			"--fail", "100000"},
		"--jobs: found 3, expected at most 2":   {"--jobs", "3"},
		"pigeon":                                {"--rules", "published", "--policy", "pigeon"},
		"--group":                               {"--policy", "pigeon", "--group-size", "0"},
		"--weight":                              {"--policy", "pigeon", "--weight", "0"},
		"--pause-cost":                          {"--policy", "siding", "--pause-cost", "-1s"},
		"--resume-cost":                         {"--policy", "siding", "--resume-cost", "-1s"},
		"--quantum":                             {"--policy", "kairos", "--quantum", "0s"},
		"--interval":                            {"--policy", "kairos", "--interval", "0s"},
		"--short-nodes":                         {"--policy", "big-c", "--short-nodes", "101"},
		"--queue: found -1, expected 0 to 1000": {"--policy", "kairos", "--queue", "-1"},
		"--fail: found -1":                      {"--fail", "-1"},
	} {
		_, errs, status := simulateTasks(t, args...)
		assert.Equal(t, exitUsage, status, want)
		assert.Contains(t, errs, want)
	}
}

// The short share that nobody gave is one node at least, whatever the nodes and the variant.
func TestShortShareFollowsNodes(t *testing.T) {
	for _, policy := range eagle.Names() {
		for _, nodes := range []string{"2", "3", "7", "30", "40", "49", "50", "99"} {
			out, errs, status := simulateTasks(t, "--rules", "published", "--policy", policy, "--nodes", nodes)
			assert.Zero(t, status, "%s on %s: %s", policy, nodes, errs)
			assert.Contains(t, out, "on "+nodes+" nodes")
		}
	}
	for nodes := 2; nodes < 100; nodes++ {
		c := published.Config{Nodes: nodes, Variant: eagle.Switches{Partition: true}}
		share := defaultShare(&c, defaultShortShare)
		assert.Equal(t, max(1, nodes*2/100), int((100-(100-share))*float64(nodes)/100), "%d nodes", nodes)
	}
}

func TestSimulateTasksTellsOfOtherRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.tr")
	require.NoError(t, os.WriteFile(path, []byte("0 2 10 8 12\n3 1 0 0\n4 1 x 1\n5 1 100 100\n"), 0o600))
	out, errs, status := simulateTasks(t, "--rules", "published", "--trace", path)
	require.Zero(t, status, errs)
	lines := strings.Split(out, "\n")
	assert.Equal(t, "skipped records: 1 zero runtime", lines[1])
	assert.Equal(t, "1 bad record left out: 1 wrong mean (first "+path+":3)", lines[2])
	out, errs, status = simulateTasks(t, "--rules", "published", "--trace", path, "--json")
	require.Zero(t, status, errs)
	var d struct{ Workload counted }
	require.NoError(t, json.Unmarshal([]byte(out), &d))
	assert.Equal(t, map[string]int{"zero runtime": 1}, d.Workload.Skipped)
	assert.Equal(t, map[string]int{"wrong mean": 1}, d.Workload.Bad)
	assert.Equal(t, path+":3", d.Workload.FirstBad[0].At)
}

func TestTooManyTasksAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	log := `{"id":1,"submit_s":0,"runtime_s":1,"tasks":3}` + "\n" +
		`{"id":2,"submit_s":0,"runtime_s":1,"tasks":2147483647}`
	require.NoError(t, os.WriteFile(path, []byte(log), 0o600))
	_, errs, status := simulateTasks(t, "--rules", "published", "--trace", path)
	assert.Equal(t, exitUsage, status)
	assert.Contains(t, errs, "x.jsonl:2: tasks: found 2147483647, and 3 before, expected at most 100000000")
}

// TestCompareTasks: several systems and seeds are one command, and each run is that of simulate.
func TestCompareTasks(t *testing.T) {
	out, errs, status := onTasks(t, "compare", "--policies", "clwl, eagle", "--seeds", "3,4", "--rules", "published",
		"--json")
	require.Zero(t, status, errs)
	var d tasksComparison
	require.NoError(t, json.Unmarshal([]byte(out), &d))
	assert.Equal(t, "compare", d.Command)
	assert.Equal(t, 3, d.Workload.Tasks)
	require.Len(t, d.Runs, 4)
	for i, want := range []struct {
		policy string
		seed   int64
	}{{"clwl", 3}, {"clwl", 4}, {"eagle", 3}, {"eagle", 4}} {
		assert.Equal(t, want.policy, d.Runs[i].Policy)
		assert.Equal(t, want.seed, d.Runs[i].Seed)
	}
	out, errs, status = simulateTasks(t, "--policy", "eagle", "--seed", "4", "--rules", "published", "--json")
	require.Zero(t, status, errs)
	var one tasksDocument
	require.NoError(t, json.Unmarshal([]byte(out), &one))
	assert.Equal(t, one.Run.Short, d.Runs[3].Short)
	assert.Equal(t, one.Run.Messages, d.Runs[3].Messages)
	require.Len(t, d.Summary, 2)
	assert.InDelta(t, (d.Runs[2].Short.JCT.P50+d.Runs[3].Short.JCT.P50)/2, d.Summary[1].Short.P50.Mean, 1e-9)
	assert.NotNil(t, d.Summary[1].Short.P50.CI95)

	out, errs, status = onTasks(t, "compare", "--rules", "published")
	require.Zero(t, status, errs)
	for _, name := range strings.Split(defaultTaskPolicies, ",") {
		assert.Contains(t, out, "\n "+name+" ")
	}
}

// TestSystemsSuitTheirWorkload: agents have no gangs to place, and policies no tasks.
func TestSystemsSuitTheirWorkload(t *testing.T) {
	for _, c := range []struct {
		args string
		says string
	}{
		{"compare --policies eagle,3sigma", `--policies: found "eagle" with --workload window, expected --workload tasks`},
		{"simulate --policy hawk", `--policy: found "hawk" with --workload window, expected --workload tasks`},
		{"compare --workload tasks --rules published --policies eagle,3sigma", `3sigma: found with --rules published`},
		{"compare --workload tasks --policies eagle,dist", `found "dist" with --workload tasks, expected --workload shared`},
		{"compare --workload tasks --policies eagle,edf-share", `found "edf-share" with --workload tasks`},
		{"compare --workload tasks --rules published --policies eagle,eagle", `--policies: found "eagle" twice`},
		{"compare --workload tasks --rules published --policies eagel",
			`--policies: found "eagel", expected all or some of eagle, `},
		{"compare --workload tasks --rules published --load 2", "--load"},
		{"compare --short-share 5", "--short-share"},
	} {
		r := hedge(t, "", strings.Fields(c.args)...)
		assert.Equal(t, exitUsage, r.code, c.args)
		assert.Contains(t, r.err, c.says)
	}
}

// TestSystemsOfTheHost: a program that adds systems has them on its command line, and those that it cannot simulate are
// refused.
func TestSystemsOfTheHost(t *testing.T) {
	set := systems.Builtin()
	fifo, err := set.Find("fifo")
	require.NoError(t, err)
	require.NoError(t, set.Register(systems.System{Name: "mine", Summary: "like fifo", Policy: fifo.Policy}))
	require.NoError(t, set.Register(systems.System{Name: "crowd", Summary: "of another world", Agents: 7}))
	run := func(args string) (out, errs string, code int) {
		var o, e bytes.Buffer
		host := Host{In: strings.NewReader(""), Out: &o, Err: &e, Engines: engines.Builtin(), Systems: set}
		code = Main(t.Context(), strings.Fields(args), host)
		return o.String(), e.String(), code
	}
	out, _, code := run("compare --help")
	require.Zero(t, code)
	assert.Contains(t, out, "like fifo")
	assert.Contains(t, out, "of another world")
	out, errs, code := run("compare --policies mine,fifo --nodes 24 --racks 3 --hours 0.1 --start-hour 10 --json")
	require.Zero(t, code, errs)
	assert.Contains(t, out, `"policy": "mine"`)
	_, errs, code = run("simulate --workload tasks --policy crowd --rules published")
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, errs, "crowd: found with --rules published")
	_, errs, code = run("simulate --workload tasks --policy crowd")
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, errs, "crowd: found with --workload tasks")
}

func TestQuantilesLieBetweenRanks(t *testing.T) {
	assert.InDelta(t, 1.5, stats.Between([]float64{1, 2}, 0.5), 1e-12)
	assert.InDelta(t, 3, stats.Between([]float64{3}, 0.99), 1e-12)
}

// By the paper's rules a task that finds a free node starts after its probe, the question and the answer, 1.5 ms, and a
// task that is placed at once after one message.
func TestSimulateTasksByThePapersRules(t *testing.T) {
	for policy, starts := range map[string][2]float64{
		"eagle": {0.0015, 0.0005}, "hawk": {0.0015, 0.0005}, "sparrow": {0.0015, 0.0015}, "dlwl": {0.0005, 0.0005},
		"clwl": {0.0005, 0.0005}, "ideal-eagle": {0.0015, 0.0005}, "pigeon": {0.001, 0.001}, "siding": {0.001, 0.001},
		"siding-nopause": {0.001, 0.001}, "big-c": {0.0005, 0.0005},
		"kairos": {0.5005, 0.5005}, "yarn-fifo": {0.5005, 0.5005},
	} {
		out, errs, status := simulateTasks(t, "--policy", policy, "--json")
		require.Zero(t, status, errs)
		var d tasksDocument
		require.NoError(t, json.Unmarshal([]byte(out), &d))
		assert.InDelta(t, 12+starts[0], d.Run.Short.JCT.P50, 1e-9, policy)
		assert.InDelta(t, 100+starts[1], d.Run.Long.JCT.P99, 1e-9, policy)
		require.NotNil(t, d.Run.Messages, policy)
		assert.Positive(t, *d.Run.Messages, policy)
	}
	out, errs, status := simulateTasks(t, "--delay", "1s", "--cores", "4", "--fail", "100")
	require.Zero(t, status, errs)
	assert.Contains(t, out, "eagle")
}

// Generated jobs need no log; what the mix is run with follows, unless it is given.
func TestSimulateGeneratedTasks(t *testing.T) {
	run := func(args ...string) (string, string, int) {
		var o, e bytes.Buffer
		base := []string{"simulate", "--workload", "tasks", "--nodes", "50", "--jobs", "200"}
		status := Main(context.Background(), append(base, args...), Host{In: bytes.NewReader(nil), Out: &o, Err: &e})
		return o.String(), e.String(), status
	}
	for _, mix := range []string{"yahoo", "google"} {
		out, errs, status := run("--generate", mix, "--policy", "eagle", "--json")
		require.Zero(t, status, errs)
		var d tasksDocument
		require.NoError(t, json.Unmarshal([]byte(out), &d))
		assert.Equal(t, 200, d.Workload.Jobs)
		assert.InDelta(t, 0.8, d.Workload.OfferedLoad, 1e-6)
		assert.Contains(t, d.Workload.Trace, mix)
		assert.InDelta(t, 20, d.Run.Long.Jobs, 15, "by the mix's own cutoff")
		again, _, _ := run("--generate", mix, "--policy", "eagle", "--json", "--seed", "2")
		assert.NotEqual(t, out, again)
	}
	for want, args := range map[string][]string{
		"--generate: found \"bing\", expected yahoo or google": {"--generate", "bing"},
		"found with --trace":                       {"--generate", "yahoo", "--trace", "x"},
		"gs-slearn: found with --generate":         {"--generate", "yahoo", "--policy", "gs-slearn"},
		"--generate: found with --workload window": {"--generate", "yahoo", "--workload", "window"},
	} {
		_, errs, status := run(args...)
		assert.Equal(t, exitUsage, status, want)
		assert.Contains(t, errs, want)
	}
}

func TestTasksWarmUp(t *testing.T) {
	for warm, jobs := range map[string]int{"0s": 2, "5s": 1} {
		logs := t.TempDir()
		out, errs, status := simulateTasks(t, "--policy", "clwl", "--warm-up", warm, "--log", logs, "--json")
		require.Zero(t, status, errs)
		var d tasksDocument
		require.NoError(t, json.Unmarshal([]byte(out), &d))
		assert.Equal(t, 2, d.Workload.Jobs)
		assert.Equal(t, jobs, d.Run.All.Jobs)
		assert.Equal(t, jobs-1, d.Run.Short.Jobs)
		assert.Equal(t, 1, d.Run.Long.Jobs)
		var o, e bytes.Buffer
		status = Main(t.Context(), []string{"replay", filepath.Join(logs, "clwl-1.tasks")}, Host{Out: &o, Err: &e})
		assert.Zero(t, status, "the log has the figures of all jobs: %s", e.String())
	}
	for _, warm := range []string{"6s", "-1s"} {
		_, errs, status := simulateTasks(t, "--policy", "clwl", "--warm-up", warm)
		assert.Equal(t, 2, status)
		assert.Contains(t, errs, "--warm-up: found "+warm)
	}
	out, errs, status := onTasks(t, "compare", "--policies", "clwl,eagle", "--warm-up", "5s", "--json")
	require.Zero(t, status, errs)
	var c tasksComparison
	require.NoError(t, json.Unmarshal([]byte(out), &c))
	assert.Equal(t, 1, c.Runs[1].All.Jobs)
	alone := c.Runs[1].All.JCT.Mean / c.Runs[0].All.JCT.Mean
	assert.InDelta(t, alone, c.Summary[1].Over.Mean.Mean, 1e-12)
}

func TestTasksEndWithTheirContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	trace := filepath.Join(t.TempDir(), "one.tr")
	require.NoError(t, os.WriteFile(trace, []byte("0 1 100 100\n"), 0o600))
	for _, command := range []string{"simulate", "compare"} {
		var o, e bytes.Buffer
		status := Main(ctx, []string{command, "--workload", "tasks", "--trace", trace, "--nodes", "50"},
			Host{In: bytes.NewReader(nil), Out: &o, Err: &e})
		assert.NotZero(t, status)
		assert.Contains(t, e.String(), "context canceled")
		assert.Empty(t, o.String())
	}
}
