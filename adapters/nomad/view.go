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

// ErrStopped is a task that was not stopped by hedge: somebody stopped its allocation or drained its node. If others
// have stopped the whole job, the error also wraps [adapters.ErrCancelled].
var ErrStopped = errors.New("nomad: allocation was stopped")

// Observe reports what the event stream has brought, or lists everything: on request, and from time to time while there
// is no stream. Its errors wrap [adapters.ErrUnavailable]. After a minute without a stream, the error says so and why.
// From then on, everything is listed every ten seconds, and only the calls that do so report anything. Once a list has
// a lower index than was known before, for example after a restore of Nomad's state, all errors wrap
// [adapters.ErrRestored].
func (d *Driver) Observe(ctx context.Context, relist bool) (*adapters.View, error) {
	if d.restored != nil {
		return nil, d.restored
	}
	events, session, broken := d.watch.take()
	s := d.state
	for i := range events {
		if err := s.apply(&events[i], d.mine); err != nil {
			d.seen, broken = 0, err // a listing shows what the event was about
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
		d.seen = 0 // events were taken and lost: everything is listed soon
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

// listAll lists everything, including notes.
func (d *Driver) listAll(ctx context.Context, session uint64) error {
	d.seen = 0
	d.lists.began = d.opt.Now()
	defer func() { d.lists.took = d.opt.Now().Sub(d.lists.began) }()
	notes := d.listNotes(ctx)
	if err := d.list(ctx); err != nil {
		return err
	}
	d.listScheduler(ctx)
	d.tidy(ctx, notes)
	d.seen, d.ever = session, true
	return nil
}

// view makes a view of what has changed, or of everything.
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

// viewJobs makes the jobs of a view.
func (d *Driver) viewJobs(ctx context.Context, v *adapters.View) error {
	s := d.state
	keys := sortedKeys(s.dirtyJobs)
	told := make([]adapters.Job, len(keys))
	var placing []int // those with tasks that still wait for a place
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
			s.toldUIDs[k] = told[i].UID
			d.ends.take(k, &told[i])
			v.Jobs = append(v.Jobs, told[i])
			continue
		}
		if !v.Full {
			v.Jobs = append(v.Jobs, adapters.Job{Spec: &sched.Job{ID: k.String()}, UID: s.toldUIDs[k], Gone: true})
		}
		delete(s.toldUIDs, k)
		delete(d.ends.of, k)
	}
	return nil
}

// tell converts a job and its allocations. It reports whether some of its tasks still wait for a place.
func (d *Driver) tell(k key, j *job) (out adapters.Job, placing bool) {
	out = adapters.Job{
		Spec: j.spec, UID: j.uid(), Version: deref(j.JobModifyIndex),
		Revision: j.origin, Attempt: j.attempt,
		Problem: j.problem, Ref: j, Done: j.done, Resize: d.bounded(j), Reserved: j.reserved,
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
	for _, a := range of { // whether one is a task or foreign to its node depends on the others
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

// tellRunning handles a job whose groups are placed. It reports whether some of its tasks still wait for a place.
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
	failed := slices.IndexFunc(out.Tasks, func(t adapters.Task) bool {
		return t.State == adapters.Failed && !errors.Is(t.Err, ErrStopped)
	})
	if failed >= 0 && j.failures >= j.retries {
		out.Over = true
		out.Err = fmt.Errorf("nomad: job %q has failed %d times: %w", k, j.failures+1, out.Tasks[failed].Err)
	}
	if missing > 0 && has == 0 && deref(j.Status) == "dead" && deref(j.ModifyIndex) > deref(j.JobModifyIndex) {
		// The job ran long ago, and its allocations were garbage collected. A job is also called dead for a moment when it is
		// registered again, until Nomad adds its evaluation in a separate transaction. But then its status was not set after
		// its registration.
		out.Tasks, out.Over, out.Err = nil, true,
			fmt.Errorf("%w: %w: job %q has no allocations left", adapters.ErrCancelled, ErrStopped, k)
		return false
	}
	return missing > 0
}

// short reports whether Nomad has found no place for a task of the last start.
func (d *Driver) short(ctx context.Context, k key, j *job) (bool, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	evals, _, err := d.client.Jobs().Evaluations(k.id, query(ctx, k.namespace))
	if missing(err) {
		return false, nil // the job is gone, which is seen next
	}
	if err != nil {
		return false, failRead("evaluations of job "+k.String(), err)
	}
	for _, e := range evals {
		if e.JobModifyIndex >= deref(j.JobModifyIndex) &&
			(e.Status == "blocked" || e.Status == "failed" || len(e.FailedTGAllocs) > 0) {
			return true, nil
		}
	}
	return false, nil
}

// nodeOf is the node to which a placed group is bound.
func nodeOf(g *api.TaskGroup) string {
	for _, c := range g.Constraints {
		if c.LTarget == nodeID {
			return c.RTarget
		}
	}
	return ""
}
