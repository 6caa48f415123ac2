package native

import "github.com/hedgesched/hedge/solver/internal/pack"

// memo is a set of what is left at positions from which it leads nowhere.
type memo struct {
	width int
	keys  []int32
	slots []int32 // indices of keys, plus one
	n     int
}

// memoMost bounds the set.
const memoMost = 1 << 18

func (m *memo) reset(width int) {
	m.width, m.n, m.keys = width, 0, m.keys[:0]
	m.slots = pack.Resize(m.slots, 1<<10)
	clear(m.slots)
}

// slot is where the key is or belongs.
func (m *memo) slot(p int, left []float64) int {
	h := uint64(14695981039346656037) ^ uint64(p)
	for _, v := range left {
		h = (h ^ uint64(v)) * 1099511628211
		h ^= h >> 29
	}
	mask := len(m.slots) - 1
	for i := int(h>>1) & mask; ; i = (i + 1) & mask {
		e := int(m.slots[i]) - 1
		if e < 0 || m.equal(e, p, left) {
			return i
		}
	}
}

func (m *memo) equal(e, p int, left []float64) bool {
	key := m.keys[e*m.width : e*m.width+m.width]
	if int(key[0]) != p {
		return false
	}
	for i, v := range left {
		if float64(key[1+i]) != v {
			return false
		}
	}
	return true
}

func (m *memo) has(p int, left []float64) bool { return m.slots[m.slot(p, left)] > 0 }

func (m *memo) add(p int, left []float64) {
	if m.n == memoMost {
		return
	}
	if 2*m.n >= len(m.slots) {
		m.grow()
	}
	i := m.slot(p, left)
	if m.slots[i] > 0 {
		return
	}
	m.keys = append(m.keys, int32(p))
	for _, v := range left {
		m.keys = append(m.keys, int32(v))
	}
	m.n++
	m.slots[i] = int32(m.n)
}

// grow doubles the table.
func (m *memo) grow() {
	m.slots = pack.Resize(m.slots, 2*len(m.slots))
	clear(m.slots)
	left := make([]float64, m.width-1)
	for e := range m.n {
		key := m.keys[e*m.width : e*m.width+m.width]
		for i, v := range key[1:] {
			left[i] = float64(v)
		}
		m.slots[m.slot(int(key[0]), left)] = int32(e + 1)
	}
}
