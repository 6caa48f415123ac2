package agent

import (
	"math/bits"
	"math/rand/v2"
)

// Random is a part's source of random numbers: equal for equal seed and address, on every machine. The zero value is
// not useful; see [NewRandom]. It is a value of 16 bytes, to be kept in the part's own state.
type Random struct{ source rand.PCG }

// NewRandom is the source of a part.
func NewRandom(seed uint64, at Addr) Random {
	var r Random
	r.source.Seed(seed, uint64(uint32(at)))
	r.source.Uint64() // the first number of neighbours is alike
	return r
}

// Below is a number from 0 to n-1; n is at least 1. The bias is below n in 2^64.
func (r *Random) Below(n int) int {
	high, _ := bits.Mul64(r.source.Uint64(), uint64(n))
	return int(high)
}

// Unit is a number from 0 to below 1.
func (r *Random) Unit() float64 { return float64(r.source.Uint64()>>11) / (1 << 53) }
