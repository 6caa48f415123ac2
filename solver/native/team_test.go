package native_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/native"
	"github.com/hedgesched/hedge/solver/solvertest"
)

// threaded is the engine with several threads, whatever it is told.
type threaded struct {
	*native.Engine
	threads int
}

func (e threaded) Solve(ctx context.Context, p *solver.Problem, opts solver.Options,
	report func(*solver.Solution)) (*solver.Solution, error) {
	opts.Threads = e.threads
	return e.Engine.Solve(ctx, p, opts, report)
}

func TestConformanceOfTeams(t *testing.T) {
	for _, n := range []int{2, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			caps := solver.Caps{Exact: true, Bound: true, Deterministic: true, Anytime: true}
			solvertest.Run(t, threaded{native.New(nil), n}, solvertest.Claims{Caps: caps, Seeds: seeds(50)})
		})
	}
}

// TestTeamsAreDeterministic holds every part of the answer to what one processor gives, on more of them and again,
// with the same engine and with fresh ones.
func TestTeamsAreDeterministic(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	problems := map[string]*solver.Problem{
		"b-060": load(t, "b-060"), "c-150": load(t, "c-150"), "running": solvertest.Cycle(3, 30, 12),
		"wide": solvertest.Cycle(4, 80, 0),
		"late": solvertest.CycleOf(8, solvertest.Shape{Jobs: 400, Partitions: 12, Nodes: 1000, Widest: 0.02}),
	}
	for name, p := range problems {
		for _, threads := range []int{2, 5} {
			opts := solver.Options{Work: 8000, Threads: threads, Seed: int64(threads)}
			runtime.GOMAXPROCS(1)
			kept := native.New(nil)
			want, err := solver.Solve(context.Background(), kept, p, opts)
			require.NoError(t, err)
			for i, procs := range []int{2, 4, 1} {
				e := kept
				if i == 1 {
					e = native.New(nil)
				}
				runtime.GOMAXPROCS(procs)
				got, err := solver.Solve(context.Background(), e, p, opts)
				require.NoError(t, err)
				want.WallMS = got.WallMS
				assert.Equal(t, want, got, "%s with %d threads at GOMAXPROCS %d", name, threads, procs)
			}
		}
	}
}

// TestOneThreadIsTheDefault: none and one are the same.
func TestOneThreadIsTheDefault(t *testing.T) {
	p := load(t, "b-060")
	want, err := solver.Solve(context.Background(), native.New(nil), p, solver.Options{Work: 20_000})
	require.NoError(t, err)
	for _, threads := range []int{0, 1} {
		got, err := solver.Solve(context.Background(), native.New(nil), p, solver.Options{Work: 20_000, Threads: threads})
		require.NoError(t, err)
		want.WallMS = got.WallMS
		assert.Equal(t, want, got)
	}
}

// TestTeamsUseTheirThreads: two threads find no worse plans than one, in sum, and better ones somewhere, though
// nobody does more work than one that works alone may.
func TestTeamsUseTheirThreads(t *testing.T) {
	const limit = 20_000
	var one, two, best float64
	for seed := range uint64(6) {
		p := solvertest.Cycle(seed, 60, 10)
		alone := solve(t, native.New(nil), p, solver.Options{Work: limit})
		both := solve(t, native.New(nil), p, solver.Options{Work: limit, Threads: 2})
		one, two = one+alone.Objective, two+both.Objective
		best = max(best, both.Objective/alone.Objective)
		assert.LessOrEqual(t, both.Work, int64(limit*11/10), "seed %d", seed)
	}
	assert.GreaterOrEqual(t, two, one)
	assert.Greater(t, best, 1.0)
}

// ending is a context that is canceled when it has been looked at so often.
type ending struct {
	context.Context
	cancel context.CancelFunc
	left   atomic.Int64
}

func (c *ending) Err() error {
	if c.left.Add(-1) < 0 {
		c.cancel()
	}
	return c.Context.Err()
}

// TestTeamsCanBeCanceled ends solves before, at and between meetings: what is there is a plan, and no goroutine is
// left.
func TestTeamsCanBeCanceled(t *testing.T) {
	p := solvertest.Cycle(7, 60, 10)
	e := native.New(nil)
	before := runtime.NumGoroutine()
	for looks := int64(0); looks < 300; looks += 1 + looks/2 {
		parent, cancel := context.WithCancel(context.Background())
		ctx := &ending{Context: parent, cancel: cancel}
		ctx.left.Store(looks)
		var reported float64
		sol, err := e.Solve(ctx, p, solver.Options{Work: 1 << 40, Gap: -1, Threads: 3},
			func(s *solver.Solution) { reported = s.Objective })
		cancel()
		require.NoError(t, err)
		require.NoError(t, solver.Verify(p, sol, solver.SplitsInteger))
		assert.Equal(t, solver.StopCanceled, sol.Stop)
		assert.GreaterOrEqual(t, sol.Objective, reported)
	}
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before && time.Now().Before(end); {
		time.Sleep(time.Millisecond) // the last ones are about to end
	}
	assert.LessOrEqual(t, runtime.NumGoroutine(), before)
}

// TestTeamsByTheClock: with a time limit and without one of work nobody waits for anybody.
func TestTeamsByTheClock(t *testing.T) {
	p := solvertest.Cycle(7, 150, 20)
	for _, opts := range []solver.Options{
		{Time: time.Second, Threads: 2}, {Time: time.Second, Work: 1 << 40, Threads: 3},
		{Time: time.Minute, Gap: 0.5, Threads: 1 << 30},
	} {
		sol, err := solver.Solve(context.Background(), native.New(nil), p, opts)
		require.NoError(t, err)
		if sol.Stop == solver.StopTime && len(sol.Choice) == 0 {
			t.Log("no plan in a second: the machine was busy with other things")
			continue
		}
		assert.NotEmpty(t, sol.Choice)
		assert.NotNil(t, sol.Bound)
	}
}

// TestTeamsReportFromOneGoroutine is for the race detector: what report writes is read here.
func TestTeamsReportFromOneGoroutine(t *testing.T) {
	p := solvertest.Cycle(9, 100, 10)
	last, n := 0.0, 0
	sol, err := native.New(nil).Solve(context.Background(), p, solver.Options{Work: 40_000, Gap: -1, Threads: 4},
		func(s *solver.Solution) {
			assert.Greater(t, s.Objective, last)
			last = s.Objective
			n++
		})
	require.NoError(t, err)
	assert.Positive(t, n)
	assert.GreaterOrEqual(t, sol.Objective, last)
}

// TestTeamsRemember: what the leader has learned is there for the next solve.
func TestTeamsRemember(t *testing.T) {
	p := solvertest.Cycle(5, 40, 6)
	opts := solver.Options{Work: 60_000, Threads: 2, Memory: new(solver.Memory)}
	first, err := solver.Solve(context.Background(), native.New(nil), p, opts)
	require.NoError(t, err)
	require.NotNil(t, first.Memory)
	opts.Work, opts.Memory = 6000, first.Memory
	p.Hint = map[string]int{}
	for id, c := range first.Choice {
		p.Hint[id] = c.Option
	}
	again, err := solver.Solve(context.Background(), native.New(nil), p, opts)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, again.Objective, first.Objective*(1-1e-9))
}

// Two workers have the same work each, so that the solve takes as long as with one, where there are two processors;
// the plan is the same every time.
func ExampleEngine_Solve_threads() {
	p := solvertest.Cycle(1, 60, 10)
	opts := solver.Options{Work: 10_000, Threads: 2}
	a, err := solver.Solve(context.Background(), native.New(nil), p, opts)
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := solver.Solve(context.Background(), native.New(nil), p, opts)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Objective == b.Objective, *a.Bound == *b.Bound)
	// Output: true true
}
