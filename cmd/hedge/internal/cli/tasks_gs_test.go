package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/trace"
)

const googleTasks = "testdata/google2011-tasks.tr.gz"

// onGoogle runs a command on the slice of Google's log, its first half as history.
func onGoogle(t *testing.T, args string) tasksComparison {
	t.Helper()
	command, args, _ := strings.Cut(args, " ")
	base := " --workload tasks --trace " + googleTasks + " --nodes 20 --train 0.5 --json "
	r := hedge(t, "", strings.Fields(command+base+args)...)
	require.Zero(t, r.code, r.err)
	var d tasksComparison
	require.NoError(t, json.Unmarshal([]byte(r.out), &d))
	return d
}

// Every scheme of GS runs the same jobs, at the load that is asked for, and the same seed gives the same figures.
func TestCompareSchemesOfGS(t *testing.T) {
	const args = "compare --policies gs-slearn,gs-joint,gs-3sigma,gs-3sigmatl,gs-point,gs-las,gs-fifo,gs-oracle " +
		"--jobs 150 --load 1.2 --seeds 1,2"
	d := onGoogle(t, args)
	assert.Equal(t, 150, d.Workload.Jobs)
	assert.InDelta(t, 1.2, d.Workload.OfferedLoad, 1e-6)
	require.NotNil(t, d.Workload.Variation)
	assert.Positive(t, d.Workload.Variation.Space.P50)
	assert.Positive(t, d.Workload.Variation.Time.P50)
	require.Len(t, d.Runs, 16)
	for i := range d.Runs {
		r := &d.Runs[i]
		require.NotNil(t, r.GSFigures, r.Policy)
		assert.Positive(t, r.Wide.Jobs)
		assert.GreaterOrEqual(t, r.NormalisedWait.P90, r.NormalisedWait.P50)
		sizeless := r.Policy == "gs-las" || r.Policy == "gs-fifo"
		assert.Equal(t, sizeless, r.MedianError == nil, r.Policy)
		assert.Equal(t, sizeless, r.RightQueue == nil, r.Policy)
		assert.Equal(t, r.Policy == "gs-joint", r.Alarms != nil)
		if r.Policy == "gs-slearn" {
			assert.InDelta(t, 1, *r.Sampled, 0)
		}
		if r.Policy == "gs-oracle" {
			assert.Zero(t, *r.Sampled)
			assert.Zero(t, *r.P90Error)
			assert.InDelta(t, 1, *r.RightQueue, 0)
		}
	}
	first := d.Summary[0]
	assert.InDelta(t, 1, first.Over.Mean.Mean, 0)
	assert.InDelta(t, 1, first.WideOver.Median.Mean, 0)
	require.Len(t, first.Bins, 4)
	jobs, work := 0.0, 0.0
	for _, b := range first.Bins {
		jobs += b.Jobs.Mean
		work += b.Work.Mean
	}
	assert.InDelta(t, 1, jobs, 1e-9)
	assert.InDelta(t, 1, work, 1e-9)
	again := onGoogle(t, args)
	for i := range d.Runs {
		assert.Equal(t, d.Runs[i].All, again.Runs[i].All)
		assert.Equal(t, d.Runs[i].GSFigures, again.Runs[i].GSFigures)
	}
}

// The flags of GS reach it.
func TestFlagsOfGS(t *testing.T) {
	base := onGoogle(t, "compare --policies gs-slearn,gs-joint --load 1")
	for _, c := range []struct {
		flags string
		run   int // the policy whose figures change
	}{
		{"--sampling-ratio 50%", 0}, {"--thin-limit 20", 0}, {"--features user", 1}, {"--history-window 10m", 1},
		{"--history-factor 8", 1}, {"--pilot-timeout 1s", 0}, {"--max-tasks 10", 0},
	} {
		d := onGoogle(t, "compare --policies gs-slearn,gs-joint --load 1 "+c.flags)
		assert.NotEqual(t, base.Runs[c.run].GSFigures, d.Runs[c.run].GSFigures, c.flags)
	}
	out := onGoogle(t, "compare --policies gs-slearn,gs-joint --load 1 --sampling-ratio corrected")
	assert.Equal(t, base.Runs[0].Wide.Jobs, out.Runs[0].Wide.Jobs)
	d := onGoogle(t, "compare --policies gs-3sigma --load 1 --train "+googleTasks)
	assert.Equal(t, 400, d.Workload.Jobs, "the history is another file, or here the same")
	r := hedge(t, "", "compare", "--workload", "tasks", "--policies", "gs-slearn,eagle", "--nodes", "20", "--trace",
		googleTasks)
	require.Zero(t, r.code, r.err)
	assert.Contains(t, r.out, "right queue %")
}

func TestFlagsOfGSAreChecked(t *testing.T) {
	for flags, want := range map[string]string{
		"--sampling-ratio 0":                  "--sampling-ratio: found \"0\"",
		"--sampling-ratio often":              "--sampling-ratio",
		"--thin-limit -1":                     "--thin-limit: found -1",
		"--features user,,name":               "--features",
		"--features user,user":                "--features",
		"--features user,nope":                "--features: found nope, expected one that some job of",
		"--history-window -1h":                "--history-window",
		"--history-factor 0":                  "--history-factor",
		"--pilot-timeout 0s":                  "--pilot-timeout",
		"--jobs -1":                           "--jobs",
		"--max-tasks -1":                      "--max-tasks",
		"--load 0":                            "--load",
		"--train 1":                           "--train",
		"--train nowhere.tr":                  "--train",
		"--max-tasks 1 --train 0.999":         "no job is left",
		"--rules published --thin-limit 2":    "--thin-limit: found with --rules published",
		"--rules published --policy gs-joint": "gs-joint",
	} {
		args := "simulate --workload tasks --nodes 20 --trace " + googleTasks + " " + flags
		if !strings.Contains(flags, "--policy") && !strings.Contains(flags, "published") {
			args += " --policy gs-joint"
		}
		r := hedge(t, "", strings.Fields(args)...)
		assert.Equal(t, exitUsage, r.code, flags)
		assert.Contains(t, r.err, want, flags)
	}
}

// Two earlier jobs of the user, of 10 and 20 s a task, vary by a third; the tasks of a job by their deviation over
// their mean, and over the root of 3 % of their number. A window leaves out what is older.
func TestVariation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(`{"id":1,"submit_s":0,"runtime_s":10,"tasks":1,"attributes":{"user":"a"}}
{"id":2,"submit_s":10,"runtime_s":20,"tasks":1,"attributes":{"user":"a"}}
{"id":3,"submit_s":20,"runtime_s":15,"tasks":4,"task_runtimes_s":[10,20,10,20],"attributes":{"user":"a"}}
`), 0o600))
	log, err := trace.ReadAll(path, nil)
	require.NoError(t, err)
	work := &taskWork{train: log.Jobs[:2], jobs: []*trace.Job{&log.Jobs[2]}}
	g := gsFlags{features: "user", ratio: "adaptive", factor: 1, timeout: time.Hour}
	require.NoError(t, g.check())
	v := g.variation(work)
	assert.InDelta(t, 5.0/15, v.Time.P50, 1e-12)
	assert.InDelta(t, 5.0/15/0.34641016151377546, v.Space.P50, 1e-12)
	g.window = 15 * time.Second
	assert.Zero(t, g.variation(work).Time, "one earlier job has no spread")
}

// With pilots the page shows how far estimates are off after each number of them, for the policies that estimate.
func TestReportOfGSHasErrorsByPilots(t *testing.T) {
	dir := t.TempDir()
	d := onGoogle(t, "compare --policies gs-slearn,gs-joint,gs-3sigma,gs-las --sampling-ratio 20% --report "+dir)
	page, err := os.ReadFile(filepath.Join(dir, "index.html"))
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "<h2>Prediction error by pilots seen</h2>")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "</section>")
	assert.Contains(t, section, `<th scope="col">gs-slearn</th><th scope="col">gs-joint</th>`+
		`<th scope="col">gs-3sigma</th></tr>`, "gs-las estimates nothing")
	assert.Regexp(t, `<tr><td>1</td><td>\d+</td><td>[\d.]+</td><td>[\d.]+</td><td>[\d.]+</td></tr>`, section)
	assert.Contains(t, section, `<tr><td>5</td>`)
	plain := onGoogle(t, "compare --policies gs-slearn,gs-joint,gs-3sigma,gs-las --sampling-ratio 20%")
	for i := range d.Runs {
		assert.Equal(t, plain.Runs[i].GSFigures, d.Runs[i].GSFigures, "a report changes nothing")
	}
}
