package trace

// idSet remembers which ids a log has used. Consecutive numbers, as most logs
// have, cost a bit each.
type idSet struct {
	pages  map[uint64]uint64
	others map[string]struct{}
}

// add reports whether id is new.
func (s *idSet) add(id string) bool {
	if n, ok := integer(id); ok && n >= 0 && (id[0] != '0' || len(id) == 1) {
		if s.pages == nil {
			s.pages = make(map[uint64]uint64)
		}
		page, bit := uint64(n)>>6, uint64(1)<<(uint64(n)&63)
		old := s.pages[page]
		s.pages[page] = old | bit
		return old&bit == 0
	}
	if s.others == nil {
		s.others = make(map[string]struct{})
	}
	if _, seen := s.others[id]; seen {
		return false
	}
	s.others[id] = struct{}{}
	return true
}

// has reports whether id was added.
func (s *idSet) has(id string) bool {
	if n, ok := integer(id); ok && n >= 0 && (id[0] != '0' || len(id) == 1) {
		return s.pages[uint64(n)>>6]&(uint64(1)<<(uint64(n)&63)) != 0
	}
	_, seen := s.others[id]
	return seen
}

// newID is the error of an id that has been seen before, or of none; found is what the log says there, quoted.
func (l *lines) newID(field, id, found string, ids *idSet) error {
	switch {
	case id == "":
		return l.bad(field, "nothing", "an id")
	case !ids.add(id):
		return l.bad(field, found, "an id not seen before").because(seenBefore)
	}
	return nil
}

const seenBefore = "id seen before"
