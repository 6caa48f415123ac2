package milptest

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"sync"

	"github.com/hedgesched/hedge/solver/milp"
)

// witness is the backend under test, as milp.Solve sees it. It passes on the context and the time limit of the case.
// milp.Solve does not get these, so it waits for the answer and settles it however late it is. The witness records
// everything that the backend reports.
type witness struct {
	milp.Backend
	ctx  context.Context
	opts milp.Options

	mu       sync.Mutex
	returned bool
	points   []milp.Point
	bad      error // the first reported point that is infeasible
	lines    []string
	late     int // number of calls after the return
	raw      *milp.Result
	err      error
}

// Solve implements milp.Backend.
func (w *witness) Solve(_ context.Context, m *milp.Model, settled milp.Options) (*milp.Result, error) {
	opts := w.opts
	opts.Incumbent = func(p milp.Point) {
		if w.enter() {
			err := milp.Check(m, p.X)
			w.mu.Lock()
			if err != nil && w.bad == nil {
				w.bad = err
			}
			w.points = append(w.points, milp.Point{X: append([]float64{}, p.X...), Objective: p.Objective, Bound: p.Bound})
			w.mu.Unlock()
			settled.Incumbent(p)
			if w.opts.Incumbent != nil {
				w.opts.Incumbent(p)
			}
		}
	}
	if w.opts.Log != nil {
		opts.Log = func(line string) {
			if w.enter() {
				w.mu.Lock()
				w.lines = append(w.lines, line)
				w.mu.Unlock()
				w.opts.Log(line)
			}
		}
	}
	res, err := w.Backend.Solve(w.ctx, m, opts)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.returned = true
	if w.err = err; res != nil {
		w.raw = new(milp.Result)
		*w.raw = *res
		if res.X != nil {
			w.raw.X = append([]float64{}, res.X...)
		}
	}
	return res, err
}

// enter reports whether a callback comes before the return.
func (w *witness) enter() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.returned {
		w.late++
	}
	return !w.returned
}

func (w *witness) lateCalls() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.late
}

// answer is the outcome of a solve.
type answer struct {
	*milp.Result // as milp.Solve has settled it, nil with most errors
	err          error
	*witness
	unchanged bool // the model and the start were not modified
}

// ask solves m under ctx with opts, and waits for it whatever the backend does. The case fails if that takes longer
// than the patience.
func (s *suite) ask(ctx context.Context, m *milp.Model, opts milp.Options) answer {
	s.Helper()
	return s.await(s.begin(ctx, m, opts))
}

// pending is a running ask.
type pending struct {
	answer answer
	done   chan struct{}
}

// begin is the first half of ask.
func (s *suite) begin(ctx context.Context, m *milp.Model, opts milp.Options) *pending {
	p := &pending{answer: answer{witness: &witness{Backend: s.b, ctx: ctx, opts: opts}}, done: make(chan struct{})}
	before := m.Clone()
	start := append([]float64(nil), opts.Start...)
	told := opts
	told.Time, told.Incumbent = 0, nil
	go func() {
		defer close(p.done)
		p.answer.Result, p.answer.err = milp.Solve(background(), p.answer.witness, m, told)
		p.answer.unchanged = same(m, before) && sameNumbers(start, opts.Start)
	}()
	return p
}

// await is the second half of ask.
func (s *suite) await(p *pending) answer {
	s.Helper()
	s.wait(p.done, "the backend has not returned")
	return p.answer
}

// wait fails the case if done is not closed within the patience.
func (s *suite) wait(done <-chan struct{}, what string) {
	s.Helper()
	select {
	case <-done:
		return
	default:
	}
	select {
	case <-done:
	case <-s.cfg.after(s.cfg.Patience):
		s.failf("%s: patience of %v is at its end", what, s.cfg.Patience)
	}
}

// must is ask for a solve that must not return an error.
func (s *suite) must(ctx context.Context, m *milp.Model, opts milp.Options) answer {
	s.Helper()
	a := s.ask(ctx, m, opts)
	if !a.unchanged {
		s.failf("%s: the model or the start has changed", describe(m))
	}
	if a.err != nil {
		s.failf("%s: %v", describe(m), a.err)
	}
	if a.bad != nil {
		s.failf("%s: a point that it told of breaks the model: %v", describe(m), a.bad)
	}
	s.kept(m, a)
	return a
}

// kept fails the case if the backend's own result has lost a point that it had reported.
func (s *suite) kept(m *milp.Model, a answer) {
	s.Helper()
	if s.can.Forgets || a.raw == nil {
		return
	}
	for _, p := range a.points {
		value := m.Objective(p.X)
		if a.raw.X == nil {
			s.failf("%s: it told of a point of %v, and its result (%s) has none", describe(m), value, a.raw.Stop)
		}
		if own := m.Objective(a.raw.X); milp.Better(m, value, own) && !s.near(value, own) {
			s.failf("%s: it told of a point of %v, and its result (%s) has one of %v", describe(m), value, a.raw.Stop, own)
		}
	}
}

// near reports whether a and b are equal within the tolerance.
func (s *suite) near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= s.cfg.Tolerance*math.Max(1, math.Max(math.Abs(a), math.Abs(b)))
}

// better reports whether a is better than b by more than the tolerance.
func (s *suite) better(m *milp.Model, a, b float64) bool {
	return milp.Better(m, a, b) && !s.near(a, b)
}

// exact are options for a proof with a gap of zero.
func exact() milp.Options { return milp.Options{Gap: -1} }

// optimum expects m's optimum, want, from backends that solve m to optimality. From others it expects points, bounds
// and proofs that agree with it. x, if not nil, is the only optimal point.
func (s *suite) optimum(m *milp.Model, want float64, x ...float64) {
	s.Helper()
	a := s.try(m, exact())
	s.agrees(m, a, want)
	if s.proves(m) && a.Stop != milp.StopOptimal {
		s.failf("%s: it stopped for %q (%s), expected the optimum %v", describe(m), a.Stop, a.Raw, want)
	}
	if a.Stop != milp.StopOptimal {
		return
	}
	if s.better(m, want, a.Objective) {
		s.failf("%s: it calls %v optimal, the optimum is %v", describe(m), a.Objective, want)
	}
	if !s.near(a.Bound, want) {
		s.failf("%s: its bound at the optimum is %v, the optimum is %v", describe(m), a.Bound, want)
	}
	for j, v := range x {
		if math.Abs(a.X[j]-v) > 1e-5*math.Max(1, math.Abs(v)) {
			s.failf("%s: vars[%d] is %v, expected %v", describe(m), j, a.X[j], v)
		}
	}
}

// try solves m, and skips the case if the backend has declared that it cannot.
func (s *suite) try(m *milp.Model, opts milp.Options) answer {
	s.Helper()
	s.able(m)
	return s.must(background(), m, opts)
}

// able skips the case if the backend has declared that it cannot solve models like m.
func (s *suite) able(m *milp.Model) {
	s.Helper()
	if m.Integers() > 0 && !s.can.Integer && !s.can.Heuristic {
		s.Skipf("%s: does not claim Integer or Heuristic", s.b.Name())
	}
	if lower, upper := m.Bounds(); s.can.Bounded {
		for j := range lower {
			if math.IsInf(lower[j], 0) || math.IsInf(upper[j], 0) {
				s.Skipf("%s: claims Bounded, and vars[%d] has bounds %v and %v", s.b.Name(), j, lower[j], upper[j])
			}
		}
	}
}

// proves reports whether the backend claims to solve m to optimality.
func (s *suite) proves(m *milp.Model) bool {
	if m.Integers() == 0 {
		return true
	}
	for j := range m.Vars() {
		v := m.Var(j)
		if most := s.can.MaxInteger; v.Integer && most != 0 && math.Max(math.Abs(v.Lower), math.Abs(v.Upper)) > most {
			return false
		}
	}
	return s.can.Integer
}

// agrees fails the case if a contradicts the fact that m's optimum is want.
func (s *suite) agrees(m *milp.Model, a answer, want float64) {
	s.Helper()
	switch a.Stop {
	case milp.StopInfeasible, milp.StopUnbounded, milp.StopInfeasibleOrUnbounded:
		s.failf("%s: it says %s (%s), the optimum is %v", describe(m), a.Stop, a.Raw, want)
	}
	if a.X != nil && s.better(m, a.Objective, want) {
		s.failf("%s: it has a point of %v, better than the optimum %v", describe(m), a.Objective, want)
	}
	if s.better(m, want, a.Bound) {
		s.failf("%s: its bound %v is on the wrong side of the optimum %v", describe(m), a.Bound, want)
	}
	for _, p := range a.points {
		if s.better(m, want, p.Bound) {
			s.failf("%s: a bound that it told of, %v, is on the wrong side of the optimum %v", describe(m), p.Bound, want)
		}
	}
}

// stops expects m to end for one of the reasons.
func (s *suite) stops(m *milp.Model, reasons ...milp.Stop) answer {
	s.Helper()
	a := s.try(m, exact())
	if !s.proves(m) && (a.Stop == milp.StopOther) {
		return a
	}
	for _, r := range reasons {
		if a.Stop == r {
			return a
		}
	}
	s.failf("%s: it stopped for %q (%s), with objective %v and bound %v; expected %q", describe(m), a.Stop, a.Raw,
		a.Objective, a.Bound, reasons)
	return a
}

// infeasible expects m, whose variables are all bounded, to be found infeasible.
func (s *suite) infeasible(m *milp.Model) {
	s.Helper()
	if a := s.stops(m, milp.StopInfeasible); a.X != nil {
		s.failf("%s: it has a point of an infeasible model", describe(m))
	}
}

// unbounded expects m to be found unbounded, or one of the two.
func (s *suite) unbounded(m *milp.Model) {
	s.Helper()
	s.stops(m, milp.StopUnbounded, milp.StopInfeasibleOrUnbounded)
}

// same reports whether a still equals its clone.
func same(a, clone *milp.Model) bool { return reflect.DeepEqual(a.Clone(), clone) }

// sameNumbers reports equality in which NaN equals NaN.
func sameNumbers(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
			return false
		}
	}
	return true
}

// describe names m in messages.
func describe(m *milp.Model) string {
	name := m.Name
	if name == "" {
		name = "model"
	}
	return fmt.Sprintf("%s (%d variables, %d integer, %d rows)", name, m.Vars(), m.Integers(), m.Rows())
}
