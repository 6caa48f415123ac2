package slearn

import "math/bits"

// order is a random permutation of the numbers in [0, n) that takes constant memory. It is a Feistel network on numbers
// with an even number of bits. Results of n or more are fed into the network again.
type order struct {
	key  uint64
	half uint8 // half of the number of bits
	n    int32
}

// rounds is the number of rounds of the network. Four suffice for large sets; small ones need more.
const rounds = 8

func newOrder(key uint64, n int32) order {
	return order{key: key, half: uint8((bits.Len32(uint32(max(n, 2)-1)) + 1) / 2), n: n}
}

// at is the i-th number of the permutation, 0 <= i < n.
func (o *order) at(i int32) int32 {
	if o.n == 1 {
		return 0
	}
	mask := uint64(1)<<o.half - 1
	x := uint64(i)
	for {
		left, right := x>>o.half, x&mask
		for round := range uint64(rounds) {
			left, right = right, left^(mix(o.key+round<<32+right)&mask)
		}
		if x = left<<o.half | right; x < uint64(o.n) {
			return int32(x)
		}
	}
}

// mix is the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
