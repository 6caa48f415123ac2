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

// hold adds what an allocation has reserved.
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

// current reports whether an allocation belongs to the last start.
func (j *job) current(a *alloc) bool { return j.start != 0 && startOf(a.TaskGroup) == j.start }

// runs reports whether the last start's groups exist: the job was not stopped and is not over.
func (j *job) runs() bool {
	return !deref(j.Stop) && slices.ContainsFunc(j.TaskGroups, j.placed)
}

// counts reports whether an allocation that holds room is reported as a task. Those of the last start are. Those of
// earlier starts are only if there are no others.
func (d *Driver) counts(j *job, a *alloc) bool {
	if j.current(a) || j.runs() {
		return j.current(a)
	}
	h := d.held(j, slices.Collect(maps.Values(d.state.of[a.key()])))
	return len(h.live) == 0 && len(h.done) < j.spec.Tasks
}

// firstOf is the allocation that belongs to the gang, among those with the same name: the one that was placed first. As
// soon as a node is back, Nomad by itself replaces what was lost there. A task that runs again without its gang is not
// part of the gang's run. If it is the whole gang, the first one that finished counts, if any did. Names differ between
// starts.
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

// rather reports whether a, and not b, is the gang's, for two allocations with the same name.
func (d *Driver) rather(j *job, a, b *alloc) bool {
	if j.spec.Tasks == 1 {
		if done := d.task(j, a).State == adapters.Finished; done != (d.task(j, b).State == adapters.Finished) {
			return done
		}
	}
	return cmp.Or(cmp.Compare(a.CreateIndex, b.CreateIndex), strings.Compare(a.ID, b.ID)) < 0
}

// own reports whether an allocation is its gang's, and not one by which Nomad replaced it.
func (d *Driver) own(j *job, a *alloc) bool { return d.firstOf(j, a).ID == a.ID }

// surplus reports whether an allocation replaces one that had done its work, as its agent reported after coming back.
// Nobody needs the replacement; it holds room until it ends.
func (d *Driver) surplus(j *job, a *alloc) bool {
	return !d.own(j, a) && d.task(j, d.firstOf(j, a)).State == adapters.Finished
}

// gangTask converts an allocation of a gang to a task.
func (d *Driver) gangTask(j *job, a *alloc) adapters.Task {
	t := d.task(j, a)
	if t.State == adapters.Finished && !d.own(j, a) {
		t.State, t.Err = adapters.Failed,
			fmt.Errorf("%w: %s was lost, and %s in its place ran without its gang", ErrStopped, d.firstOf(j, a).ID, a.ID)
	}
	return t
}

// held are the allocations of a job that was stopped or has not started.
type held struct {
	attempt []adapters.Task // of the last start
	done    []adapters.Task // those of the last start that have finished
	live    []adapters.Task // those of the last start that hold room
	rest    []adapters.Task // those of earlier submissions or starts that hold room
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

// tellHeld reports a job that was stopped or has not started. Allocations that are not reported as tasks here are
// foreign to their nodes; see [Driver.counts].
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

// task converts an allocation to a task.
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

// succeeded reports whether a task has done its work and was not killed before that.
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
	return false // it vanished with its agent: if it had ended by itself, there would be an event
}

// why says what went wrong with an allocation that has ended.
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

// mayRun reports whether a lost allocation of a stopped job may still run. Its node may keep it for as long as the
// job's group allows. A node that is back soon reports what became of it.
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
		until = time.Unix(n.StatusUpdatedAt, 0).Add(after + time.Second) // times are in whole seconds
	}
	return d.until(until)
}
