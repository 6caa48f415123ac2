package lp

import (
	"math"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// box says what the program's prices are held between. Only while it is boxed may slacks of rows be negative.
type box struct {
	Boxed bool
	// Row r's slack earns lo[r] a unit if it is positive; each unit of violation costs hi[r]; so the row's dual stays
	// in [lo[r], hi[r]]. over[r] says that the slack is negative.
	lo, hi []float64
	over   []bool
}

// Unbox lets each row have whatever price it takes.
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
