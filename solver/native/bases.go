package native

// bases are bases of the program to go back to, as long as its columns and rows keep their numbers. Each is what is basic at every position, and the sets' keys.
type bases struct {
	generation, size int // of the program whose bases they are
	lists            int // how many lists have been begun: what is of one before is gone
	list             []int32
	free             []int32 // slots of those that have been dropped
}

// saved is a basis that is kept, which is gone once another list is begun. The zero value is none.
type saved struct {
	list int
	slot int32
}

// nowhere tells whether there is no basis.
func (s saved) nowhere() bool { return s == saved{} }

// maxBases bounds the entries of all bases that are kept.
const maxBases = 1 << 20

func (b *bases) reset() {
	b.size, b.list, b.free = 0, b.list[:0], b.free[:0]
	b.lists++
}

// keep notes the program's basis, if there is room for it.
func (b *bases) keep(m *basis) saved {
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
		return saved{}
	default:
		b.list = append(append(b.list, m.basic...), m.key...)
	}
	at := b.list[n*size : (n+1)*size]
	copy(at[copy(at, m.basic):], m.key)
	m.ops += int64(size) / 2
	return saved{b.lists, int32(n)}
}

// restore goes back to a basis, which is kept no longer, unless columns or rows have got other numbers since. It reports whether it has.
func (b *bases) restore(m *basis, s saved) bool {
	if s.nowhere() || s.list != b.lists || b.generation != m.generation || b.size != m.rows+len(m.key) {
		return false
	}
	at := b.list[int(s.slot)*b.size : (int(s.slot)+1)*b.size]
	b.free = append(b.free, s.slot)
	m.rebase(at[:m.rows], at[m.rows:])
	return true
}
