package results

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
	"github.com/hedgesched/hedge/cmd/hedge/internal/profile"
)

func TestParseTraces(t *testing.T) {
	got, err := ParseTraces("g=a/b.tr.gz, k=k.swf?tasks-per-node=16&only=prediction")
	require.NoError(t, err)
	assert.Equal(t, []Trace{{Name: "g", Path: "a/b.tr.gz", TasksPerNode: 1},
		{Name: "k", Path: "k.swf", TasksPerNode: 16, Only: []string{"prediction"}}}, got)
	for _, bad := range []string{"", "a", "a=", "=b", "a=b,a=c", "a=b?x=1", "a=b?tasks-per-node=0"} {
		_, err := ParseTraces(bad)
		assert.Error(t, err, bad)
	}
}

func TestVerdictsFollowTheNumbers(t *testing.T) {
	assert.Equal(t, "holds", less([]float64{1, 2, 3}, []float64{2, 3, 4.1}))
	assert.Equal(t, "holds weakly", less([]float64{1, 2, 3}, []float64{9, 2, 2}))
	assert.Equal(t, "does not hold", less([]float64{2, 3}, []float64{1, 2}))
	assert.Equal(t, "holds weakly", less([]float64{1}, []float64{2}), "one seed proves nothing")
}

func TestThePageBeginsWithTheScore(t *testing.T) {
	p := &Plan{Command: "hedge results", Base: experiment.Spec{Seeds: []int64{1}}, Traces: []Trace{{Name: "a"}}}
	cell := func(within float64) kept {
		return kept{Trace: "a", Commit: "c",
			Profile: &profile.Document{Predictors: []profile.Result{{Name: "3sigma", Within2x: within}}}}
	}
	text, err := p.markdown(map[string][]kept{"prediction": {cell(.8), cell(.5), cell(.9)}})
	require.NoError(t, err)
	assert.Contains(t, text, "| prediction | 2 | 0 | 1 |\n| **all** | 2 | 0 | 1 |")
	assert.NotContains(t, text, "several commits")
	assert.NotContains(t, text, "real clusters")
	p.Notes = "## clusters\nmeasured there\n"
	text, err = p.markdown(map[string][]kept{})
	require.NoError(t, err)
	assert.Contains(t, text, "## On real clusters\n\nmeasured there\n\n## The logs")
}

func TestNotes(t *testing.T) {
	notes, err := parseNotes("preamble\n## variants\nwhy\nand how\n## load\n\nmore\n")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"variants": "why\nand how", "load": "more"}, notes)
	_, err = parseNotes("## nothing\n")
	assert.ErrorIs(t, err, ErrInput)
}

// logsOf reads a list of logs of the documentation.
func logsOf(t *testing.T, path string) []Trace {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	traces, err := ParseTraceFile(path, string(text))
	require.NoError(t, err)
	return traces
}

func TestTheLogsOfTheDocumentedCommand(t *testing.T) {
	traces := logsOf(t, "../../../../docs/logs.txt")
	assert.Greater(t, len(traces), 5)
	assert.Empty(t, traces[0].Path, "the first is built in")
	for _, one := range traces {
		assert.NotEmpty(t, one.Source, one.Name)
	}
}

func TestParseTraceFile(t *testing.T) {
	got, err := ParseTraceFile("f", "# two logs\n\na=builtin?only=load&optional=true the sample\nb=x.swf\n")
	require.NoError(t, err)
	assert.Equal(t, []Trace{{Name: "a", TasksPerNode: 1, Only: []string{"load"}, Optional: true, Source: "the sample"},
		{Name: "b", Path: "x.swf", TasksPerNode: 1}}, got)
	for text, says := range map[string]string{"": "no logs", "# only this": "no logs", "\na": "f:2",
		"a=b\na=c": `"a" twice`, "a=b?only=tea": "tea"} {
		_, err := ParseTraceFile("f", text)
		assert.ErrorContains(t, err, says)
	}
}

// What a cell is kept under follows from what the logs hold, not from what they are called.
func TestKeptCellsAreOfTheLogsAsTheyAre(t *testing.T) {
	dir := t.TempDir()
	path := func(name, text string) string {
		at := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
		return at
	}
	file := func(s experiment.Spec) string {
		r := newRunner(&Plan{Cache: "c"})
		at, err := r.file(&cell{"variants", "log", "", s})
		require.NoError(t, err)
		return at
	}
	log, train := path("log", "one"), path("train", "two")
	before := file(experiment.Spec{Trace: log, Train: train})
	assert.Equal(t, before, file(experiment.Spec{Trace: log, Train: train}))
	path("log", "other")
	logChanged := file(experiment.Spec{Trace: log, Train: train})
	assert.NotEqual(t, before, logChanged)
	path("train", "other")
	assert.NotEqual(t, logChanged, file(experiment.Spec{Trace: log, Train: train}))
	assert.NotEqual(t, file(experiment.Spec{Trace: log}), file(experiment.Spec{Trace: log, Train: "0.5"}))
	assert.Equal(t, file(experiment.Spec{}), file(experiment.Spec{}))

	r := newRunner(&Plan{Cache: "c"})
	for _, s := range []experiment.Spec{{Trace: filepath.Join(dir, "none")}, {Train: filepath.Join(dir, "none")}} {
		_, err := r.file(&cell{"variants", "log", "", s})
		assert.ErrorIs(t, err, ErrInput)
		assert.ErrorIs(t, err, fs.ErrNotExist)
	}
}
