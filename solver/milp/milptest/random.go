package milptest

import (
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/milptest/reference"
)

func randomCases() []testCase {
	return []testCase{
		{name: "random:enumerated", doc: "wrong optima or statuses of small integer models", needs: []needs{integers},
			run: func(s *suite) {
				for seed := range 2 * s.cfg.Seeds {
					m := smallInteger(seed)
					if best := enumerate(m); math.IsInf(best, 0) {
						s.infeasible(m)
					} else {
						s.optimum(m, best)
					}
				}
			}},
		{name: "random:rewritten", doc: "optima that depend on how a model is written", needs: []needs{integers},
			run: func(s *suite) {
				for seed := range s.cfg.Seeds {
					m := smallInteger(seed)
					best := enumerate(m)
					for _, other := range rewritten(m, seed) {
						if math.IsInf(best, 0) {
							s.infeasible(other)
						} else {
							s.optimum(other, best)
						}
					}
				}
			}},
		{name: "random:linear", doc: "wrong optima or statuses of linear programs with all kinds of rows and bounds",
			run: func(s *suite) {
				for seed := range 2 * s.cfg.Seeds {
					s.likeReference(mixed(seed, false, !s.can.Bounded))
				}
			}},
		{name: "random:mixed", doc: "wrong optima or statuses of mixed-integer models", needs: []needs{integers},
			run: func(s *suite) {
				for seed := range s.cfg.Seeds {
					s.likeReference(mixed(seed, true, false))
				}
			}},
	}
}

// likeReference expects the result of the reference backend for m.
func (s *suite) likeReference(m *milp.Model) {
	s.Helper()
	ref, err := milp.Solve(background(), reference.New(), m, exact())
	if err != nil {
		s.failf("%s: the reference backend: %v", describe(m), err)
	}
	switch {
	case ref.Stop == milp.StopOptimal:
		s.optimum(m, ref.Objective)
	case ref.Stop == milp.StopUnbounded:
		s.unbounded(m)
	case ref.Stop != milp.StopInfeasible:
		s.failf("%s: the reference backend stopped for %q", describe(m), ref.Stop)
	case boxed(m):
		s.infeasible(m)
	default:
		s.stops(m, milp.StopInfeasible, milp.StopInfeasibleOrUnbounded)
	}
}

// boxed reports whether all of m's bounds are finite.
func boxed(m *milp.Model) bool {
	lower, upper := m.Bounds()
	infinite := func(v float64) bool { return math.IsInf(v, 0) }
	return !slices.ContainsFunc(lower, infinite) && !slices.ContainsFunc(upper, infinite)
}

// smallInteger is a random model of two to five integer variables in small boxes.
func smallInteger(seed int) *milp.Model {
	r := random(seed)
	m := &milp.Model{Name: "small integer model", Maximize: r.IntN(2) == 0, Offset: between(r, -2, 2)}
	n := 2 + r.IntN(4)
	for range n {
		lower := between(r, -3, 2)
		m.AddVar(whole(lower, lower+between(r, 0, 4), between(r, -9, 9)))
	}
	for range r.IntN(5) {
		values := make([]float64, n)
		for j := range values {
			values[j] = between(r, -5, 7)
		}
		at := between(r, -10, 25)
		switch r.IntN(5) {
		case 0:
			m.AddRow(atLeast(-at, values...))
		case 1:
			m.AddRow(row(at-between(r, 1, 9), at, values...))
		case 2:
			m.AddRow(equal(at, values...))
		default:
			m.AddRow(atMost(at, values...))
		}
	}
	return m
}

// enumerate is m's best objective, found by trying every point of its box. If there is none, it is infinite on the
// worse side. All variables must be integer, with whole bounds.
func enumerate(m *milp.Model) float64 {
	lower, upper := m.Bounds()
	x := slices.Clone(lower)
	best := -milp.NoBound(m)
	for j := 0; j < len(x); {
		if milp.Check(m, x) == nil {
			if v := m.Objective(x); milp.Better(m, v, best) {
				best = v
			}
		}
		for j = 0; j < len(x); j++ {
			if x[j]++; x[j] <= upper[j] {
				break
			}
			x[j] = lower[j]
		}
	}
	return best
}

// rewritten is m in other forms: variables reordered and mirrored, rows scaled, ranges as two rows, the objective
// negated twice.
func rewritten(m *milp.Model, seed int) []*milp.Model {
	r := random(seed)
	order := r.Perm(m.Vars())
	permuted := &milp.Model{Name: "permuted " + m.Name, Maximize: m.Maximize, Offset: m.Offset}
	mirrored := &milp.Model{Name: "mirrored " + m.Name, Maximize: m.Maximize, Offset: m.Offset}
	place := make([]int32, m.Vars())
	for _, j := range order {
		place[j] = int32(permuted.AddVar(m.Var(j)))
	}
	for j := range m.Vars() {
		v := m.Var(j)
		mirrored.AddVar(whole(-v.Upper, -v.Lower, -v.Cost))
	}
	for i := range m.Rows() {
		a, b := m.Row(i), m.Row(i)
		a.Index, b.Value = slices.Clone(a.Index), slices.Clone(b.Value)
		for k, j := range a.Index {
			a.Index[k], b.Value[k] = place[j], -b.Value[k]
		}
		scale := math.Ldexp(1, r.IntN(7)-3)
		for k := range b.Value {
			b.Value[k] *= scale
		}
		permuted.AddRow(a)
		mirrored.AddRow(milp.Row{Lower: b.Lower * scale, Upper: inf, Index: b.Index, Value: b.Value})
		mirrored.AddRow(milp.Row{Lower: -inf, Upper: b.Upper * scale, Index: b.Index, Value: b.Value})
	}
	return []*milp.Model{permuted, mirrored}
}

// mixed is a random model with every kind of row and bound. open lets bounds be infinite.
func mixed(seed int, integer, open bool) *milp.Model {
	r := random(seed)
	m := &milp.Model{Name: "mixed model", Maximize: r.IntN(2) == 0}
	n := 3 + r.IntN(6)
	for range n {
		lower := between(r, -5, 3)
		v := real(lower, lower+between(r, 0, 8), between(r, -9, 9))
		v.Integer = integer && r.IntN(2) == 0
		if open && r.IntN(4) == 0 {
			v.Lower = -inf
		}
		if open && r.IntN(4) == 0 {
			v.Upper = inf
		}
		m.AddVar(v)
	}
	for range 1 + r.IntN(6) {
		e := milp.Row{Lower: -inf, Upper: inf}
		for range 1 + r.IntN(n) { // may include duplicates
			e.Index, e.Value = append(e.Index, int32(r.IntN(n))), append(e.Value, between(r, -6, 6))
		}
		at := between(r, -8, 16)
		switch r.IntN(5) {
		case 0:
			e.Lower = -at
		case 1:
			e.Lower, e.Upper = at-float64(between(r, 0, 6)/2), at
		case 2:
			e.Lower, e.Upper = at/2, at/2
		default:
			e.Upper = at
		}
		m.AddRow(e)
	}
	return m
}
