package native

import "math/rand/v2"

// random are a worker's random numbers.
type random struct {
	rng *rand.Rand
	pcg *rand.PCG
}

// exponential draws from the exponential distribution of mean 1, by comparing uniform draws alone (von Neumann, 1951): the first of a run of
// falling draws is kept if the run's length is odd, and every run that is not adds 1. Functions of the standard library
// differ in the last bits from one architecture to another.
func (p *random) exponential() float64 {
	for whole := 0.0; ; whole++ {
		first := float64(p.rng.Float64()) // rounded here, so that nothing is fused
		last, odd := first, true
		for next := p.rng.Float64(); next < last; next = p.rng.Float64() {
			last, odd = next, !odd
		}
		if odd {
			return whole + first
		}
	}
}

// seed is where worker n's random numbers begin.
func (p *random) seed(seed int64, n uint64) {
	if seed == 0 {
		seed = 1
	}
	if p.pcg == nil {
		p.pcg = rand.NewPCG(0, 0)
		p.rng = rand.New(p.pcg)
	}
	p.pcg.Seed(uint64(seed), 0x9e3779b97f4a7c15+n)
}
