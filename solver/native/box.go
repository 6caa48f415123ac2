package native

import (
	"cmp"
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// A large relaxation begins with its prices held near the best ones, in a box that is widened until nothing depends on it (the boxstep
// method; Marsten, Hogan and Blankenship, 1975). In the master, room left over is worth a row's least price then, and room that is not there may be had
// at its highest, so that the basis can begin with each job's best column at those prices, instead of a plan at none.

// box says what the master's prices are held between.
type box struct {
	boxed bool
	// Room left over in a row is worth lo a unit, and room that is used without being there costs hi.
	// over are the rows of the latter kind, whose slack is negative.
	lo, hi []float64
	over   []bool
	soft   []soft // slacks that become zero as the column enters
}

// soft is a slack that becomes zero when so much of the entering column has come in.
type soft struct {
	at    int32
	theta float64
}

// How far prices may be from the best ones at first, and at most, and the relative gap at which they may be further away.
const (
	nearest  = 1.0
	furthest = 1e5
	wider    = 1e-1
)

// boxJobs is how many jobs a problem has at least whose relaxation begins in a box.
const boxJobs = 50

// large says whether the relaxation is one that begins in a box.
func (rel *relaxation) large() bool { return len(rel.in.P.Jobs) >= boxJobs }

// boxIn begins the relaxation in a box round the best prices if it is a large one, and returns how wide the box is; 0 is none.
func (rel *relaxation) boxIn() (radius float64) {
	if !rel.large() {
		return 0
	}
	rel.box(nearest)
	rel.lp.prefer(rel.dual.best)
	return nearest
}

// box holds the master's prices within radius from the best ones, in terms of what a unit of the resource would cost if all of it were worth as
// much as all capacity is at the best prices.
func (rel *relaxation) box(radius float64) {
	m, d, in := rel.lp, &rel.dual, &rel.in
	total := 0.0
	for row, c := range in.Cap {
		total += float64(d.best[row] * c)
	}
	for r := range in.R {
		room := 0.0
		for row := r * in.T; row < in.Rows; row += in.R * in.T {
			for _, c := range in.Cap[row : row+in.T] {
				room += c
			}
		}
		far := float64(radius * (total/max(room, 1) + m.tol))
		for first := r * in.T; first < in.Rows; first += in.R * in.T {
			for row := first; row < first+in.T; row++ {
				m.lo[row], m.hi[row] = max(0, d.best[row]-far), d.best[row]+far
			}
		}
	}
	m.boxed = true
	m.reprice()
	m.ops += int64(2 * in.Rows)
}

// widen lets prices be further away from the best ones if there is little to gain so near, and anywhere once no row uses more room than
// there is. It returns how far, 0 for the latter; value is the master's, and done says that it is optimal.
func (rel *relaxation) widen(radius, value float64, done bool) float64 {
	m, d := rel.lp, &rel.dual
	if !done && d.bound-value > wider*math.Abs(d.bound) {
		return radius
	}
	if m.fitting() || done && radius >= furthest {
		rel.open()
		return 0
	}
	radius = min(4*radius, furthest)
	rel.box(radius)
	return radius
}

// open lets the master's prices go, and begins again from the best plan if its solution needs more room than there is.
func (rel *relaxation) open() {
	m := rel.lp
	if !m.fitting() {
		rel.crash()
		rel.pivots(m.ops + roundOps*int64(m.rows))
		return
	}
	m.unbox()
	m.reprice()
}

// unbox lets every row have whatever price it takes.
func (m *master) unbox() {
	m.lo, m.hi, m.over = pack.Resize(m.lo, m.rows), pack.Resize(m.hi, m.rows), pack.Resize(m.over, m.rows)
	for r := range m.hi {
		m.lo[r], m.hi[r], m.over[r] = 0, math.Inf(1), false
	}
	m.boxed, m.soft = false, m.soft[:0]
}

// worthOf is what a unit of row r's slack is worth.
func (m *master) worthOf(r int32) float64 {
	if m.over[r] {
		return m.hi[r]
	}
	return m.lo[r]
}

// fitting says whether no row uses more room than there is.
func (m *master) fitting() bool {
	for i, b := range m.basic {
		if b < 0 && m.beta[i] < -1e-7 {
			return false
		}
	}
	return true
}

// prefer makes each set's column that is best at prices lam its key. The basis must be slacks only, and have prices.
func (m *master) prefer(lam []float64) {
	copy(m.pi, lam)
	for s := range len(m.key) - 1 {
		best, at := 0.0, int32(s)
		for c := m.head[s]; c >= 0; c = m.next[c] {
			if v := m.price(c); v > best {
				best, at = v, c
			}
		}
		if at != m.key[s] {
			m.rekey(s, at)
		}
	}
	m.revalue()
}

// pass finds how far the entering column goes beyond where slacks change their sign, which makes it gain less: as far as it gains. Slacks on the way
// are left in soft. It returns what limits the column then, and what it gains there.
func (m *master) pass(p, s int, theta, gain float64) (int, int, float64, float64) {
	m.soft = m.soft[:0]
	if !m.boxed {
		return p, s, theta, gain
	}
	if total := m.crossed(theta); total < gain {
		return p, s, theta, gain - total
	}
	list := m.soft
	slices.SortFunc(list, func(a, b soft) int {
		return cmp.Or(cmp.Compare(a.theta, b.theta), cmp.Compare(a.at, b.at))
	})
	m.ops += int64(8 * len(list))
	for k, f := range list {
		r := -1 - m.basic[f.at]
		less := float64(math.Abs(m.alpha[f.at]) * (m.hi[r] - m.lo[r]))
		if gain-less <= 0 {
			m.soft = list[:k]
			return int(f.at), -1, f.theta, gain
		}
		gain -= less
	}
	return p, s, theta, gain
}

// crossed lists in soft the slacks that change their sign before theta, and returns by how much the column gains less behind all of them.
func (m *master) crossed(theta float64) (total float64) {
	for _, i := range m.nonzero {
		b := m.basic[i]
		if b >= 0 {
			continue
		}
		r := -1 - b
		if math.IsInf(m.hi[r], 1) {
			continue
		}
		v, a := m.beta[i], m.alpha[i]
		if m.over[r] {
			v, a = -v, -a
		}
		if a <= minPivot {
			continue
		}
		if t := max(v, 0) / a; t < theta {
			m.soft = append(m.soft, soft{i, t})
			total += float64(a * (m.hi[r] - m.lo[r]))
		}
	}
	m.ops += int64(len(m.nonzero))
	return total
}

// turnSigns turns the signs of the slacks in soft, and adds to rho what that changes of what they are worth, in units of f.
func (m *master) turnSigns(f float64) {
	for _, s := range m.soft {
		r := -1 - m.basic[s.at]
		before := m.worthOf(r)
		m.over[r] = !m.over[r]
		m.rho[s.at] += (m.worthOf(r) - before) / f
	}
}
