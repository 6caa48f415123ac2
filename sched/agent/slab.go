package agent

// Slab keeps things under small numbers that messages can carry. Numbers are used again. The zero value is empty.
type Slab[T any] struct {
	things []T
	holes  []int32
}

// Len is the number of things there are.
func (s *Slab[T]) Len() int { return len(s.things) - len(s.holes) }

// Add makes room for a thing and gives it a number. It holds what the last one of that number was when it was removed,
// or the zero value, so that room inside it can be used again. It may be moved by the next Add.
func (s *Slab[T]) Add() (ref int32, thing *T) {
	if n := len(s.holes); n > 0 {
		ref = s.holes[n-1]
		s.holes = s.holes[:n-1]
	} else {
		var zero T
		ref = int32(len(s.things))
		s.things = append(s.things, zero)
	}
	return ref, &s.things[ref]
}

// At is the thing of a number below Refs, which may have been removed. It may be moved by the next Add.
func (s *Slab[T]) At(ref int32) *T { return &s.things[ref] }

// Refs is above all numbers given so far.
func (s *Slab[T]) Refs() int32 { return int32(len(s.things)) }

// Remove lets a number be used again.
func (s *Slab[T]) Remove(ref int32) { s.holes = append(s.holes, ref) }
