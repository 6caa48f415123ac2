package eagle

import (
	"time"

	"github.com/hedgesched/hedge/sched/agent"
)

// Where a task is, beside at a worker.
const (
	nowhere agent.Addr = -1 // not given to any worker; or a probe that is at none
	done    agent.Addr = -2
)

// owned is a job at the scheduler that has it.
type owned struct {
	id, ref, tasks int32
	next, ended    int32 // the first task that was never given; how many have ended
	begun, version int32 // given or, where they are placed at once, begun; updates so far
	estimate       time.Duration
	long, dirty    bool
	here           bool
	// nodes are where the probes are or, where tasks are placed at once, those that have not begun.
	nodes []agent.Addr
	where []agent.Addr // of each task
	again []int32      // tasks that were lost with their worker
	// lifeline is a probe that a job gets when any worker has crashed: others may have been there, or on their way.
	lifeline int32
}

// jobs are those of one scheduler; places are used again, with their room.
type jobs struct{ agent.Slab[owned] }

func (s *jobs) add(job *agent.Job) *owned {
	ref, j := s.Add()
	*j = owned{id: job.ID, ref: ref, tasks: job.Tasks, estimate: job.Estimate, long: job.Long, here: true, lifeline: -1,
		nodes: j.nodes[:0], where: j.where[:0], again: j.again[:0]}
	for range j.tasks {
		j.where = append(j.where, nowhere)
	}
	return j
}

// find is the job that a message is about, nil if it is over.
func (s *jobs) find(m *Message) *owned {
	if m.Ref < 0 || m.Ref >= s.Refs() {
		return nil
	}
	if j := s.At(m.Ref); j.here && j.id == m.Job {
		return j
	}
	return nil
}

func (s *jobs) remove(j *owned) {
	j.here = false
	s.Remove(j.ref)
}

// left is how many tasks have not begun.
func (j *owned) left() int32 { return j.tasks - j.begun }

// alive tells whether the lifeline is at a worker, and not at this one.
func (j *owned) alive(lost agent.Addr) bool {
	return j.lifeline >= 0 && j.nodes[j.lifeline] != nowhere && j.nodes[j.lifeline] != lost
}

// take chooses a task that is at no worker.
func (j *owned) take() int32 {
	if n := len(j.again); n > 0 {
		t := j.again[n-1]
		j.again = j.again[:n-1]
		return t
	}
	j.next++
	return j.next - 1
}

// finish counts a task that has ended, and tells whether it was the last.
func (j *owned) finish(task int32) bool {
	if j.where[task] == done {
		return false
	}
	j.where[task] = done
	j.ended++
	return j.ended == j.tasks
}

// lose takes back the tasks that were at a worker, and counts them. What it has left is more by those that had begun:
// all of them, or where tasks are placed at once those that are not among the nodes any more.
func (j *owned) lose(worker agent.Addr, placed bool) int {
	n := 0
	for t, at := range j.where {
		if at != worker {
			continue
		}
		j.where[t] = nowhere
		j.again = append(j.again, int32(t))
		n++
		if !placed || j.nodes[t] == nowhere {
			j.begun--
		}
	}
	if n > 0 {
		j.version++ // what was told before of having nothing left is older than what comes
	}
	return n
}
