package dist

import (
	"math"
	"slices"
)

// Total is the distribution of a sum of independent quantities, such as what the tasks on a machine use. It is exact
// only up to a limit: it is a grid of equal cells from 0 to the limit, and a single mass beyond. Adding a quantity
// costs one multiplication per occupied cell and atom. Nothing is allocated after [NewTotal].
//
// A quantity cannot be removed, because deconvolution is numerically unstable. To remove one, Reset and add the others
// again. Equal quantities in equal order give equal bits.
//
// The mean is exact up to rounding. Moving values to the grid shifts the sum by at most e = [Total.Error]. With F the
// true distribution function,
//
//	F(x-e) <= 1 - Tail(x) <= F(x+e).
//
// A Total must not be used by several goroutines at once, not even to read it.
type Total struct {
	step   float64
	limit  float64
	offset float64   // added to every cell's value
	mass   []float64 // mass[i] is at offset + i·step
	spare  []float64
	begin  int       // mass[:begin] is 0
	end    int       // mass[end:] is 0
	over   float64   // the mass beyond the last cell
	tail   []float64 // tail[i] is the mass of cell i and all above; see sumUp
	summed bool      // tail is up to date
	mean   float64
	err    float64
}

// NewTotal returns an empty sum, which is 0, with a limit above 0 and a grid of 2 to 65536 cells. Its error is a
// [*ParamError].
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

// Reset empties the sum.
func (t *Total) Reset() {
	clear(t.mass[:t.end])
	t.mass[0], t.begin, t.end = 1, 0, 1
	t.offset, t.over, t.mean, t.err, t.summed = 0, 0, 0, 0, false
}

// Limit is the value up to which the distribution is known.
func (t *Total) Limit() float64 { return t.limit }

// Step is the width of a cell.
func (t *Total) Step() float64 { return t.step }

// Mean is the sum's mean.
func (t *Total) Mean() float64 { return t.mean }

// Error bounds how far the sum's values have been moved; see [Total].
func (t *Total) Error() float64 { return t.err }

// Add adds a quantity. It must have been set for the total's step.
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
		if room := max(cells-t.begin-at, 0); room < len(from) {
			beyond := 0.0
			for _, m := range from[room:] {
				beyond += m
			}
			t.over += float64(s.p[k] * beyond)
		}
	}
	spread(t.spare[t.begin:end], from, s.at, s.p)
	t.mass, t.spare = t.spare, t.mass
	clear(t.spare[t.begin:t.end])
	t.end = end
	t.trim()
}

// dust is a probability too small to matter beside rounding.
const dust = 1e-18

// trim moves dust in the lowest cells upwards, so that later sums skip those cells.
func (t *Total) trim() {
	for t.begin+1 < t.end && t.mass[t.begin] < dust {
		t.mass[t.begin+1] += t.mass[t.begin]
		t.mass[t.begin] = 0
		t.begin++
	}
}

// spread adds p[k]·from to a slice, from index at[k] on, for each k. What lies beyond the slice is left out. Each
// element gets its terms in order of k, so the bits do not depend on how the work is divided.
func spread(to, from []float64, at []int, p []float64) {
	for ; len(at) >= 4; at, p = at[4:], p[4:] {
		low, high := at[3], min(at[0]+len(from), len(to)) // where all four meet
		if high <= low {
			low = len(to)
			high = low
		}
		for k, a := range at[:4] {
			accumulate(to[:low], from, a, p[k])
		}
		if low < high {
			o, p0, p1, p2, p3 := to[low:high], p[0], p[1], p[2], p[3]
			f0, f1 := from[low-at[0]:][:len(o)], from[low-at[1]:][:len(o)]
			f2, f3 := from[low-at[2]:][:len(o)], from[low-at[3]:][:len(o)]
			for i := range o {
				o[i] = o[i] + float64(p0*f0[i]) + float64(p1*f1[i]) + float64(p2*f2[i]) + float64(p3*f3[i])
			}
			for k, a := range at[:4] {
				accumulate(to[high:], from[high-a:], 0, p[k])
			}
		}
	}
	for k, a := range at {
		accumulate(to, from, a, p[k])
	}
}

// accumulate adds p·from to a slice from an index on, as far as both reach.
func accumulate(to, from []float64, at int, p float64) {
	if at >= len(to) {
		return
	}
	to = to[at:]
	from = from[:min(len(from), len(to))]
	to = to[:len(from)]
	for i, f := range from {
		to[i] += float64(p * f)
	}
}

// Tail is the probability that the sum exceeds x. An x above the limit counts as the limit. A sum that exceeds x by no
// more than a billionth of the limit does not count.
func (t *Total) Tail(x float64) float64 {
	t.sumUp()
	return t.beyond(t.cellsTo(x))
}

// TailWith is the Tail that the sum would have with this quantity added. The sum does not change.
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
		if at >= to { // too large by itself, and so are all that follow
			for _, q := range p[k:] {
				sum += q
			}
			break
		}
		sum += float64(p[k] * t.tail[to-at])
	}
	return min(sum, 1)
}

// cellsTo is the first cell whose value exceeds x.
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

// beyond is the probability of a cell and all above.
func (t *Total) beyond(cell int) float64 {
	return t.tail[min(max(cell, 0), len(t.tail)-1)]
}

// sumUp fills tail.
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

// Summand is a quantity on the grid of totals that have the same step. Call Set before use. It may be shared by
// goroutines while none calls Set.
type Summand struct {
	at     []int     // cells, ascending
	p      []float64 // the probability of each
	offset float64   // added to every cell's value
	mean   float64
	err    float64
}

// Set makes it k times the quantity, k >= 0, for totals with a step above 0. It reuses its memory.
//
// Each atom goes to the cell, of those within two steps of it, that keeps the mean so far closest to the true one. The
// smallest value and the mean's remaining difference are kept exactly, as an offset. So a quantity that is certain is
// not moved at all.
func (s *Summand) Set(a *Atoms, k, step float64) {
	s.at, s.p = slices.Grow(s.at[:0], len(a.x)), slices.Grow(s.p[:0], len(a.x))
	low := float64(k * a.x[0])
	s.mean, s.offset, s.err = k*a.mean, low, k*a.spread
	if len(a.x) == 1 || k == 0 {
		return
	}
	// left is what the mean still lacks; least and most bound how far atoms were moved. All are in cells.
	left, least, most := 0.0, math.Inf(1), math.Inf(-1)
	for i, p := range a.p {
		exact := (float64(k*a.x[i]) - low) / step
		shift := min(max(left/p, -2), 2) // a rare atom must not make up for all that the others lack
		cell := int(min(exact+shift, 1<<30))
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
