package yarn

import (
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// tellJobs reports the jobs that have changed, or all.
func (d *Driver) tellJobs(v *adapters.View) {
	s := d.state
	list := s.active
	if v.Full {
		list = s.entries
	}
	for _, name := range sortedKeys(list) {
		e := list[name]
		job := d.tell(e)
		// the reported job is over, even if its file comes back unchanged
		if e.toldJob != nil && (job == nil || job.UID != e.bareUID) {
			e.life = s.another()
		}
		if job != nil {
			e.bareUID, job.UID = job.UID, job.UID+e.life
		}
		switch {
		case job == nil && e.toldJob == nil:
		case job == nil:
			v.Jobs = append(v.Jobs, adapters.Job{Spec: e.toldJob.Spec, UID: e.toldJob.UID, Gone: true})
		case v.Full || e.toldJob == nil || !sameJob(e.toldJob, job):
			v.Jobs = append(v.Jobs, *job)
		}
		e.toldJob, e.look = job, false
		if !e.open() {
			delete(s.active, name)
		}
		if job == nil && e.rec == nil && e.bad == nil && len(e.files) == 0 {
			delete(s.entries, name)
			d.spool.forget(name)
		}
	}
}

// sameJob reports whether nothing has changed except Ref, which is then the same object, too.
func sameJob(a, b *adapters.Job) bool {
	x, y := a.Ref.(*ref), b.Ref.(*ref)
	if x.rec != y.rec || x.doc != y.doc || x.at != y.at {
		return false
	}
	l, r := *a, *b
	l.Ref, r.Ref = nil, nil
	return reflect.DeepEqual(l, r)
}

// tell is the current job, nil if there is none.
func (d *Driver) tell(e *entry) *adapters.Job {
	r := &ref{entry: e, doc: e.doc, at: e.at, uid: e.uid, rec: e.rec, when: e.submitted}
	if e.open() && !e.mine() {
		return d.tellOld(e, r)
	}
	if e.doc == nil {
		return nil
	}
	spec := e.doc.spec
	job := &adapters.Job{Spec: spec, UID: e.uid, Revision: revision(e), Problem: e.doc.problem, Ref: r}
	if e.bad != nil {
		job.Problem = fmt.Errorf("%w: %q: %w", ErrJob, e.name, e.bad)
		return job
	}
	if !e.mine() {
		return job
	}
	job.Attempt, job.Done = e.rec.Attempt, e.rec.Done
	switch {
	case e.rec.Open:
		job.Tasks = d.tasks(e)
		if job.Problem == nil {
			job.Problem = e.odd
		}
	case e.rec.Finished:
		for _, nt := range e.rec.Plan {
			for range nt.Tasks {
				job.Tasks = append(job.Tasks,
					adapters.Task{Node: nt.Node, State: adapters.Finished, Started: e.rec.Started, Ended: e.rec.Ended})
			}
		}
	case e.rec.Err != "":
		job.Over, job.Err = true, errors.New(e.rec.Err)
	}
	return job
}

// revision is a number for what the job says, and whether it can be scheduled.
func revision(e *entry) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %v", e.uid, e.doc.problem)
	return h.Sum64()
}

// tellOld reports an attempt of an old submission.
func (d *Driver) tellOld(e *entry, r *ref) *adapters.Job {
	spec := &sched.Job{ID: e.name, Tasks: e.rec.tasks(), Demand: e.rec.Demand, Submitted: e.rec.Submitted}
	job := &adapters.Job{
		Spec: spec, UID: e.rec.UID, Attempt: e.rec.Attempt, Over: true,
		Err: fmt.Errorf("%w: %w: job %q", adapters.ErrCancelled, ErrWithdrawn, e.name), Ref: r,
	}
	if e.toldJob != nil && e.bareUID == e.rec.UID {
		job.Spec, job.Revision, job.Done = e.toldJob.Spec, e.toldJob.Revision, e.toldJob.Done
	}
	job.Tasks = d.tasks(e)
	if e.app == nil && e.odd == nil {
		for i := range job.Tasks {
			job.Tasks[i].State, job.Tasks[i].Err = adapters.Stopping, nil // until it is certain that it will not arrive
		}
	}
	return job
}

// tasks are the tasks of an open attempt.
func (d *Driver) tasks(e *entry) []adapters.Task {
	one := adapters.Task{State: adapters.Requested}
	a := e.app
	switch {
	case a == nil && e.rec.Stop != "":
		one.State = adapters.Stopping
	case a == nil && e.odd != nil:
	case a == nil:
		one.State, one.Err = adapters.Failed, fmt.Errorf("%w: %s", errUnknownApp, e.rec.App)
	case a.over():
		one.State, one.Err = adapters.Failed, e.why()
		one.Started, one.Ended = d.span(e)
		if a.succeeded() {
			one.State, one.Err = adapters.Finished, nil
		} else if e.rec.Stop != "" || !e.mine() {
			one = adapters.Task{State: adapters.Stopping} // that is recorded next
		}
	case e.rec.Stop != "":
		one.State, one.Started = adapters.Stopping, d.state.starts[e.rec.App]
	case !e.rec.Gang && a.State == "RUNNING":
		one.State, one.Started = adapters.Running, milliseconds(int64(a.LaunchTime))
	case e.rec.Gang &&
		(a.State == "RUNNING" && a.Progress >= allRun && a.Progress < 100 || !d.state.starts[e.rec.App].IsZero()):
		one.State, one.Started = adapters.Running, d.state.starts[e.rec.App]
	}
	out := make([]adapters.Task, 0, e.rec.tasks())
	for _, nt := range e.rec.Plan {
		t := one
		if t.Node = nt.Node; t.State.Holds() && t.State != adapters.Stopping && e.rec.Gang && !d.present(nt.Node) {
			t.State = adapters.Lost
		}
		for range nt.Tasks {
			out = append(out, t)
		}
	}
	return out
}
