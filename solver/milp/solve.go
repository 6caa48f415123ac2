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

// Grace is how long after the deadline Solve waits for a backend to return by itself before it goes on
// with the best point it has told of. A backend's deadline is a reserve before its engine's, so that this ends before
// the half of solver.Grace that a ladder's engine has.
const Grace = solver.Grace/2 + reserve/2

// Tolerance is how far a point may be from a bound or a row, relative to the magnitude of what is added up in it:
// a row may be missed by Tolerance·max(1, |bound|, Σ|value·x|).
const Tolerance = 1e-6

// IntegerTolerance is how far a value may be from a whole number where it must be one.
const IntegerTolerance = 1e-5

// Solve validates m and opts, lets b solve it within opts' limits and ctx, and checks what comes back.
//
// The deadline holds even if the backend overruns it: Grace after it, or after ctx ends, the best point that it has
// told of is returned. The backend's call is then abandoned: its goroutine, with m, lives on until it returns. A later
// Solve by that backend value waits for it, but for no more than a quarter of its own time, and then refuses with
// ErrUnavailable and solver.ErrBusy, so that one that hangs costs one goroutine.
//
// An objective with costs below 1e-5, which solvers take for none, is scaled for b. Where the costs are too far apart
// for that, what the smallest can make up is taken off the bound, and with it perhaps StopOptimal.
//
// Models without variables, and those of which a bound alone shows that they are infeasible, are answered without b.
//
// The point returned has been checked with [Check], and its objective is computed here. Errors are [ErrInvalid] (the
// caller's model or options), [ErrUnsupported] and [ErrUnavailable] (another backend may do), and [ErrBackend]: it
// failed, panicked, or gave an answer that is wrong. With the last the result is not nil if the backend
// had told of a good point before: it has [StopOther] and may be used; nothing is believed of its bound.
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

// ask is Solve without its clock.
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

// check says whether b can be asked.
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

// longestWait bounds how long Solve waits for a backend that is busy with a model it has been abandoned with.
const longestWait = 10 * time.Second

// running counts abandoned calls: goroutines are the process's, and so is the count of those left behind.
var running late.Register

type answer struct {
	res *Result
	err error
}

// call runs b beside itself, waits no longer than the deadline and Grace, and settles what it has answered.
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

// StopOf is the reason to stop that the end of a context is, err being its Err: [StopCanceled], or
// [StopTime] for deadlines and for nil.
func StopOf(err error) Stop { return Stop(solver.StopOf(err)) }

// settle checks an answer and combines it with the best point told of.
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
		res.Bound = kept.bound // it was told on the way
	}
	if err := contradiction(m, opts, &res); err != nil {
		return kept.rest(m), fmt.Errorf("%w: %w", ErrBackend, err)
	}
	if res.X != nil && Better(m, res.Objective, res.Bound) {
		res.Bound = res.Objective // by no more than rounding, or it were a contradiction
	}
	return &res, nil
}

// limited reports whether stop says nothing of points that there may be beside the one in hand.
func limited(stop Stop) bool {
	return stop == StopTime || stop == StopNodes || stop == StopCanceled || stop == StopOther
}

// known is err as one of the package's own.
func known(err error) error {
	for _, kind := range []error{ErrInvalid, ErrUnsupported, ErrUnavailable, ErrBackend} {
		if errors.Is(err, kind) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", ErrBackend, err)
}

// contradiction says how the facts of r disagree with one another.
func contradiction(m *Model, opts Options, r *Result) error {
	switch r.Stop {
	case StopOptimal, StopTime, StopNodes, StopCanceled, StopOther:
	case StopUnbounded, StopInfeasibleOrUnbounded:
		r.Bound = NoBound(m)
	case StopInfeasible:
		if r.X != nil {
			return fmt.Errorf("it calls a model infeasible that it has a point of")
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

// incumbents keeps the best point a backend has told of, checked.
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

// report checks and keeps a copy of p's point if it is better than what is kept.
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

// close lets nothing more in.
func (k *incumbents) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
}

// rest is what may be kept of a backend that failed: its best point, nil if there is none.
func (k *incumbents) rest(m *Model) *Result {
	if k.x == nil {
		return nil
	}
	return &Result{Stop: StopOther, X: k.x, Objective: k.objective, Bound: NoBound(m), Nodes: -1, Iterations: -1}
}

// lines hands log lines on until it is closed.
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

// Check says whether x is a point of m: a finite number for each variable, within its bounds, whole where it must be,
// and within every row's bounds, to [Tolerance] and [IntegerTolerance]. The error names the first offender. m must be
// valid.
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

// outside reports whether v, made of terms of a size, misses its bounds by more than the tolerance. An infinite bound
// cannot be missed, nor may it widen the other's tolerance. What has overflowed is within no bounds.
func outside(v, lower, upper, size float64) bool {
	return math.IsNaN(v) || math.IsInf(size, 0) ||
		lower-v > float64(Tolerance*math.Max(math.Max(1, size), math.Abs(lower))) && !math.IsInf(lower, 0) ||
		v-upper > float64(Tolerance*math.Max(math.Max(1, size), math.Abs(upper))) && !math.IsInf(upper, 0)
}
