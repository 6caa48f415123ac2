package cuts

import "math"

// mir is the rounding of the inequality Σ amount·x <= b over whole x, divided by d, to Σ of(amount)·x <= floor(b/d).
type mir struct{ d, f0, slope float64 }

// roundBy returns the rounding by d and its right-hand side; false if it would be weak or unsafe.
func roundBy(b, d float64) (m mir, rhs float64, ok bool) {
	rhs = math.Floor(b / d)
	f0 := b/d - rhs
	if f0 < 0.02 || f0 > 0.98 || math.Abs(rhs) > 1e4 {
		return mir{}, 0, false
	}
	return mir{d: d, f0: f0, slope: 1 / (1 - f0)}, rhs, true
}

// of is the rounded coefficient. An amount next below a whole multiple counts as that.
func (m mir) of(amount float64) float64 {
	v := amount / m.d
	lo := math.Floor(v)
	f := v - lo
	if f <= m.f0 {
		return lo
	}
	return lo + float64((f-m.f0)*m.slope)
}

// coefficients are those of z and y in the rounding of a piece whose job is taken to use supposed: of the ways to put
// the tasks, the one that makes the most of the given z and y.
func (m mir) coefficients(p *piece, supposed, z, y float64) (cz, cy float64) {
	if p.fewest == p.most {
		return m.of(float64(p.most*p.amount) - supposed), 0
	}
	up, down := 0.0, float64(-p.amount/m.d*m.slope)
	if p.tasks {
		up, down = m.of(p.amount), m.of(-p.amount)
	}
	cz, cy = m.of(-supposed), up
	best := float64(cz*z) + float64(cy*y)
	if p.fewest > 0 {
		c := m.of(float64(p.fewest*p.amount)-supposed) - float64(up*p.fewest)
		if v := float64(c*z) + float64(up*y); v > best {
			cz, cy, best = c, up, v
		}
	}
	c := m.of(float64(p.most*p.amount)-supposed) + float64(down*p.most)
	if v := float64(c*z) - float64(down*y); v > best {
		cz, cy = c, -down
	}
	return cz, cy
}
