//go:build unix

package process_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/process"
)

// patience is how long what must happen may take on a machine that is busy.
const patience = 2 * time.Minute

// soon waits for ok in this goroutine, since some of the tests count goroutines.
func soon(ok func() bool) bool {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if ok() {
			return true
		}
	}
	return ok()
}

// fake is a backend whose executable is a shell script. At the end of the test nothing of it may be left: no file and
// no goroutine.
func fake(t *testing.T, solver, script string) *process.Backend {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(t.TempDir(), "fake")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		left, err := os.ReadDir(dir)
		assert.NoError(t, err)
		assert.Empty(t, left)
		assert.True(t, soon(func() bool { return runtime.NumGoroutine() <= before }), "goroutines are left")
	})
	b, err := process.New(process.Config{Solver: solver, Path: path, Dir: dir})
	require.NoError(t, err)
	return b
}

// knapsack's optimum is 7.5 at 1, 1, 0.
func knapsack() *milp.Model {
	m := &milp.Model{Maximize: true, Offset: 0.5}
	for _, c := range []float64{3, 4, 5} {
		m.AddVar(milp.Var{Upper: 1, Cost: c, Integer: true})
	}
	m.AddRow(milp.Row{Lower: math.Inf(-1), Upper: 5, Index: []int32{0, 1, 2}, Value: []float64{2, 3, 4}})
	return m
}

// highsSolution is HiGHS's solution file of knapsack.
const highsSolution = `cat > solution <<'END'
Model status
Optimal

# Primal solution values
Feasible
Objective -7.5
# Columns 4
x0 1
x1 1
x2 0
~offset 1
# Rows 1
c0 5
END
`

// gone waits until the process whose number is in the file is no more.
func gone(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	assert.True(t, soon(func() bool { return !alive(pid) }), "process %d is left", pid)
}

// alive reports whether there is such a process, other than one that nobody has waited for.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !os.IsNotExist(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func TestFakeSolverThatNeverEnds(t *testing.T) {
	for name, script := range map[string]string{
		"sleeps":                "sleep 1000",
		"ignores signals":       "trap '' INT TERM HUP\nwhile :; do sleep 1; done",
		"spins":                 "trap '' INT\nwhile :; do :; done",
		"prints without end":    "yes",
		"prints one line":       "yes | tr -d '\\n'",
		"sleeps in grandchild":  "(trap '' INT; sleep 1000) &\nwait",
		"closes its output":     "exec >&- 2>&-\nsleep 1000",
		"floods standard error": "yes >&2",
	} {
		for _, solver := range process.Solvers() {
			t.Run(name+"/"+solver, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "pid")
				b := fake(t, solver, "echo $$ > "+file+"\n"+script)
				res, err := b.Solve(context.Background(), knapsack(), milp.Options{Time: 150 * time.Millisecond})
				require.NoError(t, err)
				assert.Equal(t, milp.StopTime, res.Stop)
				assert.Nil(t, res.X)
				assert.Equal(t, math.Inf(1), res.Bound)
				if text, err := os.ReadFile(file); err == nil && len(text) > 0 { // a busy machine may not even have got there
					gone(t, file)
				}
			})
		}
	}
}

func TestFakeSolverThatFails(t *testing.T) {
	for name, c := range map[string]struct{ solver, script, want string }{
		"garbage":         {"cbc", "head -c 100000 /dev/urandom", "without a result"},
		"exits 1":         {"cbc", "echo cannot go on >&2\nexit 1", "cannot go on"},
		"says nothing":    {"glpsol", "exit 0", "without a result"},
		"killed":          {"scip", "kill -9 $$", "signal: killed"},
		"truncated HiGHS": {"highs", highsSolution + "head -c 80 solution > s; mv s solution", "unexpected EOF"},
		"NaN HiGHS":       {"highs", highsSolution + "sed -i 's/x1 1/x1 nan/' solution", `column x1: found "nan"`},
		"infinite HiGHS":  {"highs", highsSolution + "sed -i 's/x1 1/x1 inf/' solution", `found "inf"`},
		"truncated GLPK": {"glpsol",
			"printf 'c Status:     INTEGER OPTIMAL\\nc\\ns mip 1 4 o -7.5\\nj 1 1\\n' > solution", "unexpected EOF"},
		"GLPK lacks columns": {"glpsol", "printf 'c Status:     INTEGER OPTIMAL\\nj 1 1\\ne o f\\n' > solution",
			"found 1 columns, expected 3"},
		"NaN GLPK": {"glpsol", "printf 'c Status:     INTEGER OPTIMAL\\nj 1 nan\\ne o f\\n' > solution",
			`found "nan"`},
		"CBC without point": {"cbc", "echo 'Optimal - objective value -7.5' > solution", "unexpected EOF"},
		"CBC's short point": {"cbc",
			"echo 'Optimal - objective value -7.5' > solution; printf '\\001\\000\\000\\000\\004\\000\\000\\00012345678' > " +
				"point", "unexpected EOF"},
		"truncated SCIP": {"scip",
			"printf 'solution status: optimal solution found\\nobjective value: -7.5\\nx0 1' > solution", "unexpected EOF"},
		"NaN SCIP": {"scip",
			"printf 'solution status: optimal solution found\\nobjective value: -7.5\\nx0 nan\\n' > solution",
			`variable x0: found "nan"`},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := milp.Solve(context.Background(), fake(t, c.solver, c.script), knapsack(), milp.Options{})
			require.ErrorIs(t, err, milp.ErrBackend)
			assert.ErrorContains(t, err, c.want)
			assert.Nil(t, res)
		})
	}
}

func TestFakeSolverThatLies(t *testing.T) {
	for name, script := range map[string]string{
		"a point outside":  highsSolution + "sed -i 's/x2 0/x2 1/' solution",
		"a fractional one": highsSolution + "sed -i 's/x1 1/x1 0.5/' solution",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := milp.Solve(context.Background(), fake(t, "highs", script), knapsack(), milp.Options{})
			require.ErrorIs(t, err, milp.ErrBackend)
			assert.ErrorContains(t, err, "its point breaks the model")
		})
	}
}

func TestFakeSolverWithGrandchildren(t *testing.T) {
	for name, start := range map[string]string{"in its group": "sleep 1000 &",
		"in a group of its own": "setsid sleep 1000 &"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			b := fake(t, "highs", start+"\necho $! > "+file+"\n"+highsSolution)
			res, err := milp.Solve(context.Background(), b, knapsack(), milp.Options{Gap: -1})
			require.NoError(t, err, "the grandchild holds the output open")
			assert.Equal(t, milp.StopOptimal, res.Stop)
			assert.Equal(t, []float64{1, 1, 0}, res.X)
			assert.Equal(t, []float64{7.5, 7.5}, []float64{res.Objective, res.Bound})
			if name == "in its group" {
				gone(t, file)
				return
			}
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			require.NoError(t, err)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		})
	}
}

// TestPointsOutliveTheSolver: HiGHS's better points are kept when it is killed while it writes another.
func TestPointsOutliveTheSolver(t *testing.T) {
	script := `{ printf 'Objective -3.5\n# Columns 4\nx0 1\nx1 0\nx2 0\n~offset 1\n'
printf 'Objective -5.5\n# Columns 4\nx0 0\nx1 0\nx2 1\n~offset 1\n'
printf 'Objective -7.5\n# Columns 4\nx0 1\nx1 '; } > points
echo '         1       0         1  50.00%   -9.25           -5.5            80.00%        0      0      0         ` +
		`1     0.1s'
echo ready
sleep 1000`
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	opts := milp.Options{Log: func(line string) {
		if line == "ready" {
			cancel()
		}
	}}
	res, err := fake(t, "highs", script).Solve(ctx, knapsack(), opts)
	require.NoError(t, err)
	assert.Equal(t, milp.StopCanceled, res.Stop)
	assert.Equal(t, []float64{0, 0, 1}, res.X)
	assert.Equal(t, 5.5, res.Objective)
	assert.InDelta(t, 9.25, res.Bound, 0.006)
	assert.GreaterOrEqual(t, res.Bound, 9.25)
}

// TestManyCancelled: nothing is left of two hundred cancelled solves.
func TestManyCancelled(t *testing.T) {
	for _, solver := range []string{"cbc", "highs"} {
		t.Run(solver, func(t *testing.T) {
			b := fake(t, solver, "echo started\nexec sleep 1000")
			files := openFiles(t)
			for range 100 {
				ctx, cancel := context.WithCancel(context.Background())
				res, err := b.Solve(ctx, knapsack(), milp.Options{Log: func(string) { cancel() }})
				require.NoError(t, err)
				require.Equal(t, milp.StopCanceled, res.Stop)
			}
			assert.LessOrEqual(t, openFiles(t), files+2)
		})
	}
}

// openFiles is how many files this process has open, 0 where the system does not say.
func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}

func TestEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	res, err := fake(t, "cbc", "exit 1").Solve(ctx, knapsack(), milp.Options{})
	require.NoError(t, err)
	assert.Equal(t, milp.StopCanceled, res.Stop)
}

func TestPanicOfLog(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	b := fake(t, "cbc", "echo $$ > "+file+"\necho hello\nsleep 1000")
	assert.PanicsWithValue(t, "no", func() {
		_, _ = b.Solve(context.Background(), knapsack(), milp.Options{Log: func(string) { panic("no") }})
	})
	gone(t, file)
}

func TestUnavailable(t *testing.T) {
	for _, solver := range process.Solvers() {
		b, err := process.New(process.Config{Solver: solver, Path: "/nowhere/" + solver})
		require.NoError(t, err)
		require.ErrorIs(t, b.Available(), milp.ErrUnavailable)
		_, err = milp.Solve(context.Background(), b, knapsack(), milp.Options{})
		require.ErrorIs(t, err, milp.ErrUnavailable)
		assert.ErrorContains(t, err, "executable /nowhere/"+solver)
		assert.ErrorContains(t, err, "to install it: ")
	}
	b, err := process.New(process.Config{Solver: "cbc", Path: "/bin/sh", Dir: "/nowhere"})
	require.NoError(t, err)
	_, err = milp.Solve(context.Background(), b, knapsack(), milp.Options{})
	require.ErrorIs(t, err, milp.ErrUnavailable)
	notOne := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(notOne, []byte("\x00no program"), 0o755))
	b, err = process.New(process.Config{Solver: "cbc", Path: notOne})
	require.NoError(t, err)
	_, err = milp.Solve(context.Background(), b, knapsack(), milp.Options{})
	require.ErrorIs(t, err, milp.ErrUnavailable)
	_, err = process.New(process.Config{Solver: "gurobi"})
	require.ErrorIs(t, err, milp.ErrInvalid)
	assert.ErrorContains(t, err, `found solver "gurobi", expected one of cbc, glpsol, highs, scip`)
}

// TestTranscripts replays what SCIP 10.0.2 has written of knapsack, for machines without it.
func TestTranscripts(t *testing.T) {
	replay := func(name string) *process.Backend {
		path, err := filepath.Abs(filepath.Join("testdata", name))
		require.NoError(t, err)
		return fake(t, "scip", "cat "+path+".log\ncp "+path+".solution solution")
	}
	var lines int
	res, err := milp.Solve(context.Background(), replay("scip-optimal"), knapsack(),
		milp.Options{Gap: -1, Log: func(string) {
			lines++
		}})
	require.NoError(t, err)
	assert.Equal(t, milp.StopOptimal, res.Stop)
	assert.Equal(t, []float64{1, 1, 0}, res.X)
	assert.Equal(t, []float64{7.5, 7.5}, []float64{res.Objective, res.Bound})
	assert.Equal(t, "optimal solution found", res.Raw)
	assert.GreaterOrEqual(t, res.Nodes, int64(0))
	assert.Greater(t, lines, 20)

	res, err = milp.Solve(context.Background(), replay("scip-infeasible"), knapsack(), milp.Options{})
	require.NoError(t, err)
	assert.Equal(t, milp.StopInfeasible, res.Stop)
	assert.Nil(t, res.X)
}
