package nomad

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/hedgesched/hedge/adapters"
)

const (
	// endsMost is the maximum number of such notes per observation, so that Observe does not take long.
	endsMost = 20
	// endsAgain is the wait before a failed write is tried again.
	endsAgain = 10 * time.Second
)

// end is the note of a job that has failed for good, written or not. The loop no longer explains such a job, and the
// job stays in Nomad.
type end struct {
	uid, text string
	version   uint64 // of the job when that was seen
	said      bool
}

// ends are the jobs that have failed for good.
type ends struct {
	of    map[key]*end
	after time.Time // when the next note may be written
}

// take updates the jobs with what is reported of one. A job that others have stopped, or that was submitted again, has
// not failed for good.
func (e *ends) take(k key, told *adapters.Job) {
	if !told.Over || told.Err == nil || errors.Is(told.Err, ErrStopped) {
		delete(e.of, k)
		return
	}
	text := told.Err.Error()
	if have := e.of[k]; have != nil && have.uid == told.UID && have.text == text {
		have.version = told.Version
		return
	}
	if e.of == nil {
		e.of = map[key]*end{}
	}
	e.of[k] = &end{uid: told.UID, text: text, version: told.Version}
}

// sayEnds writes the missing notes of jobs that have failed for good. Nothing depends on them: a failed write is tried
// again later, and a refused one is not tried again by this driver. Observe has no epoch to guard the writes. Instead,
// [Driver.sayEnd] checks that the job is the one that was seen.
func (d *Driver) sayEnds(ctx context.Context) {
	due := map[key]bool{}
	for k, e := range d.ends.of {
		if !e.said {
			due[k] = true
		}
	}
	now := d.opt.Now()
	if len(due) == 0 || now.Before(d.ends.after) {
		return
	}
	keys := sortedKeys(due)
	keys = keys[:min(len(keys), endsMost)]
	ctx, cancel := d.bound(ctx)
	defer cancel()
	var later atomic.Bool
	err := each(ctx, len(keys), func(ctx context.Context, i int) error {
		e := d.ends.of[keys[i]]
		err := d.sayEnd(ctx, keys[i], e)
		if errors.Is(err, errMeanwhile) { // the next observation sees it; it does not concern the others
			later.Store(true)
			return nil
		}
		if e.said = err == nil || errors.Is(err, adapters.ErrRefused); e.said {
			return nil
		}
		return err
	})
	if err != nil || later.Load() {
		d.ends.after = now.Add(endsAgain)
	}
}

// errMeanwhile means that a job or a note is no longer as it was seen.
var errMeanwhile = errors.New("nomad: it was changed meanwhile")

// sayEnd writes the note unless it is there. It reads the note first, then the job, and then replaces the note that it
// has read. So an instance that has not seen a change of the job, such as a new submission, cannot overwrite what was
// written about it since.
func (d *Driver) sayEnd(ctx context.Context, of key, e *end) error {
	at := key{of.namespace, NotePath(of.id)}
	have, _, err := d.client.Variables().Peek(at.id, query(ctx, at.namespace))
	if err != nil {
		return fail("variable "+at.id, err)
	}
	v := api.NewVariable(at.id)
	v.Namespace, v.Items = at.namespace, api.VariableItems{"reason": e.text, "code": ""}
	if have != nil {
		if have.Items["reason"] == e.text { // an earlier instance may have written it
			return nil
		}
		v.ModifyIndex = have.ModifyIndex
	}
	j, _, err := d.client.Jobs().Info(of.id, query(ctx, of.namespace))
	switch {
	case missing(err):
		return errMeanwhile
	case err != nil:
		return failRead("job "+of.String(), err)
	case deref(j.JobModifyIndex) != e.version:
		return errMeanwhile
	}
	d.notes.set(at, true)
	_, _, err = d.client.Variables().CheckedUpdate(v, write(ctx, at.namespace))
	var conflict api.ErrCASConflict
	if errors.As(err, &conflict) {
		return errMeanwhile
	}
	return fail("variable "+at.id, err)
}

// over reports whether nothing of a job will run any more, although its groups still exist.
func (d *Driver) over(j *job) bool {
	told, _ := d.tell(key{deref(j.Namespace), deref(j.ID)}, j)
	return told.Over
}
