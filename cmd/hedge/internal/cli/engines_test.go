package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/cmd/hedge/internal/bench"
	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/milp/format"
)

// problemFile is the small problem as a file.
func problemFile(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "p.json")
	require.NoError(t, os.WriteFile(path, []byte(problem), 0o644))
	return path
}

func TestPlansAreWrittenAsTheyAreFound(t *testing.T) {
	plans := filepath.Join(t.TempDir(), "plans.jsonl")
	got := hedge(t, "", "solve", "--problem", problemFile(t), "--time", "1m", "--plans", plans, "--json")
	require.Zero(t, got.code, got.err)
	text, err := os.ReadFile(plans)
	require.NoError(t, err)
	last, best := plan{}, 0.0
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		require.NoError(t, json.Unmarshal([]byte(line), &last), line)
		assert.GreaterOrEqual(t, last.Objective, best)
		best = last.Objective
	}
	assert.Equal(t, 4.0, best)
}

func TestRungsAreTold(t *testing.T) {
	got := hedge(t, "", "solve", "--problem", problemFile(t), "--engine", "greedy?share=0.5,native", "--time", "1m",
		"--json")
	require.Zero(t, got.code, got.err)
	var told struct {
		Engine string `json:"engine"`
		Rungs  []rung `json:"rungs"`
	}
	require.NoError(t, json.Unmarshal([]byte(got.out), &told))
	assert.Equal(t, "native", told.Engine, "whose plan it is")
	assert.Equal(t, []rung{{Engine: "greedy", Stop: solver.StopWork, Objective: 2},
		{Engine: "native", Stop: solver.StopGap, Objective: 4}}, told.Rungs)
	got = hedge(t, "", "solve", "--problem", problemFile(t), "--engine", "milp+cbc,native,greedy")
	require.Zero(t, got.code, got.err)
	assert.Contains(t, got.out, "rung milp+cbc: ")
	assert.Contains(t, got.out, "not part of this program")
	assert.Contains(t, got.out, "rung greedy: not run: the plan of native is proven")
	doc := solutionDocument(&solver.Solution{Rungs: []solver.Rung{{Engine: "milp+x", Err: os.ErrClosed}}})
	assert.Equal(t, []rung{{Engine: "milp+x", Error: "file already closed"}}, doc.Rungs)
}

func TestModelsAreWritten(t *testing.T) {
	for _, name := range []string{"m.lp", "m.mps"} {
		path := filepath.Join(t.TempDir(), name)
		got := hedge(t, "", "solve", "--problem", problemFile(t), "--model", path)
		require.Zero(t, got.code, got.err)
		assert.Empty(t, got.out, "nothing is solved")
		text, err := os.Open(path)
		require.NoError(t, err)
		read := format.ReadLP
		if strings.HasSuffix(name, ".mps") {
			read = format.ReadMPS
		}
		m, err := read(text)
		require.NoError(t, err)
		require.NoError(t, text.Close())
		assert.Equal(t, 3, m.Vars())
		assert.True(t, m.Maximize)
	}
	for _, args := range [][]string{{"--model", "m.txt"}, {"--model", "m.lp", "--problem", "-"}} {
		got := hedge(t, problem, append([]string{"solve", "--problem", problemFile(t)}, args...)...)
		assert.Equal(t, 2, got.code)
		assert.Contains(t, got.err, "--model: found")
	}
}

func TestEnginesThatAreNotThereSaySo(t *testing.T) {
	for engine, want := range map[string]string{
		"milp+cbc":                       "make hedge-full",
		"cplex":                          "known are greedy, milp+cbc",
		"native?colour=red":              "found the option colour",
		"milp+process:cbc?path=/nowhere": "/nowhere",
	} {
		for _, command := range [][]string{{"solve", "--problem", problemFile(t)}, quick()} {
			got := hedge(t, "", append(command, "--engine", engine)...)
			assert.Equal(t, 2, got.code, engine)
			assert.Contains(t, got.err, want)
			assert.Contains(t, got.err, "--engine")
		}
	}
}

func TestCyclesAreCaptured(t *testing.T) {
	dir := t.TempDir()
	got := hedge(t, "", quick("--policies", "3sigma", "--capture", dir)...)
	require.Zero(t, got.code, got.err)
	files, err := filepath.Glob(filepath.Join(dir, "3sigma-1-*.json.gz"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, path := range files {
		_, err := solver.ReadProblemFile(path)
		require.NoError(t, err, path)
	}
}

func TestBenchRefusesWhatItCannotRun(t *testing.T) {
	for want, args := range map[string][]string{
		"--problems: found nothing": {},
		"no .json or .json.gz file": {"--problems", t.TempDir()},
		"--at: found":               {"--problems", problemFile(t), "--at", "2s,1s"},
		"--work: found \"x\", expected whole numbers with commas": {"--problems", problemFile(t), "--work", "x"},
		"--at: found \"x\", expected durations with commas":       {"--problems", problemFile(t), "--at", "x"},
		"--work: found [2 1]":            {"--problems", problemFile(t), "--work", "2,1"},
		"--work: found --at as well":     {"--problems", problemFile(t), "--work", "1", "--at", "1s"},
		"--work: found --reach as well":  {"--problems", problemFile(t), "--work", "1", "--reach", "native"},
		"and no other --engine":          {"--problems", problemFile(t), "--engine", "native", "--reach", "native"},
		"--threads: found [1 1]":         {"--problems", problemFile(t), "--threads", "1,1"},
		"expected a time above 0s":       {"--problems", problemFile(t), "--oracle", "0s=native"},
		"engine that proves bounds":      {"--problems", problemFile(t), "--oracle", "1s=greedy"},
		"a largest number of at least 1": {"--problems", problemFile(t), "--jobs", "0-0"},
		"counts no work": {"--problems", problemFile(t), "--work", "1", "--engine",
			"milp+ortools://localhost:1"},
		"--engine":                          {"--problems", problemFile(t), "--engine", "cplex"},
		"--splits":                          {"--problems", problemFile(t), "--splits", "half"},
		"--threads":                         {"--problems", problemFile(t), "--threads", "0"},
		"--gap":                             {"--problems", problemFile(t), "--gap", "-1"},
		"--parallel: found 0":               {"--problems", problemFile(t), "--parallel", "0"},
		"--reach: found \"milp\"":           {"--problems", problemFile(t), "--reach", "milp"},
		"--jobs: found \"30-5\"":            {"--problems", problemFile(t), "--jobs", "30-5"},
		"--jobs: found \"5\"":               {"--problems", problemFile(t), "--jobs", "5"},
		"--jobs: found no problem with 3-9": {"--problems", problemFile(t), "--jobs", "3-9"},
		"--most: found -1":                  {"--problems", problemFile(t), "--most", "-1"},
		"--oracle: found \"native\"":        {"--problems", problemFile(t), "--oracle", "native"},
		"--oracle: engines: unknown engine": {"--problems", problemFile(t), "--oracle", "20s=cplex"},
		"--threads: found \"x\", expected whole numbers with commas": {"--problems", problemFile(t), "--threads", "x"},
		"expected one number of threads": {"--problems", problemFile(t), "--threads", "1,2",
			"--reach", "native"},
		"expected an engine that is named once": {"--problems", problemFile(t), "--reach", "native", "--engine", "native",
			"--engine", "native", "--engine", "greedy"},
	} {
		got := hedge(t, "", append([]string{"bench"}, args...)...)
		assert.Equal(t, 2, got.code, want)
		assert.Contains(t, got.err, want)
	}
}

// TestBenchByWork: a limit of work is a column with what was spent, and the same everywhere.
func TestBenchByWork(t *testing.T) {
	d := &bench.Document{Work: []int64{20, 200}, Problems: []bench.Problem{{Name: "a", Runs: []bench.Run{
		{Engine: "native", Objective: []*float64{new(3.0), new(4.0)}, Gap: []*float64{new(0.5), nil}, Spent: []int64{21, 150},
			Bound: new(6.0), Stop: solver.StopWork},
		{Engine: "broken", Objective: make([]*float64, 2), Gap: make([]*float64, 2), Spent: make([]int64, 2), Error: "boom"},
	}}}}
	got := benchTables(d, true)
	assert.Contains(t, got, "| engine | within 20 | gap % | spent | within 200 | gap % | spent | bound | stop | ms | "+
		"peak MB |")
	assert.Contains(t, got, "| native | 3 | 50 | 21 | 4 | – | 150 | 6 | iterations | 0 | 0 |")
	assert.Contains(t, got, "| broken | – | – | 0 | – | – | 0 | – | error | 0 | 0 |\nbroken: boom\n")
	assert.NotContains(t, got, "microsecond")
	assert.Contains(t, benchTables(d, false), "work units, about a microsecond each")
}

// TestReachTable: quotients that are bounds say so, and engines that failed are named.
func TestReachTable(t *testing.T) {
	v := func(x float64) *float64 { return &x }
	d := &bench.Document{AtS: []float64{60}, Problems: []bench.Problem{
		{Name: "a", Reach: &bench.Reach{Engine: "native", Rival: "milp+x", Target: v(7), RivalMS: v(3000), MS: v(30),
			Speedup: v(100), SpeedupGiven: v(2000)}},
		{Name: "b", Reach: &bench.Reach{Engine: "native", MS: v(60), Speedup: v(1000), SpeedupGiven: v(1000),
			Censored: bench.NoRival, Failed: []string{"milp+y"}}},
		{Name: "c", Reach: &bench.Reach{Engine: "native"}},
	}}
	d.Reach = bench.Summary(d.Problems)
	for _, markdown := range []bool{false, true} {
		got := benchTables(d, markdown)
		assert.Regexp(t, `a[ |]+7[ |]+milp\+x[ |]+3000[ |]+30\.0[ |]+100[ |]+2000`, got)
		assert.Regexp(t, `b[ |]+–[ |]+none had a plan[ |]+–[ |]+60\.0[ |]+≥ 1000[ |]+≥ 1000`, got)
		assert.Regexp(t, `geometric mean of 2[ |]+≥ 316[ |]+≥ 1414`, got)
		assert.Contains(t, got, "Failed on b, which is no finding about them: milp+y.")
	}
}
