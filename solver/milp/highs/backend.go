//go:build (linux || darwin) && (amd64 || arm64) && !nohighs

package highs

import (
	"context"
	"runtime"
	"time"

	"github.com/hedgesched/hedge/solver/milp"
)

// Backend is HiGHS as a [milp.Backend], safe for concurrent use: every solve has an instance of HiGHS of its own, on an
// operating-system thread of its own.
type Backend struct {
	lib     *library
	version string
}

// Open loads the library. Without it, or with one that is too old, the error is [milp.ErrUnavailable] and
// says what to do.
func Open(c Config) (*Backend, error) {
	lib, err := load(c.candidates())
	if err != nil {
		return nil, err
	}
	return &Backend{lib: lib, version: lib.version()}, nil
}

// Name is "highs".
func (b *Backend) Name() string { return "highs" }

// Caps is what HiGHS can do. It is deaf in presolve and in the smaller models that its heuristics solve: there it
// keeps limits of time, those of ctx's deadline too, but does not notice that ctx is cancelled.
func (b *Backend) Caps() milp.Caps {
	return milp.Caps{
		Version: b.version, Integer: true, Start: true, Incumbents: true, Nodes: true,
		Threads: true, Seed: true, Log: true, Deaf: true,
	}
}

// Solve solves m; see [milp.Backend]. It is to be called through [milp.Solve].
func (b *Backend) Solve(ctx context.Context, m *milp.Model, opts milp.Options) (*milp.Result, error) {
	began := time.Now()
	if ctx.Err() != nil {
		return &milp.Result{Stop: milp.StopOf(ctx.Err()), Bound: milp.NoBound(m), Raw: "not started", Nodes: -1, Iterations: -1}, nil
	}
	if m.Vars() == 0 {
		return empty(m), nil
	}
	if err := fits(m); err != nil {
		return nil, err
	}
	// HiGHS keeps its pool of threads by the thread that calls it, from the first call until destroy.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s := &solve{lib: b.lib, model: m, opts: opts, ctx: ctx, end: deadline(ctx, opts, began)}
	defer s.close()
	if err := s.open(); err != nil {
		return nil, err
	}
	setUp := time.Since(began)
	res, err := s.solve()
	if res != nil {
		res.SetUp = setUp
	}
	return res, err
}

// empty is the answer for models without variables, which HiGHS does not look into: rows can be broken all the same.
func empty(m *milp.Model) *milp.Result {
	if milp.Check(m, []float64{}) != nil {
		return &milp.Result{Stop: milp.StopInfeasible, Bound: milp.NoBound(m), Raw: "no variables"}
	}
	return &milp.Result{Stop: milp.StopOptimal, X: []float64{}, Bound: m.Offset, Raw: "no variables"}
}
