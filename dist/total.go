package dist

import "math"

// Total is the distribution of a sum of independent quantities that matters up to a limit, as of what the tasks on a
// machine use: a bounded grid of equal cells and, beyond the limit, one mass. Adding a quantity costs one
// multiplication for every cell and atom; nothing is allocated after [NewTotal].
//
// There is no way to take a quantity out of the sum, since dividing it out of the sum's distribution is unstable.
// Whoever needs that sums anew: equal quantities in equal order give equal bits.
//
// The mean is exact but for rounding. What a quantity has at one value is moved by at most so much, see
// [Total.Error], so with F the true distribution function and e the error
//
//	F(x-e) <= 1 - Tail(x) <= F(x+e).
//
// A Total is for one goroutine at a time.
type Total struct {
	step   float64
	limit  float64
	offset float64   // what the sum is beyond the value of a cell
	mass   []float64 // mass[i] at offset + i·step
	spare  []float64
	begin  int     // mass[:begin] is 0
	end    int     // mass[end:] is 0
	over   float64 // beyond the last cell
	tail   []float64
	summed bool // tail is of mass
	mean   float64
	err    float64
}

// NewTotal returns the sum of nothing, which matters up to a limit above 0, on a grid of at least 2 cells.
func NewTotal(limit float64, cells int) (*Total, error) {
	const fn = "dist.NewTotal"
	if err := checkPositive(fn, "limit", limit); err != nil {
		return nil, err
	}
	if cells < 2 || cells > 1<<16 {
		return nil, &ParamError{Func: fn, Param: "cells", Value: cells, Want: "2 … 65536"}
	}
	t := &Total{
		limit: limit, step: limit / float64(cells),
		mass: make([]float64, cells+1), spare: make([]float64, cells+1), tail: make([]float64, cells+2),
	}
	t.Reset()
	return t, nil
}

// Reset makes it the sum of nothing again.
func (t *Total) Reset() {
	clear(t.mass[:t.end])
	t.mass[0], t.begin, t.end = 1, 0, 1
	t.offset, t.over, t.mean, t.err, t.summed = 0, 0, 0, 0, false
}

// Limit is the value up to which the sum matters.
func (t *Total) Limit() float64 { return t.limit }

// Step is the width of a cell.
func (t *Total) Step() float64 { return t.step }

// Mean is the sum's mean.
func (t *Total) Mean() float64 { return t.mean }

// Error is the most by which the sum's values are off, in the sense of the type's comment.
func (t *Total) Error() float64 { return t.err }

// Add adds a quantity, which was set for the total's step.
func (t *Total) Add(s *Summand) {
	t.offset += s.offset
	t.mean += s.mean
	t.err += s.err
	if len(s.at) == 0 {
		return
	}
	t.summed = false
	cells := len(t.mass)
	end := min(cells, t.end+s.at[len(s.at)-1])
	clear(t.spare[t.begin:end])
	from := t.mass[t.begin:t.end]
	for k, at := range s.at {
		p, to := s.p[k], t.begin+at
		part := from
		if room := max(cells-to, 0); room < len(from) {
			beyond := 0.0
			for _, m := range from[room:] {
				beyond += m
			}
			t.over += float64(p * beyond)
			part = from[:room]
		}
		if len(part) > 0 {
			accumulate(t.spare[to:to+len(part)], part, p)
		}
	}
	t.mass, t.spare = t.spare, t.mass
	clear(t.spare[t.begin:t.end])
	t.end = end
	t.trim()
}

// dust is a probability that is below all rounding.
const dust = 1e-18

// trim moves dust from the lowest cells to the next ones, so that these are not reckoned with any more.
func (t *Total) trim() {
	for t.begin+1 < t.end && t.mass[t.begin] < dust {
		t.mass[t.begin+1] += t.mass[t.begin]
		t.mass[t.begin] = 0
		t.begin++
	}
}

// accumulate adds p times from to a slice of the same length.
func accumulate(to, from []float64, p float64) {
	to = to[:len(from)]
	i := 0
	for ; i+4 <= len(from); i += 4 {
		f, o := from[i:i+4:i+4], to[i:i+4:i+4]
		o[0] += float64(p * f[0])
		o[1] += float64(p * f[1])
		o[2] += float64(p * f[2])
		o[3] += float64(p * f[3])
	}
	for ; i < len(from); i++ {
		to[i] += float64(p * from[i])
	}
}

// Tail is the probability that the sum is larger than x. An x above the limit counts as the limit. Sums that are within
// a billionth of the limit of x are not larger.
func (t *Total) Tail(x float64) float64 {
	t.sumUp()
	return t.beyond(t.cellsTo(x))
}

// TailWith is what Tail would be after Add of this quantity.
func (t *Total) TailWith(s *Summand, x float64) float64 {
	t.sumUp()
	to := t.cellsTo(x - s.offset)
	if len(s.at) == 0 {
		return t.beyond(to)
	}
	if t.beyond(to-s.at[len(s.at)-1]) == 0 {
		return 0 // not even with the largest value
	}
	sum, p := 0.0, s.p[:len(s.at)]
	for k, at := range s.at {
		if at >= to { // whatever the others are
			for _, q := range p[k:] {
				sum += q
			}
			break
		}
		sum += float64(p[k] * t.tail[to-at])
	}
	return min(sum, 1)
}

// cellsTo is the first cell whose sum is larger than x.
func (t *Total) cellsTo(x float64) int {
	const tolerance = 1e-9
	r := (min(x, t.limit)-t.offset)/t.step + float64(tolerance*float64(len(t.mass)))
	switch {
	case r < 0:
		return 0
	case r >= float64(len(t.mass)):
		return len(t.mass)
	}
	return int(r) + 1
}

// beyond is the probability of the cells from one on.
func (t *Total) beyond(cell int) float64 {
	return t.tail[min(max(cell, 0), len(t.tail)-1)]
}

// sumUp sums the cells from the last one down.
func (t *Total) sumUp() {
	if t.summed {
		return
	}
	t.summed = true
	sum := t.over
	for i := len(t.tail) - 1; i >= t.end; i-- {
		t.tail[i] = sum
	}
	for i := t.end - 1; i >= 0; i-- {
		sum += t.mass[i]
		t.tail[i] = min(sum, 1)
	}
}

// Summand is a quantity on the grid of totals with one step. Its zero value is ready for Set. It may be shared once
// nobody calls Set any more.
type Summand struct {
	at     []int     // cells, ascending
	p      []float64 // of each
	offset float64   // what the quantity is beyond the value of its cell
	mean   float64
	err    float64
}

// Set makes it k times the quantity, k >= 0, on a grid of a step above 0. It uses the memory that it has.
//
// Atoms are moved to cells one after the other, each by what brings the mean nearest. What is left over, and the
// quantity's smallest value, is an offset that is kept exactly; so a quantity that is certain is not moved at all.
func (s *Summand) Set(a *Atoms, k, step float64) {
	s.at, s.p = s.at[:0], s.p[:0]
	low := float64(k * a.x[0])
	s.mean, s.offset, s.err = k*a.mean, low, k*a.spread
	if len(a.x) == 1 || k == 0 {
		return
	}
	left, least, most := 0.0, math.Inf(1), math.Inf(-1) // of the mean; how far atoms were moved. All are in cells.
	for i, p := range a.p {
		exact := (float64(k*a.x[i]) - low) / step
		cell := int(min(exact+left/p, 1<<30))
		if n := len(s.at); n > 0 && s.at[n-1] >= cell {
			cell = s.at[n-1]
			s.p[n-1] += p
		} else {
			s.at, s.p = append(s.at, max(cell, 0)), append(s.p, p)
		}
		moved := exact - float64(cell)
		left += float64(p * moved)
		least, most = min(least, moved), max(most, moved)
	}
	s.offset += float64(left * step)
	s.err += float64(step * max(most-left, left-least))
}

// Mean is the quantity's mean.
func (s *Summand) Mean() float64 { return s.mean }
