package nomad

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// ErrStopped is a task that was stopped by others than hedge: its allocation was, or its node was drained. Of a job that others have stopped it comes with
// [adapters.ErrCancelled].
var ErrStopped = errors.New("nomad: allocation was stopped")

// Observe tells what the event stream has brought, or lists all: when asked to, and now and then while there is no stream. Its errors wrap [adapters.ErrUnavailable]. One of them
// tells that there has been no stream for a minute, and why: from then on all is listed every ten seconds, and only the calls that do so tell anything.
func (d *Driver) Observe(ctx context.Context, relist bool) (*adapters.View, error) {
	events, session, broken := d.watch.take()
	s := d.state
	for i := range events {
		if err := s.apply(&events[i], d.mine); err != nil {
			d.seen, broken = 0, err // what it was is listed
		}
	}
	now := d.opt.Now()
	due, err := d.lists.without(now, session != 0 && session == d.seen, broken)
	full := relist || !d.ever || due || !s.wake.IsZero() && !now.Before(s.wake)
	switch {
	case full:
		if err := d.listAll(ctx, session); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	}
	asked := sortedKeys(s.ask)
	if err := d.readJobs(ctx, asked); err != nil {
		d.seen = 0 // events were taken: all is listed soon
		return nil, err
	}
	for _, k := range asked {
		s.dirtyJobs[k] = true
	}
	clear(s.ask)
	v, err := d.view(ctx, full)
	if err != nil {
		d.seen = 0
		return nil, err
	}
	d.sayEnds(ctx)
	return v, nil
}

// listAll lists all there is, notes too.
func (d *Driver) listAll(ctx context.Context, session uint64) error {
	d.seen = 0
	d.lists.began = d.opt.Now()
	defer func() { d.lists.took = d.opt.Now().Sub(d.lists.began) }()
	notes := d.listNotes(ctx)
	if err := d.list(ctx); err != nil {
		return err
	}
	d.tidy(ctx, notes)
	d.seen, d.ever = session, true
	return nil
}

// view makes a view of what has changed, or of all.
func (d *Driver) view(ctx context.Context, full bool) (*adapters.View, error) {
	s := d.state
	v := &adapters.View{Version: s.listed[api.TopicJob], Floor: s.listed[api.TopicJob], Full: full}
	if full {
		s.wake = time.Time{}
		for k := range s.jobs {
			s.dirtyJobs[k] = true
		}
		for id := range s.nodes {
			s.dirtyNodes[id] = true
		}
	}
	s.rename()
	if err := d.viewJobs(ctx, v); err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(s.dirtyNodes)) {
		if n := s.nodes[id]; n != nil {
			v.Nodes = d.appendNode(v.Nodes, n)
		} else if name := s.names[id]; name != "" {
			if !s.others(name, id) {
				v.Nodes = append(v.Nodes, adapters.Node{Node: sched.Node{Name: name}, Gone: true})
			}
			delete(s.names, id)
			delete(s.live, id)
		}
	}
	clear(s.dirtyJobs)
	clear(s.dirtyNodes)
	return v, nil
}

// viewJobs makes the part of a view that is about jobs.
func (d *Driver) viewJobs(ctx context.Context, v *adapters.View) error {
	s := d.state
	keys := sortedKeys(s.dirtyJobs)
	told := make([]adapters.Job, len(keys))
	var placing []int // those of which tasks are still to get a place
	for i, k := range keys {
		if j := s.jobs[k]; j != nil {
			var left bool
			if told[i], left = d.tell(k, j); left {
				placing = append(placing, i)
			}
		}
	}
	err := each(ctx, len(placing), func(ctx context.Context, n int) (err error) {
		i := placing[n]
		told[i].Short, err = d.short(ctx, keys[i], s.jobs[keys[i]])
		return err
	})
	if err != nil {
		return err
	}
	for i, k := range keys {
		if s.jobs[k] != nil {
			s.told[k] = told[i].UID
			d.ends.take(k, &told[i])
			v.Jobs = append(v.Jobs, told[i])
			continue
		}
		if !v.Full {
			v.Jobs = append(v.Jobs, adapters.Job{Spec: &sched.Job{ID: k.String()}, UID: s.told[k], Gone: true})
		}
		delete(s.told, k)
		delete(d.ends.of, k)
	}
	return nil
}

func sortedKeys(set map[key]bool) []key {
	return slices.SortedFunc(maps.Keys(set), func(a, b key) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.id, b.id))
	})
}

// rename gives nodes their names: those that had theirs and are not down first, then the oldest.
func (s *state) rename() {
	order := slices.SortedFunc(maps.Values(s.nodes), func(a, b *api.Node) int {
		return cmp.Or(s.rank(a)-s.rank(b), cmp.Compare(a.CreateIndex, b.CreateIndex), strings.Compare(a.ID, b.ID))
	})
	taken := map[string]bool{}
	for _, n := range order {
		name := n.Name
		down := n.Status == api.NodeStatusDown
		switch have := s.names[n.ID]; {
		case have != "" && (down || !taken[have]):
			name = have
		case taken[name] && !down:
			name += "@" + n.ID
		}
		if s.names[n.ID] != name {
			s.dirtyNodes[n.ID] = true
		}
		s.names[n.ID] = name
		if s.live[n.ID] = !down; !down {
			taken[name] = true
		}
	}
}

// rank orders nodes that ask for a name.
func (s *state) rank(n *api.Node) int {
	switch {
	case n.Status == api.NodeStatusDown:
		return 2
	case s.live[n.ID]:
		return 0
	}
	return 1
}

// others tells whether another node that is not down goes by a name.
func (s *state) others(name, id string) bool {
	for other, known := range s.names {
		if known == name && other != id && s.nodes[other] != nil && s.nodes[other].Status != api.NodeStatusDown {
			return true
		}
	}
	return false
}

// appendNode tells of a node. Of a node that is down another may have the name now, and then nothing is told.
func (d *Driver) appendNode(to []adapters.Node, n *api.Node) []adapters.Node {
	s := d.state
	name := s.names[n.ID]
	out := adapters.Node{Node: sched.Node{Name: name}}
	if n.Status != api.NodeStatusReady {
		if s.others(name, n.ID) {
			return to
		}
		out.Gone = true
		return append(to, out)
	}
	out.Cordoned = n.Drain || n.SchedulingEligibility == api.NodeSchedulingIneligible
	out.Capacity = capacity(n)
	out.Labels = s.labels(n)
	out.Foreign = d.foreign(n)
	return append(to, out)
}

// capacity is what the node offers to tasks.
func capacity(n *api.Node) sched.Resources {
	r := n.NodeResources
	if r == nil {
		return sched.Resources{}
	}
	out := sched.Resources{CPU: float64(r.Cpu.CpuShares), Memory: float64(r.Memory.MemoryMB), Disk: float64(r.Disk.DiskMB)}
	if own := n.ReservedResources; own != nil {
		out[CPU] -= float64(own.Cpu.CpuShares)
		out[Memory] -= float64(own.Memory.MemoryMB)
		out[Disk] -= float64(own.Disk.DiskMB)
	}
	for k, v := range out {
		out[k] = max(0, v)
	}
	return out
}

// labelsOf are the labels of a node by its name, nil if there is none.
func (s *state) labelsOf(name string) map[string]string {
	if n := s.byName(name); n != nil {
		return s.labels(n)
	}
	return nil
}

// labels are what equivalence sets see of the node.
func (s *state) labels(n *api.Node) map[string]string {
	out := map[string]string{
		"node.unique.id": n.ID, "node.unique.name": n.Name, "node.datacenter": n.Datacenter, "node.class": n.NodeClass, "node.pool": n.NodePool,
	}
	if n.NodePool == "" {
		out["node.pool"] = api.NodePoolDefault
	}
	for k, v := range n.Attributes {
		out["attr."+k] = v
	}
	for k, v := range n.Meta {
		out["meta."+k] = v
	}
	for k, v := range n.Drivers {
		if v != nil && v.Detected && v.Healthy {
			out["driver."+k] = "true"
		}
	}
	met := make(map[string]string)
	for label, p := range s.preds {
		if p.meets(out) {
			met[label] = "true"
		}
	}
	maps.Copy(out, met)
	return out
}

// foreign is what work that is not told as a job's task holds on the node.
func (d *Driver) foreign(n *api.Node) sched.Resources {
	var out sched.Resources
	s := d.state
	for _, id := range slices.Sorted(maps.Keys(s.on[n.ID])) {
		a := s.allocs[id]
		if a.ended() || a.lost() && !d.until(time.Unix(n.StatusUpdatedAt, 0).Add(d.opt.Fence)) {
			continue
		}
		if j := s.jobs[a.key()]; j != nil && j.problem == nil && d.counts(j, a) && !d.surplus(j, a) {
			continue
		}
		if out == nil {
			out = sched.Resources{}
		}
		a.hold(out)
	}
	return out
}

// until tells whether a time is to come, and has all looked at again then.
func (d *Driver) until(t time.Time) bool {
	if !d.opt.Now().Before(t) {
		return false
	}
	if d.state.wake.IsZero() || t.Before(d.state.wake) {
		d.state.wake = t
	}
	return true
}

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

// counts tells whether an allocation that holds room is told as a task: one of the last start, or what was there before, where that is all there is.
func (d *Driver) counts(j *job, a *alloc) bool {
	if j.current(a) || j.runs() {
		return j.current(a)
	}
	h := d.held(j, slices.Collect(maps.Values(d.state.of[a.key()])))
	return len(h.live) == 0 && len(h.done) < j.spec.Tasks
}

// tell makes the adapters' job of a job and its allocations, and tells whether tasks of it are still to get a place.
func (d *Driver) tell(k key, j *job) (out adapters.Job, placing bool) {
	out = adapters.Job{
		Spec: j.spec, UID: fmt.Sprintf("%d.%d", deref(j.CreateIndex), j.origin), Version: deref(j.JobModifyIndex), Revision: j.origin, Attempt: j.attempt,
		Problem: j.problem, Ref: j, Done: j.done,
	}
	if deref(j.Stop) {
		out.Over = true
		out.Err = fmt.Errorf("%w: %w: job %q", adapters.ErrCancelled, ErrStopped, k)
		if j.over != "" {
			out.Err = errors.New(j.over)
		}
	}
	if j.problem != nil {
		return out, false
	}
	of := slices.SortedFunc(maps.Values(d.state.of[k]), func(a, b *alloc) int {
		return cmp.Or(cmp.Compare(a.CreateIndex, b.CreateIndex), strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	for _, a := range of { // whether it is told as a task or is foreign to its node depends on the others
		if !j.current(a) && !a.ended() {
			d.state.dirtyNodes[a.NodeID] = true
		}
	}
	if j.runs() {
		placing = d.tellRunning(k, j, of, &out)
		return out, placing
	}
	d.tellHeld(j, of, &out)
	return out, false
}

// firstOf is which of the allocations of one name is its gang's: the one that was placed first. As soon as a node is back, Nomad by itself places another for what was lost there; a
// task that runs again without its gang is not the gang's run. Where it is all of the gang, it is the first that finished, if any did. Names are never those of another
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

// surplus tells whether an allocation is in the place of one that had done its work, as its agent told when it was back. Nobody needs it; it holds room until it ends.
func (d *Driver) surplus(j *job, a *alloc) bool {
	return !d.own(j, a) && d.task(j, d.firstOf(j, a)).State == adapters.Finished
}

// gangTask is what an allocation amounts to in its gang.
func (d *Driver) gangTask(j *job, a *alloc) adapters.Task {
	t := d.task(j, a)
	if t.State == adapters.Finished && !d.own(j, a) {
		t.State, t.Err = adapters.Failed, fmt.Errorf("%w: %s was lost, and %s in its place ran without its gang", ErrStopped, d.firstOf(j, a).ID, a.ID)
	}
	return t
}

// tellRunning is of a job whose groups are placed. It tells whether tasks of it are still to get a place.
func (d *Driver) tellRunning(k key, j *job, of []*alloc, out *adapters.Job) bool {
	missing, has := 0, 0
	for _, g := range j.TaskGroups {
		if !j.placed(g) {
			continue
		}
		left := deref(g.Count)
		for _, a := range of {
			if a.TaskGroup != deref(g.Name) {
				continue
			}
			has++
			if !d.surplus(j, a) {
				out.Tasks = append(out.Tasks, d.gangTask(j, a))
			}
			if d.own(j, a) {
				left--
			}
		}
		node := d.state.nameOf(nodeOf(g))
		for ; left > 0; left-- {
			out.Tasks = append(out.Tasks, adapters.Task{Node: node, State: adapters.Requested})
			missing++
		}
	}
	failed := slices.IndexFunc(out.Tasks, func(t adapters.Task) bool { return t.State == adapters.Failed && !errors.Is(t.Err, ErrStopped) })
	if failed >= 0 && j.failures >= j.retries {
		out.Over = true
		out.Err = fmt.Errorf("nomad: job %q has failed %d times: %w", k, j.failures+1, out.Tasks[failed].Err)
	}
	if missing > 0 && has == 0 && deref(j.Status) == "dead" && deref(j.ModifyIndex) > deref(j.JobModifyIndex) {
		// It ran long ago, and its allocations were collected as garbage. A job is called dead for a moment, too, when it is registered anew and its evaluation is not
		// there yet, which Nomad adds in a transaction of its own; but then its status was not set after its registration.
		out.Tasks, out.Over, out.Err = nil, true, fmt.Errorf("%w: %w: job %q has no allocations left", adapters.ErrCancelled, ErrStopped, k)
		return false
	}
	return missing > 0
}

// short tells whether Nomad has found no place for a task of the last start.
func (d *Driver) short(ctx context.Context, k key, j *job) (bool, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	evals, _, err := d.client.Jobs().Evaluations(k.id, query(ctx, k.namespace))
	if missing(err) {
		return false, nil // it is gone, which is seen next
	}
	if err != nil {
		return false, failRead("evaluations of job "+k.String(), err)
	}
	for _, e := range evals {
		if e.JobModifyIndex >= deref(j.JobModifyIndex) && (e.Status == "blocked" || e.Status == "failed" || len(e.FailedTGAllocs) > 0) {
			return true, nil
		}
	}
	return false, nil
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

// tellHeld is of a job that was stopped, or is not started yet. What of it is not told as a task here is foreign to its node, see [Driver.counts].
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
			if e.DisplayMessage != "" && e.Type != api.TaskNotRestarting && e.Type != api.TaskKilling && e.Type != api.TaskKilled {
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

// mayRun tells whether a lost allocation of a job that was stopped must be taken to run still: its node may keep it as long as its group says, and
// a node that is back says soon what became of it.
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

// nameOf is the name by which a node is known.
func (s *state) nameOf(id string) string {
	if name := s.names[id]; name != "" {
		return name
	}
	return id
}

// byName finds the node that is known by a name: of several the one that is not down, or the newest.
func (s *state) byName(name string) *api.Node {
	var found *api.Node
	for id, known := range s.names {
		n := s.nodes[id]
		if known != name || n == nil {
			continue
		}
		if found == nil || cmp.Or(s.rank(found)-s.rank(n), cmp.Compare(n.CreateIndex, found.CreateIndex), strings.Compare(n.ID, found.ID)) > 0 {
			found = n
		}
	}
	return found
}

// nodeOf is the node that a placed group is bound to.
func nodeOf(g *api.TaskGroup) string {
	for _, c := range g.Constraints {
		if c.LTarget == nodeID {
			return c.RTarget
		}
	}
	return ""
}
