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

func (e *entry) compare(other *entry) int {
	if c := cmp.Compare(e.rank.class, other.rank.class); c != 0 {
		return c
	}
	if c := cmp.Compare(e.rank.key, other.rank.key); c != 0 {
		return c
	}
	if c := e.rank.at.Compare(other.rank.at); c != 0 {
		return c
	}
	return arrival(e.job, other.job)
}

// arrival is the order of a snapshot's pending jobs.
func arrival(a, b *sched.Job) int {
	if c := a.Submitted.Compare(b.Submitted); c != 0 {
		return c
	}
	return strings.Compare(a.ID, b.ID)
}

// order keeps the pending jobs sorted from cycle to cycle, so that a cycle costs a search for each job that has come
// and gone. Where nobody tells which these are, it costs a look at each job besides.
type order struct {
	rank    func(*sched.Pending) rank
	sorted  blocks
	from    source  // what sorted is made from
	arrived []entry // of the last snapshot, in its order, if from is snapshots
	fresh   []entry // scratch: of this one
	gone    []entry // scratch
	come    []entry // scratch
}

// source is what an order is made from.
type source uint8

const (
	nothing   source = iota
	snapshots        // each is compared with the one before
	listing          // the news lists who has come and gone
)

// forget drops what is known of the jobs, for when wants have changed.
func (o *order) forget() { o.sorted, o.from, o.arrived = blocks{}, nothing, nil }

// update brings the order up to date with a snapshot. News may list what has changed since the last one.
func (o *order) update(s *sched.Snapshot, c *cache, news *sched.News) {
	if news.Listed && o.from != nothing && o.follow(c, news) {
		return
	}
	if o.from == listing {
		o.forget()
	}
	o.from = snapshots
	o.diff(s, c)
	o.arrived, o.fresh = o.fresh, o.arrived
	if changes := len(o.gone) + len(o.come); changes > 8+len(o.arrived)/8 {
		all := slices.Clone(o.arrived)
		slices.SortFunc(all, func(a, b entry) int { return a.compare(&b) })
		o.sorted.fill(all)
		return
	}
	for i := range o.gone {
		o.sorted.remove(&o.gone[i])
	}
	for i := range o.come {
		o.sorted.insert(&o.come[i])
	}
}

// follow takes in the jobs that have gone and come. It is false where the list is not one of changes to the order.
func (o *order) follow(c *cache, news *sched.News) bool {
	o.from, o.arrived = listing, nil
	for i := range news.Gone {
		p := &news.Gone[i]
		if !o.sorted.remove(&entry{rank: o.rank(p), job: p.Job}) {
			return false
		}
	}
	for i := range news.Come {
		p := &news.Come[i]
		o.sorted.insert(&entry{rank: o.rank(p), job: p.Job, want: c.want(p.Job)})
	}
	return true
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
