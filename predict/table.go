package predict

import "hash/maphash"

// slabBits is the size of a slab of entries, as a power of two.
const slabBits = 9

const none = int32(-1)

// table maps keys to entries and forgets the least recently used beyond its
// bounds. Entries live in slabs, so that a million are a few thousand objects. The index is a hash table with open
// addressing, which holds a fifth of what a map would.
type table struct {
	max   int
	room  int64 // bytes that are left of the bound; below 0 where trim has work
	free  []int32
	made  uint64 // entries so far
	seed  maphash.Seed
	index []slot // a power of two, at most three quarters of them taken
	taken int
	slabs [][]entry
	size  int32
	oldest,
	newest int32
}

// slot holds an entry's number plus one. 0 means free.
type slot struct {
	hash  uint32
	entry int32
}

func newTable(o *HistoryOptions) *table {
	return &table{max: o.MaxValues, room: o.MaxBytes, seed: maphash.MakeSeed(), index: make([]slot, 16),
		oldest: none, newest: none}
}

// len is the number of entries.
func (t *table) len() int { return t.taken }

// seek returns the key's hash and the slot of its entry, or else the free slot for it.
func (t *table) seek(key []byte) (hash uint32, at uint32) {
	full := maphash.Bytes(t.seed, key)
	hash, mask := uint32(full>>32)^uint32(full), uint32(len(t.index)-1)
	for at = hash & mask; ; at = (at + 1) & mask {
		s := t.index[at]
		if s.entry == 0 || s.hash == hash && t.at(s.entry-1).key == string(key) {
			return hash, at
		}
	}
}

// enter puts a new entry into its free slot.
func (t *table) enter(i int32, at uint32) {
	t.index[at] = slot{hash: t.at(i).hash, entry: i + 1}
	if t.taken++; t.taken <= len(t.index)/4*3 {
		return
	}
	old := t.index
	t.index = make([]slot, 2*len(old))
	mask := uint32(len(t.index) - 1)
	for _, s := range old {
		if s.entry == 0 {
			continue
		}
		to := s.hash & mask
		for t.index[to].entry != 0 {
			to = (to + 1) & mask
		}
		t.index[to] = s
	}
}

// leave takes an entry out of the index. Those after it that would not be found move up.
func (t *table) leave(i int32) {
	mask := uint32(len(t.index) - 1)
	gap := t.at(i).hash & mask
	for t.index[gap].entry != i+1 {
		gap = (gap + 1) & mask
	}
	for at := (gap + 1) & mask; t.index[at].entry != 0; at = (at + 1) & mask {
		if home := t.index[at].hash & mask; (at-home)&mask >= (at-gap)&mask {
			t.index[gap], gap = t.index[at], at
		}
	}
	t.index[gap] = slot{}
	t.taken--
}

// trim forgets entries until the table is within its bound of bytes, but not the newest one.
func (t *table) trim() {
	for t.room < 0 && t.taken > 1 {
		t.free = append(t.free, t.drop())
	}
}

// drop forgets the oldest entry. Its place is the caller's.
func (t *table) drop() int32 {
	i := t.oldest
	e := t.at(i)
	t.unlink(i)
	t.leave(i)
	t.room += e.size()
	*e = entry{}
	return i
}

func (t *table) at(i int32) *entry { return &t.slabs[i>>slabBits][i&(1<<slabBits-1)] }

// get returns the key's entry, or nil; it does not count as a use.
func (t *table) get(key []byte) *entry {
	_, at := t.seek(key)
	i := t.index[at].entry - 1
	if i < 0 {
		return nil
	}
	return t.at(i)
}

// use returns the key's entry as the most recently used, making it if need be.
func (t *table) use(key []byte) *entry {
	hash, at := t.seek(key)
	if i := t.index[at].entry - 1; i >= 0 {
		if i != t.newest {
			t.unlink(i)
			t.push(i)
		}
		return t.at(i)
	}
	full := t.taken >= t.max
	i := t.place()
	if full { // dropping has moved slots
		_, at = t.seek(key)
	}
	t.made++
	e := t.at(i)
	*e = entry{key: string(key), hash: hash}
	t.enter(i, at)
	t.room -= e.size()
	t.push(i)
	return e
}

// place is where a new entry goes: where the oldest is, in a table that is full.
func (t *table) place() int32 {
	if n := len(t.free); t.taken >= t.max {
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
