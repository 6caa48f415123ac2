package milptest

import (
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/milp"
)

func mipCases() []testCase {
	list := slices.Concat(mipStatuses(), mipBounds(), mipMagnitudes(), mipRows(), mipPlacements())
	for i := range list {
		list[i].needs = append(list[i].needs, integers)
	}
	return list
}

func mipStatuses() []testCase {
	knapsack := func() *milp.Model {
		return maximise("knapsack", []milp.Var{whole(0, 1, 5), whole(0, 1, 4), whole(0, 1, 3)}, atMost(5, 2, 3, 1),
			atMost(11, 4, 1, 2), atMost(8, 3, 4, 2))
	}
	return []testCase{
		known("mip:optimal", "integer variables being taken as continuous", 9, knapsack, 1, 1, 0),
		known("mip:binaries", "binaries being taken as continuous", 8, func() *milp.Model {
			return maximise("", []milp.Var{whole(0, 1, 3), whole(0, 1, 4), whole(0, 1, 5)}, atMost(6, 2, 3, 4))
		}, 1, 0, 1),
		known("mip:integers", "the relaxation's point being rounded to one that is feasible and not optimal", 40,
			func() *milp.Model {
				return maximise("", []milp.Var{whole(0, 10, 5), whole(0, 10, 8)}, atMost(6, 1, 1), atMost(45, 5, 9))
			}, 0, 5),
		infeasible("mip:infeasible", "integer models with an infeasible relaxation", func() *milp.Model {
			return maximise("", []milp.Var{whole(0, 5, 1), whole(0, 5, 1)}, atLeast(11, 1, 1))
		}),
		infeasible("mip:infeasible with a feasible relaxation",
			"infeasible integer models being called optimal, or the relaxation's point being given", func() *milp.Model {
				return minimise("", []milp.Var{whole(0, 10, 1), whole(0, 10, 1)}, equal(9, 2, 2))
			}),
		unbounded("mip:unbounded", "unbounded integer models being called optimal", func() *milp.Model {
			return maximise("", []milp.Var{whole(0, inf, 1), whole(0, inf, 1)}, atMost(1, 1, -1))
		}),
		{name: "mip:infeasible or unbounded",
			doc: "an unbounded relaxation being taken for an unbounded model, which has no points", needs: []needs{wide},
			run: func(s *suite) {
				m := maximise("", []milp.Var{whole(0, 1, 0), whole(0, 1, 0), real(0, inf, 1)}, equal(1, 2, 2))
				s.stops(m, milp.StopInfeasible, milp.StopInfeasibleOrUnbounded)
			}},
		{name: "mip:both senses", doc: "branch and bound that cuts the wrong side when it maximises", run: func(s *suite) {
			m := minimise("", []milp.Var{whole(0, 7, 2), whole(0, 7, 3)}, row(13, 29, 3, 4))
			s.optimum(m, 9)
			m = m.Clone()
			m.Maximize = true
			s.optimum(m, 21)
		}},
		known("mip:offset", "an offset that is in the objective and not in the bound", -991, func() *milp.Model {
			return offset(-1000, knapsack())
		}),
	}
}

func mipBounds() []testCase {
	return []testCase{
		known("mip:fractional bounds", "fractional bounds of integer variables being taken as they are", 5,
			func() *milp.Model {
				return maximise("", []milp.Var{whole(0.5, 3.7, 1), whole(-1.5, 2.2, 1)}, atMost(50, 1, 1))
			}, 3, 2),
		{name: "mip:bounds a hair from whole",
			doc: "bounds that rounding has moved a hair off a whole number being rounded to the next one", run: func(s *suite) {
				above, below := math.Nextafter(3, 4), math.Nextafter(3, 2)
				for _, by := range []float64{0, 1e-12} {
					low, high := above+by, below-by
					s.optimum(minimise("lower bound a hair up", []milp.Var{whole(low, 9, 1), whole(0, 9, 1)}, atLeast(1, 1, 1)), 3, 3,
						0)
					s.optimum(maximise("upper bound a hair down", []milp.Var{whole(0, high, 1), whole(0, 9, -1)}, atMost(9, 1, 1)), 3,
						3, 0)
					s.optimum(minimise("fixed a hair up", []milp.Var{whole(low, low, 1), whole(0, 9, 1)}, atLeast(5, 1, 1)), 5, 3, 2)
					s.optimum(minimise("fixed a hair down", []milp.Var{whole(high, high, 1), whole(0, 9, 1)}, atLeast(5, 1, 1)), 5, 3,
						2)
				}
			}},
		known("mip:a fractional bound", "presolve going wrong with a bound of an integer that is not whole", -18,
			func() *milp.Model {
				return minimise("", []milp.Var{whole(2, 7, -9), whole(1, 5, 10), whole(-3, -1.5, -4)}, atMost(35.5, 4, 0, -8))
			}, 4, 1, -2),
		known("mip:negative range", "integers being taken as at least 0, or rounded towards it", -5, func() *milp.Model {
			return minimise("", []milp.Var{whole(-7, -2, 1), whole(-3, 4, 0)}, atLeast(-10.5, 2, 0), atLeast(-8, 1, 1))
		}, -5),
		known("mip:range that spans zero", "integers with a negative bound being taken for binaries", -3, func() *milp.Model {
			return minimise("", []milp.Var{whole(-1, 1, 3), whole(-1, 1, 1)}, atMost(4, 1, 2), atLeast(-1.5, 1, 1))
		}, -1, 0),
		known("mip:free integers", "free integers being taken as at least 0", -4, func() *milp.Model {
			return minimise("", []milp.Var{whole(-inf, inf, 1)}, atLeast(-9, 2))
		}, -4),
		known("mip:fixed integers", "fixed integers being freed by branching", 7, func() *milp.Model {
			return maximise("", []milp.Var{whole(2, 2, 1), whole(0, 9, 1)}, atMost(19, 2, 3))
		}, 2, 5),
	}
}

func mipMagnitudes() []testCase {
	return []testCase{
		known("mip:large integers", "integers beyond 32 bits being cut or wrapped", 9e9, func() *milp.Model {
			return maximise("large integers", []milp.Var{whole(0, 1e10, 1), whole(0, 1e10, 1)}, atMost(4.5e9, 1),
				atMost(0, -1, 1))
		}, 4.5e9, 4.5e9),
		known("mip:integers beyond a cut",
			"bounds being cut to what the solver can take, and the optimum of what is left being believed", 5e7,
			func() *milp.Model {
				return maximise("beyond a cut", []milp.Var{whole(0, 1e9, 1)}, atMost(5e7, 1))
			}, 5e7),
		known("mip:integers all beyond a cut",
			"models that have no points within bounds that were cut being called infeasible", 2e7, func() *milp.Model {
				return minimise("all beyond a cut", []milp.Var{whole(0, 1e9, 1)}, row(2e7, 5e7, 1))
			}, 2e7),
		known("mip:wide bounds", "integers whose bounds are far beyond what they take being cut, or failing", 10,
			func() *milp.Model {
				return maximise("", []milp.Var{whole(-1e15, 1e15, 1)}, atMost(21, 2))
			}, 10),
	}
}

func mipRows() []testCase {
	return []testCase{
		known("mip:mixed", "continuous variables being rounded with the integer ones", 14.5, func() *milp.Model {
			return maximise("", []milp.Var{whole(0, 10, 3), real(0, 10, 1)}, atMost(14.5, 3, 1), atMost(4.5, 1))
		}),
		known("mip:equality knapsack", "equations over integers being met by rounding", 4, func() *milp.Model {
			return minimise("", []milp.Var{whole(0, 20, 1), whole(0, 20, 1), whole(0, 20, 1)}, equal(47, 12, 13, 11))
		}),
		infeasible("mip:equality knapsack, infeasible", "equations over integers being met within the tolerance",
			func() *milp.Model {
				return minimise("", []milp.Var{whole(0, 20, 1), whole(0, 20, 1), whole(0, 20, 1)}, equal(37, 12, 15, 21))
			}),
		known("mip:big M", "switches that are left almost off", 13, func() *milp.Model {
			return minimise("big M", []milp.Var{real(0, 1e4, 1), real(0, 1e4, 2), whole(0, 1, 10), whole(0, 1, 3)},
				atLeast(5, 1, 1), atMost(0, 1, 0, -1e4), atMost(0, 0, 1, 0, -1e4))
		}),
		known("mip:ranges", "ranges over integers being taken for one of their sides", 5, func() *milp.Model {
			return minimise("", []milp.Var{whole(0, 9, 1), whole(0, 9, 1)}, row(13.5, 15.5, 3, 3), row(-2, 2, 1, -1))
		}),
		known("mip:duplicate entries", "entries of the same integer variable overwriting one another", 4, func() *milp.Model {
			return maximise("", []milp.Var{whole(0, 100, 1)},
				milp.Row{Lower: -inf, Upper: 14, Index: []int32{0, 0}, Value: []float64{1, 2}})
		}, 4),
		known("mip:no rows", "integer models without rows failing", 9, func() *milp.Model {
			return maximise("", []milp.Var{whole(-3, 4.5, 2), whole(-1, 4, -1)})
		}, 4, -1),
		known("mip:zero objective", "feasibility problems failing", 0, func() *milp.Model {
			return minimise("", []milp.Var{whole(0, 9, 0), whole(0, 9, 0)}, equal(1, 2, -3), atLeast(7, 1, 1))
		}),
		known("mip:assignment", "equations over binaries", 13, func() *milp.Model {
			return assignment([][]float64{{9, 2, 7, 8}, {6, 4, 3, 7}, {5, 8, 1, 8}, {7, 6, 9, 4}}, true)
		}),
		known("mip:set cover", "covers that leave something out", 3, setCover),
		known("mip:odd cycle", "bounds of the relaxation being called optima", 3, oddCycle),
	}
}

// setCover covers the lines of Fano's plane by points: the relaxation takes 7/3 of them.
func setCover() *milp.Model {
	m := &milp.Model{Name: "set cover"}
	for range 7 {
		m.AddVar(whole(0, 1, 1))
	}
	for _, line := range [][]int32{{0, 1, 2}, {0, 3, 4}, {0, 5, 6}, {1, 3, 5}, {1, 4, 6}, {2, 3, 6}, {2, 4, 5}} {
		m.AddRow(milp.Row{Lower: 1, Upper: inf, Index: line, Value: []float64{1, 1, 1}})
	}
	return m
}

// oddCycle is the largest set of a cycle of seven without neighbours: the relaxation takes half of each.
func oddCycle() *milp.Model {
	m := &milp.Model{Name: "odd cycle", Maximize: true}
	for range 7 {
		m.AddVar(whole(0, 1, 1))
	}
	for j := range int32(7) {
		m.AddRow(milp.Row{Lower: -inf, Upper: 1, Index: []int32{j, (j + 1) % 7}, Value: []float64{1, 1}})
	}
	return m
}

func mipPlacements() []testCase {
	return []testCase{
		known("mip:placement", "models of the shape that schedulers make: options of jobs against capacity by slot", 7.5,
			func() *milp.Model {
				a0, a1, b, c0, c1 := whole(0, 1, 5), whole(0, 1, 4.4), whole(0, 1, 4), whole(0, 1, 3), whole(0, 1, 2.5)
				return maximise("placement", []milp.Var{a0, a1, b, c0, c1}, atMost(1, 1, 1), atMost(1, 0, 0, 1),
					atMost(1, 0, 0, 0, 1, 1),
					atMost(4, 3, 0, 2, 2, 0), atMost(4, 0, 3, 2, 0, 2))
			}, 1, 0, 0, 0, 1),
		known("mip:placement, split", "integer splits of a gang that do not add up to it", 11, func() *milp.Model {
			// Gangs of 5 and 4 for partitions of 4 and 4, one slot; the first partition alone takes the second gang.
			return maximise("split gangs", []milp.Var{whole(0, 1, 8), whole(0, 1, 6), whole(0, 1, 3), whole(0, 5, 0),
				whole(0, 5, 0), whole(0, 4, 0), whole(0, 3, 0), whole(0, 3, 0)},
				equal(0, -5, 0, 0, 1, 1), equal(0, 0, -4, 0, 0, 0, 1), equal(0, 0, 0, -3, 0, 0, 0, 1, 1),
				atMost(4, 0, 0, 0, 1, 0, 1, 1), atMost(4, 0, 0, 0, 0, 1, 0, 0, 1))
		}),
		known("mip:placement, preemption", "costs of the other sign in an objective that is maximised", 3,
			func() *milp.Model {
				// Two slots of capacity 2, taken whole by a running job whose preemption costs 4 and frees them.
				return maximise("preemption", []milp.Var{whole(0, 1, 7), whole(0, 1, 3), whole(0, 1, -4)}, atMost(0, 2, 1, -2),
					atMost(0, 1, 0, -2))
			}),
		known("mip:placement, probabilities", "consumption by probabilities that are no round numbers", 9,
			func() *milp.Model {
				return maximise("probabilities", []milp.Var{whole(0, 1, 5), whole(0, 1, 4), whole(0, 1, 6)},
					atMost(6, 3, 2, 4), atMost(4, 3*0.7, 2*0.8, 4*0.9), atMost(2, 3*0.31, 2*0.45, 4*0.72))
			}, 1, 1, 0),
		{name: "mip:placements", doc: "wrong optima of the shape that schedulers make", run: func(s *suite) {
			for seed := range s.cfg.Seeds {
				s.likeReference(placement(seed))
			}
		}},
	}
}

// placement is a random placement problem: jobs with options that start in some slot and spread tasks over partitions,
// against capacity by partition and slot; and running jobs that can be preempted.
func placement(seed int) *milp.Model {
	const parts, slots = 2, 3
	r := random(seed)
	m := &milp.Model{Name: "placement", Maximize: true}
	capacity := make([]milp.Row, parts*slots)
	for i := range capacity {
		capacity[i] = atMost(between(r, 2, 6))
	}
	use := func(part, from, length int, v int, tasks float64) {
		for t := from; t < min(from+length, slots); t++ {
			c := &capacity[part*slots+t]
			c.Index, c.Value = append(c.Index, int32(v)), append(c.Value, tasks/float64(1+t-from))
		}
	}
	for range 2 + r.IntN(3) {
		tasks, length := between(r, 1, 4), 1+r.IntN(2)
		one := milp.Row{Lower: -inf, Upper: 1}
		for start := range 1 + r.IntN(2) {
			chosen := m.AddVar(whole(0, 1, between(r, 2, 20)-float64(start)))
			one.Index, one.Value = append(one.Index, int32(chosen)), append(one.Value, 1)
			sum := milp.Row{Index: []int32{int32(chosen)}, Value: []float64{-tasks}}
			for part := range parts {
				q := m.AddVar(whole(0, tasks, 0))
				sum.Index, sum.Value = append(sum.Index, int32(q)), append(sum.Value, 1)
				use(part, start, length, q, 1)
			}
			m.AddRow(sum)
		}
		m.AddRow(one)
	}
	use(r.IntN(parts), 0, slots, m.AddVar(whole(0, 1, -between(r, 1, 9))), -between(r, 1, 3))
	for _, c := range capacity {
		m.AddRow(c)
	}
	return m
}
