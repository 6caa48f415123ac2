package stats

// Thin returns at most n values of a sorted sample, evenly spaced in rank and with both ends: the
// points of its CDF, Thin(s, n)[i] at level i/(n-1).
func Thin(sorted []float64, n int) []float64 {
	if len(sorted) <= n || n < 2 {
		return sorted
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = sorted[i*(len(sorted)-1)/(n-1)]
	}
	return out
}
