package sched

import (
	"fmt"
	"slices"
	"strings"
)

// errParent is the error of a job whose [Job.After] names a job that does not exist: it was never submitted, or it was
// withdrawn or rejected.
var errParent = fmt.Errorf("%w: it waits for a job that does not exist", ErrInvalidJob)

// validateStage checks the names in After and Of.
func (j *Job) validateStage() error {
	bad := func(field string, value any) error {
		return &JobError{Job: short(j.ID), Field: field, Value: value, Err: ErrInvalidJob}
	}
	if len(j.Of) > MaxName {
		return bad("Of", tooLong(j.Of))
	}
	for i, parent := range j.After {
		field := fmt.Sprintf("After[%d]", i)
		switch {
		case parent == "":
			return bad(field, `""`)
		case len(parent) > MaxName:
			return bad(field, tooLong(parent))
		case parent == j.ID:
			return bad(field, fmt.Sprintf("%q, which is the job itself", parent))
		}
	}
	if len(j.After) > 1 {
		sorted := slices.Sorted(slices.Values(j.After))
		for i := range sorted[1:] {
			if sorted[i] == sorted[i+1] {
				return bad("After", fmt.Sprintf("%q twice", sorted[i]))
			}
		}
	}
	return nil
}

// Whole is the ID of the job that this one is a stage of: Of, or its own ID if Of is empty.
func (j *Job) Whole() string {
	if j.Of == "" {
		return j.ID
	}
	return j.Of
}

// stages holds the jobs that wait for others to finish.
type stages struct {
	held     list[Pending]       // by submission, then id
	children map[string][]string // by the id of a parent: the jobs that wait for it
	fresh    []*tracked          // submitted in this batch; their parents have not been looked up yet
	dropped  []Rejection         // not yet reported to the loop
}

// link looks up the parents of this batch's jobs, which may come in any order. It drops jobs with a parent that does
// not exist, jobs that wait for each other in a circle, and all jobs that wait for a dropped one.
func (s *state) link() {
	// A job that has started in the meantime no longer waits.
	left := slices.DeleteFunc(s.fresh, func(j *tracked) bool { return j.gone || j.phase != held })
	s.fresh = s.fresh[:0]
	if len(left) == 0 {
		return
	}
	finished := make(map[string]bool, len(s.finished))
	for _, c := range s.finished {
		finished[c.Job] = true
	}
	open := make(map[string]*tracked, len(left)) // those that are not linked yet
	for _, j := range left {
		open[j.job.ID] = j
	}
	for progress := true; progress; {
		progress = false
		left = slices.DeleteFunc(left, func(j *tracked) bool {
			missing, waits := s.lookUp(j, open, finished)
			if waits {
				return false
			}
			delete(open, j.job.ID)
			progress = true
			if missing != "" {
				s.drop(j, missing, errParent)
			} else {
				s.await(j, finished)
			}
			return true
		})
	}
	for _, j := range left { // circles, and the jobs that wait for them
		circle := circle(j, open)
		s.drop(j, strings.Join(circle, ", "), fmt.Errorf("%w: these wait for each other in a circle", ErrInvalidJob))
	}
}

// lookUp returns the first parent that does not exist. If there is none, it tells whether a parent is not linked yet.
func (s *state) lookUp(j *tracked, open map[string]*tracked, finished map[string]bool) (missing string, waits bool) {
	for _, parent := range j.job.After {
		switch {
		case open[parent] != nil:
			waits = true
		case s.jobs[parent] == nil && !finished[parent]:
			return parent, false
		}
	}
	return "", waits
}

// await registers a job with its unfinished parents. Without any, the job becomes pending.
func (s *state) await(j *tracked, finished map[string]bool) {
	for _, parent := range j.job.After {
		if s.jobs[parent] == nil && finished[parent] {
			continue
		}
		if s.children == nil {
			s.children = make(map[string][]string)
		}
		s.children[parent] = append(s.children[parent], j.job.ID)
		j.waits++
	}
	if j.waits == 0 {
		s.unhold(j)
	}
}

// unhold makes a held job pending, so that policies see it.
func (s *state) unhold(j *tracked) {
	s.leave(j)
	j.phase = pending
	s.enterPending(j)
}

// circle returns a circle of jobs that j waits for; j need not be in it. Each job of open waits for another of open.
func circle(j *tracked, open map[string]*tracked) []string {
	var way []string
	for {
		if at := slices.Index(way, j.job.ID); at >= 0 {
			return way[at:]
		}
		way = append(way, j.job.ID)
		for _, parent := range j.job.After {
			if next := open[parent]; next != nil {
				j = next
				break
			}
		}
	}
}

// drop forgets a job that can never start, and all jobs that wait for it.
func (s *state) drop(j *tracked, parent string, why error) {
	s.dropped = append(s.dropped, Rejection{Job: j.job,
		Err: &JobError{Job: j.job.ID, Field: "After", Value: fmt.Sprintf("%q", parent), Err: why}})
	s.leave(j)
	s.forget(j)
	s.abandon(j)
}

// abandon drops the jobs that wait for one that has gone without finishing. Jobs that already run go on.
func (s *state) abandon(gone *tracked) {
	s.unlink(gone)
	id := gone.job.ID
	waiting := s.children[id]
	delete(s.children, id)
	for _, j := range s.fresh {
		if !j.gone && j.phase == held && slices.Contains(j.job.After, id) {
			s.drop(j, id, errParent)
		}
	}
	for _, child := range waiting {
		if j := s.jobs[child]; j != nil {
			j.waits--
			if j.phase == held || j.phase == delayed {
				s.drop(j, id, errParent)
			}
		}
	}
}

// unlink removes a job that is gone from the lists of its parents' children.
func (s *state) unlink(gone *tracked) {
	if gone.waits == 0 {
		return
	}
	id := gone.job.ID
	for _, parent := range gone.job.After {
		left := slices.DeleteFunc(s.children[parent], func(child string) bool { return child == id })
		if s.children[parent] = left; len(left) == 0 {
			delete(s.children, parent)
		}
	}
}

// ready makes the jobs pending that waited only for this one, which has finished, in the order in which they came.
func (s *state) ready(done *tracked) {
	s.unlink(done)
	id := done.job.ID
	waiting := s.children[id]
	delete(s.children, id)
	for _, child := range waiting {
		j := s.jobs[child]
		if j == nil {
			continue
		}
		if j.waits--; j.waits == 0 && j.phase == held {
			s.unhold(j)
		}
	}
}
