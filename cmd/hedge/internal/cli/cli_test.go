package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files")

// ran is what a command line gave.
type ran struct {
	code     int
	out, err string
}

func hedge(t *testing.T, stdin string, args ...string) ran {
	t.Helper()
	var out, err bytes.Buffer
	code := Main(t.Context(), args, Streams{In: strings.NewReader(stdin), Out: &out, Err: &err})
	return ran{code, out.String(), err.String()}
}

// quick is a comparison of a second.
func quick(more ...string) []string {
	return append([]string{"compare", "--nodes", "24", "--racks", "3", "--hours", "0.1", "--start-hour", "10", "--work", "2000"}, more...)
}

const problem = `{"slot_seconds":10,"slots":3,"resources":["node"],"partitions":[{"name":"r0","nodes":2}],
"capacity":[[[2,2,2]]],"jobs":[
{"id":"a","options":[{"set":"any","start":0,"count":2,"demand":[1],"partitions":[0],"usage":[1],"value":3}]},
{"id":"b","options":[{"set":"any","start":0,"count":1,"demand":[1],"partitions":[0],"usage":[1],"value":2},
{"set":"any","start":1,"count":1,"demand":[1],"partitions":[0],"usage":[1],"value":1}]}]}`

// measured are the fields that the contract lets vary between runs.
var measured = regexp.MustCompile(`(_ms|_s_wall|_per_s|_us)$|^peak_mb$`)

// untimed sets every measured field of a document, and all under it, to zero.
func untimed(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			if measured.MatchString(key) {
				v[key] = 0
				continue
			}
			v[key] = untimed(v[key])
		}
	case []any:
		for i := range v {
			v[i] = untimed(v[i])
		}
	}
	return v
}

func document(t *testing.T, r ran) any {
	t.Helper()
	require.Equal(t, 0, r.code, r.err)
	d := json.NewDecoder(strings.NewReader(r.out))
	var v any
	require.NoError(t, d.Decode(&v))
	assert.False(t, d.More(), "one document")
	return untimed(v)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// paths lists every field of a document with its type; [] stands for any element.
func paths(v any, at string, into map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			paths(v[key], at+"."+key, into)
		}
	case []any:
		for i := range v {
			paths(v[i], at+"[]", into)
		}
	case nil:
		into[at] = true
	default:
		into[fmt.Sprintf("%s %T", at, v)] = true
	}
}

// TestDocumentsKeepTheirFields holds what scripts rely on: fields may be added to a document, those of the golden
// file must stay.
func TestDocumentsKeepTheirFields(t *testing.T) {
	for name, args := range map[string][]string{
		"compare":  quick("--json", "--policies", "3sigma,prio", "--seeds", "1,2"),
		"simulate": {"simulate", "--nodes", "24", "--racks", "3", "--hours", "0.1", "--policy", "edf", "--json"},
		"predict":  {"predict", "--json", "--predictor", "jvupredict"},
		"trace":    {"trace", "--json"},
		"engines":  {"solve", "--engines", "--json"},
	} {
		t.Run(name, func(t *testing.T) {
			fields := map[string]bool{}
			paths(document(t, hedge(t, "", args...)), "", fields)
			var lines []string
			for f := range fields {
				if !strings.Contains(f, ".chosen.") && !strings.Contains(f, ".skipped.") && !strings.Contains(f, ".stops.") {
					lines = append(lines, f)
				}
			}
			slices.Sort(lines)
			path := filepath.Join("testdata", name+".fields")
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Subset(t, lines, strings.Split(strings.TrimSpace(string(want)), "\n"))
		})
	}
}

func TestGoldenDocuments(t *testing.T) {
	for name, c := range map[string]struct {
		stdin string
		args  []string
	}{
		"solve.json":  {problem, []string{"solve", "--problem", "-", "--engine", "greedy", "--work", "1000", "--json"}},
		"native.json": {problem, []string{"solve", "--problem", "-", "--work", "100000", "--json"}},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := json.MarshalIndent(document(t, hedge(t, c.stdin, c.args...)), "", " ")
			require.NoError(t, err)
			golden(t, name, string(data)+"\n")
		})
	}
}

// progressLine is what results tells of a part as it begins.
var progressLine = regexp.MustCompile(`(?m)^hedge: .* …\n`)

func TestErrorsAreOneLineWithTheRightStatus(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "bad.json")
	require.NoError(t, os.WriteFile(broken, []byte("{"), 0o644))
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"nonsense"}, 2, "nonsense"},
		{[]string{"compare", "extra"}, 2, "extra"},
		{[]string{"compare", "--nope"}, 2, "--nope"},
		{[]string{"compare", "--nodes", "0"}, 2, "--nodes"},
		{[]string{"compare", "--load", "NaN"}, 2, "--load"},
		{[]string{"compare", "--load", "+Inf"}, 2, "--load"},
		{[]string{"compare", "--hours", "-1"}, 2, "--hours"},
		{[]string{"compare", "--slack", "20,x"}, 2, "--slack"},
		{[]string{"compare", "--seeds", "1,1"}, 2, "--seeds"},
		{[]string{"compare", "--policies", "3sigma,best"}, 2, `"best"`},
		{[]string{"compare", "--engine", "gurobi"}, 2, "gurobi"},
		{[]string{"compare", "--workload", "day"}, 2, "--workload"},
		{[]string{"compare", "--jobs-per-hour", "100"}, 2, "--jobs-per-hour"},
		{[]string{"compare", "--train", "2"}, 2, "--train"},
		{[]string{"compare", "--seed", "1", "--seeds", "2"}, 2, "seeds"},
		{[]string{"compare", "--trace", "/does/not/exist.swf"}, 2, "/does/not/exist.swf"},
		{[]string{"compare", "--format", "xml", "--trace", broken}, 2, "xml"},
		{[]string{"simulate", "--policy", "fifo,edf"}, 2, "--policy"},
		{[]string{"predict", "--train", "1"}, 2, "--train"},
		{[]string{"predict", "--predictor", "crystal"}, 2, "crystal"},
		{[]string{"trace", "--trace", "/does/not/exist.swf"}, 2, "/does/not/exist.swf"},
		{[]string{"solve"}, 2, "--problem"},
		{[]string{"solve", "--problem", broken}, 2, broken},
		{[]string{"solve", "--problem", broken, "--engine", "foo"}, 2, "native"},
		{[]string{"solve", "--problem", broken, "--splits", "some"}, 2, "--splits"},
		{[]string{"replay"}, 2, "LOG"},
		{[]string{"replay", "/does/not/exist"}, 2, "/does/not/exist"},
		{[]string{"replay", broken}, 2, broken},
		{[]string{"results", "--only", "all,more"}, 2, "--only"},
		{[]string{"results", "--traces", "nameless"}, 2, "nameless"},
		{[]string{"results", "--traces", "a=/does/not/exist", "--cache", t.TempDir()}, 2, "/does/not/exist"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			r := hedge(t, "", c.args...)
			assert.Equal(t, c.code, r.code, r.err)
			assert.Empty(t, r.out)
			r.err = progressLine.ReplaceAllString(r.err, "")
			assert.Equal(t, 1, strings.Count(r.err, "\n"), "one line: %s", r.err)
			assert.Contains(t, r.err, c.says)
		})
	}
}

func TestSameSeedSameDocumentOnOneAndTwoCores(t *testing.T) {
	args := quick("--json", "--policies", "3sigma,point-real,prio", "--seeds", "1,2")
	first := document(t, hedge(t, "", args...))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	assert.Equal(t, first, document(t, hedge(t, "", args...)))
	runtime.GOMAXPROCS(2)
	assert.Equal(t, first, document(t, hedge(t, "", args...)))
}

func TestEveryLogPassesReplayWithTheSameFigures(t *testing.T) {
	dir := t.TempDir()
	doc := document(t, hedge(t, "", quick("--json", "--policies", "all", "--log", dir)...)).(map[string]any)
	runs := doc["runs"].([]any)
	require.Len(t, runs, 10)
	for _, run := range runs {
		run := run.(map[string]any)
		name := run["policy"].(string)
		again := document(t, hedge(t, "", "replay", "--json", filepath.Join(dir, name+"-1.jsonl.gz"))).(map[string]any)["run"].(map[string]any)
		for _, field := range []string{"slo", "be", "goodput_machine_hours", "be_latency_s", "jct_s", "preemptions", "makespan_s", "cycles"} {
			assertClose(t, run[field], again[field], field+" of "+name)
		}
	}
}

// assertClose compares figures summed in another order.
func assertClose(t *testing.T, want, got any, what string) {
	t.Helper()
	if w, ok := want.(map[string]any); ok {
		for key := range w {
			assertClose(t, w[key], got.(map[string]any)[key], what+" "+key)
		}
		return
	}
	assert.InEpsilon(t, 1+want.(float64), 1+got.(float64), 1e-12, what)
}

func TestTablesExplainThemselves(t *testing.T) {
	r := hedge(t, "", quick("--policies", "prio,edf")...)
	require.Equal(t, 0, r.code, r.err)
	assert.Empty(t, r.err, "no progress when piped")
	assert.Contains(t, r.out, "lower is better")
	for _, args := range [][]string{{"trace"}, {"predict", "--predictor", "3sigma"}, {"solve", "--engines"}} {
		r := hedge(t, "", args...)
		require.Equal(t, 0, r.code, r.err)
		assert.Greater(t, strings.Count(r.out, "\n"), 3)
	}
}

func TestReportsAreSelfContained(t *testing.T) {
	for _, args := range [][]string{quick("--policies", "3sigma,prio"), {"predict"}, {"trace"}} {
		dir := t.TempDir()
		require.Equal(t, 0, hedge(t, "", append(args, "--report", dir)...).code)
		page, err := os.ReadFile(filepath.Join(dir, "index.html"))
		require.NoError(t, err)
		assert.Contains(t, string(page), "<svg")
		assert.NotRegexp(t, `(?i)<script|<link|src=|url\(|@import`, string(page))
	}
}

func TestEveryCommandHasHelpWithExamples(t *testing.T) {
	for _, c := range newRoot(&Streams{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}).Commands() {
		assert.NotEmpty(t, c.Example, c.Name())
		assert.NotEmpty(t, c.Short, c.Name())
		assert.Equal(t, 0, hedge(t, "", c.Name(), "--help").code)
	}
	r := hedge(t, "", "completion", "bash")
	assert.Equal(t, 0, r.code)
	assert.Contains(t, r.out, "hedge")
}

func TestResultsArePickedUpWhereTheyWere(t *testing.T) {
	dir := t.TempDir()
	args := []string{"results", "--nodes", "24", "--racks", "3", "--hours", "0.1", "--start-hour", "10", "--work", "2000", "--seeds", "1,2",
		"--cache", filepath.Join(dir, "kept"), "--notes", filepath.Join(dir, "notes.md"), "--out", "-", "--only", "variants"}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.md"), []byte("## variants\nBecause.\n"), 0o644))
	first := hedge(t, "", args...)
	require.Equal(t, 0, first.code, first.err)
	assert.Contains(t, first.out, "point-real misses more than 3sigma")
	assert.Contains(t, first.out, "Because.")
	assert.NotEmpty(t, first.err)
	again := hedge(t, "", args...)
	assert.Equal(t, first.out, again.out)
	assert.Empty(t, again.err, "nothing runs again")
}
