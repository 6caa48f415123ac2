package milp

import "math"

// Solvers treat a reduced cost of up to 1e-7 as zero, however large the variable's range is. So a cost of 1e-7 has no
// effect even for a variable of up to a million. Therefore small costs are scaled up. If that is not enough, the bound
// is weakened by what the unscaled costs may be worth.
const (
	smallCost    = 1e-5    // costs from here on have an effect
	largestCost  = 1 << 20 // costs are scaled up to here
	doubtfulCost = 1e-6
)

// costScale is the exponent of the power of two that makes small costs large enough. It is 0 if there are none, or if
// other costs are too large for it.
func costScale(m *Model) int {
	least, most := math.Inf(1), 0.0
	for _, c := range m.cost {
		if c = math.Abs(c); c > 0 {
			least, most = math.Min(least, c), math.Max(most, c)
		}
	}
	if most == 0 || least >= smallCost {
		return 0
	}
	_, up := math.Frexp(1 / least)
	_, room := math.Frexp(largestCost / most)
	return max(0, min(up, room)-1)
}

// withScale is m with its objective times 2^k. It shares the rest with m.
func withScale(m *Model, k int) *Model {
	s := *m
	s.Offset, s.cost = math.Ldexp(m.Offset, k), make([]float64, len(m.cost))
	for j, c := range m.cost {
		s.cost[j] = math.Ldexp(c, k)
	}
	return &s
}

// doubt is the part of the objective that comes from costs that are small even when scaled by 2^k.
func doubt(m *Model, k int) float64 {
	sum := 0.0
	for j, c := range m.cost {
		if c != 0 && math.Ldexp(math.Abs(c), k) < doubtfulCost && m.lower[j] < m.upper[j] {
			sum += float64(math.Abs(c) * (m.upper[j] - m.lower[j]))
		}
	}
	return sum
}

// unscaled converts a result of withScale(m, k) to one of m, and weakens its bound by the doubtful part.
func unscaled(m *Model, opts Options, res *Result, k int) {
	res.Bound = math.Ldexp(res.Bound, -k)
	if res.X != nil {
		res.Objective = m.Objective(res.X)
	}
	if off := doubt(m, k); off > 0 && !math.IsInf(res.Bound, 0) {
		res.Bound = worse(m, res.Bound, off)
		if res.Stop == StopOptimal && !(res.Gap() <= opts.TargetGap()) {
			res.Stop = StopOther
			res.Raw += ", but for costs that are too small beside the others to be seen"
		}
	}
	if res.X != nil && Better(m, res.Objective, res.Bound) {
		res.Bound = res.Objective // they differ by rounding only
	}
}

// worse is a bound that leaves room for points that are better by off.
func worse(m *Model, bound, off float64) float64 {
	if m.Maximize {
		return bound + off
	}
	return bound - off
}

// unscaledPoints passes on points of withScale(m, k) as points of m.
func unscaledPoints(m *Model, k int, pass func(Point)) func(Point) {
	if pass == nil {
		return nil
	}
	off := doubt(m, k)
	return func(p Point) {
		p.Objective, p.Bound = m.Objective(p.X), worse(m, math.Ldexp(p.Bound, -k), off)
		pass(p)
	}
}
