package milptest

import (
	"slices"

	"github.com/hedgesched/hedge/solver/milp"
)

// cases are all cases. The beginnings of their names group them for the order of work.
func cases() []testCase {
	return slices.Concat(lpCases(), mipCases(), limitCases(), callCases(), randomCases())
}

// known is a case of one model whose optimum is known.
func known(name, doc string, want float64, model func() *milp.Model, x ...float64) testCase {
	return testCase{name: name, doc: doc, run: func(s *suite) { s.optimum(model(), want, x...) }}
}

// infeasible is a case of one model that has no points.
func infeasible(name, doc string, model func() *milp.Model) testCase {
	return testCase{name: name, doc: doc, run: func(s *suite) { s.infeasible(model()) }}
}

// unbounded is a case of one model whose objective is unbounded.
func unbounded(name, doc string, model func() *milp.Model) testCase {
	return testCase{name: name, doc: doc, needs: []needs{wide}, run: func(s *suite) { s.unbounded(model()) }}
}
