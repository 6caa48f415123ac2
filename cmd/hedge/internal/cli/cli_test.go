package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched/systems"
	"github.com/hedgesched/hedge/solver/engines"
)

var update = flag.Bool("update", false, "write the golden files")

// ran is what a command line gave.
type ran struct {
	code     int
	out, err string
}

func hedge(t *testing.T, stdin string, args ...string) ran {
	t.Helper()
	return hedgeWith(t, engines.Builtin(), stdin, args...)
}

// hedgeWith is a hedge that has these engines.
func hedgeWith(t *testing.T, known *engines.Set, stdin string, args ...string) ran {
	t.Helper()
	var out, err bytes.Buffer
	code := Main(t.Context(), args, Host{In: strings.NewReader(stdin), Out: &out, Err: &err, Engines: known})
	return ran{code, out.String(), err.String()}
}

// TestMain is the program where the variable says so: hedge bench runs itself.
func TestMain(m *testing.M) {
	if os.Getenv("HEDGE_TEST_PROGRAM") == "" {
		os.Exit(m.Run())
	}
	os.Exit(Main(context.Background(), os.Args[1:],
		Host{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Engines: engines.Builtin()}))
}

// quick is a comparison of a second.
func quick(more ...string) []string {
	return append([]string{"compare", "--nodes", "24", "--racks", "3", "--hours", "0.1", "--start-hour", "10", "--work",
		"2000"}, more...)
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
		"shared":   fewMachines("--json", "--assignments", "2"),
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
				if !strings.Contains(f, ".chosen.") && !strings.Contains(f, ".skipped.") && !strings.Contains(f, ".stops.") &&
					!strings.Contains(f, ".left_out.") {
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
var progressLine = regexp.MustCompile(`(?m)^hedge: .* … \(.*\)\n`)

// badFiles writes files that no command may accept and returns their directory.
func badFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	const head = "id,submit_s,runtime_s,tasks\n"
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for i := range 5000 {
		if i == 0 {
			fmt.Fprint(z, head)
		}
		fmt.Fprintf(z, "j%d,%d,10,1\n", i, i)
	}
	require.NoError(t, z.Close())
	for name, text := range map[string]string{
		"broken.json": "{", "empty": "", "blank.swf": "\n\n", "head.csv": head, "binary": "\x00\x01\x02",
		"nan.csv": head + "a,0,NaN,1\n", "inf.csv": head + "a,0,+Inf,1\n", "negative.csv": head + "a,-1,1,1\n",
		"zero.csv": head + "a,0,1,0\n", "twice.csv": head + "a,0,1,1\na,1,1,1\n", "order.csv": head + "a,5,1,1\nb,1,1,1\n",
		"columns.csv": head + "a,5,1\n", "long.csv": head + strings.Repeat("a", 17<<20) + ",1,1,1\n",
		"late.csv":   "id,submit_s,runtime_s,tasks,deadline_s\na,0,1,1,9\nb,5,10,1,3\n",
		"past.csv":   "id,submit_s,runtime_s,tasks,deadline_s\na,5,10,1,-3\n",
		"keys.jsonl": `{"id":"a","submit_s":1,"runtime_s":2,"tasks":1,"tasks":2}` + "\n", "deep.jsonl": `{"id":` + deep +
			"}\n",
		"late.jsonl":  `{"id":"a","submit_s":1,"runtime_s":2,"tasks":1,"deadline_s":1.5}` + "\n",
		"century.csv": "id,submit_s,runtime_s,tasks\na,0,10,1\nb,2999999999,10,1\n",
		"wide.csv":    head + "a,0,10,5000\nb,1,10,5000\n",
		"cut.csv.gz":  packed.String()[:packed.Len()/2], "sum.csv.gz": packed.String()[:packed.Len()-8] + "12345678",
		"keys.json": strings.Replace(problem, `"slots":3`, `"slots":3,"slots":4`, 1), "array.json": "[]",
		"type.json": `{"slots":"x"}`,
		"deep.json": `{"a":` + deep + "}", "slot.json": strings.Replace(problem, `"slot_seconds":10`, `"slot_seconds":-1`, 1),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "directory"), 0o755))
	return dir
}

// TestBadFilesAreRefused gives every command that reads what it must refuse: one line that names the file, where
// that helps the line and the field, and status 2.
func TestBadFilesAreRefused(t *testing.T) {
	dir := badFiles(t)
	logs := map[string]string{
		"missing": "no such file", "directory": "a directory", "empty": "no jobs", "blank.swf": "no jobs",
		"head.csv": "no jobs", "binary": "looks like none",
		"broken.json": "broken.json:1: line: found the end of the data, expected the rest of it",
		"nan.csv":     `nan.csv:2: runtime_s: found "NaN"`, "inf.csv": `inf.csv:2: runtime_s: found "+Inf"`,
		"negative.csv": `negative.csv:2: submit_s: found "-1"`, "zero.csv": `zero.csv:2: tasks: found "0"`,
		"twice.csv": `twice.csv:3: id: found "a"`,
		"order.csv": `order.csv:3: submit_s: found "1"`, "columns.csv": "columns.csv:2: columns: found 3, expected 4",
		"long.csv": "long.csv:2: line: found more than 16 MiB",
		"late.csv": `late.csv:3: deadline_s: found "3"`, "past.csv": `past.csv:2: deadline_s: found "-3"`,
		"late.jsonl": `late.jsonl:1: deadline_s: found "1.5"`,
		"keys.jsonl": `keys.jsonl:1: tasks: found twice`, "deep.jsonl": "…: found what is not JSON (exceeded max depth), " +
			"expected JSON", "cut.csv.gz": "gzip: found the end of the file", "sum.csv.gz": "gzip: found a wrong checksum",
	}
	problems := map[string]string{
		"missing": "no such file", "directory": "a directory", "empty": "empty", "broken.json": "line 1",
		"array.json": "line 1", "type.json": "slots", "deep.json": "line 1",
		"slot.json": "slot_seconds", "keys.json": "slots: found twice", "cut.csv.gz": "unexpected EOF", "long.csv": "line 1",
		"binary": "line 1",
	}
	benched := maps.Clone(problems)
	benched["directory"] = "found no .json or .json.gz file"
	replays := map[string]string{
		"missing": "no such file", "directory": "a directory", "empty": "no events", "broken.json": "broken.json:1",
		"deep.json": "deep.json:1", "cut.csv.gz": "cut.csv.gz", "binary": "binary:1", "long.csv": "long.csv:1",
	}
	for _, c := range []struct {
		args  []string
		files map[string]string
	}{
		{[]string{"trace", "--json", "--strict", "--trace"}, logs},
		{[]string{"predict", "--strict", "--trace"}, logs},
		{[]string{"compare", "--strict", "--trace"}, logs},
		{[]string{"simulate", "--strict", "--trace"}, logs},
		{[]string{"compare", "--hours", "0.1", "--strict", "--train"}, logs},
		{[]string{"results", "--strict", "--out", "-", "--cache", t.TempDir(), "--traces"}, logs},
		{[]string{"solve", "--problem"}, problems},
		{[]string{"bench", "--problems"}, benched},
		{[]string{"replay"}, replays},
	} {
		for name, says := range c.files {
			path := filepath.Join(dir, name)
			if c.args[0] == "results" {
				path = "x=" + path
			}
			refused(t, 2, says, append(slices.Clone(c.args), path)...)
		}
	}
	for _, command := range []string{"compare", "simulate"} {
		refused(t, 2, "2 of 2 jobs are wider than the cluster of 256 tasks", command, "--workload", "replay", "--trace",
			filepath.Join(dir, "wide.csv"))
		refused(t, 2, "expected at most 50 years", command, "--workload", "replay", "--trace",
			filepath.Join(dir, "century.csv"))
	}
}

// refused expects an error of one line that says so, and nothing on stdout.
func refused(t *testing.T, code int, says string, args ...string) {
	t.Helper()
	t.Run(strings.Join(args, " "), func(t *testing.T) {
		r := hedge(t, "", args...)
		assert.Equal(t, code, r.code, r.err)
		assert.Empty(t, r.out)
		r.err = progressLine.ReplaceAllString(r.err, "")
		assert.Equal(t, 1, strings.Count(r.err, "\n"), "one line: %s", r.err)
		assert.Contains(t, r.err, says)
		assert.Less(t, len(r.err), 600)
		assert.NotRegexp(t, `strconv| json: |pflag|goroutine|Go value`, r.err)
	})
}

func TestErrorsAreOneLineWithTheRightStatus(t *testing.T) {
	dir := badFiles(t)
	file, broken := filepath.Join(dir, "empty"), filepath.Join(dir, "broken.json")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"nonsense"}, 2, "nonsense"},
		{[]string{"nonsense", "--trace", "x"}, 2, `unknown command "nonsense"`},
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
		{[]string{"compare", "--jobs-per-hour", "100", "--workload", "window"}, 2, "--jobs-per-hour"},
		{[]string{"compare", "--reserve-after", "-1s"}, 2, "--reserve-after: found -1s, expected at least 0s"},
		{[]string{"compare", "--machine-hours", "-1"}, 2, "--machine-hours: found -1, expected at least 0"},
		{[]string{"compare", "--machine-hours", "NaN"}, 2, "--machine-hours: found NaN, expected at least 0"},
		{[]string{"compare", "--hours", "1e300"}, 2, "--hours: found 1e+300, expected 0.001 to 200000"},
		{[]string{"compare", "--hours", "1e-4"}, 2, "--hours: found 0.0001, expected 0.001 to 200000"},
		{[]string{"compare", "--start-hour", "1e9"}, 2, "--start-hour: found 1e+09, expected 0 to 200000"},
		{[]string{"compare", "--jobs-per-hour", "0"}, 2, "--jobs-per-hour: found 0, expected above 0, at most 1e9"},
		{[]string{"compare", "--jobs-per-hour", "0", "--workload", "e2e"}, 2, "--jobs-per-hour: found 0"},
		{[]string{"simulate", "--workload", "day"}, 2, "expected window, e2e, replay, dag or tasks"},
		{[]string{"compare", "--nodes", "4", "--racks", "8"}, 2, "--racks: found 8, expected 1 to 4, the nodes"},
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
		{[]string{"compare", "--nodes", "x"}, 2, `--nodes: found "x", expected a whole number`},
		{[]string{"compare", "--load", "x"}, 2, `--load: found "x", expected a number`},
		{[]string{"compare", "--cycle", "5"}, 2, `--cycle: found "5", expected a duration`},
		{[]string{"compare", "--cycle", "-1s"}, 2, "--cycle: found -1s, expected"},
		{[]string{"compare", "--hours"}, 2, "--hours: found nothing, expected a number"},
		{[]string{"compare", "-x"}, 2, "-x: no such flag"},
		{[]string{"compare", "--window", "1m", "--slot", "1h"}, 2, "--window: found 1m0s, expected at least --slot"},
		{[]string{"compare", "--window", "10h", "--slot", "100ms"}, 2, "--window: found 10h0m0s in slots of 100ms"},
		{[]string{"compare", "--slack", "1e300"}, 2, "--slack"},
		{[]string{"compare", "--prefer-slowdown", "1e300"}, 2, "--prefer-slowdown"},
		{[]string{"compare", "--start-hour", "-1"}, 2, "--start-hour: found -1, expected 0 to 200000"},
		{[]string{"compare", "--start-hour", "100"}, 2, "--start-hour: found 100, expected at most"},
		{[]string{"compare", "--hours", "1000"}, 2, "try less of --hours"},
		{[]string{"compare", "--load", "1e9"}, 2, "--load"},
		{[]string{"compare", "--tasks-per-node", "-1"}, 2, "--tasks-per-node"},
		{[]string{"compare", "--format", "swf"}, 2, "--format: found \"swf\" without --trace"},
		{[]string{"compare", "--format", "nope"}, 2, `--format: found "nope", expected one of`},
		{[]string{"simulate", "--format", "nope"}, 2, `--format: found "nope"`},
		{[]string{"predict", "--format", "nope"}, 2, `--format: found "nope"`},
		{[]string{"trace", "--format", "nope"}, 2, `--format: found "nope"`},
		{[]string{"simulate", "--policy", "nope"}, 2, `--policy: found "nope"`},
		{[]string{"simulate", "--policies", "fifo"}, 2, "--policies: no such flag"},
		{[]string{"compare", "--report-cycle", "10m"}, 2, "--report"},
		{[]string{"compare", "--report", dir, "--report-cycle", "-1s"}, 2, "--report-cycle: found -1s"},
		{[]string{"compare", "--log", "-"}, 2, `--log: found "-", expected a directory`},
		{[]string{"compare", "--report", "-"}, 2, `--report: found "-", expected a directory`},
		{[]string{"compare", "--log", file}, 2, "--log: "},
		{[]string{"compare", "--report", filepath.Join(file, "x")}, 2, "--report: "},
		{[]string{"simulate", "--log", file}, 2, "--log: "},
		{[]string{"predict", "--report", file}, 2, "--report: "},
		{[]string{"trace", "--report", file}, 2, "--report: "},
		{[]string{"solve", "--problem", broken, "--out", dir}, 2, "--out: "},
		{[]string{"solve", "--time", "x"}, 2, `--time: found "x", expected a duration`},
		{[]string{"results", "--out", dir}, 2, "--out: "},
		{[]string{"results", "--out", "-", "--cache", file}, 2, "--cache: "},
		{[]string{"results", "--out", "-", "--cache", t.TempDir(), "--sweeps", "nope"}, 2, "--sweeps: found \"nope\""},
		{[]string{"results", "--out", "-", "--cache", t.TempDir(), "--notes", dir}, 2, "--notes: "},
		{[]string{"results", "--out", "-", "--cache", t.TempDir(), "--train", "0.5"}, 2, "--train: found with hedge results"},
		{[]string{"results", "--out", "-", "--cache", t.TempDir(), "--traces", "@" + file}, 2, "found no logs"},
		{[]string{"results", "--out", "-", "--cache", t.TempDir(), "--traces", "a=builtin?workload=day"}, 2,
			`workload: found "day"`},
		{[]string{"solver", "serve", "--listen", "x"}, 2, `--listen: found "x", expected HOST:PORT`},
		{[]string{"solver", "serve", "--listen", ":http"}, 2, `--listen: found ":http", expected HOST:PORT`},
		{[]string{"solver", "serve", "--listen", "unix:"}, 2, `--listen: found "unix:", expected HOST:PORT or unix:PATH`},
		{[]string{"completion", "tcsh"}, 2, "tcsh"},
		{[]string{"help", "nope"}, 2, "nope"},
	} {
		refused(t, c.code, c.says, c.args...)
	}
	data, err := os.ReadFile(broken)
	require.NoError(t, err)
	assert.Equal(t, "{", string(data), "nothing is written before all is well")
}

// full is a writer that has no room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestAReaderThatWentAwayFailsTheWork(t *testing.T) {
	for _, args := range [][]string{{"trace"}, {"trace", "--json"}, {"solve", "--engines"}} {
		var err bytes.Buffer
		assert.Equal(t, 1, Main(t.Context(), args,
			Host{In: strings.NewReader(""), Out: full{}, Err: &err, Engines: engines.Builtin()}))
		assert.Equal(t, "hedge: stdout: broken pipe\n", err.String())
	}
}

func TestOneSeedHasNoInterval(t *testing.T) {
	doc := document(t, hedge(t, "", quick("--json", "--policies", "fifo")...)).(map[string]any)
	row := doc["summary"].([]any)[0].(map[string]any)
	assert.Nil(t, row["miss_rate"].(map[string]any)["ci95"])
	assert.Contains(t, doc["ci95_null"], "one seed")
	doc = document(t, hedge(t, "", quick("--json", "--policies", "fifo", "--seeds", "1,2")...)).(map[string]any)
	assert.Len(t, doc["summary"].([]any)[0].(map[string]any)["miss_rate"].(map[string]any)["ci95"], 2)
	assert.NotContains(t, doc, "ci95_null")
}

func TestTheReportDrawsTheCycleAskedFor(t *testing.T) {
	dir := t.TempDir()
	require.Equal(t, 0, hedge(t, "", quick("--policies", "3sigma", "--report", dir, "--report-cycle", "3m")...).code)
	page, err := os.ReadFile(filepath.Join(dir, "index.html"))
	require.NoError(t, err)
	assert.Contains(t, string(page), "What 3sigma plans 3.00 min into the run")
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
	all, err := choose(systems.Builtin(), "all", "window")
	require.NoError(t, err)
	require.Len(t, runs, len(all))
	for _, run := range runs {
		run := run.(map[string]any)
		name := run["policy"].(string)
		replayed := document(t, hedge(t, "", "replay", "--json", filepath.Join(dir, name+"-1.jsonl.gz")))
		again := replayed.(map[string]any)["run"].(map[string]any)
		for _, field := range []string{"slo", "be", "goodput_machine_hours", "be_latency_s", "jct_s",
			"preemptions", "makespan_s", "cycles"} {
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

func TestTheProgramKnowsItsCommit(t *testing.T) {
	stamped := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "0123456789abcdef"},
		{Key: "vcs.modified", Value: "false"}}
	for want, info := range map[string]*debug.BuildInfo{
		"0123456789ab": {Settings: stamped, Main: debug.Module{Version: "v0.1.1-0.20260101-0123456789ab"}},
		"0123456789ab (modified)": {Settings: append(slices.Clone(stamped[:2]),
			debug.BuildSetting{Key: "vcs.modified", Value: "true"})},
		"v0.3.0":  {Main: debug.Module{Version: "v0.3.0"}},
		"unknown": {Main: debug.Module{Version: "(devel)"}},
	} {
		assert.Equal(t, want, commitOf(info))
	}
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
	for _, args := range [][]string{quick("--policies", "3sigma,prio", "--estimates"), {"predict"}, {"trace"}} {
		dir := t.TempDir()
		require.Equal(t, 0, hedge(t, "", append(args, "--report", dir)...).code)
		page, err := os.ReadFile(filepath.Join(dir, "index.html"))
		require.NoError(t, err)
		assert.Contains(t, string(page), "<svg")
		assert.NotRegexp(t, `(?i)<script|<link|src=|url\(|@import`, string(page))
		alts := regexp.MustCompile(`class="chart" role="img" aria-label="([^"]*)"`).FindAllStringSubmatch(string(page), -1)
		assert.Equal(t, strings.Count(string(page), `class="chart"`), len(alts), "every chart is described")
		for _, alt := range alts {
			assert.Regexp(t, `^.+\. .+\.$`, alt[1], "a title and at least a sentence")
		}
		assert.Equal(t, len(alts), strings.Count(string(page), "\n<div class=\"chart\""), "and shown under its heading")
	}
}

// TestHelpNames: every policy is explained, and flags take what a reader knows, not what a library calls it.
func TestHelpNames(t *testing.T) {
	help := hedge(t, "", "compare", "--help").out
	for _, s := range systems.Builtin().List() {
		assert.Regexp(t, "\n    "+s.Name+" +"+regexp.QuoteMeta(s.Summary)+"\n", help)
		assert.Contains(t, help, s.Paper)
	}
	for _, command := range []string{"bench", "solve", "compare", "simulate"} {
		assert.NotRegexp(t, `--\S+ (\w+Slice|stringArray)`, hedge(t, "", command, "--help").out)
	}
	got := hedge(t, "", quick("--policies", "prio")...).out
	assert.Contains(t, got, "preempted, lost   jobs stopped")
	assert.Contains(t, got, "one seed          hedge compare --seeds")
}

func TestEveryCommandHasHelpWithExamples(t *testing.T) {
	for _, c := range newRoot(&Host{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, Engines: engines.Builtin()}).Commands() {
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
	args := []string{"results", "--nodes", "24", "--racks", "3", "--hours", "0.1", "--start-hour", "10",
		"--work", "2000", "--seeds", "1,2",
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

func TestResultsOfTwoCommitsAreNotMixedUnasked(t *testing.T) {
	dir := t.TempDir()
	args := []string{"results", "--nodes", "24", "--racks", "3", "--hours", "0.1", "--start-hour", "10",
		"--work", "2000", "--seeds", "1,2",
		"--cache", filepath.Join(dir, "kept"), "--notes", filepath.Join(dir, "none.md"), "--out", "-"}
	require.Equal(t, 0, hedge(t, "", append(args, "--only", "variants", "--commit", "old")...).code)
	r := hedge(t, "", append(args, "--only", "prediction", "--commit", "new")...)
	assert.Equal(t, 2, r.code)
	assert.Contains(t, r.err, "found numbers of commit old, expected new")
	r = hedge(t, "", append(args, "--only", "prediction", "--commit", "new", "--mix")...)
	require.Equal(t, 0, r.code, r.err)
	assert.Contains(t, r.out, "| old | variants on sample base |")
	assert.Contains(t, r.out, "| new | prediction on sample |")
}
