package baseline

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/sched"
)

// rank orders jobs by class, then by key, then by time.
type rank struct {
	class int
	key   float64
	at    time.Time
}

// entry is a pending job, its place in the queue and what it asks for.
type entry struct {
	rank rank
	job  *sched.Job
	want *want
}

func (a *entry) compare(b *entry) int {
	if c := cmp.Compare(a.rank.class, b.rank.class); c != 0 {
		return c
	}
	if c := cmp.Compare(a.rank.key, b.rank.key); c != 0 {
		return c
	}
	if c := a.rank.at.Compare(b.rank.at); c != 0 {
		return c
	}
	return arrival(a.job, b.job)
}

// arrival is the order of a snapshot's pending jobs.
func arrival(a, b *sched.Job) int {
	if c := a.Submitted.Compare(b.Submitted); c != 0 {
		return c
	}
	return strings.Compare(a.ID, b.ID)
}

// order keeps the pending jobs sorted from cycle to cycle, so that a cycle costs one look at each and a
// search for those that have come and gone.
type order struct {
	rank    func(*sched.Pending) rank
	sorted  []entry
	arrived []entry // of the last snapshot, in its order
	fresh   []entry // scratch: of this one
	gone    []entry // scratch
	come    []entry // scratch
}

// forget drops what is known of the jobs, for when wants have changed.
func (o *order) forget() { o.sorted, o.arrived = nil, nil }

// update brings the order up to date with a snapshot.
func (o *order) update(s *sched.Snapshot, c *cache) {
	o.diff(s, c)
	o.arrived, o.fresh = o.fresh, o.arrived
	if changes := len(o.gone) + len(o.come); changes > 8+len(o.arrived)/8 {
		o.sorted = append(o.sorted[:0], o.arrived...)
		slices.SortFunc(o.sorted, func(a, b entry) int { return a.compare(&b) })
		return
	}
	for i := range o.gone {
		if at, ok := o.find(&o.gone[i]); ok {
			o.sorted = slices.Delete(o.sorted, at, at+1)
		}
	}
	for i := range o.come {
		at, _ := o.find(&o.come[i])
		o.sorted = slices.Insert(o.sorted, at, o.come[i])
	}
}

// diff lists the snapshot's jobs and those that have come, gone or changed rank. Both
// snapshots are in order of arrival.
func (o *order) diff(s *sched.Snapshot, c *cache) {
	o.fresh, o.gone, o.come = slices.Grow(o.fresh[:0], len(s.Pending)), o.gone[:0], o.come[:0]
	i := 0
	for k := range s.Pending {
		p := &s.Pending[k]
		for i < len(o.arrived) && o.arrived[i].job != p.Job && arrival(o.arrived[i].job, p.Job) <= 0 {
			o.gone = append(o.gone, o.arrived[i])
			i++
		}
		e := entry{rank: o.rank(p), job: p.Job}
		if i < len(o.arrived) && o.arrived[i].job == p.Job {
			e.want = o.arrived[i].want
			if o.arrived[i].rank != e.rank {
				o.gone = append(o.gone, o.arrived[i])
				o.come = append(o.come, e)
			}
			i++
		} else {
			e.want = c.want(p.Job)
			o.come = append(o.come, e)
		}
		o.fresh = append(o.fresh, e)
	}
	o.gone = append(o.gone, o.arrived[i:]...)
}

func (o *order) find(e *entry) (int, bool) {
	lo, hi := 0, len(o.sorted)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if o.sorted[mid].compare(e) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(o.sorted) && o.sorted[lo].job == e.job
}
