package native

// bases are bases of the master to go back to, as long as its columns keep their numbers. Each is what is basic at every position, and the sets' keys.
type bases struct {
	generation, size int
	list             []int32
	free             []int32 // numbers of those that have been dropped
}

// maxBases bounds the entries of all bases that are kept.
const maxBases = 1 << 20

func (b *bases) reset() { b.size, b.list, b.free = 0, b.list[:0], b.free[:0] }

// keep notes the master's basis and returns its number, -1 if there is no room for it.
func (b *bases) keep(m *master) int32 {
	size := m.rows + len(m.key)
	if b.generation != m.generation || b.size != size {
		b.reset()
		b.generation, b.size = m.generation, size
	}
	n, last := len(b.list)/size, len(b.free)-1
	switch {
	case last >= 0:
		n = int(b.free[last])
		b.free = b.free[:last]
	case len(b.list)+size > maxBases:
		return -1
	default:
		b.list = append(append(b.list, m.basic...), m.key...)
	}
	at := b.list[n*size : (n+1)*size]
	copy(at[copy(at, m.basic):], m.key)
	m.ops += int64(size) / 2
	return int32(n)
}

// restore goes back to basis n, unless columns have got other numbers since, and drops it.
func (b *bases) restore(m *master, n int32) {
	if b.generation != m.generation || b.size != m.rows+len(m.key) {
		return
	}
	at := b.list[int(n)*b.size : (int(n)+1)*b.size]
	b.free = append(b.free, n)
	m.rebase(at[:m.rows], at[m.rows:])
}

// rebase makes the listed columns basic, and those keys.
func (m *master) rebase(basic, keys []int32) {
	for _, b := range m.basic {
		if b >= 0 {
			m.where[b] = -1
		}
	}
	for _, c := range m.key {
		m.where[c] = -1
	}
	for s, c := range keys {
		m.key[s], m.where[c] = c, -2
	}
	m.ops += int64(m.rows + len(m.key))
	m.install(basic)
}
