package milptest

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/milptest/reference"
)

// RunLibrary runs subtests of t that [Run] cannot ask of every backend. It is for backends that call a solver's library
// within the process, whose solves do not wait for others and are deterministic. open makes a backend. Such a library
// must print nothing, leave nothing behind, keep solves apart, and let no panic of a caller's function pass through it.
// Since calls are cheap, its statuses are compared with the reference backend's on thousands of models.
func RunLibrary(t *testing.T, open func() milp.Backend) {
	t.Helper()
	l := library{open: open, can: open().Caps()}
	t.Run("prints nothing", l.printsNothing)
	t.Run("leaves nothing", l.leavesNothing)
	t.Run("each is its own", l.eachIsItsOwn)
	t.Run("beside as alone", l.besideAsAlone)
	t.Run("panics", l.panics)
	t.Run("statuses", l.statuses)
}

// library is what the subtests share.
type library struct {
	open func() milp.Backend
	can  milp.Caps
}

// hard is a model that is not solved before it is cancelled, if there is one for the backend.
func (l library) hard() *milp.Model {
	if l.can.Integer {
		m, _ := split(false)
		return m
	}
	return gangs(1, 60, false)
}

// childVariable tells a test binary that it was started by itself.
const childVariable = "HEDGE_MILPTEST_CHILD"

// printsNothing runs itself in another process, since a library does not print through os.Stdout.
func (l library) printsNothing(t *testing.T) {
	if os.Getenv(childVariable) != "" {
		l.everything(t)
		return
	}
	ctx, cancel := context.WithTimeout(background(), 10*time.Minute)
	defer cancel()
	pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(t.Name()), "/", "$/^") + "$"
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run="+pattern)
	cmd.Env = append(os.Environ(), childVariable+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !regexp.MustCompile(`^PASS\n(coverage: .*\n)?$`).Match(out) {
		t.Errorf("%v; its output:\n%s", err, out)
	}
}

// everything solves in every possible way, and often enough to overflow buffers.
func (l library) everything(t *testing.T) {
	models := []*milp.Model{
		minimise("infeasible", []milp.Var{real(0, 0.5, 1)}, row(1, 2, 1)),
		maximise("unbounded", []milp.Var{real(0, inf, 1)}), gangs(1, 5, l.can.Integer), gangs(2, 5, false),
	}
	if l.can.Integer {
		models = append(models, minimise("infeasible, integer", []milp.Var{whole(0, 9, 1), whole(0, 9, 1)}, equal(7, 2, 4)))
	}
	opts := milp.Options{Gap: -1, Seed: 3, Incumbent: func(milp.Point) {}}
	if l.can.Nodes {
		opts.Nodes = 50
	}
	for _, m := range models {
		for k := range 30 {
			if opts.Log = nil; k%2 == 0 {
				opts.Log = func(string) {}
			}
			if _, err := milp.Solve(background(), l.open(), m, opts); err != nil {
				t.Fatalf("%s: %v", describe(m), err)
			}
		}
	}
	ctx, cancel := context.WithCancel(background())
	defer cancel()
	defer time.AfterFunc(5*time.Millisecond, cancel).Stop()
	if _, err := l.open().Solve(ctx, gangs(1, 100, l.can.Integer), milp.Options{Log: opts.Log}); err != nil {
		t.Fatal(err)
	}
}

// leavesNothing cancels a thousand solves, before and while they run.
func (l library) leavesNothing(t *testing.T) {
	m := l.hard()
	round := func(solves int) {
		for k := range solves {
			ctx, cancel := context.WithCancel(background())
			if k%2 == 0 {
				cancel()
			}
			timer := time.AfterFunc(time.Duration(k%10)*100*time.Microsecond, cancel)
			if _, err := l.open().Solve(ctx, m, milp.Options{Log: func(string) {}}); err != nil {
				t.Fatal(err)
			}
			timer.Stop()
			cancel()
		}
	}
	round(100) // creates what exists only once
	goroutines, threads, files := runtime.NumGoroutine(), entries("task"), entries("fd")
	round(1000)
	end := time.After(time.Minute)
	// The runtime has goroutines and threads of its own, and adds a few, but not one per solve.
	for runtime.NumGoroutine() > goroutines+5 || entries("task") > threads+20 || entries("fd") > files+5 {
		select {
		case <-end:
			t.Fatalf("goroutines, threads and files: %d, %d and %d before, %d, %d and %d after", goroutines, threads, files,
				runtime.NumGoroutine(), entries("task"), entries("fd"))
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// entries is the number of entries in one of the process's folders, 0 if there is no such folder.
func entries(dir string) int {
	found, _ := os.ReadDir("/proc/self/" + dir)
	return len(found)
}

// eachIsItsOwn: milp.Solve counts abandoned calls per backend, and one backend must not make another busy.
func (l library) eachIsItsOwn(t *testing.T) {
	owners := map[milp.Backend]bool{}
	for range 10 {
		owners[l.open()] = true
	}
	if len(owners) != 10 {
		t.Errorf("of ten backends %d differ", len(owners))
	}
}

func (l library) besideAsAlone(t *testing.T) {
	const models = 8
	solve := func(k int) *milp.Result {
		res, err := milp.Solve(background(), l.open(), gangs(uint64(k), 4, l.can.Integer), milp.Options{})
		if err != nil || res.Stop != milp.StopOptimal {
			t.Errorf("model %d: %+v, %v", k, res, err)
			return nil
		}
		res.SetUp, res.Wall = 0, 0
		return res
	}
	alone, beside := make([]*milp.Result, models), make([]*milp.Result, models)
	for k := range alone {
		alone[k] = solve(k)
	}
	for range 5 {
		var all sync.WaitGroup
		for k := range beside {
			all.Go(func() { beside[k] = solve(k) })
		}
		all.Wait()
		if !reflect.DeepEqual(alone, beside) {
			t.Errorf("beside each other they answer otherwise than alone")
		}
	}
}

// waiters is a context that counts who waits for its end, as context.AfterFunc does.
type waiters struct {
	context.Context
	done      chan struct{}
	now, ever atomic.Int32
}

func (w *waiters) Done() <-chan struct{} { return w.done }

func (w *waiters) AfterFunc(func()) (forget func() bool) {
	w.now.Add(1)
	w.ever.Add(1)
	return func() bool { w.now.Add(-1); return true }
}

// panics: a panic that unwinds through a library leaves it in the middle of a solve, which is then freed. Writes to
// freed memory are seldom noticed at once. The end of a context must not reach such a solve later, either.
func (l library) panics(t *testing.T) {
	for name, opts := range l.panicking() {
		w := &waiters{Context: background(), done: make(chan struct{})}
		m, _ := split(false) // it ends only by its panic
		l.panicsIn(w, t, name, m, opts)
		if w.ever.Load() == 0 || w.now.Load() != 0 {
			t.Errorf("%s: %d wait for the context's end after the panic, %d did in all", name, w.now.Load(), w.ever.Load())
		}
		for range 100 {
			l.panicsIn(background(), t, name, m, opts)
		}
	}
	res, err := milp.Solve(background(), l.open(), gangs(1, 5, l.can.Integer), milp.Options{})
	if err != nil || res.Stop != milp.StopOptimal {
		t.Errorf("after panics: %+v, %v", res, err)
	}
}

// panicking are options with a caller's function that panics, for the functions that the backend calls.
func (l library) panicking() map[string]milp.Options {
	all := map[string]milp.Options{}
	if l.can.Incumbents {
		all["incumbent"] = milp.Options{Incumbent: func(milp.Point) { panic("mine") }}
	}
	if l.can.Log {
		all["log"] = milp.Options{Log: func(string) { panic("mine") }}
	}
	return all
}

// panicsIn expects the caller's panic to come back unchanged.
func (l library) panicsIn(ctx context.Context, t *testing.T, name string, m *milp.Model, opts milp.Options) {
	t.Helper()
	defer func() {
		if r := recover(); r != "mine" {
			t.Errorf("%s: recovered %v, expected the caller's own panic", name, r)
		}
	}()
	_, err := l.open().Solve(ctx, m, opts)
	t.Errorf("%s: it did not panic: %v", name, err)
}

// statuses solves linear programs. About half of them are infeasible, and half of the others unbounded.
func (l library) statuses(t *testing.T) {
	seen := map[milp.Stop]int{}
	for seed := range uint64(4000) {
		m := wild(seed)
		want, errWant := milp.Solve(background(), reference.New(), m, milp.Options{})
		got, err := milp.Solve(background(), l.open(), m, milp.Options{})
		if err := errors.Join(errWant, err); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		s := &suite{reporter: t, b: l.open(), can: l.can, cfg: Config{}.filled(), doc: "wrong statuses"}
		stop := got.Stop
		if stop == milp.StopInfeasibleOrUnbounded {
			stop = milp.StopUnbounded // unbounded is a better answer than none for such a model
		}
		if stop != want.Stop {
			t.Errorf("seed %d: it stopped for %q (%s), expected %q", seed, got.Stop, got.Raw, want.Stop)
		} else if stop == milp.StopOptimal && (!s.near(got.Objective, want.Objective) || !s.near(got.Bound, want.Objective)) {
			t.Errorf("seed %d: the objective is %v and the bound %v, expected %v", seed, got.Objective, got.Bound,
				want.Objective)
		}
		seen[want.Stop]++
	}
	for _, stop := range []milp.Stop{milp.StopOptimal, milp.StopInfeasible, milp.StopUnbounded} {
		if seen[stop] < 400 {
			t.Errorf("only %d models are %q", seen[stop], stop)
		}
	}
}

// wild is a random linear program with bounds of every kind.
func wild(seed uint64) *milp.Model {
	r := rand.New(rand.NewPCG(seed, 5))
	m := &milp.Model{Maximize: r.IntN(2) == 0, Offset: float64(r.IntN(3))}
	bounds := func() (lower, upper float64) {
		lower = between(r, -4, 4)
		upper = lower + between(r, 0, 8)
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
		m.AddVar(real(lower, upper, between(r, -4, 4)))
	}
	for range r.IntN(6) {
		e := milp.Row{}
		e.Lower, e.Upper = bounds()
		for j := range m.Vars() {
			if r.IntN(2) == 0 {
				e.Index, e.Value = append(e.Index, int32(j)), append(e.Value, between(r, -4, 4))
			}
		}
		m.AddRow(e)
	}
	return m
}

// BenchmarkSetUp lets b solve a placement model of 10,000 variables, integer if whole is true. It reports the time for
// the model's transfer: setup-µs/op and setup-%.
func BenchmarkSetUp(b *testing.B, backend milp.Backend, whole bool, opts milp.Options) {
	m := gangs(1, 415, whole)
	var setUp, wall time.Duration
	for b.Loop() {
		res, err := milp.Solve(background(), backend, m, opts)
		if err != nil {
			b.Fatal(err)
		}
		setUp, wall = setUp+res.SetUp, wall+res.Wall
	}
	b.ReportMetric(float64(setUp.Microseconds())/float64(b.N), "setup-µs/op")
	b.ReportMetric(100*float64(setUp)/float64(wall), "setup-%")
	b.ReportMetric(float64(m.Vars()), "vars")
}
