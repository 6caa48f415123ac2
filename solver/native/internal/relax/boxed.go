package relax

import "math"

// A large relaxation begins with its prices held near the best ones, in a box that is widened until nothing depends
// on it (the boxstep method; Marsten, Hogan and Blankenship, 1975). In the program, room left over is worth a row's
// least price then, and room that is not there may be had at its highest, so that the basis can begin with each job's
// best column at those prices, instead of a plan at none.

// How far prices may be from the best ones at first, and at most, and the relative gap at which they may be further
// away.
const (
	nearest  = 1.0
	furthest = 1e5
	wider    = 1e-1
)

// BoxJobs is how many jobs a problem has at least whose relaxation begins in a box.
const BoxJobs = 50

// Large says whether the relaxation is one that begins in a box.
func (rel *Relaxation) Large() bool { return len(rel.in.P.Jobs) >= BoxJobs }

// boxIn begins the relaxation in a box round the best prices if it is a large one, and returns how wide the box is; 0
// is none.
func (rel *Relaxation) boxIn() (radius float64) {
	if !rel.Large() {
		return 0
	}
	rel.box(nearest)
	rel.prefer(rel.dual.Best)
	return nearest
}

// box holds the program's prices within radius from the best ones, in terms of what a unit of the resource would cost
// if all of it were worth as much as all capacity is at the best prices.
func (rel *Relaxation) box(radius float64) {
	m, d, in := rel.master, rel.dual, rel.in
	total := 0.0
	for row, c := range in.Cap {
		total += float64(d.Best[row] * c)
	}
	for r := range in.R {
		room := 0.0
		for row := r * in.T; row < in.Rows; row += in.R * in.T {
			for _, c := range in.Cap[row : row+in.T] {
				room += c
			}
		}
		far := float64(radius * (total/max(room, 1) + m.Tol))
		for first := r * in.T; first < in.Rows; first += in.R * in.T {
			for row := first; row < first+in.T; row++ {
				m.Hold(row, max(0, d.Best[row]-far), d.Best[row]+far)
			}
		}
	}
	m.Reprice()
	m.Ops += int64(2 * in.Rows)
}

// widen lets prices be further away from the best ones if there is little to gain so near, and anywhere once no row
// uses more room than there is. It returns how far, 0 for the latter; value is the program's, and done says that it
// is optimal.
func (rel *Relaxation) widen(radius, value float64, done bool) float64 {
	m, d := rel.master, rel.dual
	if !done && d.Bound-value > wider*math.Abs(d.Bound) {
		return radius
	}
	if m.PrimalFeasible() || done && radius >= furthest {
		rel.open()
		return 0
	}
	radius = min(4*radius, furthest)
	rel.box(radius)
	return radius
}

// open lets the program's prices go, and begins again from the best plan if its solution needs more room than there is.
func (rel *Relaxation) open() {
	m := rel.master
	if !m.PrimalFeasible() {
		rel.Crash()
		rel.Pivots(m.Ops + RoundOps*int64(m.Rows))
		return
	}
	m.Unbox(m.Rows)
	m.Reprice()
}

// prefer makes each set's column that is best at prices lam its key. The basis must be slacks only, and have prices.
func (rel *Relaxation) prefer(lam []float64) {
	m := rel.master
	copy(m.Prices, lam)
	for s := range len(m.Key) - 1 {
		best, at := 0.0, int32(s)
		for c := m.Head[s]; c >= 0; c = m.Next[c] {
			if v := m.Price(c); v > best {
				best, at = v, c
			}
		}
		if at != m.Key[s] {
			m.Rekey(s, at)
		}
	}
	m.Revalue()
}
