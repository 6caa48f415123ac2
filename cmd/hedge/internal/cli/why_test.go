package cli

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/fake"
	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/record"
	"github.com/hedgesched/hedge/sched/schedtest"
	"github.com/hedgesched/hedge/sched/systems"
	"github.com/hedgesched/hedge/solver/engines"
)

// recorded writes a recording of two snapshots: of an empty cluster, and of one in which jobs wait.
func recorded(t *testing.T) string {
	t.Helper()
	nodes := schedtest.Nodes(6, 2)
	half, err := dist.NewUniform(200, 400)
	require.NoError(t, err)
	b := schedtest.Snapshot(nodes).Now(100).
		Running(schedtest.Job("batch-1", 2).Predicted(half), 0, "n0", "n1").
		Running(schedtest.Job("batch-2", 1).Runs(50), 0, "n3").
		Pending(schedtest.Job("train", 3).Requires(sched.NodesWith("rack", "r0")).Submitted(10),
			schedtest.Job("lost", 1).Requires(sched.NodesWith("rack", "r9")).Submitted(20),
			schedtest.Job("small", 1).Submitted(30))
	var lines strings.Builder
	for _, b := range []*schedtest.SnapshotBuilder{schedtest.Snapshot(nodes), b} {
		s, err := b.Build()
		require.NoError(t, err)
		data, err := record.Marshal(s)
		require.NoError(t, err)
		lines.Write(append(data, '\n'))
	}
	path := filepath.Join(t.TempDir(), "recording.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(lines.String()), 0o644))
	return path
}

func TestWhy(t *testing.T) {
	path := recorded(t)
	for name, args := range map[string][]string{
		"why.json": {"--job", "train", "--policy", "edf", "--json"}, "why-lost.json": {"--job", "lost", "--json"},
	} {
		doc := document(t, hedge(t, "", append([]string{"why", "--snapshot", path}, args...)...))
		data, err := json.MarshalIndent(doc, "", " ")
		require.NoError(t, err)
		golden(t, name, string(data)+"\n")
	}
	golden(t, "why.txt", hedge(t, "", "why", "--snapshot", path, "--job", "train").out)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	r := hedge(t, string(data), "why", "--snapshot", "-", "--job", "batch-2", "--line", "2")
	assert.Equal(t, "batch-2 runs, and is expected to end at any moment\n", r.out, r.err)
}

func TestWhyRefuses(t *testing.T) {
	path := recorded(t)
	empty := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o644))
	for _, c := range []struct {
		says string
		args []string
	}{
		{"--snapshot: found nothing", []string{"--job", "train"}},
		{"--job: found nothing", []string{"--snapshot", path}},
		{`--job: found "nobody", expected a job of the snapshot, such as train, lost, small`,
			[]string{"--snapshot", path, "--job", "nobody"}},
		{"--line: found 3, expected at most 2", []string{"--snapshot", path, "--job", "train", "--line", "3"}},
		{"--line: found 0, expected at least 1", []string{"--snapshot", path, "--job", "train", "--line", "0"}},
		{`--policy: found "eagle", expected one of 3sigma`, []string{"--snapshot", path, "--job", "train", "--policy", "eagle"}},
		{"--engine: ", []string{"--snapshot", path, "--job", "train", "--engine", "nope"}},
		{"found no snapshot", []string{"--snapshot", empty, "--job", "train"}},
		{"/does/not/exist", []string{"--snapshot", "/does/not/exist", "--job", "train"}},
		{"--tries: found -1", []string{"--snapshot", path, "--job", "train", "--tries", "-1"}},
	} {
		refused(t, 2, c.says, append([]string{"why"}, c.args...)...)
	}
}

func TestWhatIf(t *testing.T) {
	path := recorded(t)
	doc := document(t, hedge(t, "", "what-if", "--snapshot", path, "--policy", "edf", "--runs", "3", "--change",
		"add 2 nodes like n0", "--change", "policy prio", "--json"))
	data, err := json.MarshalIndent(doc, "", " ")
	require.NoError(t, err)
	golden(t, "what-if.json", string(data)+"\n")
	golden(t, "what-if.txt", hedge(t, "", "what-if", "--snapshot", path, "--change", "drop batch-1").out)
	r := hedge(t, "", "what-if", "--snapshot", path, "--policy", "edf", "--change", "drain n2", "--hours", "0")
	assert.Equal(t, "change: drain n2\nstarts now: small\n", r.out, r.err)
}

// TestWhatIfOfStages: a stage that is held back for another is simulated, too.
func TestWhatIfOfStages(t *testing.T) {
	first, second := schedtest.Job("first", 1).Runs(60), schedtest.Job("second", 1).Runs(30)
	s, err := schedtest.Snapshot(schedtest.Nodes(2, 1)).Running(first, 0, "n0").Build()
	require.NoError(t, err)
	held := second.Job()
	held.After = []string{"first"}
	s.Held = []sched.Pending{{Job: held, Prediction: second.Prediction()}}
	data, err := record.Marshal(s)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "snapshots.jsonl")
	require.NoError(t, os.WriteFile(path, append(data, '\n'), 0o600))
	doc := document(t, hedge(t, "", "what-if", "--snapshot", path, "--policy", "edf", "--runs", "2", "--hours", "1",
		"--change", "drain n1", "--json")).(map[string]any)
	before := doc["before"].([]any)
	require.Len(t, before, 2)
	assert.Equal(t, "second", before[1].(map[string]any)["job"])
	assert.Equal(t, "held", before[1].(map[string]any)["state"])
}

func TestWhatIfRefuses(t *testing.T) {
	path := recorded(t)
	for says, args := range map[string][]string{
		"--change: found nothing": nil,
		`found "stop", expected`:  {"--change", "stop n0"},
		`no node \"n9\"`:          {"--change", "drain n9"},
		`--change: policy: found "nope", expected one of 3sigma`: {"--change", "policy nope"},
		"--hours: found -1": {"--change", "drain n0", "--hours", "-1"},
		"--runs: found 0":   {"--change", "drain n0", "--runs", "0"},
	} {
		refused(t, 2, strings.ReplaceAll(says, `\"`, `"`), append([]string{"what-if", "--snapshot", path}, args...)...)
	}
	refused(t, 2, "--snapshot: found nothing", "what-if", "--change", "drain n0")
}

func TestShadow(t *testing.T) {
	c := fake.New(fake.Options{})
	require.NoError(t, c.AddNode(sched.Node{Name: "n0"}))
	require.NoError(t, c.Submit(fake.Job{Spec: sched.Job{ID: "train", Tasks: 1}, Runtime: time.Minute}))
	predictor, err := predict.NewHistory(nil)
	require.NoError(t, err)
	host := Host{Out: io.Discard, Err: io.Discard, Engines: engines.Builtin(), Systems: systems.Builtin()}
	f := shadowFlags{planner: planner{policy: "edf", engine: "native", work: 1000}, cycle: 20 * time.Millisecond,
		length: 300 * time.Millisecond}
	fresh, done, err := f.policies(&host, "edf")
	require.NoError(t, err)
	defer done()
	report, err := f.follow(t.Context(), &host, c.Connect(nil), predictor, fresh)
	require.NoError(t, err)
	require.Len(t, report.Jobs, 1)
	assert.Equal(t, "train", report.Jobs[0].ID)
	assert.Empty(t, c.Records(), "nothing was started")
}

func TestShadowRefuses(t *testing.T) {
	for says, args := range map[string][]string{
		"--kubeconfig: found nothing": nil,
		"/does/not/exist":             {"--kubeconfig", "/does/not/exist"},
		"--cycle: found 1ms":          {"--kubeconfig", "x", "--cycle", "1ms"},
		"--for: found -1s":            {"--kubeconfig", "x", "--for", "-1s"},
		`--policy: found "eagle"`:     {"--kubeconfig", "x", "--policy", "eagle"},
	} {
		refused(t, 2, says, append([]string{"shadow"}, args...)...)
	}
}
