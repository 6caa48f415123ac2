package sched

// news is what has changed in a state since it last showed a snapshot.
type news struct {
	serial  uint64     // of the last snapshot
	version uint64     // changes with everything that a snapshot shows
	come    []*tracked // may have come to the pending jobs
	gone    []Pending  // were among them and are not any more
	lost    bool       // forecasts have changed, too
	added   []Pending  // of the last snapshot: what has come
	removed []Pending  // and what had gone
	full    bool       // more than added and removed has changed
}

// enters notes that a job has come to the pending ones.
func (n *news) enters(j *tracked) { n.come = append(n.come, j) }

// leaves notes that one is not among them any more.
func (n *news) leaves(j *tracked) {
	if j.shown {
		n.gone, j.shown = append(n.gone, j.asPending()), false
	}
}

// publish makes the news of the next snapshot.
func (n *news) publish() {
	n.serial++
	clear(n.added)
	clear(n.removed)
	n.added, n.removed, n.gone = n.added[:0], n.gone, n.removed[:0]
	for _, j := range n.come {
		if j.phase == pending && !j.shown && !j.gone && j.job != nil {
			j.shown = true
			n.added = append(n.added, j.asPending())
		}
	}
	clear(n.come)
	n.come = n.come[:0]
	n.full, n.lost = n.lost, false
}

// Mark remembers a snapshot, so that a policy learns what is new in the next one at no more cost than that of the news.
// The zero value remembers none. It is not safe for concurrent use.
type Mark struct {
	of      *state
	serial  uint64
	version uint64
	free    uint64
}

// News is what has changed between two snapshots.
type News struct {
	// Nothing tells that the snapshots differ in Now and Completed alone.
	Nothing bool
	// Known tells that both snapshots are of one loop. Otherwise nothing else is told.
	Known bool
	// SameFree tells that Free and Nodes are the same.
	SameFree bool
	// Listed tells that Come and Gone are known: the pending jobs that are new, and those that are not pending any more,
	// as they were. A job may have gone and come again. They are valid until the loop's next Step and must not be
	// modified.
	Listed     bool
	Come, Gone []Pending
}

// See returns what is new in a snapshot since the one that the mark remembers, and remembers this one. Of snapshots
// that are not a [Loop]'s it knows nothing, nor if it has missed one.
func (m *Mark) See(s *Snapshot) News {
	of := s.of
	if of == nil || s.ledger() == nil || !of.shows(s.Pending) {
		*m = Mark{}
		return News{}
	}
	was := *m
	*m = Mark{of: of, serial: of.news.serial, version: of.news.version, free: of.ledger.version}
	if was.of != of {
		return News{}
	}
	news := News{Known: true, SameFree: was.free == m.free}
	switch m.serial - was.serial {
	case 0:
		news.Nothing, news.Listed = true, true
	case 1:
		news.Nothing = was.version == m.version && news.SameFree && !of.news.full &&
			len(of.news.added)+len(of.news.removed) == 0
		if news.Listed = !of.news.full; news.Listed {
			news.Come, news.Gone = of.news.added, of.news.removed
		}
	}
	return news
}

// shows tells that a list is that of the state's pending jobs.
func (s *state) shows(list []Pending) bool {
	items := s.pending.items()
	return len(list) == len(items) && (len(list) == 0 || &list[0] == &items[0])
}
