package milptest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hedgesched/hedge/solver/milp"
)

var inf = math.Inf(1)

// minimise is a model of variables and rows.
func minimise(name string, vars []milp.Var, rows ...milp.Row) *milp.Model {
	m := &milp.Model{Name: name}
	for _, v := range vars {
		m.AddVar(v)
	}
	for _, r := range rows {
		m.AddRow(r)
	}
	return m
}

// maximise is minimise with the opposite sense.
func maximise(name string, vars []milp.Var, rows ...milp.Row) *milp.Model {
	m := minimise(name, vars, rows...)
	m.Maximize = true
	return m
}

// real is a variable that may be fractional. whole is an integer variable.
func real(lower, upper, cost float64) milp.Var {
	return milp.Var{Lower: lower, Upper: upper, Cost: cost}
}

func whole(lower, upper, cost float64) milp.Var {
	return milp.Var{Lower: lower, Upper: upper, Cost: cost, Integer: true}
}

// row is a row of the first variables' coefficients, without its zeros.
func row(lower, upper float64, values ...float64) milp.Row {
	r := milp.Row{Lower: lower, Upper: upper}
	for j, v := range values {
		if v != 0 {
			r.Index, r.Value = append(r.Index, int32(j)), append(r.Value, v)
		}
	}
	return r
}

func atMost(upper float64, values ...float64) milp.Row  { return row(-inf, upper, values...) }
func atLeast(lower float64, values ...float64) milp.Row { return row(lower, inf, values...) }
func equal(to float64, values ...float64) milp.Row      { return row(to, to, values...) }

// random is the generator of a seed.
func random(seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 0x6d696c70)) }

// between is a whole number from low to high.
func between(r *rand.Rand, low, high int) float64 { return float64(low + r.IntN(high-low+1)) }

// split is a market-split problem: choose zeros and ones such that weighted sums miss six targets by as little as
// possible. The optimum is 0, since a hidden point hits all targets. No solver finds or proves that within hours. The
// second result is the start that takes nothing and misses every target.
func split(maximize bool) (m *milp.Model, start []float64) {
	const rows, items = 6, 50
	r := random(1)
	m = &milp.Model{Name: "market split", Maximize: maximize}
	hidden := make([]float64, items)
	for j := range items {
		m.AddVar(whole(0, 1, 0))
		hidden[j] = between(r, 0, 1)
	}
	cost := 1.0
	if maximize {
		cost = -1
	}
	start = make([]float64, items, items+2*rows)
	for range rows {
		entries := milp.Row{}
		for j := range items {
			a := between(r, 1, 99)
			entries.Lower += float64(a * hidden[j])
			entries.Index, entries.Value = append(entries.Index, int32(j)), append(entries.Value, a)
		}
		entries.Upper = entries.Lower
		less, more := m.AddVar(real(0, 10_000, cost)), m.AddVar(real(0, 10_000, cost))
		entries.Index, entries.Value = append(entries.Index, int32(less), int32(more)), append(entries.Value, 1, -1)
		m.AddRow(entries)
		start = append(start, entries.Lower, 0)
	}
	return m, start
}

// planted is a linear program with a known and unique optimum: its costs are made from a point and complementary dual
// values.
func planted(seed, vars, rows, perColumn int) (m *milp.Model, want float64, x []float64) {
	r := random(seed)
	m = &milp.Model{Name: fmt.Sprintf("planted LP of seed %d", seed), Maximize: seed%2 == 1}
	prices, activity := make([]float64, rows), make([]float64, rows)
	for i := range prices {
		if i%3 != 0 {
			prices[i] = between(r, 1, 9)
		}
	}
	list := make([]milp.Row, rows)
	for j := range vars {
		cost := 0.0
		at := 0.0
		used := map[int]bool{}
		for range perColumn {
			i := r.IntN(rows)
			if j < rows {
				i = j // a diagonal basis
			}
			if used[i] {
				continue
			}
			used[i] = true
			a := between(r, 1, 5)
			list[i].Index, list[i].Value = append(list[i].Index, int32(j)), append(list[i].Value, a)
			cost += float64(prices[i] * a)
		}
		switch {
		case j < rows && prices[j] > 0:
			at = between(r, 1, 3) / 4 // basic, with a reduced cost of 0
		case r.IntN(max(2, vars/1000)) > 0: // most of them, so that simple methods finish
			cost += between(r, 1, 9)
		default:
			at = 1
			cost -= between(r, 1, 9)
		}
		x = append(x, at)
		want += float64(cost * at)
		if m.Maximize {
			cost = -cost
		}
		m.AddVar(real(0, 1, cost))
	}
	for i := range list {
		for k, j := range list[i].Index {
			activity[i] += float64(list[i].Value[k] * x[j])
		}
		list[i].Lower, list[i].Upper = activity[i], inf
		if prices[i] == 0 {
			list[i].Lower = activity[i] - 1
		}
		m.AddRow(list[i])
	}
	if m.Maximize {
		want = -want
	}
	return m, want, x
}

// offset is m with an offset.
func offset(by float64, m *milp.Model) *milp.Model {
	m.Offset = by
	return m
}

// scaled is m with its costs multiplied.
func scaled(m *milp.Model, by float64) *milp.Model {
	for j := range m.Vars() {
		v := m.Var(j)
		v.Cost *= by
		m.SetVar(j, v)
	}
	return m
}

// gangs is a placement model: at most one option per job is taken, and its tasks are spread over partitions with room.
func gangs(seed uint64, jobs int, integer bool) *milp.Model {
	const options, partitions, slots = 6, 8, 12
	r := rand.New(rand.NewPCG(seed, 2))
	m := &milp.Model{Name: "gangs", Maximize: true}
	room := make([]milp.Row, partitions*slots)
	for range jobs {
		once := milp.Row{Upper: 1}
		tasks, utility, length := between(r, 1, 8), 1+float64(10*r.Float64()), 1+r.IntN(slots/2)
		for o := range options {
			taken := int32(
				m.AddVar(milp.Var{Upper: 1, Cost: utility * tasks * (1 - float64(0.05*float64(o))), Integer: integer}))
			once.Index, once.Value = append(once.Index, taken), append(once.Value, 1)
			spread := milp.Row{Index: []int32{taken}, Value: []float64{-tasks}}
			start := r.IntN(slots)
			for _, x := range r.Perm(partitions)[:2+r.IntN(3)] {
				q := int32(m.AddVar(milp.Var{Upper: tasks, Integer: integer}))
				spread.Index, spread.Value = append(spread.Index, q), append(spread.Value, 1)
				for t := start; t < min(slots, start+length); t++ {
					c := &room[x*slots+t]
					c.Upper = float64(jobs) / 24
					c.Index, c.Value = append(c.Index, q), append(c.Value, 1-float64(t-start)/float64(length+1))
				}
			}
			m.AddRow(spread)
		}
		m.AddRow(once)
	}
	for _, c := range room {
		m.AddRow(c)
	}
	return m
}
