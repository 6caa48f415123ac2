//go:build cgo

package cbc_test

import (
	"context"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/cbc"
)

// child is the environment variable that makes this test binary the child of TestQuiet.
const child = "HEDGE_CBC_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(child) == "" {
		os.Exit(m.Run())
	}
	if err := everything(); err != nil {
		println("the child's own words:", err.Error())
		os.Exit(1)
	}
}

// TestQuiet: the library has printf in hundreds of places, and a host's standard output is not its to write to.
func TestQuiet(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Empty(t, string(out))
}

// everything solves in every way there is.
func everything() error {
	for _, m := range []*milp.Model{knapsack(12), split(6, 1), impossible(), endless(), relaxed()} {
		for _, log := range []func(string){nil, func(string) {}} {
			opts := milp.Options{Log: log, Nodes: 50, Seed: 3, Incumbent: func(milp.Point) {}}
			if _, err := cbc.New().Solve(context.Background(), m, opts); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
			_, err := cbc.New().Solve(ctx, m, milp.Options{Log: log, Start: make([]float64, m.Vars())})
			cancel()
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// knapsack is a model that is soon solved.
func knapsack(n int) *milp.Model {
	m := &milp.Model{Maximize: true, Offset: 7}
	for j := range n {
		m.AddVar(milp.Var{Upper: 1, Cost: float64(10 + j*j%17), Integer: true})
	}
	for i := range 3 {
		r := milp.Row{Lower: math.Inf(-1), Upper: float64(2 * n)}
		for j := range n {
			r.Index, r.Value = append(r.Index, int32(j)), append(r.Value, float64(1+(j*7+i*5)%11))
		}
		m.AddRow(r)
	}
	return m
}

// split is a market split problem: with so many rows nobody solves it.
func split(rows int, seed int) *milp.Model {
	m := &milp.Model{}
	n := 10 * (rows - 1)
	for range n {
		m.AddVar(milp.Var{Upper: 1, Integer: true})
	}
	state := uint32(seed)
	for range rows {
		r, sum := milp.Row{}, 0.0
		for j := range n {
			state = state*1664525 + 1013904223
			v := float64(state >> 8 % 100)
			r.Index, r.Value, sum = append(r.Index, int32(j)), append(r.Value, v), sum+v
		}
		for _, sign := range []float64{1, -1} {
			slack := m.AddVar(milp.Var{Upper: math.Inf(1), Cost: 1})
			r.Index, r.Value = append(r.Index, int32(slack)), append(r.Value, sign)
		}
		r.Lower, r.Upper = math.Floor(sum/2), math.Floor(sum/2)
		m.AddRow(r)
	}
	return m
}

// impossible is a model whose relaxation has points, and that has none.
func impossible() *milp.Model {
	m := &milp.Model{}
	m.AddRow(milp.Row{Lower: 7, Upper: 7, Index: []int32{0, 1}, Value: []float64{2, 4}})
	for range 2 {
		m.AddVar(milp.Var{Upper: 9, Cost: 1, Integer: true})
	}
	return m
}

// endless is a model that is unbounded.
func endless() *milp.Model {
	m := &milp.Model{Maximize: true}
	m.AddVar(milp.Var{Upper: math.Inf(1), Cost: 1, Integer: true})
	m.AddVar(milp.Var{Upper: math.Inf(1), Cost: 1})
	m.AddRow(milp.Row{Lower: math.Inf(-1), Upper: 3, Index: []int32{0, 1}, Value: []float64{1, -1}})
	return m
}

// relaxed is a model without integers.
func relaxed() *milp.Model {
	m := &milp.Model{Maximize: true}
	m.AddVar(milp.Var{Upper: 4, Cost: 3})
	m.AddVar(milp.Var{Upper: 4, Cost: 2})
	m.AddRow(milp.Row{Lower: math.Inf(-1), Upper: 5, Index: []int32{0, 1}, Value: []float64{1, 1}})
	return m
}

// TestThousandCanceled: what is left behind adds up in a process that solves a model in every cycle.
func TestThousandCanceled(t *testing.T) {
	m, b := split(5, 7), cbc.New()
	round := func(k int) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		defer time.AfterFunc(time.Duration(k%20)*100*time.Microsecond, cancel).Stop()
		r, err := b.Solve(ctx, m, milp.Options{})
		require.NoError(t, err)
		require.Equal(t, milp.StopCanceled, r.Stop)
	}
	for k := range 50 {
		round(k)
	}
	goroutines, threads, files := runtime.NumGoroutine(), entries(t, "task"), entries(t, "fd")
	for k := range 1000 {
		round(k)
	}
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+5 }, time.Minute, 10*time.Millisecond)
	assert.LessOrEqual(t, entries(t, "task"), threads+20)
	assert.LessOrEqual(t, entries(t, "fd"), files+5)
}

// entries counts a directory of this process.
func entries(t *testing.T, dir string) int {
	list, err := os.ReadDir("/proc/self/" + dir)
	require.NoError(t, err)
	return len(list)
}

// BenchmarkSetUp: the share of a solve that is ours, at 10,000 variables.
func BenchmarkSetUp(b *testing.B) {
	m := generous(10_000)
	var setUp, wall time.Duration
	for b.Loop() {
		r, err := cbc.New().Solve(context.Background(), m, milp.Options{Gap: 0.05})
		require.NoError(b, err)
		require.Equal(b, milp.StopOptimal, r.Stop)
		setUp, wall = setUp+r.SetUp, wall+r.Wall
	}
	b.ReportMetric(100*float64(setUp)/float64(wall), "%setup")
}

// generous is an assignment of n/10 tasks to ten places that have room for most of them.
func generous(n int) *milp.Model {
	m := &milp.Model{Maximize: true}
	places := make([]milp.Row, 10)
	for task := range n / 10 {
		one := milp.Row{Lower: math.Inf(-1), Upper: 1}
		for p := range places {
			j := int32(m.AddVar(milp.Var{Upper: 1, Cost: float64(10 + (task*31+p*17)%97), Integer: true}))
			one.Index, one.Value = append(one.Index, j), append(one.Value, 1)
			places[p].Index, places[p].Value = append(places[p].Index, j), append(places[p].Value, float64(1+task%5))
		}
		m.AddRow(one)
	}
	for _, p := range places {
		p.Lower, p.Upper = math.Inf(-1), float64(n/34)
		m.AddRow(p)
	}
	return m
}

// TestWaitingIsCanceled: whoever waits for another's solve is not deaf meanwhile, and keeps its start.
func TestWaitingIsCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var holder sync.WaitGroup
	began := make(chan struct{})
	holder.Go(func() {
		m := split(6, 3)
		tell := sync.OnceFunc(func() { close(began) })
		_, err := cbc.New().Solve(ctx, m, milp.Options{Log: func(string) { tell() }})
		assert.NoError(t, err)
	})
	<-began
	m := knapsack(8)
	waiting, stop := context.WithTimeout(context.Background(), time.Millisecond)
	defer stop()
	r, err := cbc.New().Solve(waiting, m, milp.Options{Start: make([]float64, m.Vars())})
	require.NoError(t, err)
	assert.Equal(t, milp.StopTime, r.Stop)
	assert.Equal(t, milp.StartAccepted, r.Start)
	assert.Len(t, r.X, m.Vars())
	cancel()
	holder.Wait()
}

func TestLogAndPanic(t *testing.T) {
	var lines []string
	_, err := cbc.New().Solve(context.Background(), knapsack(12), milp.Options{Log: func(s string) { lines = append(lines, s) }})
	require.NoError(t, err)
	assert.Contains(t, strings.Join(lines, "\n"), "Welcome to the CBC MILP Solver")
	for i := range 200 { // what writes to memory that has been freed is seldom caught at once
		opts := milp.Options{Time: time.Minute, Log: func(string) { panic("mine") }}
		if i%2 == 0 {
			opts.Log, opts.Incumbent = nil, func(milp.Point) { panic("mine") }
		}
		require.PanicsWithValue(t, "mine", func() { _, _ = cbc.New().Solve(context.Background(), knapsack(12), opts) })
	}
	r, err := cbc.New().Solve(context.Background(), knapsack(12), milp.Options{})
	require.NoError(t, err, "after a panic")
	assert.Equal(t, milp.StopOptimal, r.Stop)
}

// watched is a context that counts who waits for its end: context.AfterFunc asks it to.
type watched struct {
	context.Context
	done          chan struct{}
	waiting, ever atomic.Int32
}

func (w *watched) Done() <-chan struct{} { return w.done }

func (w *watched) AfterFunc(func()) (forget func() bool) {
	w.waiting.Add(1)
	w.ever.Add(1)
	return func() bool { w.waiting.Add(-1); return true }
}

// TestNoStopAfterAPanic: the end of a context must not reach a solve whose memory has been given back. Without its panic
// the solve would not end.
func TestNoStopAfterAPanic(t *testing.T) {
	for name, opts := range map[string]milp.Options{
		"incumbent": {Incumbent: func(milp.Point) { panic("mine") }},
		"log":       {Log: func(string) { panic("mine") }},
	} {
		w := &watched{Context: context.Background(), done: make(chan struct{})}
		require.PanicsWithValue(t, "mine", func() { _, _ = cbc.New().Solve(w, split(6, 3), opts) }, name)
		assert.Positive(t, w.ever.Load(), name)
		assert.Zero(t, w.waiting.Load(), name)
	}
}

func TestPartialStart(t *testing.T) {
	m := knapsack(12)
	start := make([]float64, m.Vars())
	for j := range start {
		start[j] = math.NaN()
	}
	start[0] = 1
	var first []float64
	r, err := milp.Solve(context.Background(), cbc.New(), m, milp.Options{Start: start, Incumbent: func(p milp.Point) {
		if first == nil {
			first = append(first, p.X...)
		}
	}})
	require.NoError(t, err)
	assert.Equal(t, milp.StartAccepted, r.Start)
	assert.Equal(t, 1.0, first[0])
	plain, err := milp.Solve(context.Background(), cbc.New(), m, milp.Options{})
	require.NoError(t, err)
	assert.InDelta(t, plain.Objective, r.Objective, 0.01)

	start[0] = 2
	r, err = milp.Solve(context.Background(), cbc.New(), m, milp.Options{Start: start})
	require.NoError(t, err)
	assert.Equal(t, milp.StartRejected, r.Start)
	assert.Equal(t, milp.StopOptimal, r.Stop)
}
