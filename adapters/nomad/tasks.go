package nomad

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// hold adds what an allocation has set aside.
func (a *alloc) hold(to sched.Resources) {
	r := a.AllocatedResources
	if r == nil {
		return
	}
	to[Disk] += float64(r.Shared.DiskMB)
	for _, name := range slices.Sorted(maps.Keys(r.Tasks)) {
		to[CPU] += float64(r.Tasks[name].Cpu.CpuShares)
		to[Memory] += float64(r.Tasks[name].Memory.MemoryMB)
	}
}

// current tells whether an allocation is of the last start.
func (j *job) current(a *alloc) bool { return j.start != 0 && startOf(a.TaskGroup) == j.start }

// runs tells whether the last start's groups are there: it was neither stopped nor is it over.
func (j *job) runs() bool {
	return !deref(j.Stop) && slices.ContainsFunc(j.TaskGroups, j.placed)
}

// counts tells whether an allocation that holds room is told as a task: one of the last start, or what was there
// before, where that is all there is.
func (d *Driver) counts(j *job, a *alloc) bool {
	if j.current(a) || j.runs() {
		return j.current(a)
	}
	h := d.held(j, slices.Collect(maps.Values(d.state.of[a.key()])))
	return len(h.live) == 0 && len(h.done) < j.spec.Tasks
}

// firstOf is which of the allocations of one name is its gang's: the one that was placed first. As soon as a node is
// back, Nomad by itself places another for what was lost there; a task that runs again without its gang is not the
// gang's run. Where it is all of the gang, it is the first that finished, if any did. Names are never those of another
// start.
func (d *Driver) firstOf(j *job, a *alloc) *alloc {
	s, k := d.state, a.key()
	first := s.firsts[k]
	if first == nil {
		first = make(map[string]*alloc, len(s.of[k]))
		for _, o := range s.of[k] {
			if have := first[o.Name]; have == nil || d.rather(j, o, have) {
				first[o.Name] = o
			}
		}
		s.firsts[k] = first
	}
	return first[a.Name]
}

// rather tells whether of two allocations of one name a is the gang's, not b.
func (d *Driver) rather(j *job, a, b *alloc) bool {
	if j.spec.Tasks == 1 {
		if done := d.task(j, a).State == adapters.Finished; done != (d.task(j, b).State == adapters.Finished) {
			return done
		}
	}
	return cmp.Or(cmp.Compare(a.CreateIndex, b.CreateIndex), strings.Compare(a.ID, b.ID)) < 0
}

// own tells whether an allocation is its gang's, and not one that Nomad placed in the place of another.
func (d *Driver) own(j *job, a *alloc) bool { return d.firstOf(j, a).ID == a.ID }

// surplus tells whether an allocation is in the place of one that had done its work, as its agent told when it was
// back. Nobody needs it; it holds room until it ends.
func (d *Driver) surplus(j *job, a *alloc) bool {
	return !d.own(j, a) && d.task(j, d.firstOf(j, a)).State == adapters.Finished
}

// gangTask is what an allocation amounts to in its gang.
func (d *Driver) gangTask(j *job, a *alloc) adapters.Task {
	t := d.task(j, a)
	if t.State == adapters.Finished && !d.own(j, a) {
		t.State, t.Err = adapters.Failed,
			fmt.Errorf("%w: %s was lost, and %s in its place ran without its gang", ErrStopped, d.firstOf(j, a).ID, a.ID)
	}
	return t
}

// held is what there is of a job that was stopped, or is not started yet.
type held struct {
	attempt []adapters.Task // the last start's
	done    []adapters.Task // those of it that have finished
	live    []adapters.Task // those of it that hold room
	rest    []adapters.Task // what holds room and is of an earlier submission or start
}

func (d *Driver) held(j *job, of []*alloc) (h held) {
	for _, a := range of {
		if d.surplus(j, a) {
			continue
		}
		t := d.gangTask(j, a)
		current := j.current(a)
		if current && (j.spec.Tasks == 1 || d.own(j, a)) {
			h.attempt = append(h.attempt, t)
		}
		switch {
		case current && t.State == adapters.Finished:
			h.done = append(h.done, t)
		case a.lost() && !d.mayRun(j, a), a.ended():
		default:
			t.State = adapters.Stopping
			if current {
				h.live = append(h.live, t)
			} else {
				h.rest = append(h.rest, t)
			}
		}
	}
	return h
}

// tellHeld is of a job that was stopped, or is not started yet. What of it is not told as a task here is foreign to its
// node, see [Driver.counts].
func (d *Driver) tellHeld(j *job, of []*alloc, out *adapters.Job) {
	h := d.held(j, of)
	switch {
	case len(h.done) == j.spec.Tasks:
		out.Tasks = h.done
	case len(h.live) > 0:
		out.Tasks = h.live
	default:
		out.Tasks = h.rest
	}
	if j.spec.Checkpoint && len(h.done) < j.spec.Tasks {
		out.Done += adapters.Progress(j.spec, h.attempt, time.Time{}, d.state.labelsOf)
	}
}

// task is what an allocation amounts to.
func (d *Driver) task(j *job, a *alloc) adapters.Task {
	t := adapters.Task{Node: d.state.nameOf(a.NodeID), State: adapters.Requested}
	up, done := true, len(j.mains) > 0
	for _, name := range j.mains {
		s := a.TaskStates[name]
		if s == nil {
			up, done = false, false
			continue
		}
		up = up && !s.StartedAt.IsZero()
		done = done && succeeded(s)
		if s.StartedAt.After(t.Started) {
			t.Started = s.StartedAt
		}
		if s.FinishedAt.After(t.Ended) {
			t.Ended = s.FinishedAt
		}
	}
	if !up {
		t.Started = time.Time{}
	}
	switch {
	case a.lost():
		t.State = adapters.Lost
	case a.ClientStatus == api.AllocClientStatusComplete && done:
		t.State = adapters.Finished
	case a.ended():
		t.State, t.Err = adapters.Failed, a.why()
	case a.DesiredStatus != api.AllocDesiredStatusRun:
		t.State = adapters.Stopping
	case up:
		t.State = adapters.Running
	}
	if !a.ended() {
		t.Ended = time.Time{}
	}
	return t
}

// succeeded tells whether a task has done its work, and was not killed before.
func succeeded(s *api.TaskState) bool {
	if s.State != "dead" || s.Failed || s.StartedAt.IsZero() {
		return false
	}
	for _, e := range s.Events {
		switch e.Type {
		case api.TaskTerminated:
			return true
		case api.TaskKilling, api.TaskKilled:
			return false
		}
	}
	return false // it vanished with its agent: an end of its own is always among the events that are kept
}

// why is what went wrong with an allocation that has ended.
func (a *alloc) why() error {
	for _, name := range slices.Sorted(maps.Keys(a.TaskStates)) {
		s := a.TaskStates[name]
		if s == nil || !s.Failed {
			continue
		}
		for _, e := range slices.Backward(s.Events) {
			if e.DisplayMessage != "" && e.Type != api.TaskNotRestarting && e.Type != api.TaskKilling &&
				e.Type != api.TaskKilled {
				return fmt.Errorf("nomad: task %q: %s: %s", name, e.Type, e.DisplayMessage)
			}
		}
		return fmt.Errorf("nomad: task %q failed", name)
	}
	if a.ClientStatus == api.AllocClientStatusFailed {
		return fmt.Errorf("nomad: allocation %s failed: %s", a.ID, a.ClientDescription)
	}
	return fmt.Errorf("%w: %s: %s", ErrStopped, a.ID, a.DesiredDescription)
}

// mayRun tells whether a lost allocation of a job that was stopped must be taken to run still: its node may keep it as
// long as its group says, and a node that is back says soon what became of it.
func (d *Driver) mayRun(j *job, a *alloc) bool {
	n := d.state.nodes[a.NodeID]
	if n == nil {
		return false
	}
	var until time.Time
	if n.Status != api.NodeStatusDown {
		until = time.Unix(n.StatusUpdatedAt, 0).Add(d.opt.Fence)
	} else if after := deref(j.template.StopAfterClientDisconnect); after > 0 {
		for _, t := range j.template.Tasks {
			after = max(after, deref(j.template.StopAfterClientDisconnect)+deref(t.KillTimeout))
		}
		until = time.Unix(n.StatusUpdatedAt, 0).Add(after + time.Second) // seconds are all that is told
	}
	return d.until(until)
}
