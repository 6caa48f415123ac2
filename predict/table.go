package predict

// slabBits is the size of a slab of entries, as a power of two.
const slabBits = 9

const none = int32(-1)

// table maps keys to entries and forgets the least recently used beyond its
// bound. Entries live in slabs, so that a million are a few thousand objects.
type table struct {
	max   int
	index map[string]int32
	slabs [][]entry
	size  int32
	oldest,
	newest int32
}

func newTable(limit int) *table {
	return &table{max: limit, index: map[string]int32{}, oldest: none, newest: none}
}

func (t *table) at(i int32) *entry { return &t.slabs[i>>slabBits][i&(1<<slabBits-1)] }

// get returns the key's entry, or nil; it does not count as a use.
func (t *table) get(key []byte) *entry {
	i, ok := t.index[string(key)]
	if !ok {
		return nil
	}
	return t.at(i)
}

// use returns the key's entry as the most recently used, making it if need be.
func (t *table) use(key []byte) *entry {
	i, ok := t.index[string(key)]
	if ok {
		if i != t.newest {
			t.unlink(i)
			t.push(i)
		}
		return t.at(i)
	}
	if len(t.index) >= t.max {
		i = t.oldest
		t.unlink(i)
		delete(t.index, t.at(i).key)
	} else {
		i = t.size
		t.size++
		if int(i>>slabBits) == len(t.slabs) {
			t.slabs = append(t.slabs, make([]entry, 1<<slabBits))
		}
	}
	e := t.at(i)
	e.reset(string(key))
	t.index[e.key] = i
	t.push(i)
	return e
}

// push makes entry i, which is in no list, the newest.
func (t *table) push(i int32) {
	e := t.at(i)
	e.prev, e.next = t.newest, none
	if t.newest != none {
		t.at(t.newest).next = i
	} else {
		t.oldest = i
	}
	t.newest = i
}

func (t *table) unlink(i int32) {
	e := t.at(i)
	if e.prev != none {
		t.at(e.prev).next = e.next
	} else {
		t.oldest = e.next
	}
	if e.next != none {
		t.at(e.next).prev = e.prev
	} else {
		t.newest = e.prev
	}
}
