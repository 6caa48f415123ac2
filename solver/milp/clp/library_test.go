package clp_test

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/clp"
	"github.com/hedgesched/hedge/solver/milp/milptest/reference"
)

var inf = math.Inf(1)

// gangs is a placement model: of each job's options at most one is taken, and its tasks are spread over partitions that
// have room.
func gangs(seed uint64, jobs int) *milp.Model {
	const options, partitions, slots = 6, 8, 12
	r := rand.New(rand.NewPCG(seed, 2))
	m := &milp.Model{Maximize: true}
	room := make([]milp.Row, partitions*slots)
	for range jobs {
		once := milp.Row{Upper: 1}
		tasks, utility, length := float64(1+r.IntN(8)), 1+10*r.Float64(), 1+r.IntN(slots/2)
		for o := range options {
			taken := int32(m.AddVar(milp.Var{Upper: 1, Cost: utility * tasks * (1 - 0.05*float64(o))}))
			once.Index, once.Value = append(once.Index, taken), append(once.Value, 1)
			spread := milp.Row{Index: []int32{taken}, Value: []float64{-tasks}}
			start := r.IntN(slots)
			for _, x := range r.Perm(partitions)[:2+r.IntN(3)] {
				q := int32(m.AddVar(milp.Var{Upper: tasks}))
				spread.Index, spread.Value = append(spread.Index, q), append(spread.Value, 1)
				for t := start; t < min(slots, start+length); t++ {
					c := &room[x*slots+t]
					c.Upper = float64(jobs) / 24
					c.Index, c.Value = append(c.Index, q), append(c.Value, 1-float64(t-start)/float64(length+1))
				}
			}
			m.AddRow(spread)
		}
		m.AddRow(once)
	}
	for _, c := range room {
		m.AddRow(c)
	}
	return m
}

// open is how many files and threads the process has.
func open(t *testing.T) (files, threads int) {
	for _, dir := range []string{"/proc/self/fd", "/proc/self/task"} {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		files, threads = threads, len(entries)
	}
	return files, threads
}

func TestThousandCancelledSolvesLeaveNothing(t *testing.T) {
	m := gangs(1, 60)
	run := func(n int) {
		for i := range n {
			ctx, cancel := context.WithCancel(context.Background())
			if i%2 == 0 {
				cancel()
			} else {
				time.AfterFunc(time.Duration(i%10)*100*time.Microsecond, cancel)
			}
			_, err := clp.New().Solve(ctx, m, milp.Options{Log: func(string) {}})
			cancel()
			require.NoError(t, err)
		}
	}
	run(100)
	goroutines := runtime.NumGoroutine()
	files, threads := open(t)
	run(1000)
	// The runtime has goroutines of its own that come and go, and timers that have just fired may still be at work.
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+5 }, time.Minute, 10*time.Millisecond)
	filesNow, threadsNow := open(t)
	assert.LessOrEqual(t, filesNow, files+5)
	assert.LessOrEqual(t, threadsNow, threads+20, "the runtime adds a few threads, not one for each solve")
}

// TestNothingIsPrinted runs itself in a process of its own, since the library would print past os.Stdout.
func TestNothingIsPrinted(t *testing.T) {
	if os.Getenv("CLP_SILENT") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestNothingIsPrinted$")
		cmd.Env = append(os.Environ(), "CLP_SILENT=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		assert.Regexp(t, `^PASS\n(coverage: .*\n)?$`, string(out))
		return
	}
	never := &milp.Model{} // infeasible
	never.AddRow(milp.Row{Lower: 1, Upper: 2, Index: []int32{int32(never.AddVar(milp.Var{Upper: 0.5}))}, Value: []float64{1}})
	endless := &milp.Model{Maximize: true}
	endless.AddVar(milp.Var{Upper: inf, Cost: 1})
	for _, m := range []*milp.Model{{}, never, endless, gangs(1, 5)} {
		for range 30 { // more than the library's buffers hold
			_, err := milp.Solve(context.Background(), clp.New(), m, milp.Options{Gap: -1, Log: func(string) {}})
			require.NoError(t, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(5*time.Millisecond, cancel)
	_, err := clp.New().Solve(ctx, gangs(1, 400), milp.Options{})
	require.NoError(t, err)
}

func TestSolvesBesideEachOtherAreAsAlone(t *testing.T) {
	const models = 16
	solve := func(i int) *milp.Result {
		res, err := milp.Solve(context.Background(), clp.New(), gangs(uint64(i), 4), milp.Options{})
		if !assert.NoError(t, err) {
			return &milp.Result{}
		}
		res.SetUp, res.Wall = 0, 0
		return res
	}
	alone, beside := make([]*milp.Result, models), make([]*milp.Result, models)
	for i := range alone {
		alone[i] = solve(i)
		assert.Equal(t, milp.StopOptimal, alone[i].Stop)
	}
	for range 5 {
		var all sync.WaitGroup
		for i := range beside {
			all.Go(func() { beside[i] = solve(i) })
		}
		all.Wait()
		assert.Equal(t, alone, beside)
	}
}

// wild is a random linear program: about half are infeasible, and of the rest half unbounded.
func wild(seed uint64) *milp.Model {
	r := rand.New(rand.NewPCG(seed, 5))
	m := &milp.Model{Maximize: r.IntN(2) == 0, Offset: float64(r.IntN(3))}
	bounds := func() (lower, upper float64) {
		lower = float64(r.IntN(9) - 4)
		upper = lower + float64(r.IntN(9))
		switch r.IntN(5) {
		case 0:
			lower = -inf
		case 1:
			upper = inf
		case 2:
			lower, upper = -inf, inf
		case 3:
			upper = lower
		}
		return lower, upper
	}
	for range r.IntN(6) {
		lower, upper := bounds()
		m.AddVar(milp.Var{Lower: lower, Upper: upper, Cost: float64(r.IntN(9) - 4)})
	}
	for range r.IntN(6) {
		row := milp.Row{}
		row.Lower, row.Upper = bounds()
		for j := range m.Vars() {
			if r.IntN(2) == 0 {
				row.Index, row.Value = append(row.Index, int32(j)), append(row.Value, float64(r.IntN(9)-4))
			}
		}
		m.AddRow(row)
	}
	return m
}

func TestStatusesOfWildModels(t *testing.T) {
	seen := map[milp.Stop]int{}
	for seed := range uint64(4000) {
		m := wild(seed)
		want, err := milp.Solve(context.Background(), reference.New(), m, milp.Options{})
		require.NoError(t, err, seed)
		got, err := milp.Solve(context.Background(), clp.New(), m, milp.Options{})
		require.NoError(t, err, seed)
		if got.Stop == milp.StopInfeasibleOrUnbounded {
			got.Stop = milp.StopUnbounded // which is a better word than none for a model that is
		}
		require.Equal(t, want.Stop, got.Stop, "seed %d: %s", seed, got.Raw)
		if want.Stop == milp.StopOptimal {
			require.InDelta(t, want.Objective, got.Objective, 1e-6, seed)
			require.InDelta(t, want.Objective, got.Bound, 1e-6, seed)
		}
		seen[want.Stop]++
	}
	for _, s := range []milp.Stop{milp.StopOptimal, milp.StopInfeasible, milp.StopUnbounded} {
		assert.Greater(t, seen[s], 400, s)
	}
}

// BenchmarkSetUp is a model of 10,000 variables. What its time is and what share of it goes to the transfer is reported.
func BenchmarkSetUp(b *testing.B) {
	m := gangs(1, 415)
	var setUp, wall time.Duration
	for b.Loop() {
		res, err := milp.Solve(context.Background(), clp.New(), m, milp.Options{})
		require.NoError(b, err)
		setUp, wall = setUp+res.SetUp, wall+res.Wall
	}
	b.ReportMetric(float64(setUp.Microseconds())/float64(b.N), "setup-µs/op")
	b.ReportMetric(100*float64(setUp)/float64(wall), "setup-%")
	b.ReportMetric(float64(m.Vars()), "vars")
}
