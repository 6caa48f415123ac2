package milp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/internal/late"
)

// Grace is how long after the deadline Solve waits for a backend to return. Then it continues with the best point
// reported so far. A backend's deadline is earlier than its engine's by reserve, so this ends before the half of
// solver.Grace that an engine in a ladder has.
const Grace = solver.Grace/2 + reserve/2

// Tolerance is how far a point may violate a bound or a row, relative to the magnitude of the row's terms: a row may be
// violated by Tolerance·max(1, |bound|, Σ|value·x|).
const Tolerance = 1e-6

// IntegerTolerance is how far the value of an integer variable may be from a whole number.
const IntegerTolerance = 1e-5

// Solve validates m and opts, runs b within the limits of opts and ctx, and checks the result.
//
// The deadline holds even if the backend overruns it. Grace after the deadline, or after ctx ends, Solve returns the
// best point that the backend has reported. The backend's call is then abandoned: its goroutine, with m, goes on until
// it returns. A later Solve with the same backend value waits for it for at most a quarter of its own time. Then it
// fails with ErrUnavailable and solver.ErrBusy. So a backend that hangs costs one goroutine.
//
// Solvers treat costs below 1e-5 as zero, so an objective with such costs is scaled for b. If the costs differ by too
// much for that, the bound is weakened by what the smallest may be worth, and StopOptimal may be lost.
//
// Models without variables, and models that a bound alone shows to be infeasible, are answered without b.
//
// The returned point has been checked with [Check], and Solve computes its objective. Errors are [ErrInvalid] (the
// caller's model or options), [ErrUnsupported] and [ErrUnavailable] (another backend may succeed), and [ErrBackend]:
// the backend failed, panicked, or gave a wrong answer. With ErrBackend, the result is not nil if the backend had
// reported a valid point before. It has [StopOther] and may be used; its bound is not trusted.
func Solve(ctx context.Context, b Backend, m *Model, opts Options) (*Result, error) {
	began := time.Now()
	if b == nil {
		return nil, fmt.Errorf("%w: no backend given", ErrBackend)
	}
	if ctx == nil {
		ctx = context.Background()
	}
	res, err := ask(ctx, b, m, opts)
	if res != nil {
		res.Wall = time.Since(began)
	}
	if err != nil {
		err = fmt.Errorf("backend %s: %w", b.Name(), err)
	}
	return res, err
}

// ask is Solve without its time measurement.
func ask(ctx context.Context, b Backend, m *Model, opts Options) (*Result, error) {
	if err := check(b, m, opts); err != nil {
		return nil, err
	}
	if res := plain(m, opts); res != nil {
		return res, nil
	}
	if running.Busy(b) {
		began := time.Now()
		switch free := running.WaitShare(ctx, b, opts.Time, longestWait); {
		case !free && ctx.Err() != nil:
			return &Result{Stop: StopOf(ctx.Err()), Bound: NoBound(m), Raw: "it was busy until ctx ended", Nodes: -1,
				Iterations: -1}, nil
		case !free:
			return nil, fmt.Errorf("%w: %w", ErrUnavailable, solver.ErrBusy)
		case opts.Time > 0:
			opts.Time = max(1, opts.Time-time.Since(began))
		}
	}
	k := costScale(m)
	if k == 0 && doubt(m, k) == 0 {
		return call(ctx, b, m, opts)
	}
	scaled := opts
	scaled.Incumbent = unscaledPoints(m, k, opts.Incumbent)
	res, err := call(ctx, b, withScale(m, k), scaled)
	if res != nil {
		unscaled(m, opts, res, k)
	}
	return res, err
}

// check returns an error if b cannot solve m with opts.
func check(b Backend, m *Model, opts Options) error {
	if m == nil {
		return fmt.Errorf("%w: no model given", ErrInvalid)
	}
	if err := m.Validate(); err != nil {
		return err
	}
	if opts.Time < 0 || opts.Nodes < 0 || opts.Threads < 0 || math.IsNaN(opts.Gap) || math.IsInf(opts.Gap, 0) {
		return fmt.Errorf("%w: options: time %v, nodes %d, threads %d, gap %v", ErrInvalid, opts.Time, opts.Nodes,
			opts.Threads, opts.Gap)
	}
	if n := len(opts.Start); n != 0 && n != m.Vars() {
		return fmt.Errorf("%w: options: start: found %d numbers, expected %d", ErrInvalid, n, m.Vars())
	}
	for j, v := range opts.Start {
		if math.IsInf(v, 0) {
			return fmt.Errorf("%w: options: start[%d]: found %v, expected a finite number or NaN", ErrInvalid, j, v)
		}
	}
	if can := b.Caps(); !can.Integer && !can.Heuristic && m.Integers() > 0 {
		return fmt.Errorf("%w: integer variables", ErrUnsupported)
	} else if !can.Nodes && opts.Nodes > 0 {
		return fmt.Errorf("%w: a limit of nodes", ErrUnsupported)
	}
	return nil
}

// longestWait limits how long Solve waits for a backend that is busy with an abandoned call.
const longestWait = 10 * time.Second

// running counts abandoned calls. It is global because goroutines belong to the process.
var running late.Register

type answer struct {
	res *Result
	err error
}

// call runs b in a goroutine of its own, waits until the deadline plus Grace, and checks the answer.
func call(parent context.Context, b Backend, m *Model, opts Options) (*Result, error) {
	ctx, cancel := parent, context.CancelFunc(func() {})
	if opts.Time > 0 {
		ctx, cancel = context.WithTimeout(parent, opts.Time)
	}
	defer cancel()
	kept := &incumbents{m: m, pass: opts.Incumbent, bound: NoBound(m)}
	lines := &lines{pass: opts.Log}
	vanished := answer{err: fmt.Errorf("%w: it ended its goroutine without an answer", ErrBackend)}
	inner := opts
	inner.Incumbent = kept.report
	if opts.Log != nil {
		inner.Log = lines.write
	}
	a, ok := late.Call(ctx, &running, b, Grace, vanished, func() (a answer) {
		defer func() {
			if r := recover(); r != nil {
				a = answer{err: fmt.Errorf("%w: panic: %v\n%s", ErrBackend, r, debug.Stack())}
			}
		}()
		a.res, a.err = b.Solve(ctx, m, inner)
		return a
	})
	kept.close()
	lines.close()
	if !ok {
		a = answer{res: &Result{Stop: StopOf(parent.Err()), Bound: kept.bound, Raw: "abandoned past its deadline", Nodes: -1,
			Iterations: -1}}
	}
	return settle(m, opts, a, kept)
}

// StopOf is the reason to stop for the end of a context, where err is its Err: [StopCanceled], or [StopTime] for
// deadlines and for nil.
func StopOf(err error) Stop { return Stop(solver.StopOf(err)) }

// settle checks an answer and combines it with the best reported point.
func settle(m *Model, opts Options, a answer, kept *incumbents) (*Result, error) {
	err := a.err
	if err == nil && a.res == nil {
		err = fmt.Errorf("%w: it returned nothing", ErrBackend)
	}
	if err == nil {
		err = kept.bad
	}
	if err != nil {
		return kept.rest(m), known(err)
	}
	res := *a.res
	if res.X != nil {
		if err := Check(m, res.X); err != nil {
			return kept.rest(m), fmt.Errorf("%w: its point breaks the model: %w", ErrBackend, err)
		}
		res.Objective = m.Objective(res.X)
	} else {
		res.Objective = 0
	}
	if kept.x != nil && (res.X == nil || Better(m, kept.objective, res.Objective)) {
		res.X, res.Objective = kept.x, kept.objective
	}
	if limited(res.Stop) && Better(m, res.Bound, kept.bound) {
		res.Bound = kept.bound // it was reported earlier
	}
	if err := contradiction(m, opts, &res); err != nil {
		return kept.rest(m), fmt.Errorf("%w: %w", ErrBackend, err)
	}
	if res.X != nil && Better(m, res.Objective, res.Bound) {
		res.Bound = res.Objective // they differ by rounding only, since otherwise there is a contradiction
	}
	return &res, nil
}

// limited reports whether stop says nothing about points other than the returned one.
func limited(stop Stop) bool {
	return stop == StopTime || stop == StopNodes || stop == StopCanceled || stop == StopOther
}

// known returns err as an error of this package.
func known(err error) error {
	for _, kind := range []error{ErrInvalid, ErrUnsupported, ErrUnavailable, ErrBackend} {
		if errors.Is(err, kind) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", ErrBackend, err)
}

// contradiction is an error if the facts of r contradict one another.
func contradiction(m *Model, opts Options, r *Result) error {
	switch r.Stop {
	case StopOptimal, StopTime, StopNodes, StopCanceled, StopOther:
	case StopUnbounded, StopInfeasibleOrUnbounded:
		r.Bound = NoBound(m)
	case StopInfeasible:
		if r.X != nil {
			return fmt.Errorf("it calls a model infeasible and has a point of it")
		}
		r.Bound = NoBound(m)
	default:
		return fmt.Errorf("it stopped for %q", string(r.Stop))
	}
	if math.IsNaN(r.Bound) || r.Bound == -NoBound(m) {
		return fmt.Errorf("its bound is %v", r.Bound)
	}
	if r.Stop == StopOptimal && r.X == nil {
		return fmt.Errorf("it calls a point optimal and has none")
	}
	if math.IsNaN(r.Objective) || math.IsInf(r.Objective, 0) {
		return fmt.Errorf("its point's objective is %v", r.Objective)
	}
	if r.Stop == StopOptimal && math.IsInf(r.Bound, 0) {
		return fmt.Errorf("it calls a point optimal and has no bound")
	}
	if r.X == nil || math.IsInf(r.Bound, 0) {
		return nil
	}
	off := float64(Tolerance * math.Max(1, math.Abs(r.Objective)))
	if beyond := r.Objective - r.Bound; (m.Maximize && beyond > off) || (!m.Maximize && -beyond > off) {
		return fmt.Errorf("its point's objective %v is better than its bound %v", r.Objective, r.Bound)
	}
	if away := math.Abs(r.Bound - r.Objective); r.Stop == StopOptimal && away > off &&
		r.Gap() > opts.TargetGap()+Tolerance {
		return fmt.Errorf("it calls %v optimal, with a bound of %v", r.Objective, r.Bound)
	}
	return nil
}

// incumbents keeps the best point that a backend has reported, after checking it.
type incumbents struct {
	m    *Model
	pass func(Point)

	mu        sync.Mutex
	closed    bool
	x         []float64
	objective float64
	bound     float64
	bad       error
}

// report checks p's point and keeps a copy if it is better.
func (k *incumbents) report(p Point) {
	err := Check(k.m, p.X)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return
	}
	if p.Bound != -NoBound(k.m) && Better(k.m, k.bound, p.Bound) { // false for NaN
		k.bound = p.Bound
	}
	if err != nil {
		if k.bad == nil {
			k.bad = fmt.Errorf("%w: a point that it told of breaks the model: %w", ErrBackend, err)
		}
		return
	}
	objective := k.m.Objective(p.X)
	if k.x != nil && !Better(k.m, objective, k.objective) {
		return
	}
	k.x, k.objective = append([]float64(nil), p.X...), objective
	if k.pass != nil {
		k.pass(Point{X: append([]float64(nil), k.x...), Objective: k.objective, Bound: k.bound})
	}
}

// close ignores all later points.
func (k *incumbents) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
}

// rest is what remains of a backend that failed: its best point, nil if there is none.
func (k *incumbents) rest(m *Model) *Result {
	if k.x == nil {
		return nil
	}
	return &Result{Stop: StopOther, X: k.x, Objective: k.objective, Bound: NoBound(m), Nodes: -1, Iterations: -1}
}

// lines passes log lines on until it is closed.
type lines struct {
	mu   sync.Mutex
	pass func(string)
}

func (l *lines) write(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pass != nil {
		l.pass(line)
	}
}

func (l *lines) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pass = nil
}

// Check returns an error unless x is a point of m: a finite number per variable, within its bounds, whole where
// required, and within every row's bounds, up to [Tolerance] and [IntegerTolerance]. The error names the first
// violation. m must be valid.
func Check(m *Model, x []float64) error {
	if len(x) != m.Vars() {
		return fmt.Errorf("found %d numbers, expected %d", len(x), m.Vars())
	}
	for j, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("vars[%d] (%q) is %v", j, m.Var(j).Name, v)
		}
		if m.integer[j] && math.Abs(v-math.Round(v)) > IntegerTolerance {
			return fmt.Errorf("vars[%d] (%q) is %v, expected a whole number", j, m.Var(j).Name, v)
		}
		if outside(v, m.lower[j], m.upper[j], math.Abs(v)) {
			return fmt.Errorf("vars[%d] (%q) is %v, expected %v to %v", j, m.Var(j).Name, v, m.lower[j], m.upper[j])
		}
	}
	for i := range m.rowLower {
		r := m.Row(i)
		sum, size := 0.0, 0.0
		for k, j := range r.Index {
			part := float64(r.Value[k] * x[j])
			sum += part
			size += math.Abs(part)
		}
		if outside(sum, r.Lower, r.Upper, size) {
			return fmt.Errorf("rows[%d] (%q) is %v, expected %v to %v", i, r.Name, sum, r.Lower, r.Upper)
		}
	}
	return nil
}

// outside reports whether v violates its bounds by more than the tolerance. Size is the magnitude of v's terms. An
// infinite bound cannot be violated, and does not widen the other's tolerance. An overflowed value is within no bounds.
func outside(v, lower, upper, size float64) bool {
	return math.IsNaN(v) || math.IsInf(size, 0) ||
		lower-v > float64(Tolerance*math.Max(math.Max(1, size), math.Abs(lower))) && !math.IsInf(lower, 0) ||
		v-upper > float64(Tolerance*math.Max(math.Max(1, size), math.Abs(upper))) && !math.IsInf(upper, 0)
}
