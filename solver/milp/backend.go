package milp

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/gap"
)

// Errors that callers test for. Each comes wrapped with what it is about.
var (
	// ErrInvalid: the model or the options are not well formed. The message names the field and its value.
	ErrInvalid = errors.New("milp: invalid")
	// ErrUnsupported: the backend cannot do what was asked; see [Caps]. The message says what.
	ErrUnsupported = errors.New("milp: not supported by this backend")
	// ErrUnavailable: the solver is missing, or its service does not answer or is full. A later call, or another backend,
	// may succeed.
	ErrUnavailable = errors.New("milp: solver unavailable")
	// ErrBackend: the backend failed, panicked, or gave a wrong answer.
	ErrBackend = errors.New("milp: backend failed")
)

// Backend is a solver of mixed-integer linear programs. Callers use [Solve]. It validates the model and the options
// before it calls a backend, and checks the answer.
type Backend interface {
	// Name is the backend's name in the registry and in messages, like "cbc".
	Name() string
	// Caps says what the backend can do. It is cheap, and always the same for the same backend.
	Caps() Caps
	// Solve gets a model that has variables, whose bounds do not cross and are made whole by Model.WholeBounds, and in
	// which no row without entries is violated. It returns when it is done, at a limit of opts, or soon after ctx ends,
	// with the best point found. A limit never loses that point. Infeasible and unbounded models and limits are results,
	// not errors. X is nil if there is no point. Objective need not be set. Solve may be called concurrently, and keeps
	// nothing of m afterwards.
	Solve(ctx context.Context, m *Model, opts Options) (*Result, error)
}

// Caps says what a [Backend] can do. If it lacks something in [Options] that only helps (Start, Threads, Seed, Log,
// Incumbent), the option is ignored. If the answer would be different without it (integer variables, Nodes), the call
// fails with [ErrUnsupported].
type Caps struct {
	// Version is the solver's own version, "" if it is not known before the first call.
	Version string
	// Integer: it solves models with integer variables to optimality.
	Integer bool
	// Heuristic: it finds points of models with integer variables, but rarely proves them optimal.
	Heuristic bool
	// Start: it uses Options.Start.
	Start bool
	// Incumbents: it calls Options.Incumbent during the solve.
	Incumbents bool
	// Forgets: at a limit it may lose points that it has found and not reported.
	Forgets bool
	// Nodes: it obeys Options.Nodes.
	Nodes bool
	// Threads: it obeys Options.Threads.
	Threads bool
	// Seed: Options.Seed changes its search.
	Seed bool
	// Log: it calls Options.Log.
	Log bool
	// Deaf: some of its work cannot be interrupted, so it may go on in the background for a while after ctx has ended.
	Deaf bool
	// MaxInteger is the largest absolute value of an integer variable; 0 means no limit below 2^53. Wider bounds are cut
	// to it. Points of a model that was cut are valid, but nothing is proven.
	MaxInteger float64
	// Bounded: it needs finite bounds of all variables. Otherwise the model is [ErrUnsupported].
	Bounded bool
}

// Options limit and guide a solve. The zero value means: no limit, a gap of [DefaultGap], one thread, the solver's own
// seed, no start.
type Options struct {
	// Time is the wall-clock limit. With 0, only ctx limits the time.
	Time time.Duration
	// Gap stops the solve when |Bound-Objective|/max(|Bound|, 1e-9) is at most this. 0 means DefaultGap. A negative gap
	// means exactly zero: stop only at proven optima.
	Gap float64
	// Nodes is the maximum number of nodes of the search tree; 0 is no limit.
	Nodes int64
	// Threads is the maximum number of threads; 0 means 1.
	Threads int
	// Seed seeds the solver's random numbers; 0 leaves the seed to the solver.
	Seed int64
	// Start is a point to begin from, with one number per variable, NaN if unknown. An infeasible start is only a hint. It
	// is not modified.
	Start []float64
	// Log receives the solver's own log, line by line. It is called by one goroutine at a time, and never after Solve has
	// returned.
	Log func(line string)
	// Incumbent receives each better point during the solve. It must copy X to keep it. It is called by one goroutine at a
	// time, and never after Solve has returned.
	Incumbent func(Point)
}

// DefaultGap is the gap that Options.Gap == 0 means.
const DefaultGap = gap.Default

// TargetGap is the gap at which a backend may stop: o.Gap, or its default.
func (o Options) TargetGap() float64 { return gap.Target(o.Gap) }

// Point is a point, with a bound on all points.
type Point struct {
	// X has one number per variable.
	X []float64
	// Objective is the value of X.
	Objective float64
	// Bound is a value that no point exceeds in quality; see [Result].
	Bound float64
}

// Stop says why a backend stopped. The zero value means that nothing was solved.
type Stop string

// The reasons to stop.
const (
	// StopNone: nothing was solved.
	StopNone Stop = ""
	// StopOptimal: the point is proven to be within the requested gap.
	StopOptimal Stop = "optimal"
	// StopInfeasible: it is proven that no point exists.
	StopInfeasible Stop = "infeasible"
	// StopUnbounded: the objective is unbounded. StopInfeasibleOrUnbounded: one of the two, and the solver does not know
	// which.
	StopUnbounded Stop = "unbounded"
	// StopInfeasibleOrUnbounded: one of the two, and the solver did not find out which.
	StopInfeasibleOrUnbounded Stop = "infeasible or unbounded"
	// StopTime: the time limit was reached.
	StopTime = Stop(solver.StopTime)
	// StopNodes: the node limit was reached.
	StopNodes Stop = "nodes"
	// StopCanceled: ctx was cancelled.
	StopCanceled = Stop(solver.StopCanceled)
	// StopOther: the solver gave up before any limit, because of a limit of its own or numerical trouble; or it is a
	// heuristic and has finished. Raw says more.
	StopOther Stop = "other"
)

// StartUse says what became of Options.Start.
type StartUse string

// The outcomes of a start.
const (
	// StartNone: there was no start, or the backend ignores starts.
	StartNone StartUse = ""
	// StartAccepted: the solver used it as a point, or as the basis of one.
	StartAccepted StartUse = "accepted"
	// StartRejected: the solver could not use it.
	StartRejected StartUse = "rejected"
	// StartUnknown: the solver got it and does not say what became of it.
	StartUnknown StartUse = "unknown"
)

// Result is the outcome of a solve: three separate facts (Stop; X with its Objective; Bound), and the solver's own
// report.
type Result struct {
	// Stop says why the solve stopped.
	Stop Stop
	// X is the best point, nil if there is none. Solve has checked it.
	X []float64
	// Objective is the value of X with the offset; 0 without a point.
	Objective float64
	// Bound is a proven bound on all points: a lower bound if the model minimises, and an upper bound if it maximises. It
	// is infinite if nothing is proven; see [NoBound].
	Bound float64
	// Raw is the solver's own text for why it stopped.
	Raw string
	// Nodes and Iterations are the numbers of tree nodes and simplex steps, as the solver counts them; -1 if it does not
	// say.
	Nodes, Iterations int64
	// Start says what became of Options.Start.
	Start StartUse
	// SetUp is the time before the solver's own work began: the translation and transfer of the model. Wall is the time of
	// the whole call.
	SetUp, Wall time.Duration
}

// Gap is |Bound-Objective|/max(|Bound|, 1e-9), +Inf without a point or a bound.
func (r *Result) Gap() float64 {
	if r.X == nil || math.IsInf(r.Bound, 0) {
		return math.Inf(1)
	}
	return math.Abs(gap.Of(r.Bound, r.Objective))
}

// NoBound is the bound that proves nothing of m: +Inf where it maximises, -Inf where it minimises.
func NoBound(m *Model) float64 {
	if m.Maximize {
		return math.Inf(1)
	}
	return math.Inf(-1)
}

// Better reports whether objective a is better than b in m's sense.
func Better(m *Model, a, b float64) bool {
	if m.Maximize {
		return a > b
	}
	return a < b
}
