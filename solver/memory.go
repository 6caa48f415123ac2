package solver

import "maps"

// Memory is what engines have learned of one problem that may help with the next one like it: prices, say, or a basis.
// A caller that solves cycle after cycle gives every solve the Memory of the one before in [Options], beginning with
// new(Memory), and gets its successor in [Solution]. The last plan is no part of it: that is [Problem.Hint], because
// the caller alone knows what has become of it.
//
// A Memory is never changed, so that any number of solves may use it at the same time, and a solve is a function of its
// problem and options. It says nothing that an engine would believe unchecked: with one that does not fit the problem
// at hand plans are feasible and bounds hold, too. But the search goes another way with it, and within the same work
// may find a plan that is worth a little more or less.
type Memory struct {
	notes map[string]note // by engine
}

// note is one engine's, with how many slots have passed since.
type note struct {
	value any
	slots int
}

// Later is the memory when that many slots have passed since it was m: what was planned for slot n is then planned
// for slot n-slots. Less than a slot is 0. It is nil if m is.
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

// Note is for engines: what the named one has noted, nil if nothing, and how many slots have passed since.
func (m *Memory) Note(engine string) (value any, slots int) {
	if m == nil {
		return nil, 0
	}
	n := m.notes[engine]
	return n.value, n.slots
}

// With is for engines: the memory with the named one's note replaced by value, which must not change any more. So it
// must not share slices or maps with the problem, in whose place a caller may make the next one.
func (m *Memory) With(engine string, value any) *Memory {
	with := &Memory{notes: map[string]note{}}
	if m != nil {
		maps.Copy(with.notes, m.notes)
	}
	with.notes[engine] = note{value: value}
	return with
}

// without is the memory less a failed engine's note: what it was given may be why it failed.
func (m *Memory) without(engine string) *Memory {
	if m == nil {
		return nil
	}
	left := &Memory{notes: maps.Clone(m.notes)}
	delete(left.notes, engine)
	return left
}

// remembered is the memory that a solve with opts leaves behind: the answer's, or what it was given if the answer has
// none or there is none; nothing if the engine has failed.
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
