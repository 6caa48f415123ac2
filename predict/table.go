package predict

// slabBits is the size of a slab of entries, as a power of two.
const slabBits = 9

const none = int32(-1)

// table maps keys to entries and forgets the least recently used beyond its
// bounds. Entries live in slabs, so that a million are a few thousand objects.
type table struct {
	max   int
	room  int64 // bytes that are left of the bound; below 0 where trim has work
	free  []int32
	made  uint64 // entries so far
	index map[string]int32
	slabs [][]entry
	size  int32
	oldest,
	newest int32
}

func newTable(o *HistoryOptions) *table {
	return &table{max: o.MaxValues, room: o.MaxBytes, index: map[string]int32{}, oldest: none, newest: none}
}

// trim forgets entries until the table is within its bound of bytes, but not the newest one.
func (t *table) trim() {
	for t.room < 0 && len(t.index) > 1 {
		t.free = append(t.free, t.drop())
	}
}

// drop forgets the oldest entry. Its place is the caller's.
func (t *table) drop() int32 {
	i := t.oldest
	e := t.at(i)
	t.unlink(i)
	delete(t.index, e.key)
	t.room += e.size()
	e.reset("")
	return i
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
	i = t.place()
	t.made++
	e := t.at(i)
	e.reset(string(key))
	t.index[e.key] = i
	t.room -= e.size()
	t.push(i)
	return e
}

// place is where a new entry goes: where the oldest is, in a table that is full.
func (t *table) place() int32 {
	if n := len(t.free); len(t.index) >= t.max {
		return t.drop()
	} else if n > 0 {
		i := t.free[n-1]
		t.free = t.free[:n-1]
		return i
	}
	i := t.size
	t.size++
	if int(i>>slabBits) == len(t.slabs) {
		t.slabs = append(t.slabs, make([]entry, 1<<slabBits))
	}
	return i
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
