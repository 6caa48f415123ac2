package milptest

import (
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/milp"
)

func lpCases() []testCase {
	return slices.Concat(lpStatuses(), lpRows(), lpColumns(), lpNumbers(), lpClassics())
}

func lpStatuses() []testCase {
	return []testCase{
		known("lp:optimal", "anything at all being wrong", 36, func() *milp.Model {
			return maximise("", []milp.Var{real(0, 100, 3), real(0, 100, 5)}, atMost(4, 1), atMost(12, 0, 2), atMost(18, 3, 2))
		}, 2, 6),
		known("lp:minimise", "maximising where the model minimises", -36, func() *milp.Model {
			return minimise("", []milp.Var{real(0, 100, -3), real(0, 100, -5)}, atMost(4, 1), atMost(12, 0, 2), atMost(18, 3, 2))
		}, 2, 6),
		{name: "lp:both senses", doc: "Maximize being ignored, or turning costs but not bounds", run: func(s *suite) {
			m := minimise("", []milp.Var{real(0, 4, 1), real(1, 5, 1)}, row(2, 8, 1, 1))
			s.optimum(m, 2)
			m = m.Clone()
			m.Maximize = true
			s.optimum(m, 8)
		}},
		infeasible("lp:infeasible", "infeasible models called optimal, or being an error", func() *milp.Model {
			return minimise("", []milp.Var{real(0, 10, 1), real(0, 10, 1)}, atLeast(5, 1, 1), atMost(4, 1, 1))
		}),
		infeasible("lp:infeasible rows and bounds", "rows being compared with one another but not with bounds",
			func() *milp.Model {
				return maximise("", []milp.Var{real(0, 1, 1), real(0, 1, 1)}, atLeast(2.5, 1, 1))
			}),
		infeasible("lp:infeasible equations", "inconsistent equations being dropped as dependent", func() *milp.Model {
			return minimise("", []milp.Var{real(-9, 9, 1), real(-9, 9, 1), real(-9, 9, 0)}, equal(1, 1, 1, 1),
				equal(2, 1, -1, 0), equal(4, 2, 0, 1))
		}),
		unbounded("lp:unbounded", "unbounded models called optimal at the point in hand", func() *milp.Model {
			return maximise("", []milp.Var{real(0, inf, 1), real(0, inf, 1)}, atMost(1, 1, -1))
		}),
		unbounded("lp:unbounded below", "unbounded directions looked for upwards only", func() *milp.Model {
			return minimise("", []milp.Var{real(-inf, 3, 1), real(0, 1, 1)}, atMost(5, 1, 1))
		}),
		{name: "lp:infeasible or unbounded", doc: "a model without points whose dual has none either being called optimal",
			needs: []needs{wide}, run: func(s *suite) {
				m := maximise("", []milp.Var{real(0, inf, 1), real(0, inf, 1)}, atMost(-1, 1, -1), atMost(-1, -1, 1))
				s.stops(m, milp.StopInfeasible, milp.StopInfeasibleOrUnbounded)
			}},
		{name: "lp:infeasible without bounds", doc: "infeasible models over free variables being called optimal",
			needs: []needs{wide}, run: func(s *suite) {
				m := minimise("", []milp.Var{real(-inf, inf, 0), real(-inf, inf, 0)}, equal(1, 1, 1), equal(3, 1, 1))
				s.stops(m, milp.StopInfeasible, milp.StopInfeasibleOrUnbounded)
			}},
		{name: "lp:solve after failure", doc: "an infeasible or an unbounded model leaving something behind",
			run: func(s *suite) {
				good := maximise("", []milp.Var{real(0, 3, 1), real(0, 3, 2)}, atMost(4, 1, 1))
				s.optimum(good, 7)
				s.infeasible(minimise("", []milp.Var{real(0, 1, 1)}, atLeast(2, 1)))
				s.optimum(good, 7)
				if !s.can.Bounded {
					s.unbounded(maximise("", []milp.Var{real(0, inf, 1)}, atLeast(2, 1)))
					s.optimum(good, 7)
				}
			}},
	}
}

func lpRows() []testCase {
	two := func() []milp.Var { return []milp.Var{real(0, 10, 1), real(0, 10, 2)} }
	return []testCase{
		known("lp:no rows", "models without rows failing", -7, func() *milp.Model {
			return minimise("", []milp.Var{real(-2, 5, 1), real(-2, 5, -1), real(3, 4, 0)})
		}),
		unbounded("lp:no rows, unbounded", "models without rows being called optimal at a bound", func() *milp.Model {
			return minimise("", []milp.Var{real(-2, inf, -1)})
		}),
		known("lp:empty row", "rows without entries failing where zero satisfies them", 10, func() *milp.Model {
			return maximise("", two(), row(-1, 1), atMost(5, 0, 1), row(0, 0), row(-inf, inf), atMost(0, 1))
		}),
		known("lp:free row", "rows without bounds binding", 30, func() *milp.Model {
			return maximise("", two(), row(-inf, inf, 1, 1))
		}),
		known("lp:equality", "equations being taken for one of their sides", 6, func() *milp.Model {
			return minimise("", two(), equal(6, 1, 1))
		}, 6, 0),
		known("lp:equality from above", "equations being taken for their lower side", 12, func() *milp.Model {
			return maximise("", two(), equal(6, 1, 1))
		}, 0, 6),
		known("lp:range, lower side", "ranges being taken for their upper side", 4, func() *milp.Model {
			return minimise("", two(), row(4, 9, 1, 1))
		}, 4, 0),
		known("lp:range, upper side", "ranges being taken for their lower side", 18, func() *milp.Model {
			return maximise("", two(), row(4, 9, 1, 1))
		}, 0, 9),
		known("lp:negative range", "ranges of negative numbers being turned round", 9, func() *milp.Model {
			return minimise("", two(), row(-5, -3, -1, 0), row(-12, -12, -2, -1), row(-20, -1, 0, -1))
		}, 5, 2),
		known("lp:duplicate entries", "entries of the same variable overwriting one another", 4, func() *milp.Model {
			return maximise("", []milp.Var{real(0, 100, 1), real(0, 100, 0)},
				milp.Row{Lower: -inf, Upper: 12, Index: []int32{0, 1, 0}, Value: []float64{1, 1, 2}})
		}),
		known("lp:duplicates that cancel", "entries of the same variable that add up to zero", 100, func() *milp.Model {
			return maximise("", []milp.Var{real(0, 100, 1), real(0, 1, 0)},
				milp.Row{Lower: 0, Upper: 1, Index: []int32{0, 1, 0}, Value: []float64{3, 1, -3}})
		}),
		known("lp:zero coefficients", "zeros that are given failing", 5, func() *milp.Model {
			return maximise("", []milp.Var{real(0, 10, 1), real(0, 10, 0)},
				milp.Row{Lower: -inf, Upper: 5, Index: []int32{0, 1}, Value: []float64{1, 0}},
				milp.Row{Lower: 0, Upper: 0, Index: []int32{1}, Value: []float64{0}})
		}),
		known("lp:unsorted entries", "entries being taken for sorted", 15, func() *milp.Model {
			return maximise("", []milp.Var{real(0, 10, 1), real(0, 10, 1), real(0, 10, 1)},
				milp.Row{Lower: -inf, Upper: 20, Index: []int32{2, 0, 1}, Value: []float64{1, 2, 4}},
				milp.Row{Lower: 5, Upper: inf, Index: []int32{1, 0}, Value: []float64{-1, 1}})
		}, 5, 0, 10),
		known("lp:same row twice", "dependent rows being singular", 12, func() *milp.Model {
			return maximise("", two(), equal(6, 1, 1), equal(12, 2, 2), equal(6, 1, 1))
		}),
	}
}

func lpColumns() []testCase {
	return []testCase{
		known("lp:empty column", "variables in no row being left where they are", 12, func() *milp.Model {
			return maximise("", []milp.Var{real(0, 2, 1), real(-3, 4, -2), real(-3, 4, 1)}, atMost(5, 1))
		}, 2, -3, 4),
		unbounded("lp:empty column, unbounded", "unbounded variables in no row being overlooked", func() *milp.Model {
			return maximise("", []milp.Var{real(0, 2, 1), real(0, inf, 1)}, atMost(5, 1))
		}),
		known("lp:empty column, free", "free variables in no row without a cost being called unbounded", 2,
			func() *milp.Model {
				return maximise("", []milp.Var{real(0, 2, 1), real(-inf, inf, 0)}, atMost(5, 1))
			}),
		known("lp:free variables", "free variables being taken as at least 0", -5, func() *milp.Model {
			return minimise("", []milp.Var{real(-inf, inf, 1), real(-inf, inf, 1)}, atLeast(-5, 1, 1), atMost(3, 1, -1),
				atLeast(-3, 1, -1))
		}),
		known("lp:negative lower bound", "negative lower bounds being taken as 0", -7, func() *milp.Model {
			return minimise("", []milp.Var{real(-4, 10, 1), real(-3, 10, 1)}, atMost(100, 1, 1))
		}, -4, -3),
		known("lp:negative upper bound", "negative upper bounds making lower ones of 0, or being dropped", -2,
			func() *milp.Model {
				return maximise("", []milp.Var{real(-4, -2, 1), real(-4, 10, 0)}, atLeast(-6, 1, 1))
			}),
		known("lp:no lower bound", "missing lower bounds being taken as 0", -8, func() *milp.Model {
			return minimise("", []milp.Var{real(-inf, 5, 1)}, atLeast(-8, 1))
		}, -8),
		known("lp:no lower bound, negative upper bound", "an upper bound below 0 alone changing the lower one", -8,
			func() *milp.Model {
				return minimise("", []milp.Var{real(-inf, -5, 1)}, atLeast(-8, 1))
			}, -8),
		known("lp:fixed variables", "fixed variables moving, or being lost from rows", 13, func() *milp.Model {
			return maximise("", []milp.Var{real(2, 2, 3), real(0, 10, 1), real(-1, -1, 0)}, atMost(9, 1, 1, 0),
				atMost(100, 1, 1, 1))
		}, 2, 7, -1),
		known("lp:all fixed", "models of nothing but fixed variables failing", 5, func() *milp.Model {
			return minimise("", []milp.Var{real(2, 2, 1), real(3, 3, 1)}, equal(5, 1, 1))
		}, 2, 3),
		infeasible("lp:fixed out of rows", "rows of nothing but fixed variables being dropped", func() *milp.Model {
			return minimise("", []milp.Var{real(2, 2, 1), real(3, 3, 1)}, atMost(4.9, 1, 1))
		}),
		known("lp:zero objective", "models without costs failing", 0, func() *milp.Model {
			return maximise("", []milp.Var{real(0, 4, 0), real(0, 4, 0)}, equal(5, 1, 1))
		}),
		known("lp:offset", "the offset being lost, or turned round with the costs", 104, func() *milp.Model {
			return offset(100, maximise("", []milp.Var{real(0, 4, 1)}, atMost(9, 1)))
		}),
		known("lp:offset of a minimum", "the offset being lost, or turned round with the costs", -104, func() *milp.Model {
			return offset(-100, minimise("", []milp.Var{real(-4, 4, 1)}, atMost(9, 1)))
		}),
	}
}

func lpNumbers() []testCase {
	return []testCase{
		known("lp:tiny costs", "costs below a solver's tolerance being taken as zero", 3e-7, func() *milp.Model {
			return scaled(maximise("", []milp.Var{real(0, 1, 1), real(0, 1, 2)}, atMost(3, 1, 1)), 1e-7)
		}, 1, 1),
		known("lp:huge costs", "costs beyond a solver's infinity", 8e12, func() *milp.Model {
			return scaled(maximise("", []milp.Var{real(0, 4, 1), real(0, 4, 2)}, atMost(4, 1, 1)), 1e12)
		}, 0, 4),
		known("lp:tiny coefficients", "small coefficients being dropped where their variables are large", 2e6,
			func() *milp.Model {
				return maximise("", []milp.Var{real(0, 1e9, 1)}, atMost(2, 1e-6))
			}, 2e6),
		known("lp:huge coefficients", "large coefficients failing", 2e-6, func() *milp.Model {
			return maximise("", []milp.Var{real(0, 10, 1)}, atMost(20, 1e7))
		}, 2e-6),
		known("lp:large right side", "large bounds of rows being taken as none", 3e9, func() *milp.Model {
			return maximise("", []milp.Var{real(0, 1e10, 1), real(0, 1e10, 1)}, atMost(3e9, 1, 1))
		}),
		known("lp:mixed magnitudes", "scaling that is not undone in points or bounds", 1e6+1e-3, func() *milp.Model {
			return maximise("", []milp.Var{real(0, 1e6, 1), real(0, 1e-3, 1)}, atMost(1e9, 1000, 1), atMost(1, 1e-6, 1e-3))
		}),
		known("lp:large bounds that do not bind", "bounds of 1e15 making the objective inexact", -5, func() *milp.Model {
			return minimise("", []milp.Var{real(-1e15, 1e15, 1)}, atLeast(-5, 1))
		}, -5),
	}
}

func lpClassics() []testCase {
	return []testCase{
		known("lp:Beale", "the simplex method cycling", -0.05, func() *milp.Model {
			return minimise("Beale", []milp.Var{real(0, 1e4, -0.75), real(0, 1e4, 150), real(0, 1e4, -0.02), real(0, 1e4, 6)},
				atMost(0, 0.25, -60, -0.04, 9), atMost(0, 0.5, -90, -0.02, 3), atMost(1, 0, 0, 1))
		}, 0.04, 0, 1, 0),
		known("lp:Kuhn", "the simplex method cycling", -2, func() *milp.Model {
			return minimise("Kuhn", []milp.Var{real(0, 1e4, -2), real(0, 1e4, -3), real(0, 1e4, 1), real(0, 1e4, 12)},
				atMost(0, -2, -9, 1, 9), atMost(0, 1.0/3, 1, -1.0/3, -2), atMost(2, 2, 3, -1, -12))
		}),
		known("lp:Klee-Minty", "exponential paths ending early", 78125, kleeMinty),
		known("lp:degenerate", "steps that move nothing being taken for the end", 3, func() *milp.Model {
			m := maximise("degenerate", []milp.Var{real(0, 1, 1), real(0, 1, 1), real(0, 1, 1)})
			for k := range 30 {
				m.AddRow(atMost(0, float64(k+1), -float64(k+1)))
				m.AddRow(atMost(0, 0, float64(k+2), -float64(k+2)))
			}
			return m
		}, 1, 1, 1),
		known("lp:assignment", "degenerate vertices; the relaxation of an assignment has a whole optimum", 13,
			func() *milp.Model {
				return assignment([][]float64{{9, 2, 7, 8}, {6, 4, 3, 7}, {5, 8, 1, 8}, {7, 6, 9, 4}}, false)
			}),
		known("lp:transport", "equations with the same sum on both sides being called infeasible", 210, transport),
		{name: "lp:duality", doc: "an optimum or a bound that is not; primal and dual agree", run: duality},
		{name: "lp:planted optima", doc: "wrong points of linear programs with hundreds of entries", run: func(s *suite) {
			for seed := range s.cfg.Seeds {
				m, want, x := planted(seed, 40, 10, 3)
				s.optimum(m, want, x...)
			}
		}},
		{name: "lp:20,000 variables", doc: "memory or time that grows with the square of the columns", run: func(s *suite) {
			m, want, _ := planted(1, 20_000, 50, 2)
			s.optimum(m, want)
		}},
	}
}

func kleeMinty() *milp.Model {
	const n = 7
	m := &milp.Model{Name: "Klee-Minty", Maximize: true}
	for j := range n {
		m.AddVar(real(0, 1e6, math.Ldexp(1, n-1-j)))
	}
	limit := 1.0
	for i := range n {
		limit *= 5
		r := make([]float64, i+1)
		for j := range i {
			r[j] = math.Ldexp(2, i-j)
		}
		r[i] = 1
		m.AddRow(atMost(limit, r...))
	}
	return m
}

// assignment gives each line of cost a column of its own.
func assignment(cost [][]float64, integer bool) *milp.Model {
	n := len(cost)
	m := &milp.Model{Name: "assignment"}
	for _, line := range cost {
		for _, c := range line {
			m.AddVar(milp.Var{Upper: 1, Cost: c, Integer: integer})
		}
	}
	for i := range n {
		lines, columns := make([]float64, n*n), make([]float64, n*n)
		for k := range n {
			lines[i*n+k], columns[k*n+i] = 1, 1
		}
		m.AddRow(equal(1, lines...))
		m.AddRow(equal(1, columns...))
	}
	return m
}

// transport has supplies of 20, 30 and 25, and demands of 10, 35 and 30.
func transport() *milp.Model {
	m := &milp.Model{Name: "transport"}
	for _, c := range []float64{2, 3, 1, 5, 4, 8, 5, 6, 2} {
		m.AddVar(real(0, 75, c))
	}
	for i, supply := range []float64{20, 30, 25} {
		r := make([]float64, 9)
		r[3*i], r[3*i+1], r[3*i+2] = 1, 1, 1
		m.AddRow(equal(supply, r...))
	}
	for j, demand := range []float64{10, 35, 30} {
		r := make([]float64, 9)
		r[j], r[j+3], r[j+6] = 1, 1, 1
		m.AddRow(equal(demand, r...))
	}
	return m
}

// duality solves random linear programs and their duals: min c·x, Ax >= b, x >= 0 and max b·y, yA <= c, y >= 0.
func duality(s *suite) {
	for seed := range s.cfg.Seeds {
		primal, dual := dualPair(seed)
		a, b := s.try(primal, exact()), s.try(dual, exact())
		if a.Stop != milp.StopOptimal || b.Stop != milp.StopOptimal {
			s.failf("duality of seed %d: the primal stopped for %q, the dual for %q; both have optima", seed, a.Stop, b.Stop)
		}
		if !s.near(a.Objective, b.Objective) {
			s.failf("duality of seed %d: the primal's optimum is %v, the dual's %v", seed, a.Objective, b.Objective)
		}
		if s.better(primal, b.Objective, a.Bound) || s.better(dual, a.Objective, b.Bound) {
			s.failf("duality of seed %d: the primal has %v and a bound of %v, the dual %v and %v", seed, a.Objective, a.Bound,
				b.Objective, b.Bound)
		}
	}
}

// dualPair is a random linear program that has points, and its dual, which has too. Bounds that are there for
// backends that need some do not bind at some optimum.
func dualPair(seed int) (primal, dual *milp.Model) {
	r := random(seed)
	vars, rows := 2+r.IntN(7), 1+r.IntN(7)
	a := make([][]float64, rows)
	x, y := make([]float64, vars), make([]float64, rows)
	b, c := make([]float64, rows), make([]float64, vars)
	for j := range x {
		x[j], c[j] = max(0, between(r, -3, 5)), between(r, 0, 4)
	}
	for i := range a {
		y[i], a[i] = max(0, between(r, -3, 5)), make([]float64, vars)
		for j := range a[i] {
			a[i][j] = between(r, -4, 6)
			b[i] += float64(a[i][j] * x[j])
			c[j] += float64(a[i][j] * y[i])
		}
		b[i] -= between(r, 0, 4)
	}
	primal, dual = &milp.Model{Name: "primal"}, &milp.Model{Name: "dual", Maximize: true}
	for j := range x {
		primal.AddVar(real(0, 1e6, c[j]))
	}
	for i := range y {
		dual.AddVar(real(0, 1e6, b[i]))
		primal.AddRow(atLeast(b[i], a[i]...))
	}
	for j := range x {
		column := make([]float64, rows)
		for i := range y {
			column[i] = a[i][j]
		}
		dual.AddRow(atMost(c[j], column...))
	}
	return primal, dual
}
