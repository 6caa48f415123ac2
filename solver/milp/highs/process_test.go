//go:build (linux || darwin) && (amd64 || arm64) && !nohighs

package highs_test

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/highs"
)

// childVariable makes the test binary the child of TestNothingIsPrinted.
const childVariable = "HEDGE_HIGHS_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(child())
	}
	os.Exit(m.Run())
}

// child solves models of all kinds of outcomes, and prints nothing by itself.
func child() int {
	b, err := highs.Open(highs.Config{})
	if err != nil {
		return 3
	}
	infeasible := small()
	infeasible.AddRow(milp.Row{Lower: 9, Upper: 10, Index: []int32{0}, Value: []float64{1}})
	unbounded := &milp.Model{Maximize: true}
	unbounded.AddVar(milp.Var{Upper: math.Inf(1), Cost: 1, Integer: true})
	awkward := small()
	awkward.AddVar(milp.Var{Lower: 2, Upper: 1})
	awkward.AddRow(milp.Row{Upper: 1, Index: []int32{0}, Value: []float64{1e-11}})
	relaxed := hard()
	for j := range relaxed.Vars() {
		v := relaxed.Var(j)
		v.Integer = false
		relaxed.SetVar(j, v)
	}
	for _, m := range []*milp.Model{small(), infeasible, unbounded, awkward, relaxed, hard()} {
		for _, threads := range []int{1, 2} {
			start := make([]float64, m.Vars())
			for _, opts := range []milp.Options{{}, {Start: start}, {Log: func(string) {}}} {
				opts.Threads, opts.Nodes = threads, 1
				if _, err := milp.Solve(context.Background(), b, m, opts); err != nil {
					return 4
				}
			}
		}
	}
	return 0
}

func TestNothingIsPrinted(t *testing.T) {
	open(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, os.Args[0])
	command.Env = append(os.Environ(), childVariable+"=1")
	said, err := command.CombinedOutput()
	require.NoError(t, err, "%s", said)
	assert.Empty(t, string(said))
}

// entries is how many entries a folder of the process's has, -1 where there is none such.
func entries(dir string) int {
	found, err := os.ReadDir(filepath.Join("/proc/self", dir))
	if err != nil {
		return -1
	}
	return len(found)
}

// TestNothingIsLeft has more solves than a process has room for call-backs: every kind of resource must be given back.
func TestNothingIsLeft(t *testing.T) {
	b := open(t)
	model, tiny := hard(), small()
	round := func(solves int) {
		for range solves {
			ctx, cancel := context.WithCancel(t.Context())
			r, err := b.Solve(ctx, model, milp.Options{Threads: 2, Log: func(string) { cancel() }})
			require.NoError(t, err)
			require.Equal(t, milp.StopCanceled, r.Stop)
			cancel()
			_, err = b.Solve(t.Context(), tiny, milp.Options{})
			require.NoError(t, err)
		}
	}
	round(20) // what is made once
	goroutines, threads, files := runtime.NumGoroutine(), entries("task"), entries("fd")
	round(1100)
	assert.Eventually(t, func() bool {
		return runtime.NumGoroutine() <= goroutines+5 && entries("task") <= threads+10 && entries("fd") <= files+5
	}, time.Minute, 50*time.Millisecond, "goroutines, threads, files: %d, %d, %d before, %d, %d, %d after",
		goroutines, threads, files, runtime.NumGoroutine(), entries("task"), entries("fd"))
	assert.Zero(t, highs.Live())
}

// TestSolvesDoNotDisturbOneAnother runs solves of different kinds and numbers of threads at once, and cancels some:
// the others must answer what they answer alone.
func TestSolvesDoNotDisturbOneAnother(t *testing.T) {
	b := open(t)
	alone := map[int]*milp.Result{}
	for threads := 1; threads <= 2; threads++ {
		r, err := milp.Solve(t.Context(), b, hard(), milp.Options{Nodes: 1, Threads: threads})
		require.NoError(t, err)
		alone[threads] = r
	}
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for n := range 6 {
				threads := 1 + (worker+n)%2
				if (worker+n)%3 == 0 {
					ctx, cancel := context.WithCancel(t.Context())
					r, err := b.Solve(ctx, hard(), milp.Options{Threads: threads, Incumbent: func(milp.Point) { cancel() }})
					cancel()
					if assert.NoError(t, err) {
						assert.Equal(t, milp.StopCanceled, r.Stop)
					}
					continue
				}
				r, err := b.Solve(t.Context(), hard(), milp.Options{Nodes: 1, Threads: threads})
				if assert.NoError(t, err) {
					assert.Equal(t, alone[threads].X, r.X)
					assert.Equal(t, alone[threads].Iterations, r.Iterations)
				}
			}
		})
	}
	group.Wait()
}

func TestOpenSaysWhatIsMissing(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "libhighs.so.1")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for name, library := range map[string]string{
		"no file": "/nowhere/libhighs.so.1", "no library": empty,
		"another library": map[string]string{"linux": "libm.so.6", "darwin": "/usr/lib/libSystem.B.dylib"}[runtime.GOOS],
	} {
		t.Run(name, func(t *testing.T) {
			_, err := highs.Open(highs.Config{Library: library})
			require.ErrorIs(t, err, milp.ErrUnavailable)
			assert.ErrorContains(t, err, library)
			assert.ErrorContains(t, err, "go run github.com/hedgesched/hedge/solver/milp/highs/install")
		})
	}
	t.Run("the variable names it", func(t *testing.T) {
		t.Setenv(highs.LibraryVariable, "/nowhere/of/the/variable")
		_, err := highs.Open(highs.Config{})
		require.ErrorIs(t, err, milp.ErrUnavailable)
		assert.ErrorContains(t, err, "/nowhere/of/the/variable")
	})
}
