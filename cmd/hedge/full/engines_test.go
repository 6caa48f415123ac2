package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/ortools/serve"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// TestMain is the solver service where the variable says so, so that a test has a process to kill.
func TestMain(m *testing.M) {
	if os.Getenv("HEDGE_TEST_SERVE") == "" {
		os.Exit(m.Run())
	}
	err := serve.Run(context.Background(),
		serve.Config{Listen: "127.0.0.1:0", Log: os.Stderr, Ready: func(address string) { fmt.Println(address) }})
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// open opens an engine. One that cannot be had fails the test where solvers are required, and skips it elsewhere.
func open(t *testing.T, text string) solver.Solver {
	t.Helper()
	e, err := known().Open(text)
	if errors.Is(err, milp.ErrUnavailable) && os.Getenv("HEDGE_REQUIRE_SOLVERS") == "" {
		t.Skipf("%v (an error where HEDGE_REQUIRE_SOLVERS is set)", err)
	}
	require.NoError(t, err)
	if c, ok := e.(io.Closer); ok {
		t.Cleanup(func() { assert.NoError(t, c.Close()) })
	}
	return e
}

// fresh is the engine that it names, another one for each problem: solvers that do not hear the end of a context may
// still be busy with the problem before.
type fresh string

func (f fresh) Name() string { return string(f) }

func (f fresh) Solve(ctx context.Context, p *solver.Problem, opts solver.Options,
	report func(*solver.Solution)) (*solver.Solution, error) {
	e, err := known().Open(string(f))
	if err != nil {
		return nil, err
	}
	// for engines that count it; these small problems take others no longer than this on a loaded machine
	if opts.Work > 0 {
		opts.Work, opts.Time = 0, time.Minute
	}
	return e.Solve(ctx, p, opts, report)
}

// beyond is what generic solvers cannot do: their tolerances are absolute. solver.Solve refuses what they say then, or
// their plan is the poorer.
var beyond = map[string]string{"mixed magnitudes": "values and demands that differ by a hundred orders of magnitude " +
	"are beyond a generic solver's tolerances"}

// TestConformance: each backend is an engine like native and greedy.
func TestConformance(t *testing.T) {
	for text, seeds := range map[string]int{
		"milp+highs": 40, "milp+cbc": 30, "milp+process:glpsol": 15, "milp+process:cbc": 10, "milp+process:highs": 10,
	} {
		t.Run(text, func(t *testing.T) {
			open(t, text)
			solvertest.Run(t, fresh(text), solvertest.Claims{Caps: solver.Caps{Exact: true, Bound: true}, Seeds: seeds,
				Skip: beyond})
		})
	}
	for _, text := range []string{"milp+clp", "milp+lpsolve", "milp+highs?splits=now", "milp+highs?splits=continuous"} {
		t.Run(text, func(t *testing.T) {
			open(t, text)
			solvertest.Run(t, fresh(text), solvertest.Claims{Caps: solver.Caps{Bound: true}, Seeds: 20, Skip: beyond})
		})
	}
}

// service starts the solver service in a process group of its own and returns where it listens.
func service(t *testing.T) (address string, kill func()) {
	t.Helper()
	if err := serve.Prepare(t.Context(), nil); err != nil && os.Getenv("HEDGE_REQUIRE_SOLVERS") == "" {
		t.Skipf("%v (an error where HEDGE_REQUIRE_SOLVERS is set)", err)
	} else {
		require.NoError(t, err)
	}
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "HEDGE_TEST_SERVE=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	kill = sync.OnceFunc(func() { // later the number may be another's
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have ended
		_ = cmd.Wait()
	})
	t.Cleanup(kill)
	_, err = fmt.Fscanln(out, &address)
	require.NoError(t, err, "the service has not said where it listens")
	return address, kill
}

// TestServiceThatDies: a service killed while it solves does not cost the cycle: it ends with a plan of the next rung,
// and says why.
func TestServiceThatDies(t *testing.T) {
	address, kill := service(t)
	e := open(t, "milp+ortools://"+address+"?solver=GSCIP,native")
	p, err := solver.ReadProblemFile("../../../solver/testdata/c-150.json.gz")
	require.NoError(t, err)

	easy, err := solver.Solve(t.Context(), e, solvertest.Tiny(1), solver.Options{Time: time.Minute})
	require.NoError(t, err)
	assert.Equal(t, "milp+ortools-gscip", easy.Engine, "the service solves")

	solving := make(chan struct{})
	go func() {
		<-solving
		kill()
	}()
	sol, err := solver.Solve(t.Context(), &announced{Solver: e, begun: solving}, p, solver.Options{Time: 8 * time.Second})
	require.NoError(t, err)
	require.NoError(t, solver.Verify(p, sol, solver.SplitsInteger))
	assert.NotEmpty(t, sol.Choice)
	assert.Equal(t, "milp+ortools-gscip", sol.Rungs[0].Engine)
	if sol.Rungs[0].Err != nil {
		require.ErrorIs(t, sol.Rungs[0].Err, solver.ErrEngine)
		assert.Contains(t, strings.ToLower(sol.Rungs[0].Err.Error()), "unavailable")
	}

	// native may be late on a loaded machine, and is then busy for a moment
	again := open(t, "milp+ortools://"+address+"?solver=GSCIP,native")
	sol, err = solver.Solve(t.Context(), again, solvertest.Tiny(1), solver.Options{Time: time.Minute})
	require.NoError(t, err, "with no service at all")
	assert.Equal(t, "native", sol.Engine)
	require.Len(t, sol.Rungs, 2)
	assert.Contains(t, sol.Rungs[0].Err.Error(), "hedge solver serve", "how to start one")
}

// announced tells when its engine has begun.
type announced struct {
	solver.Solver
	begun chan struct{}
}

func (a *announced) Solve(ctx context.Context, p *solver.Problem, opts solver.Options,
	report func(*solver.Solution)) (*solver.Solution, error) {
	// so that it is in the middle of it, if the machine is quick enough
	timer := time.AfterFunc(time.Second, func() { close(a.begun) })
	defer timer.Stop()
	return a.Solver.Solve(ctx, p, opts, report)
}
