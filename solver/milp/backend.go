package milp

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/gap"
)

// Errors that callers branch on; each comes wrapped with what it is about.
var (
	// ErrInvalid: the model or the options are not well formed. The message names the field and its value.
	ErrInvalid = errors.New("milp: invalid")
	// ErrUnsupported: the backend cannot do what was asked; see [Caps]. The message says what.
	ErrUnsupported = errors.New("milp: not supported by this backend")
	// ErrUnavailable: the solver is missing, its service does not answer or has no room. Trying later, or elsewhere,
	// may help.
	ErrUnavailable = errors.New("milp: solver unavailable")
	// ErrBackend: the backend failed, panicked, or gave an answer that is wrong.
	ErrBackend = errors.New("milp: backend failed")
)

// Backend is a solver of mixed-integer linear programs. Callers use [Solve], which has validated the model and the
// options before it calls a backend, and checks what comes back.
type Backend interface {
	// Name is the backend's name as the registry and messages give it: "cbc".
	Name() string
	// Caps is what it can do. It is cheap, and always the same for the same backend.
	Caps() Caps
	// Solve is given a model that has variables, whose bounds do not cross, made whole by Model.WholeBounds, and which no
	// row without entries contradicts. It returns when it is done, at a limit of opts, or soon after ctx ends: with the
	// best point found, which is never lost to a limit. Infeasible and unbounded models and limits are results, not
	// errors; X is nil if there is no point. Objective need not be set. It may be called by several goroutines at once,
	// and keeps nothing of m afterwards.
	Solve(ctx context.Context, m *Model, opts Options) (*Result, error)
}

// Caps is what a [Backend] can do. What a backend lacks is ignored in [Options] if it only helps (Start, Threads,
// Seed, Log, Incumbent), and is [ErrUnsupported] if an answer would be another without it (integer variables, Nodes).
type Caps struct {
	// Version is the solver's own version, "" if it is not known before it is called.
	Version string
	// Integer: it solves models with integer variables to optimality.
	Integer bool
	// Heuristic: it finds points of models with integer variables, but proves them optimal only by luck.
	Heuristic bool
	// Start: it uses Options.Start.
	Start bool
	// Incumbents: it calls Options.Incumbent while it solves.
	Incumbents bool
	// Forgets: at a limit it may lose points that it has found and has not told of.
	Forgets bool
	// Nodes: it keeps Options.Nodes.
	Nodes bool
	// Threads: it uses more than one thread if Options.Threads says so.
	Threads bool
	// Seed: Options.Seed changes its search.
	Seed bool
	// Log: it calls Options.Log.
	Log bool
	// Deaf: it cannot be interrupted in all that it does, and may go on for a while after ctx has ended, in the
	// background.
	Deaf bool
	// MaxInteger is the largest absolute value an integer variable may take; 0 means that there is no such limit
	// short of 2^53. Wider bounds are cut to it: of a model that has some, points hold, and nothing is proven.
	MaxInteger float64
	// Bounded: it needs finite bounds on all variables; missing ones are [ErrUnsupported].
	Bounded bool
}

// Options bound and guide a solve. The zero value means: no limit, a gap of [DefaultGap], one
// thread, the solver's own seed, no start.
type Options struct {
	// Time is the wall-clock limit; 0 is none but ctx's.
	Time time.Duration
	// Gap stops when |Bound-Objective|/max(|Bound|, 1e-9) is at most this. 0 means DefaultGap; negative means
	// exactly zero, that is to stop at proven optima alone.
	Gap float64
	// Nodes stops after so many nodes of the search tree; 0 is no limit.
	Nodes int64
	// Threads is how many threads the solver may use; 0 means 1.
	Threads int
	// Seed starts the solver's random numbers; 0 leaves them to it.
	Seed int64
	// Start is a point to begin from, one number for each variable, NaN where there is none. It may be infeasible:
	// then it is only a hint. It is not changed.
	Start []float64
	// Log is given the solver's own words, line by line. It is called by one goroutine at a time,
	// never after Solve has returned.
	Log func(line string)
	// Incumbent is given each better point while the solver goes on; it must copy X if it keeps it. It is
	// called by one goroutine at a time, never after Solve has returned.
	Incumbent func(Point)
}

// DefaultGap is the gap of Options.Gap == 0.
const DefaultGap = gap.Default

// TargetGap is the gap at which a backend may stop: o.Gap with its default.
func (o Options) TargetGap() float64 { return gap.Target(o.Gap) }

// Point is a point in hand, and what is known of the others.
type Point struct {
	// X has a number for each variable.
	X []float64
	// Objective is its value.
	Objective float64
	// Bound is what no point is better than; see [Result].
	Bound float64
}

// Stop says why a backend stopped; the zero value means that nothing was solved.
type Stop string

// The reasons to stop.
const (
	// StopNone: nothing was solved.
	StopNone Stop = ""
	// StopOptimal: the point in hand is proven to be within the gap that was asked for.
	StopOptimal Stop = "optimal"
	// StopInfeasible: it is proven that there is no point.
	StopInfeasible Stop = "infeasible"
	// StopUnbounded: there are points of any value.
	StopUnbounded Stop = "unbounded"
	// StopInfeasibleOrUnbounded: one of the two, and the solver did not find out which.
	StopInfeasibleOrUnbounded Stop = "infeasible or unbounded"
	// StopTime: the time is up.
	StopTime = Stop(solver.StopTime)
	// StopNodes: the node limit is reached.
	StopNodes Stop = "nodes"
	// StopCanceled: ctx was cancelled.
	StopCanceled = Stop(solver.StopCanceled)
	// StopOther: the solver gave up before any limit, by a limit of its own or for numerical trouble;
	// or it is a heuristic, and at its end. Raw says more.
	StopOther Stop = "other"
)

// StartUse says what became of Options.Start.
type StartUse string

// What can become of a start.
const (
	// StartNone: there was none, or the backend takes none.
	StartNone StartUse = ""
	// StartAccepted: the solver took it as a point, or as the base of one.
	StartAccepted StartUse = "accepted"
	// StartRejected: the solver found nothing in it.
	StartRejected StartUse = "rejected"
	// StartUnknown: it was handed over, and the solver does not say what it did with it.
	StartUnknown StartUse = "unknown"
)

// Result is what is known after a solve: three separate facts (Stop; X with its Objective; Bound), and the solver's
// own account of it.
type Result struct {
	// Stop is why it stopped.
	Stop Stop
	// X is the best point in hand, nil if there is none. Solve has checked it.
	X []float64
	// Objective is X's value, offset included; 0 without a point.
	Objective float64
	// Bound is what no point is better than: from below where the model minimises, from above where it
	// maximises. It is infinite where nothing is proven: see [NoBound].
	Bound float64
	// Raw is the solver's own word for why it stopped.
	Raw string
	// Nodes and Iterations count the tree's nodes and the simplex method's steps, as the solver counts; -1 if it
	// does not say.
	Nodes, Iterations int64
	// Start says what became of Options.Start.
	Start StartUse
	// SetUp is the time from the call to the moment the solver's own work began: the model's translation and transfer.
	// Wall is the time of the whole call.
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
