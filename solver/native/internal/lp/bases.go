package lp

// Bases are bases of the program to go back to, as long as its columns and rows keep their numbers. Each is what is
// basic at every position, and the sets' keys.
type Bases struct {
	generation, size int // of the program whose bases they are
	lists            int // how many lists have been begun: what is of one before is gone
	list             []int32
	free             []int32 // slots of those that have been dropped
}

// Saved is a basis that is kept, which is gone once another list is begun. The zero value is none.
type Saved struct {
	list int
	slot int32
}

// nowhere tells whether there is no basis.
func (s Saved) nowhere() bool { return s == Saved{} }

// maxBases bounds the entries of all bases that are kept.
const maxBases = 1 << 20

// Reset forgets all bases.
func (b *Bases) Reset() {
	b.size, b.list, b.free = 0, b.list[:0], b.free[:0]
	b.lists++
}

// Keep notes the program's basis, if there is room for it.
func (b *Bases) Keep(m *Program) Saved {
	size := m.Rows + len(m.Key)
	if b.generation != m.generation || b.size != size {
		b.Reset()
		b.generation, b.size = m.generation, size
	}
	n, last := len(b.list)/size, len(b.free)-1
	switch {
	case last >= 0:
		n = int(b.free[last])
		b.free = b.free[:last]
	case len(b.list)+size > maxBases:
		return Saved{}
	default:
		b.list = append(append(b.list, m.Basic...), m.Key...)
	}
	at := b.list[n*size : (n+1)*size]
	copy(at[copy(at, m.Basic):], m.Key)
	m.Ops += int64(size) / 2
	return Saved{b.lists, int32(n)}
}

// Restore goes back to a basis, which is kept no longer, unless columns or rows have got other numbers since. It
// reports whether it has.
func (b *Bases) Restore(m *Program, s Saved) bool {
	if s.nowhere() || s.list != b.lists || b.generation != m.generation || b.size != m.Rows+len(m.Key) {
		return false
	}
	at := b.list[int(s.slot)*b.size : (int(s.slot)+1)*b.size]
	b.free = append(b.free, s.slot)
	m.rebase(at[:m.Rows], at[m.Rows:])
	return true
}
