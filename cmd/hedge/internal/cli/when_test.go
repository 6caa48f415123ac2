package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhen: what a simulation has recorded can be asked about, one snapshot or all up to one.
func TestWhen(t *testing.T) {
	dir := t.TempDir()
	args := quick("--policy", "sjf", "--snapshots", dir, "--json")
	args[0] = "simulate"
	require.Equal(t, 0, hedge(t, "", args...).code)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Greater(t, len(files), 30)
	assert.Equal(t, "sjf-1-00001.json.gz", files[0].Name())

	at := filepath.Join(dir, files[20].Name())
	doc := document(t, hedge(t, "", "when", "--snapshot", at, "--policy", "sjf", "--json")).(map[string]any)
	assert.Equal(t, "when", doc["command"])
	jobs := doc["jobs"].([]any)
	require.NotEmpty(t, jobs)
	for _, j := range jobs {
		j := j.(map[string]any)
		start, end := j["start_s"].(map[string]any), j["end_s"].(map[string]any)
		assert.LessOrEqual(t, start["p10"], start["p50"], j["job"])
		assert.LessOrEqual(t, start["p50"], start["p90"], j["job"])
		assert.LessOrEqual(t, start["p90"], end["p90"], j["job"])
		assert.Contains(t, j, "walltime_start_s")
		assert.Contains(t, j, "meets_deadline")
	}
	last := jobs[len(jobs)-1].(map[string]any)["job"].(string)
	one := document(t, hedge(t, "", "when", "--snapshot", at, "--policy", "sjf", "--json", "--job", last)).(map[string]any)
	assert.Equal(t, jobs[len(jobs)-1:], one["jobs"])

	learnt := document(t, hedge(t, "", "when", "--snapshot", dir, "--line", "21", "--policy", "sjf", "--json"))
	assert.Len(t, learnt.(map[string]any)["jobs"], len(jobs), "the same snapshot, with those before it")
	table := hedge(t, "", "when", "--snapshot", at, "--policy", "sjf")
	assert.Equal(t, 0, table.code)
	assert.Contains(t, table.out, last)

	for what, args := range map[string][]string{
		"--snapshot: found nothing":      {},
		`--job: found "nobody"`:          {"--snapshot", at, "--job", "nobody"},
		"--line: found 2":                {"--snapshot", at, "--line", "2"},
		"--line: found 0, expected at l": {"--snapshot", at, "--line", "0"},
		"expected a whole number of at":  {"--snapshot", at, "--seed", "-1"},
		"--policy: found \"eagle\"":      {"--snapshot", at, "--policy", "eagle"},
		"no such file":                   {"--snapshot", at + ".gone"},
		"found no snapshot, expected a":  {"--snapshot", t.TempDir()},
	} {
		got := hedge(t, "", append([]string{"when"}, args...)...)
		assert.Equal(t, 2, got.code, what)
		assert.Contains(t, got.err, what)
	}
}

// TestEstimates are added to a run, and change nothing in it.
func TestEstimates(t *testing.T) {
	args := quick("--policies", "3sigma,easy,fifo", "--json")
	plain := document(t, hedge(t, "", args...)).(map[string]any)["runs"].([]any)
	told := document(t, hedge(t, "", append(args, "--estimates")...)).(map[string]any)["runs"].([]any)
	require.Len(t, told, len(plain))
	for i := range told {
		run := told[i].(map[string]any)
		e := run["start_estimates"].(map[string]any)
		delete(run, "start_estimates")
		assert.Equal(t, plain[i], run)
		assert.Positive(t, e["jobs"])
		coverage := e["coverage"].(map[string]any)
		assert.LessOrEqual(t, coverage["50"], coverage["80"])
		assert.LessOrEqual(t, coverage["80"], coverage["95"])
		assert.Len(t, e["deadline_reliability"], 10)
		assert.Nil(t, e["walltime_median_error_s"], "nobody has asked for a time in this log")
	}
}

// TestEstimateOfBackfill is part of the document if it is not the default.
func TestEstimateOfBackfill(t *testing.T) {
	doc := document(t, hedge(t, "", quick("--policies", "easy", "--estimate", "quantile:0.9", "--json")...))
	assert.Equal(t, "quantile:0.9", doc.(map[string]any)["planning"].(map[string]any)["estimate"])
	got := hedge(t, "", quick("--policies", "easy", "--estimate", "mean")...)
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.err, `--estimate: found "mean", expected requested, forecast, or quantile:Q`)
}
