package milptest

import (
	"errors"
	"math"

	"github.com/hedgesched/hedge/solver/milp"
)

func callCases() []testCase {
	return []testCase{
		{name: "call:NaN and infinities", doc: "models that are not well formed reaching the backend", run: func(s *suite) {
			s.refused(minimise("", []milp.Var{real(0, 1, math.NaN())}), milp.Options{}, milp.ErrInvalid)
			s.refused(minimise("", []milp.Var{real(0, 1, 1)}, atMost(1, inf)), milp.Options{}, milp.ErrInvalid)
			s.refused(minimise("", []milp.Var{real(inf, inf, 1)}), milp.Options{}, milp.ErrInvalid)
		}},
		{name: "call:options", doc: "options that are not well formed reaching the backend", run: func(s *suite) {
			m := minimise("", []milp.Var{real(0, 1, 1)})
			s.refused(m, milp.Options{Time: -1}, milp.ErrInvalid)
			s.refused(m, milp.Options{Gap: math.NaN()}, milp.ErrInvalid)
			s.refused(m, milp.Options{Threads: -1}, milp.ErrInvalid)
			s.refused(m, milp.Options{Start: []float64{1, 2}}, milp.ErrInvalid)
		}},
		{name: "call:no integers", doc: "integer variables being relaxed by backends that know none", needs: []needs{noIntegers}, run: func(s *suite) {
			s.refused(minimise("", []milp.Var{whole(0, 1, 1)}), milp.Options{}, milp.ErrUnsupported)
		}},
		{name: "call:concurrent", doc: "state that solves share", run: concurrent},
		{name: "call:model unchanged", doc: "the model or the start being written to", run: func(s *suite) {
			for _, m := range s.catalogue() {
				a := s.must(background(), m, milp.Options{Start: make([]float64, m.Vars())})
				if !a.unchanged {
					s.failf("%s: the model or the start has changed", describe(m))
				}
			}
		}},
		{name: "call:twice", doc: "a second solve that differs", run: func(s *suite) {
			for _, m := range s.catalogue() {
				a, b := s.must(background(), m, exact()), s.must(background(), m, exact())
				if a.Stop != b.Stop || !s.near(a.Objective, b.Objective) {
					s.failf("%s: %q with %v, and then %q with %v", describe(m), a.Stop, a.Objective, b.Stop, b.Objective)
				}
			}
		}},
	}
}

// refused wants an error of a kind.
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

func concurrent(s *suite) {
	const solves = 8
	models, wants := make([]*milp.Model, solves), make([]float64, solves)
	for k := range models {
		models[k], wants[k], _ = planted(k, 60+10*k, 12, 3)
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
				s.failf("%s: it stopped for %q with %v, expected the optimum %v", describe(models[k]), a.Stop, a.Objective, wants[k])
			}
		}
	}
}
