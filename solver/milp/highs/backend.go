//go:build (linux || darwin) && (amd64 || arm64) && !nohighs

package highs

import (
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/internal/unbounded"
)

// Backend is HiGHS as a [milp.Backend]. It is safe for concurrent use: every solve has its own instance of HiGHS, on
// its own operating-system thread.
type Backend struct {
	lib     *library
	version string
}

// Open loads the library. If it is missing or too old, the error is [milp.ErrUnavailable] and says what to do.
func Open(c Config) (*Backend, error) {
	lib, err := load(c.candidates())
	if err != nil {
		return nil, err
	}
	return &Backend{lib: lib, version: lib.version()}, nil
}

// Name is "highs".
func (b *Backend) Name() string { return "highs" }

// Caps says what HiGHS can do. It is deaf in presolve and in the smaller models that its heuristics solve: there it
// obeys time limits, including ctx's deadline, but does not notice a cancellation.
func (b *Backend) Caps() milp.Caps {
	return milp.Caps{
		Version: b.version, Integer: true, Start: true, Incumbents: true, Nodes: true,
		Threads: true, Seed: true, Log: true, Deaf: true,
	}
}

// Solve solves m; see [milp.Backend]. Call it through [milp.Solve].
func (b *Backend) Solve(ctx context.Context, m *milp.Model, opts milp.Options) (*milp.Result, error) {
	began := time.Now()
	tellStart(m, opts)
	if ctx.Err() != nil {
		res := &milp.Result{Stop: milp.StopOf(ctx.Err()), Bound: milp.NoBound(m), Raw: "not started", Nodes: -1,
			Iterations: -1}
		return keepStart(m, opts.Start, res), nil
	}
	if err := fits(m); err != nil {
		return nil, err
	}
	end := deadline(ctx, opts, began)
	res, err := b.once(ctx, m, opts, end)
	if err != nil {
		return nil, err
	}
	keepStart(m, opts.Start, res)
	if res.X != nil || res.Stop != milp.StopUnbounded && res.Stop != milp.StopInfeasibleOrUnbounded {
		return res, nil
	}
	opts.Start, opts.Incumbent = nil, nil
	return res, unbounded.Settle(m, res, func(other *milp.Model) (*milp.Result, error) {
		return b.once(ctx, other, opts, end)
	})
}

// tellStart reports the start if it is feasible, so that it is not lost even if the call is abandoned.
func tellStart(m *milp.Model, opts milp.Options) {
	if opts.Incumbent != nil && len(opts.Start) > 0 && milp.Check(m, opts.Start) == nil {
		opts.Incumbent(milp.Point{X: slices.Clone(opts.Start), Objective: m.Objective(opts.Start), Bound: milp.NoBound(m)})
	}
}

// keepStart returns res, with start instead of a worse point or none, if start is feasible: a limit may be reached
// before HiGHS looks at the start.
func keepStart(m *milp.Model, start []float64, res *milp.Result) *milp.Result {
	switch res.Stop {
	case milp.StopTime, milp.StopNodes, milp.StopCanceled, milp.StopOther:
	default:
		return res
	}
	if len(start) == 0 || milp.Check(m, start) != nil ||
		res.X != nil && !milp.Better(m, m.Objective(start), m.Objective(res.X)) {
		return res
	}
	res.X, res.Start = slices.Clone(start), milp.StartAccepted
	return res
}

// once lets an instance of HiGHS solve m until end; zero means never.
func (b *Backend) once(ctx context.Context, m *milp.Model, opts milp.Options, end time.Time) (*milp.Result, error) {
	began := time.Now()
	// HiGHS has a thread pool per calling thread, from the first call until destroy.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s := &solve{lib: b.lib, model: m, opts: opts, ctx: ctx, end: end}
	defer s.close()
	if err := s.open(); err != nil {
		return nil, err
	}
	setUp := time.Since(began)
	res, err := s.run()
	if res != nil {
		res.SetUp = setUp
	}
	return res, err
}
