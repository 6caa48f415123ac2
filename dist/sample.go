package dist

import "math/rand/v2"

// Sample draws from d by inverting its CDF, with one number from rng.
func Sample(d Distribution, rng *rand.Rand) float64 {
	for {
		if p := rng.Float64(); p > 0 { // Quantile(0) is the bound, which may have no mass
			return d.Quantile(p)
		}
	}
}
