package native

import "github.com/hedgesched/hedge/solver/internal/pack"

// devex is about how long the rows of the tableau are, by what is basic there: those that are far below zero for the length of their rows leave first (Harris, 1973).
// Lengths are measured in the basis that the method begins with, where all rows count the same, and are no more than lower bounds of what they are
// in a later one.
type devex struct {
	column, slack []float64 // of each column, and of each row's slack
}

// reset begins to measure in a basis of a program with so many columns and rows.
func (x *devex) reset(columns, rows int) {
	x.column, x.slack = pack.Resize(x.column, columns), pack.Resize(x.slack, rows)
	for c := range x.column {
		x.column[c] = 1
	}
	for r := range x.slack {
		x.slack[r] = 1
	}
}

// of is where the length of column c, or of slack -1-c, is.
func (x *devex) of(c int32) *float64 {
	if c < 0 {
		return &x.slack[-1-c]
	}
	return &x.column[c]
}

// lengthen makes the rows as long as a pivot on alpha makes them at least, by which e comes in for column out.
func (x *devex) lengthen(e *entering, out int32, alpha float64) {
	f := *x.of(out) / (alpha * alpha)
	for _, i := range e.nonzero {
		at := x.of(e.basic[i])
		*at = max(*at, float64(e.alpha[i]*e.alpha[i])*f)
	}
	for _, s := range e.marked {
		at := x.of(e.key[s])
		*at = max(*at, float64(e.rate[s]*e.rate[s])*f)
	}
	e.ops += int64(2 * len(e.nonzero))
}
