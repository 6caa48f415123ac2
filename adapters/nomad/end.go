package nomad

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/hedgesched/hedge/adapters"
)

const (
	// endsMost is how many notes of jobs that have failed for good are written at once, so that what is observed does not wait for long.
	endsMost = 20
	// endsAgain is after how long it is tried again where that did not go.
	endsAgain = 10 * time.Second
)

// end is what the note says, or is to say, of a job that has failed for good. Nothing of it is left for a loop to explain, and it stays as it is in Nomad.
type end struct {
	uid, text string
	said      bool
}

// ends are the jobs that have failed for good.
type ends struct {
	of    map[key]*end
	after time.Time // when the next may be written
}

// take takes in what is told of a job. One that others have stopped, or that is handed in again, is none of those that have failed.
func (e *ends) take(k key, told *adapters.Job) {
	if !told.Over || told.Err == nil || errors.Is(told.Err, ErrStopped) {
		delete(e.of, k)
		return
	}
	text := told.Err.Error()
	if have := e.of[k]; have != nil && have.uid == told.UID && have.text == text {
		return
	}
	if e.of == nil {
		e.of = map[key]*end{}
	}
	e.of[k] = &end{uid: told.UID, text: text}
}

// sayEnds writes the notes of jobs that have failed for good, where they do not stand yet. Nothing depends on it: what does not go is tried another time, and what Nomad refuses
// is not tried again by this driver. It is no action that an epoch must guard, as it only repeats what stands in Nomad.
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
	err := each(ctx, len(keys), func(ctx context.Context, i int) error {
		e := d.ends.of[keys[i]]
		err := d.sayEnd(ctx, key{keys[i].namespace, NotePath(keys[i].id)}, e.text)
		if e.said = err == nil || errors.Is(err, adapters.ErrRefused); e.said {
			return nil
		}
		return err
	})
	if err != nil {
		d.ends.after = now.Add(endsAgain)
	}
}

func (d *Driver) sayEnd(ctx context.Context, at key, text string) error {
	if d.notes.has(at) { // an instance before this one may have written it
		if have, _, err := d.client.Variables().Peek(at.id, query(ctx, at.namespace)); err == nil && have != nil && have.Items["reason"] == text {
			return nil
		}
	}
	d.notes.set(at, true)
	v := api.NewVariable(at.id)
	v.Namespace, v.Items = at.namespace, api.VariableItems{"reason": text, "code": ""}
	_, _, err := d.client.Variables().Update(v, write(ctx, at.namespace))
	return fail("variable "+at.id, err)
}

// over tells whether nothing of a job will run any more, though its groups are still there.
func (d *Driver) over(j *job) bool {
	told, _ := d.tell(key{deref(j.Namespace), deref(j.ID)}, j)
	return told.Over
}
