package search

import "math/rand/v2"

// Random are the random numbers of one worker. The zero value has to be seeded first. It is not safe for concurrent
// use.
type Random struct {
	*rand.Rand
	pcg *rand.PCG
}

// Exponential draws from the exponential distribution of mean 1, by comparing uniform draws alone (von Neumann,
// 1951): the first of a run of falling draws is kept if the run's length is odd, and every run that is not adds 1.
// Functions of the standard library differ in the last bits from one architecture to another.
func (p *Random) Exponential() float64 {
	for whole := 0.0; ; whole++ {
		first := float64(p.Float64()) // rounded here, so that nothing is fused
		last, odd := first, true
		for next := p.Float64(); next < last; next = p.Float64() {
			last, odd = next, !odd
		}
		if odd {
			return whole + first
		}
	}
}

// Seed is where the random numbers of worker n begin. A seed of 0 means 1.
func (p *Random) Seed(seed int64, n uint64) {
	if seed == 0 {
		seed = 1
	}
	if p.pcg == nil {
		p.pcg = rand.NewPCG(0, 0)
		p.Rand = rand.New(p.pcg)
	}
	p.pcg.Seed(uint64(seed), 0x9e3779b97f4a7c15+n)
}
