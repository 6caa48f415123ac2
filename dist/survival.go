package dist

import "math"

// Survivals discretises d to slots: it fills dst with the probability that something that has
// already lasted elapsed still goes on at the start of each slot (the expected resource
// consumption RC of the 3Sigma paper, section 4.3),
//
//	dst[t] = P(X > elapsed + t·slot | X > elapsed)
//
// so dst[0] is 1 and dst falls from there. Elapsed is 0 for what has not begun. When elapsed has
// reached the largest possible value there is nothing to condition on and all of dst is 0; the
// caller then applies its rule for under-estimates. A negative elapsed counts as
// 0. A NaN elapsed, or a slot that is not a positive finite number, fills dst
// with NaN. Survivals does not allocate, and sweeps a [Histogram]'s knots once.
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
