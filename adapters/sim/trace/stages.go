package trace

import (
	"slices"
)

// stages hands out the stages of one job after the other, each behind those that it waits for.
type stages struct {
	ready []Job
	last  int // the line of the stage handed out last
}

// take moves the next stage into job, and tells whether there is one.
func (s *stages) take(job *Job) bool {
	if len(s.ready) == 0 {
		return false
	}
	*job, s.ready = s.ready[0], s.ready[1:]
	s.last = job.Line
	return true
}

// The reasons for which jobs with stages are bad.
const (
	circle        = "stages in a circle"
	unknownParent = "a stage waits for one that is not there"
	twiceNamed    = "two stages of one name"
)

// set takes the stages of a job, in any order, and puts each behind those of its After. It takes out those without
// runtime: what waits for one waits for what that waits for. The error is about the job as a whole.
func (s *stages) set(l *lines, field string, of []Job) error {
	at := make(map[string]int, len(of))
	for i := range of {
		if _, twice := at[of[i].ID]; twice {
			return onLine(&of[i], l.bad(field, quote(of[i].ID)+" twice", "each stage once").because(twiceNamed))
		}
		at[of[i].ID] = i
	}
	for i := range of {
		for _, parent := range of[i].After {
			if _, ok := at[parent]; !ok {
				return onLine(&of[i], l.bad(field, quote(of[i].ID)+", which waits for "+quote(parent),
					"stages that wait for stages of the same job").because(unknownParent))
			}
		}
	}
	order, left := sorted(of, at)
	if len(left) > 0 {
		return onLine(&of[left[0]], l.bad(field, "stages that wait for each other, such as "+quote(of[left[0]].ID),
			"no circle").because(circle))
	}
	s.ready = s.ready[:0]
	for _, i := range order {
		j := &of[i]
		j.After = contracted(j.After, of, at)
		if j.Runtime > 0 {
			s.ready = append(s.ready, *j)
		}
	}
	return nil
}

// onLine has an error be about the line of a stage.
func onLine(j *Job, e *ParseError) *ParseError {
	e.Line = j.Line
	return e
}

// sorted is the stages' order in which each is behind those that it waits for, as they come where that leaves a choice.
// What is left are stages in circles, and behind them.
func sorted(of []Job, at map[string]int) (order, left []int) {
	children := make([][]int, len(of))
	waits := make([]int, len(of))
	for i := range of {
		for _, parent := range of[i].After {
			children[at[parent]] = append(children[at[parent]], i)
			waits[i]++
		}
		if waits[i] == 0 {
			order = append(order, i)
		}
	}
	for k := 0; k < len(order); k++ {
		for _, c := range children[order[k]] {
			if waits[c]--; waits[c] == 0 {
				order = append(order, c)
			}
		}
	}
	for i := range of {
		if waits[i] > 0 {
			left = append(left, i)
		}
	}
	return order, left
}

// contracted are the stages waited for, with those that take no time replaced by what they wait for. They are in order
// already, so theirs is done.
func contracted(after []string, of []Job, at map[string]int) []string {
	if !slices.ContainsFunc(after, func(p string) bool { return of[at[p]].Runtime == 0 }) {
		return after
	}
	var out []string
	add := func(p string) {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	for _, p := range after {
		parent := &of[at[p]]
		if parent.Runtime > 0 {
			add(p)
			continue
		}
		for _, q := range parent.After {
			add(q)
		}
	}
	return out
}
