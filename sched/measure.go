package sched

import (
	"fmt"
	"slices"

	"github.com/hedgesched/hedge/sched/usage"
)

// measure applies a batch of measurements. It skips those that are invalid and returns an error for the first of them.
// It skips jobs that do not run without an error, because a cluster may measure a job before it reports the end.
func (s *state) measure(e *Event) error {
	if e.Usage == nil {
		return bad(e, "no usage")
	}
	var first error
	for i := range e.Usage.Jobs {
		if err := s.measureJob(&e.Usage.Jobs[i]); err != nil && first == nil {
			first = err
		}
	}
	for i := range e.Usage.Nodes {
		n := &e.Usage.Nodes[i]
		if err := n.Others.Check(); err != nil {
			first = orElse(first, fmt.Errorf("%w: %s: node %q: %w", ErrBadEvent, Measured, short(n.Name), err))
			continue
		}
		if s.others == nil {
			s.others = make(map[string]usage.Level)
		}
		s.others[n.Name], s.levels = n.Others, nil
	}
	return first
}

func orElse(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

func (s *state) measureJob(in *usage.Job) error {
	j := s.jobs[in.ID]
	if j == nil || j.where().none() {
		return nil
	}
	for i := range in.Tasks {
		err := in.Tasks[i].Check()
		if err == nil && i > 0 && in.Tasks[i].Index <= in.Tasks[i-1].Index {
			err = fmt.Errorf("task %d comes after task %d", in.Tasks[i].Index, in.Tasks[i-1].Index)
		}
		if err != nil {
			return fmt.Errorf("%w: %s: job %q: %w", ErrBadEvent, Measured, short(in.ID), err)
		}
	}
	j.use = append(j.use[:0], in.Tasks...)
	if j.phase == starting || j.phase == running {
		s.running.items()[s.runningAt(j)].Use = j.use
	}
	return nil
}

// takeUse removes and returns the measurements of tasks on these nodes. If a node has more tasks than are to go, it
// takes those of the lowest index.
func (j *tracked) takeUse(nodes []NodeTasks) (used []usage.Task) {
	for _, nt := range nodes {
		left := nt.Tasks
		j.use = slices.DeleteFunc(j.use, func(t usage.Task) bool {
			if t.Node != nt.Node || left == 0 {
				return false
			}
			left--
			used = append(used, t)
			return true
		})
	}
	return used
}

// othersByNode is what other work uses on each node, by node index. It is nil if nothing was measured.
func (s *state) othersByNode() []usage.Level {
	if s.others == nil {
		return nil
	}
	if s.levels == nil {
		s.levels = make([]usage.Level, s.set.Len())
		for i := range s.levels {
			s.levels[i] = s.others[s.set.Node(i).Name]
		}
	}
	return s.levels
}
