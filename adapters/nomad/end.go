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
	// endsMost is how many notes of jobs that have failed for good are written at once, so that what is observed does not
	// wait for long.
	endsMost = 20
	// endsAgain is after how long it is tried again where that did not go.
	endsAgain = 10 * time.Second
)

// end is what the note says, or is to say, of a job that has failed for good. Nothing of it is left for a loop to
// explain, and it stays as it is in Nomad.
type end struct {
	uid, text string
	version   uint64 // of the job that it was seen of
	said      bool
}

// ends are the jobs that have failed for good.
type ends struct {
	of    map[key]*end
	after time.Time // when the next may be written
}

// take takes in what is told of a job. One that others have stopped, or that is handed in again, is none of those that
// have failed.
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

// sayEnds writes the notes of jobs that have failed for good, where they do not stand yet. Nothing depends on it: what
// does not go is tried another time, and what Nomad refuses is not tried again by this driver. Observe knows no epoch
// that could guard it; that the job is the one that was seen does, see [Driver.sayEnd].
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
		if errors.Is(err, errMeanwhile) { // which is seen by then; it is nothing to the others
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

// errMeanwhile is a job or a note that is not as it was seen.
var errMeanwhile = errors.New("nomad: another has changed it meanwhile")

// sayEnd writes the note, unless it stands there. The note is looked at first, then the job, and then the note is
// written in the place of what was looked at: what anybody writes of the job as it is afterwards, handed in again
// perhaps, is not written over by an instance that has not seen it.
func (d *Driver) sayEnd(ctx context.Context, of key, e *end) error {
	at := key{of.namespace, NotePath(of.id)}
	have, _, err := d.client.Variables().Peek(at.id, query(ctx, at.namespace))
	if err != nil {
		return fail("variable "+at.id, err)
	}
	v := api.NewVariable(at.id)
	v.Namespace, v.Items = at.namespace, api.VariableItems{"reason": e.text, "code": ""}
	if have != nil {
		if have.Items["reason"] == e.text { // an instance before this one may have written it
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

// over tells whether nothing of a job will run any more, though its groups are still there.
func (d *Driver) over(j *job) bool {
	told, _ := d.tell(key{deref(j.Namespace), deref(j.ID)}, j)
	return told.Over
}
