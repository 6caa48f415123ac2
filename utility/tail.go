package utility

import (
	"math"
	"slices"
)

// WithTail is a utility with a tail after the deadline: over-estimate handling (3Sigma, section 4.2), for a job that
// seems too late and may not be. Right after the deadline it is worth the share weight of what it is worth at the
// deadline; from there it falls linearly to 0 in length seconds. Only a utility that is worth something at the deadline
// and nothing after it gets a tail. Any other says itself what a late completion is worth; it is returned as it is,
// with false. Times are finite and at least 0, length is above 0, and weight is in [0, 1].
//
// A utility that is no [Curve] is looked at only at some times after the deadline.
func WithTail(u Utility, deadline, length, weight float64) (Utility, bool, error) {
	worth := u.At(deadline)
	if !(worth > 0) || !nothingAfter(u, deadline, length) {
		return u, false, nil
	}
	tailed, err := extend(u, deadline, length, worth*weight)
	if err != nil {
		return u, false, err
	}
	return tailed, true, nil
}

// probes is at how many times after the deadline nothingAfter looks at a utility that is no [Curve].
const probes = 32

// nothingAfter tells whether a utility is 0 at all times after the deadline. Of a utility that is no [Curve] it
// looks only at some times, dense just after the deadline and sparse up to far seconds after it.
func nothingAfter(u Utility, deadline, far float64) bool {
	c, ok := u.(*Curve)
	if !ok {
		for i := range probes {
			if u.At(deadline+math.Ldexp(far, -i)) != 0 {
				return false
			}
		}
		return true
	}
	points := c.Points()
	for i, p := range points {
		if p.V == 0 {
			continue
		}
		// A point at the deadline itself counts only if it is the value from there on.
		if last := i == len(points)-1; p.T > deadline || last || p.T == deadline && points[i+1].T > p.T {
			return false
		}
		if p.T < deadline && points[i+1].T > deadline {
			return false
		}
	}
	return true
}

// extend adds a tail to a utility that is 0 after its deadline. The tail falls from height to 0 in length seconds. The
// utility may have any shape before the deadline, which DeadlineTail does not allow.
func extend(u Utility, deadline, length, height float64) (Utility, error) {
	c, ok := u.(*Curve)
	if !ok {
		return tailed{Utility: u, deadline: deadline, length: length, height: height}, nil
	}
	points := slices.DeleteFunc(c.Points(), func(p Point) bool { return p.T >= deadline })
	points = append(points, Point{T: deadline, V: u.At(deadline)},
		Point{T: deadline, V: height}, Point{T: deadline + length})
	return Piecewise(points)
}

// tailed is what extend makes of a utility that is no [Curve].
type tailed struct {
	Utility
	deadline, length, height float64
}

func (t tailed) At(s float64) float64 {
	if s <= t.deadline {
		return t.Utility.At(s)
	}
	return max(0, t.height*(1-(s-t.deadline)/t.length))
}
