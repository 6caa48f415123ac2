package published

// mt19937 is the Mersenne Twister of Matsumoto and Nishimura (1998), seeded by an array of words, as CPython's
// random module does.
type mt19937 struct {
	state [mtLength]uint32
	next  int
}

const (
	mtLength = 624
	mtShift  = 397
)

func newMT19937(seed int64) *mt19937 {
	n := uint64(seed)
	if seed < 0 {
		n = -n // CPython seeds by the absolute value
	}
	key := []uint32{uint32(n)}
	if n>>32 > 0 {
		key = append(key, uint32(n>>32))
	}
	m := new(mt19937)
	m.seed(19650218)
	i, j := 1, 0
	step := func(multiplier uint32) uint32 {
		return m.state[i] ^ (m.state[i-1]^m.state[i-1]>>30)*multiplier
	}
	wrap := func() {
		if i++; i == mtLength {
			m.state[0], i = m.state[mtLength-1], 1
		}
	}
	for range mtLength {
		m.state[i] = step(1664525) + key[j] + uint32(j)
		wrap()
		if j++; j == len(key) {
			j = 0
		}
	}
	for range mtLength - 1 {
		m.state[i] = step(1566083941) - uint32(i)
		wrap()
	}
	m.state[0] = 1 << 31
	return m
}

func (m *mt19937) seed(s uint32) {
	m.state[0] = s
	for i := 1; i < mtLength; i++ {
		m.state[i] = 1812433253*(m.state[i-1]^m.state[i-1]>>30) + uint32(i)
	}
	m.next = mtLength
}

func (m *mt19937) refill() {
	s := &m.state
	for i := range mtLength - mtShift {
		s[i] = s[i+mtShift] ^ twist(s[i], s[i+1])
	}
	for i := mtLength - mtShift; i < mtLength-1; i++ {
		s[i] = s[i+mtShift-mtLength] ^ twist(s[i], s[i+1])
	}
	s[mtLength-1] = s[mtShift-1] ^ twist(s[mtLength-1], s[0])
	m.next = 0
}

func twist(this, next uint32) uint32 {
	y := this&(1<<31) | next&(1<<31-1)
	return y>>1 ^ -(y&1)&0x9908b0df
}

// skip passes over what some float64 take.
func (m *mt19937) skip(numbers int) {
	next := m.next + 2*numbers
	for next > mtLength {
		m.refill()
		next -= mtLength
	}
	m.next = next
}

func (m *mt19937) uint32() uint32 {
	if m.next == mtLength {
		m.refill()
	}
	y := m.state[m.next]
	m.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// float64 is uniform in [0, 1) with 53 bits.
func (m *mt19937) float64() float64 {
	a, b := m.uint32()>>5, m.uint32()>>6
	return (float64(float64(a)*(1<<26)) + float64(b)) / (1 << 53)
}

// below is uniform in 0 … n-1, by the rule of Python 2.7.
func (m *mt19937) below(n int) int { return int(m.float64() * float64(n)) }
