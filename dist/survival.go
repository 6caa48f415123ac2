package dist

import "math"

// Survivals fills dst with the expected resource consumption of something
// that has already lasted elapsed (RC of the 3Sigma paper, section 4.3):
//
//	dst[t] = P(X > elapsed + t·slot | X > elapsed)
//
// so dst[0] is 1 and dst falls from there. When elapsed has reached the largest
// possible value there is nothing to condition on and all of dst is 0; the
// caller then applies its rule for under-estimates. A negative elapsed counts as
// 0; a NaN elapsed or a slot that is not a positive finite number fills dst
// with NaN. It does not allocate, and sweeps a [Histogram]'s knots once.
func Survivals(dst []float64, d Distribution, elapsed, slot float64) {
	if math.IsNaN(elapsed) || !isFinite(slot) || slot <= 0 {
		for t := range dst {
			dst[t] = math.NaN()
		}
		return
	}
	elapsed = math.Max(elapsed, 0)
	alive := Survival(d, elapsed)
	if _, hi := d.Bounds(); !(alive > 0) || elapsed >= hi {
		clear(dst)
		return
	}
	if h, ok := d.(*Histogram); ok {
		h.survivals(dst, elapsed, slot, alive)
		return
	}
	for t := range dst {
		dst[t] = math.Min(1, Survival(d, elapsed+float64(float64(t)*slot))/alive)
	}
}

func (h *Histogram) survivals(dst []float64, elapsed, slot, alive float64) {
	c := h.CursorAt(elapsed)
	i, n := c.i, len(h.x)
	for t := range dst {
		x := elapsed + float64(float64(t)*slot)
		for i < n && h.x[i] <= x {
			i++
		}
		if i == n {
			clear(dst[t:])
			return
		}
		if i == 0 {
			dst[t] = 1
			continue
		}
		x0, c0 := h.x[i-1], h.cum[i-1]
		dst[t] = math.Min(1, (1-c0-float64((h.cum[i]-c0)*((x-x0)/(h.x[i]-x0))))/alive)
	}
}

// Discretise returns P(X > t·slot) for t = 0 … n-1. The slot is positive and n
// is not negative.
func Discretise(d Distribution, slot float64, n int) ([]float64, error) {
	const fn = "dist.Discretise"
	if err := checkDist(fn, "d", d); err != nil {
		return nil, err
	}
	if err := checkPositive(fn, "slot", slot); err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, &ParamError{Func: fn, Param: "n", Value: float64(n), Want: "a number >= 0"}
	}
	out := make([]float64, n)
	for t := range out {
		out[t] = Survival(d, float64(t)*slot)
	}
	return out, nil
}
