package lp

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// box says what the program's prices are held between. Only while it is boxed may slacks of rows be negative.
type box struct {
	Boxed bool
	// Room left over in a row is worth lo a unit, and room that is used without being there costs hi.
	// over are the rows of the latter kind, whose slack is negative.
	lo, hi []float64
	over   []bool
}

// Unbox lets each of so many rows have whatever price it takes.
func (x *box) Unbox(rows int) {
	x.lo, x.hi, x.over = pack.Resize(x.lo, rows), pack.Resize(x.hi, rows), pack.Resize(x.over, rows)
	for r := range x.hi {
		x.lo[r], x.hi[r], x.over[r] = 0, math.Inf(1), false
	}
	x.Boxed = false
}

// worthOf is what a unit of row r's slack is worth.
func (x *box) worthOf(r int32) float64 {
	if x.over[r] {
		return x.hi[r]
	}
	return x.lo[r]
}

// Hold holds the price of row r between lo and hi.
func (x *box) Hold(r int, lo, hi float64) { x.lo[r], x.hi[r], x.Boxed = lo, hi, true }
