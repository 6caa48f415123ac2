package sim

import "hash/maphash"

// index finds jobs by id. It is a hash table with open addressing. Every start and preemption looks up a job. A Go map
// of many ids is slower, for it cannot first try the job after the one last found.
type index struct {
	seed  maphash.Seed
	slots []slot // a power of two, at most half of them taken
	next  int    // where find looks first: after the last job found, since jobs often start as they came
}

// slot holds a job's place in the list of jobs plus one. 0 means free.
type slot struct {
	hash uint32
	job  int32
}

// newIndex has room for n jobs.
func newIndex(n int) index {
	size := 16
	for size < 2*n {
		size *= 2
	}
	return index{seed: maphash.MakeSeed(), slots: make([]slot, size)}
}

// find returns the job's place in jobs, and whether there is one.
func (x *index) find(jobs []job, id string) (int32, bool) {
	at := x.next
	if at >= len(jobs) || jobs[at].ID != id {
		at = int(x.seek(jobs, id).job) - 1
	}
	x.next = at + 1
	return int32(at), at >= 0
}

// add enters jobs[i]. It is false, and nothing changes, if its id is there already.
func (x *index) add(jobs []job, i int, id string) bool {
	s := x.seek(jobs, id)
	if s.job > 0 {
		return false
	}
	s.job = int32(i) + 1
	return true
}

// seek returns the slot that holds the id, or else the free slot for it with the hash filled in.
func (x *index) seek(jobs []job, id string) *slot {
	full := maphash.String(x.seed, id)
	hash, mask := uint32(full>>32), uint64(len(x.slots)-1)
	for at := full & mask; ; at = (at + 1) & mask {
		s := &x.slots[at]
		switch {
		case s.job == 0:
			s.hash = hash
			return s
		case s.hash == hash && jobs[s.job-1].ID == id:
			return s
		}
	}
}
