package solver

import "maps"

// Memory is what engines have learned from one problem that may help with the next similar one: prices, say, or a
// basis. A caller that solves cycle after cycle passes each solve, in [Options], the Memory of the solve before, from
// its [Solution]. It begins with new(Memory). The last plan is not part of it: that is [Problem.Hint], because only the
// caller knows what has become of the plan.
//
// A Memory never changes. So any number of solves may use it concurrently, and a solve is a function of its problem and
// options. Engines do not trust it: if it does not fit the problem, plans are still feasible and bounds still hold. But
// it changes the course of the search, which may find a slightly better or worse plan within the same work.
type Memory struct {
	notes map[string]note // by engine
}

// note is one engine's note, and the number of slots that have passed since.
type note struct {
	value any
	slots int
}

// Later is the memory after that number of slots has passed: what was planned for slot n is then planned for slot
// n-slots. A negative number counts as 0. It is nil if m is nil.
func (m *Memory) Later(slots int) *Memory {
	if m == nil || slots == 0 {
		return m
	}
	later := &Memory{notes: make(map[string]note, len(m.notes))}
	for engine, n := range m.notes {
		later.notes[engine] = note{value: n.value, slots: n.slots + slots}
	}
	return later
}

// Note is for engines. It returns the named engine's note, nil if there is none, and the number of slots that have
// passed since.
func (m *Memory) Note(engine string) (value any, slots int) {
	if m == nil {
		return nil, 0
	}
	n := m.notes[engine]
	return n.value, n.slots
}

// With is for engines. It returns the memory with the named engine's note replaced by value. Value must not change any
// more. So it must not share slices or maps with the problem, since a caller may reuse these for the next problem.
func (m *Memory) With(engine string, value any) *Memory {
	with := &Memory{notes: map[string]note{}}
	if m != nil {
		maps.Copy(with.notes, m.notes)
	}
	with.notes[engine] = note{value: value}
	return with
}

// without is the memory without a failed engine's note, which may be the reason why it failed.
func (m *Memory) without(engine string) *Memory {
	if m == nil {
		return nil
	}
	left := &Memory{notes: maps.Clone(m.notes)}
	delete(left.notes, engine)
	return left
}

// remembered is the memory after a solve with opts: the answer's, or the given one if there is no answer or it has no
// memory. If the engine failed, it is empty.
func remembered(opts Options, answered *Solution, err error) *Memory {
	switch {
	case opts.Memory == nil:
		return nil
	case err != nil:
		return &Memory{}
	case answered == nil || answered.Memory == nil:
		return opts.Memory
	default:
		return answered.Memory
	}
}
