package sched

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// maxSpare bounds the memory kept for jobs to come.
const maxSpare = 1 << 10

// confirm notes where and since when a job really runs.
func (s *state) confirm(j *tracked, e *Event, now time.Time) error {
	on, since := j.where(), j.started
	if j.phase.waiting() {
		since = now // better than nothing, where the event has no time
	}
	if len(e.Nodes) > 0 {
		j.name()
		on = where{nodes: e.Nodes}
	}
	if !e.Time.IsZero() {
		since = wall(e.Time)
	}
	if on.none() {
		return bad(e, "on no nodes")
	}
	j.dated = j.dated || !e.Time.IsZero()
	switch {
	case j.phase.waiting():
	case j.phase == stopping: // it started before it was told to stop
		s.hold(j, 1)
		s.move(j, since, on)
		s.hold(j, -1)
		return nil
	case since.Equal(j.started) && slices.Equal(on.nodes, j.nodes):
		j.phase = running // just as planned
		return nil
	}
	s.leave(j)
	s.enterRunning(j, running, since, on)
	s.hold(j, -1)
	return nil
}

// waiting tells that the job is neither running nor stopping.
func (p phase) waiting() bool { return p == pending || p.hidden() }

// hidden tells that the job waits and policies are not shown it.
func (p phase) hidden() bool { return p == delayed || p == held }

// comeBack returns a job that could not start or has stopped to the pending ones, or to those that are delayed.
func (s *state) comeBack(j *tracked, e *Event, now time.Time) error {
	if j.phase.waiting() {
		return bad(e, "the job is pending")
	}
	s.leave(j)
	if e.Kind == Preempted || e.Done != 0 {
		j.keep(e, now)
	}
	j.lost(e, j.use)
	s.move(j, time.Time{}, where{})
	j.phase, j.speed, j.dated = pending, 0, false
	if j.notBefore = wall(e.NotBefore); j.notBefore.After(now) {
		j.phase = delayed
		s.delayed = append(s.delayed, j)
		return nil
	}
	s.enterPending(j)
	return nil
}

// release returns the jobs whose time has come to the pending ones.
func (s *state) release(now time.Time) {
	s.delayed = slices.DeleteFunc(s.delayed, func(j *tracked) bool {
		if j.notBefore.After(now) {
			return false
		}
		j.phase = pending
		s.enterPending(j)
		s.news.version++
		return true
	})
}

// beginStop takes a job that others stop out of what policies are shown; what it holds stays held.
func (s *state) beginStop(j *tracked, e *Event, now time.Time) error {
	on, since := j.where(), j.started
	if len(e.Nodes) > 0 {
		j.name()
		on = where{nodes: e.Nodes}
	}
	switch {
	case j.phase == stopping && slices.Equal(on.nodes, j.nodes):
		return nil
	case on.none():
		return bad(e, "on no nodes")
	case j.phase.waiting():
		if since = wall(e.Time); e.Time.IsZero() {
			since = now
		}
	}
	s.leave(j)
	s.move(j, since, on)
	j.phase, j.speed = stopping, s.speed(j)
	s.stopping = append(s.stopping, j)
	s.hold(j, -1)
	return nil
}

// goOn returns a job that could not be stopped to the running ones.
func (s *state) goOn(j *tracked, e *Event) error {
	if j.phase != stopping {
		return bad(e, "the job was not told to stop")
	}
	s.stopped(j)
	s.enterRunning(j, running, j.started, j.where())
	return nil
}

// leave takes the job out of the list it is in and gives back what it holds.
func (s *state) leave(j *tracked) {
	switch j.phase {
	case pending:
		s.pending.remove(waitingAt(&s.pending, j))
		s.news.leaves(j)
		return
	case starting, running:
		s.running.remove(s.runningAt(j))
	case stopping:
		s.stopped(j)
	case delayed:
		s.delayed = without(s.delayed, j)
		return
	case held:
		s.held.remove(waitingAt(&s.held, j))
		return
	}
	s.hold(j, 1)
}

// stopped takes the job from those that are stopping.
func (s *state) stopped(j *tracked) { s.stopping = without(s.stopping, j) }

// without takes a job out of a few that are in no order to find it by.
func without(jobs []*tracked, j *tracked) []*tracked {
	return slices.DeleteFunc(jobs, func(o *tracked) bool { return o == j })
}

// enterPending lists a job among those that policies may start or, where it waits for others, among those held back.
func (s *state) enterPending(j *tracked) {
	to := &s.pending
	if j.waits > 0 {
		j.phase, to = held, &s.held
	} else {
		s.news.enters(j)
	}
	enter(to, j)
}

func enter(to *list[Pending], j *tracked) {
	i, _ := findWaiting(to, j)
	to.insert(i, j.asPending())
}

func (j *tracked) asPending() Pending {
	return Pending{Job: j.job, Prediction: j.prediction, Attained: j.attained}
}

// enterRunning lists the job; what it holds is the caller's to see to.
func (s *state) enterRunning(j *tracked, as phase, since time.Time, on where) {
	s.move(j, since, on)
	j.phase, j.speed = as, s.speed(j)
	i, _ := s.findRunning(j)
	s.running.insert(i, j.asRunning())
}

// speed is how fast a job runs where it is.
func (s *state) speed(j *tracked) float64 {
	if len(j.ranges) > 0 {
		return s.set.SpeedOn(j.job, j.ranges)
	}
	return s.set.Speed(j.job, j.nodes)
}

// move notes where the job's tasks are.
func (s *state) move(j *tracked, since time.Time, on where) {
	if j.stay == &s.nowhere {
		j.stay = new(stay)
	}
	j.started, j.nodes, j.ranges, j.inRanges, j.on = since, on.nodes, on.ranges, nil, nil
	if len(on.ranges) > 0 {
		j.inRanges = s.set
	}
	if on.none() {
		j.leaving, j.use = nil, nil
	}
}

func (j *tracked) where() where { return where{nodes: j.nodes, ranges: j.ranges} }

func (w where) none() bool { return len(w.nodes)+len(w.ranges) == 0 }

func (j *tracked) asRunning() Running {
	r := Running{Job: j.job, Prediction: j.prediction, Started: j.started, Nodes: j.nodes, Ranges: j.ranges,
		Speed: j.speed, Use: j.use, held: j}
	r.until = r.Until()
	return r
}

func findWaiting(in *list[Pending], j *tracked) (int, bool) {
	return in.find(func(p *Pending) int {
		if p.Job == j.job {
			return 0
		}
		return cmp.Or(p.Job.Submitted.Compare(j.job.Submitted), strings.Compare(p.Job.ID, j.job.ID))
	})
}

func (s *state) findRunning(j *tracked) (int, bool) {
	return s.running.find(func(r *Running) int {
		if r.Job == j.job {
			return 0
		}
		return cmp.Or(r.Started.Compare(j.started), strings.Compare(r.Job.ID, j.job.ID))
	})
}

// waitingAt is where a pending or held job is. It is not where the order says if the host has changed
// Job.Submitted since.
func waitingAt(in *list[Pending], j *tracked) int {
	if i, ok := findWaiting(in, j); ok {
		return i
	}
	return slices.IndexFunc(in.items(), func(p Pending) bool { return p.Job == j.job })
}

// runningAt is where a starting or running job is.
func (s *state) runningAt(j *tracked) int {
	if i, ok := s.findRunning(j); ok {
		return i
	}
	return slices.IndexFunc(s.running.items(), func(r Running) bool { return r.Job == j.job })
}
