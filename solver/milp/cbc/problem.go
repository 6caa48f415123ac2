//go:build cgo

package cbc

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/hedgesched/hedge/solver/milp"
)

// problem is a model in the library's form.
type problem struct {
	m            *milp.Model
	sign         float64
	integers     int
	begin        []int32
	matrix       milp.Matrix
	cost         []float64
	lower, upper []float64
	integer      []int8
}

// newProblem translates m.
func newProblem(m *milp.Model) (*problem, error) {
	if m.Entries() > math.MaxInt32 || m.Vars() >= math.MaxInt32 {
		return nil, fmt.Errorf("%w: %d entries, %d variables", milp.ErrUnsupported, m.Entries(), m.Vars())
	}
	p := &problem{m: m, sign: 1, matrix: m.ByColumn(), cost: m.Costs()}
	if m.Maximize {
		p.sign = -1
		p.cost = make([]float64, m.Vars())
		for j, c := range m.Costs() {
			p.cost[j] = -c
		}
	}
	p.begin = make([]int32, len(p.matrix.Begin))
	for j, b := range p.matrix.Begin {
		p.begin[j] = int32(b)
	}
	p.bound()
	return p, nil
}

// bound copies the variables' bounds, made whole for integers.
func (p *problem) bound() {
	lower, upper := p.m.WholeBounds()
	p.lower, p.upper = append([]float64(nil), lower...), append([]float64(nil), upper...)
	p.integer = make([]int8, len(lower))
	for j := range lower {
		if p.m.Var(j).Integer {
			p.integers++
			p.integer[j] = 1
		}
	}
}

// tidy rounds x to whole numbers where required and clips it to the bounds, if it is then still feasible.
func (p *problem) tidy(x []float64) []float64 {
	t := append([]float64(nil), x...)
	for j := range t {
		if p.integer[j] != 0 {
			t[j] = math.Round(t[j])
		}
		t[j] = math.Min(math.Max(t[j], p.lower[j]), p.upper[j]) + 0 // adding 0 turns -0 into 0
	}
	if milp.Check(p.m, t) != nil {
		return x
	}
	return t
}

// completed is a feasible point with the integers that start gives, nil if none is found.
func (p *problem) completed(ctx context.Context, start []float64) []float64 {
	if milp.Check(p.m, start) == nil {
		return p.tidy(start)
	}
	q := *p
	q.lower, q.upper = append([]float64(nil), p.lower...), append([]float64(nil), p.upper...)
	for j, v := range start {
		if p.integer[j] == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		v = math.Round(v)
		if v < p.lower[j] || v > p.upper[j] {
			return nil
		}
		q.lower[j], q.upper[j] = v, v
	}
	limit := startTime
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(end)/startShare)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := q.call(ctx, callOptions{gap: 1, known: math.Inf(1), nodes: startNodes})
	if err != nil || out.x == nil {
		return nil
	}
	if x := p.tidy(out.x); milp.Check(p.m, x) == nil {
		return x
	}
	return nil
}

// The limits for completing a start: nodes, time, and one part in startShare of the time left.
const (
	startNodes = 100
	startTime  = 5 * time.Second
	startShare = 10
)
