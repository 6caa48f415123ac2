package milptest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/solver/milp"
)

func callCases() []testCase {
	return slices.Concat(callRefusals(), callFacts(), callRepeats(), callStarts(), callBacks())
}

// callRefusals must be refused.
func callRefusals() []testCase {
	return []testCase{
		{name: "call:NaN and infinities", doc: "models that are not well formed reaching the backend", run: func(s *suite) {
			s.refused(minimise("", []milp.Var{real(0, 1, math.NaN())}), milp.Options{}, milp.ErrInvalid)
			s.refused(minimise("", []milp.Var{real(0, 1, inf)}), milp.Options{}, milp.ErrInvalid)
			s.refused(minimise("", []milp.Var{real(0, 1, 1)}, atMost(1, inf)), milp.Options{}, milp.ErrInvalid)
			s.refused(minimise("", []milp.Var{real(inf, inf, 1)}), milp.Options{}, milp.ErrInvalid)
			s.refused(minimise("", []milp.Var{real(0, 1, 1)}, atMost(math.NaN(), 1)), milp.Options{}, milp.ErrInvalid)
			s.refused(offset(-inf, minimise("", []milp.Var{real(0, 1, 1)})), milp.Options{}, milp.ErrInvalid)
		}},
		{name: "call:options", doc: "options that are not well formed reaching the backend", run: func(s *suite) {
			m := minimise("", []milp.Var{real(0, 1, 1)})
			for _, opts := range []milp.Options{{Time: -1}, {Nodes: -1}, {Gap: math.NaN()}, {Gap: inf}, {Threads: -1},
				{Start: []float64{1, 2}}, {Start: []float64{inf}}} {
				s.refused(m, opts, milp.ErrInvalid)
			}
		}},
		{name: "call:no integers", doc: "integer variables being relaxed by backends that know none",
			needs: []needs{noIntegers}, run: func(s *suite) {
				s.refused(minimise("", []milp.Var{whole(0, 1, 1)}), milp.Options{}, milp.ErrUnsupported)
			}},
		{name: "call:needs bounds", doc: "missing bounds being made up by backends that need some", needs: []needs{bounded},
			run: func(s *suite) {
				s.refused(maximise("", []milp.Var{real(0, inf, 1)}, atMost(1, 1)), milp.Options{}, milp.ErrUnsupported)
				s.refused(minimise("", []milp.Var{real(-inf, 1, 1)}, atLeast(-1, 1)), milp.Options{}, milp.ErrUnsupported)
			}},
	}
}

func callFacts() []testCase {
	return []testCase{
		{name: "call:zero options", doc: "call-backs being called that are nil", run: func(s *suite) {
			for _, m := range s.catalogue() {
				var res *milp.Result
				var err error
				done := make(chan struct{})
				go func() {
					defer close(done)
					res, err = recovered(func() (*milp.Result, error) { return s.b.Solve(background(), m, milp.Options{}) })
				}()
				s.wait(done, "the backend has not returned")
				if err != nil || res == nil {
					s.failf("%s: found %+v and %v", describe(m), res, err)
				}
			}
		}},
		{name: "call:caps", doc: "a name or capabilities that change", run: func(s *suite) {
			name, before := s.b.Name(), s.b.Caps()
			s.must(background(), transport(), milp.Options{})
			before.Version, s.can = "", s.b.Caps()
			s.can.Version = "" // may become known
			if s.b.Name() != name || name == "" || s.can != before {
				s.failf("it was %q, %+v and is %q, %+v", name, before, s.b.Name(), s.can)
			}
		}},
		{name: "call:facts", doc: "counts and times that cannot be, and a solver whose own word is lost",
			run: func(s *suite) {
				for _, m := range s.catalogue() {
					a := s.must(background(), m, exact())
					if a.raw.Raw == "" || a.Nodes < -1 || a.Iterations < -1 || a.SetUp < 0 || a.SetUp > a.Wall ||
						a.Start != milp.StartNone {
						s.failf("%s: raw %q, %d nodes, %d iterations, set up in %v of %v, start %q (there was none)", describe(m),
							a.raw.Raw, a.Nodes, a.Iterations, a.SetUp, a.Wall, a.Start)
					}
				}
			}},
	}
}

// callRepeats solve models in several ways, whose answers must agree.
func callRepeats() []testCase {
	return []testCase{
		{name: "call:threads and seeds", doc: "options that may change the way, and change the end", run: func(s *suite) {
			for k := range 4 {
				opts := milp.Options{Gap: -1, Threads: k, Seed: int64(k * 12345)}
				for _, m := range s.catalogue() {
					plain, a := s.must(background(), m, exact()), s.must(background(), m, opts)
					if a.Stop != plain.Stop || s.proves(m) && !s.near(a.Objective, plain.Objective) {
						s.failf("%s: %q with %v, and with %d threads and seed %d %q with %v", describe(m), plain.Stop, plain.Objective, k,
							opts.Seed, a.Stop, a.Objective)
					}
				}
			}
		}},
		{name: "call:names", doc: "names of variables and rows that a file format takes for something else",
			run: func(s *suite) {
				s.optimum(oddNames(), 12)
			}},
		{name: "call:concurrent", doc: "state that solves share", run: concurrent},
		{name: "call:model unchanged", doc: "the model or the start being written to", run: func(s *suite) {
			for _, m := range s.catalogue() {
				start := make([]float64, m.Vars())
				start[0] = math.NaN()
				s.must(background(), m, milp.Options{Start: start}) // which looks at it every time
			}
		}},
		{name: "call:twice", doc: "a second solve that differs", run: func(s *suite) {
			for _, m := range s.catalogue() {
				a, b := s.must(background(), m, exact()), s.must(background(), m, exact())
				if a.Stop != b.Stop || s.proves(m) && !s.near(a.Objective, b.Objective) {
					s.failf("%s: %q with %v, and then %q with %v", describe(m), a.Stop, a.Objective, b.Stop, b.Objective)
				}
			}
		}},
	}
}

// callStarts run with all backends: those without starts ignore them.
func callStarts() []testCase {
	return []testCase{
		{name: "call:start", doc: "an accepted start that is lost, or a feasible one that is not accepted",
			needs: []needs{integers}, run: func(s *suite) {
				m, start := split(false)
				opts := milp.Options{Start: start, Time: time.Minute}
				ctx, cancel := context.WithCancel(background())
				defer cancel()
				switch {
				case s.can.Nodes:
					opts.Nodes = 1
				case s.can.Incumbents:
					opts.Incumbent = func(milp.Point) { cancel() }
				default:
					opts.Time = 2 * time.Second
				}
				a := s.must(ctx, m, opts)
				s.agrees(m, a, 0)
				if s.can.Start && (a.Start == milp.StartNone || a.Start == milp.StartRejected) {
					s.failf("%s: it claims Start, and says %q of a start that is feasible", describe(m), a.Start)
				}
				s.keepsStart(m, start, a)
			}},
		{name: "call:start at the optimum", doc: "a start that makes the answer worse", needs: []needs{integers},
			run: func(s *suite) {
				s.startsAt(oddCycle(), []float64{1, 0, 1, 0, 1, 0, 0}, 3)
				s.startsAt(setCover(), []float64{1, 1, 1, 0, 0, 0, 0}, 3)
			}},
		{name: "call:start below the optimum", doc: "a start that stays the answer", needs: []needs{integers},
			run: func(s *suite) {
				s.startsAt(oddCycle(), make([]float64, 7), 3)
				s.startsAt(setCover(), []float64{1, 1, 1, 1, 1, 1, 1}, 3)
			}},
		{name: "call:start of a linear program", doc: "a start where there is nothing to branch on", run: func(s *suite) {
			s.startsAt(transport(), []float64{10, 10, 0, 0, 25, 5, 0, 0, 25}, 210)
			s.startsAt(kleeMinty(), make([]float64, 7), 78125)
		}},
		{name: "call:partial start", doc: "NaN being taken for a value", needs: []needs{integers}, run: func(s *suite) {
			nan := math.NaN()
			s.startsAt(oddCycle(), []float64{nan, 1, nan, nan, 0, nan, nan}, 3)
			s.startsAt(setCover(), []float64{nan, nan, nan, nan, nan, nan, nan}, 3)
			m := maximise("", []milp.Var{whole(0, 10, 3), real(0, 10, 1)}, atMost(14.5, 3, 1), atMost(4.5, 1))
			s.startsAt(m, []float64{2, nan}, 14.5)
			s.startsAt(m, []float64{nan, 2}, 14.5)
		}},
		{name: "call:infeasible start",
			doc:   "a start that breaks the model being taken for a point, or making the model infeasible",
			needs: []needs{integers}, run: func(s *suite) {
				s.startsAt(oddCycle(), []float64{1, 1, 1, 1, 1, 1, 1}, 3)
				s.startsAt(setCover(), make([]float64, 7), 3)
				s.startsAt(setCover(), []float64{-5, 1e9, 0.5, 1e300, -1e300, 7, 2}, 3)
				s.startsAt(minimise("", []milp.Var{whole(0, 9, 1), whole(0, 9, 1)}, equal(7, 2, 1)), []float64{1, 1}, 4)
			}},
		{name: "call:start of an infeasible model", doc: "a start being called accepted without a look at it",
			needs: []needs{integers}, run: func(s *suite) {
				m := minimise("infeasible", []milp.Var{whole(0, 10, 1), whole(0, 10, 1)}, equal(9, 2, 2))
				a := s.must(background(), m, milp.Options{Gap: -1, Start: []float64{4, 1}})
				if s.proves(m) && a.Stop != milp.StopInfeasible || a.X != nil || a.Start == milp.StartAccepted {
					s.failf("%s: it stopped for %q with %v, and says of the start %q", describe(m), a.Stop, a.X, a.Start)
				}
			}},
	}
}

func callBacks() []testCase {
	return []testCase{
		{name: "call:incumbents", doc: "points told of that break the model, or are worse than the one before",
			needs: []needs{integers}, run: func(s *suite) {
				told := 0
				for seed := range s.cfg.Seeds {
					m := placement(seed)
					a := s.must(background(), m, exact())
					told += len(a.points)
					for k := 1; k < len(a.points); k++ {
						if before, now := m.Objective(a.points[k-1].X), m.Objective(a.points[k].X); s.better(m, before, now) {
							s.failf("%s: it told of %v after %v", describe(m), now, before)
						}
					}
					for _, p := range a.points {
						if value := m.Objective(p.X); !s.near(p.Objective, value) {
							s.failf("%s: it told of a point of %v as one of %v", describe(m), value, p.Objective)
						}
					}
				}
				s.Logf("%d points told of", told)
			}},
		{name: "call:nothing after return", doc: "call-backs that come after Solve has returned", run: func(s *suite) {
			var all []answer
			for range 3 {
				for _, m := range s.catalogue() {
					all = append(all, s.must(background(), m, milp.Options{Log: func(string) {}}))
				}
			}
			runtime.Gosched()
			for _, a := range all {
				if n := a.lateCalls(); n > 0 {
					s.failf("there were %d calls of Incumbent or Log after the return", n)
				}
			}
		}},
		{name: "call:log", doc: "log lines that do not come, or are no lines", needs: []needs{logs}, run: func(s *suite) {
			for _, m := range s.catalogue() {
				a := s.must(background(), m, milp.Options{Log: func(string) {}})
				if len(a.lines) == 0 {
					s.failf("%s: it claims Log, and said nothing", describe(m))
				}
				for _, line := range a.lines {
					if strings.ContainsAny(line, "\r\n") {
						s.failf("%s: %q is not one line", describe(m), line)
					}
				}
			}
		}},
	}
}

// startsAt expects the optimum of m from a start, whatever the backend makes of the start.
func (s *suite) startsAt(m *milp.Model, start []float64, want float64) {
	s.Helper()
	opts := exact()
	opts.Start = start
	a := s.try(m, opts)
	s.agrees(m, a, want)
	if s.proves(m) && (a.Stop != milp.StopOptimal || !s.near(a.Objective, want)) {
		s.failf("%s: from %v it stopped for %q with %v, expected the optimum %v", describe(m), start, a.Stop, a.Objective,
			want)
	}
	switch {
	case a.Start != milp.StartNone && a.Start != milp.StartAccepted && a.Start != milp.StartRejected &&
		a.Start != milp.StartUnknown:
		s.failf("%s: it says of the start %q", describe(m), a.Start)
	case a.Start == milp.StartNone && s.can.Start:
		s.failf("%s: it claims Start, and says nothing of one", describe(m))
	case a.Start == milp.StartAccepted && !s.can.Start:
		s.failf("%s: it does not claim Start, and says it accepted one", describe(m))
	}
	if milp.Check(m, start) == nil {
		s.keepsStart(m, start, a)
	}
}

// keepsStart expects a to be no worse than a feasible start, if that was accepted.
func (s *suite) keepsStart(m *milp.Model, start []float64, a answer) {
	s.Helper()
	if a.Start != milp.StartAccepted || s.can.Forgets {
		return
	}
	if a.X == nil {
		s.failf("%s: it accepted the start and has no point", describe(m))
	}
	if s.better(m, m.Objective(start), a.Objective) {
		s.failf("%s: it accepted a start of %v and has %v", describe(m), m.Objective(start), a.Objective)
	}
}

// oddNames is a model with names that files cannot have. Its optimum is 12.
func oddNames() *milp.Model {
	names := []string{"", "x", "x", "a b", "st", "free", "<= 5", "3e7", "inf", "naïve\n", strings.Repeat("long", 100),
		"C0000001", "end", "\\comment", "x1", "R1 + 2"}
	m := &milp.Model{Name: "odd: names\nand lines", Maximize: true}
	for _, name := range names {
		m.AddVar(milp.Var{Name: name, Upper: 1, Cost: 1})
	}
	for j, name := range names {
		r := milp.Row{Name: name, Lower: -inf, Upper: 1.5, Index: []int32{int32(j), int32((j + 1) % len(names))},
			Value: []float64{1, 1}}
		m.AddRow(r)
	}
	return m
}

// recovered is f, with a panic converted to an error.
func recovered(f func() (*milp.Result, error)) (res *milp.Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			res, err = nil, fmt.Errorf("panic: %v", r)
		}
	}()
	return f()
}

// refused expects an error of a kind.
func (s *suite) refused(m *milp.Model, opts milp.Options, kind error) {
	s.Helper()
	if res, err := milp.Solve(background(), s.b, m, opts); !errors.Is(err, kind) {
		s.failf("found %+v and %v, expected %v", res, err, kind)
	}
}

// catalogue is small models of all kinds that the backend can solve.
func (s *suite) catalogue() []*milp.Model {
	list := []*milp.Model{kleeMinty(), transport(), offset(5, minimise("fixed", []milp.Var{real(2, 2, 1)}, atMost(3, 1))),
		minimise("infeasible", []milp.Var{real(0, 1, 1)}, atLeast(2, 1))}
	if s.can.Integer || s.can.Heuristic {
		list = append(list, setCover(), oddCycle(), minimise("infeasible", []milp.Var{whole(0, 9, 1)}, equal(9, 2)))
	}
	return list
}

// concurrent solves several models at once, again and again.
func concurrent(s *suite) {
	const solves = 8
	models, wants := make([]*milp.Model, solves), make([]float64, solves)
	for k := range models {
		models[k], wants[k], _ = planted(k, 60+10*k, 12, 3)
		if k%2 == 1 && s.can.Integer {
			models[k], wants[k] = oddCycle(), 3
		}
	}
	for range 5 {
		var all []*pending
		for _, m := range models {
			all = append(all, s.begin(background(), m, exact()))
		}
		for k, p := range all {
			a := s.await(p)
			if a.err != nil {
				s.failf("%s: %v", describe(models[k]), a.err)
			}
			s.agrees(models[k], a, wants[k])
			if a.Stop != milp.StopOptimal || !s.near(a.Objective, wants[k]) {
				s.failf("%s: it stopped for %q with %v, expected the optimum %v", describe(models[k]), a.Stop, a.Objective,
					wants[k])
			}
		}
	}
}
