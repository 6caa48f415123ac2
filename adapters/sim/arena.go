package sim

// arena hands out slices from large blocks.
type arena[T any] struct {
	block []T
}

const arenaBlock = 4096

// take returns n zero values.
func (a *arena[T]) take(n int) []T {
	if n > len(a.block) {
		a.block = make([]T, max(arenaBlock, n))
	}
	out := a.block[:n:n]
	a.block = a.block[n:]
	return out
}

func (a *arena[T]) copy(from []T) []T {
	out := a.take(len(from))
	copy(out, from)
	return out
}
