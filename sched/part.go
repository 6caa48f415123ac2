package sched

import (
	"fmt"
	"slices"
	"time"

	"github.com/hedgesched/hedge/sched/usage"
)

// lessTasks removes some tasks from a placement, and tells whether they were all there. If not, it returns from as it
// is; otherwise the result is a new slice.
func lessTasks(from, some []NodeTasks) ([]NodeTasks, bool) {
	rest := slices.Clone(from)
	for _, nt := range some {
		i := slices.IndexFunc(rest, func(r NodeTasks) bool { return r.Node == nt.Node })
		if i < 0 || nt.Tasks < 1 || rest[i].Tasks < nt.Tasks {
			return from, false
		}
		if rest[i].Tasks -= nt.Tasks; rest[i].Tasks == 0 {
			rest = slices.Delete(rest, i, i+1)
		}
	}
	return rest, true
}

// moreTasks adds some tasks to a placement. The result is a new slice.
func moreTasks(to, some []NodeTasks) []NodeTasks {
	out := slices.Clone(to)
	for _, nt := range some {
		if i := slices.IndexFunc(out, func(r NodeTasks) bool { return r.Node == nt.Node }); i >= 0 {
			out[i].Tasks += nt.Tasks
		} else {
			out = append(out, nt)
		}
	}
	return out
}

// part removes tasks that have ended or were lost from their gang, and returns what they had used. On each node it
// removes tasks that were told to stop first. A gang that has no task left is forgotten.
func (s *state) part(j *tracked, e *Event) (used []usage.Task, err error) {
	if j.phase == pending || j.phase == delayed {
		return nil, bad(e, "the job is pending")
	}
	s.named(j)
	leaving, staying := j.leaving, j.nodes
	for _, nt := range e.Nodes {
		one := []NodeTasks{nt}
		rest, ok := lessTasks(leaving, one)
		if !ok {
			if staying, ok = lessTasks(staying, one); !ok {
				return nil, bad(e, fmt.Sprintf("%d tasks on node %q, where fewer run", nt.Tasks, short(nt.Node)))
			}
		}
		leaving = rest
	}
	used = j.takeUse(e.Nodes)
	if len(leaving)+len(staying) == 0 {
		s.leave(j)
		s.forget(j)
		return used, nil
	}
	s.regroup(j, staying, leaving)
	return used, nil
}

// named has the nodes of a job named, if they are ranges, here and in what is shown.
func (s *state) named(j *tracked) {
	if len(j.ranges) == 0 {
		return
	}
	j.name()
	if j.phase == starting || j.phase == running {
		r := &s.running.items()[s.runningAt(j)]
		r.Nodes, r.Ranges = j.nodes, nil
	}
}

// regroup sets which tasks of a gang stay and which were told to stop.
func (s *state) regroup(j *tracked, staying, leaving []NodeTasks) {
	s.hold(j, 1)
	j.nodes, j.leaving, j.on = staying, leaving, nil
	s.hold(j, -1)
	if j.phase == starting || j.phase == running {
		r := &s.running.items()[s.runningAt(j)]
		r.Nodes, r.Use = j.nodes, j.use
	}
}

// lose removes lost tasks from their gang and submits them as a job of their own, a part of the gang.
func (s *state) lose(j *tracked, e *Event, now time.Time) error {
	if err := e.Job.Validate(); err != nil {
		return err
	}
	switch {
	case len(e.Nodes) == 0:
		return bad(e, "a part without nodes")
	case e.Job.PartOf != j.job.whole():
		return bad(e, fmt.Sprintf("a part of job %q", short(e.Job.PartOf)))
	case s.jobs[e.Job.ID] != nil:
		return &JobError{Job: e.Job.ID, Field: "ID", Value: e.Job.ID, Err: ErrDuplicateJob}
	}
	before := j.attained
	used, err := s.part(j, e)
	if err != nil {
		return err
	}
	if err := s.submit(&Event{Kind: Submitted, Time: e.Time, Job: e.Job}, now); err != nil {
		return err
	}
	p := s.jobs[e.Job.ID]
	p.attained = before
	p.lost(e, used)
	if p.notBefore = wall(e.NotBefore); p.notBefore.After(now) {
		s.leave(p)
		p.phase = delayed
		s.delayed = append(s.delayed, p)
		return nil
	}
	s.pending.items()[waitingAt(&s.pending, p)].Attained = p.attained
	return nil
}

// lost records the service that the lost tasks had attained. A checkpoint loses nothing.
func (j *tracked) lost(e *Event, used []usage.Task) {
	if e.Kind != Preempted || j.job.Checkpoint {
		return
	}
	if e.Attained > 0 {
		j.attained = max(j.attained, e.Attained)
		return
	}
	for i := range used {
		j.attained = max(j.attained, used[i].Work())
	}
}

// beginLeave records that some tasks were told to stop. They hold their resources until they have stopped.
func (s *state) beginLeave(j *tracked, tasks []NodeTasks) {
	s.named(j)
	if staying, ok := lessTasks(j.nodes, tasks); ok {
		s.regroup(j, staying, moreTasks(j.leaving, tasks))
	}
}

// rejoin returns tasks that could not be stopped to the tasks that stay.
func (s *state) rejoin(j *tracked, e *Event) error {
	leaving, ok := lessTasks(j.leaving, e.Nodes)
	if !ok {
		return bad(e, "the tasks were not told to stop")
	}
	s.named(j)
	s.regroup(j, moreTasks(j.nodes, e.Nodes), leaving)
	return nil
}
