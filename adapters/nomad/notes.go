package nomad

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/hedgesched/hedge/adapters"
)

// notesPrefix is the prefix of the paths of notes.
const notesPrefix = "hedge/jobs/"

// longest is the maximum length of a variable's path.
const longest = 128

// NotePath is the path of the variable with the reason why a job waits, in the job's namespace: hedge/jobs/ID.
// Characters that paths cannot have are written as ~ and their bytes in hexadecimal. Paths longer than 128 characters,
// which Nomad refuses, end in a checksum instead.
func NotePath(job string) string {
	var b strings.Builder
	b.WriteString(notesPrefix)
	for _, c := range []byte(job) {
		if c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "~%02x", c)
		}
	}
	out := b.String()
	if len(out) <= longest {
		return out
	}
	sum := sha256.Sum256([]byte(job))
	return fmt.Sprintf("%s~%x", out[:longest-1-2*len(sum)], sum)
}

// notes are the variables that may exist, by namespace and path.
type notes struct {
	mu    sync.Mutex
	there map[key]bool
}

func (n *notes) has(k key) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.there[k]
}

// set records whether a variable may exist.
func (n *notes) set(k key, there bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !there {
		delete(n.there, k)
		return
	}
	if n.there == nil {
		n.there = map[key]bool{}
	}
	n.there[k] = true
}

// note is the place of the job's note.
func (j *job) note() key { return key{deref(j.Namespace), NotePath(deref(j.ID))} }

// Explain writes the note to the job's variable, replacing the previous one. Its items are reason and code. The job's
// start deletes it.
func (d *Driver) Explain(ctx context.Context, n *adapters.Note) error {
	j, ok := n.Job.Ref.(*job)
	if !ok || j == nil {
		return fmt.Errorf("%w: job %q was not reported by this driver", adapters.ErrRefused, n.Job.Spec.ID)
	}
	if err := d.fence(ctx, n.Epoch); err != nil {
		return err
	}
	at := j.note()
	v := api.NewVariable(at.id)
	v.Namespace = at.namespace
	v.Items = api.VariableItems{"reason": n.String(), "code": string(n.Reason.Code)}
	d.notes.set(at, true)
	ctx, cancel := d.bound(ctx)
	defer cancel()
	_, _, err := d.client.Variables().Update(v, write(ctx, v.Namespace))
	return fail("variable "+v.Path, err)
}

// started deletes a job's note, if it has one. If that fails, it is deleted when the notes are next checked.
func (d *Driver) started(ctx context.Context, j *job) {
	at := j.note()
	if !d.notes.has(at) {
		return
	}
	ctx, cancel := d.bound(ctx)
	defer cancel()
	if _, err := d.client.Variables().Delete(at.id, write(ctx, at.namespace)); err == nil {
		d.notes.set(at, false)
	}
}

const (
	// tidyEvery is the minimum time between checks of the notes. They are checked when everything is listed.
	tidyEvery = 5 * time.Minute
	// tidyMost is the maximum number of notes deleted at once, so that Observe does not take long.
	tidyMost = 500
)

// listNotes lists the notes. It returns nil if it is not time to check them, or if they may not be listed. They are
// listed before the jobs: if a note was there then and its job is not listed afterwards, there is no such job.
func (d *Driver) listNotes(ctx context.Context) []*api.VariableMetadata {
	if now := d.opt.Now(); !d.tidied.IsZero() && now.Sub(d.tidied) < tidyEvery {
		return nil
	}
	ctx, cancel := d.bound(ctx)
	defer cancel()
	list, _, err := d.client.Variables().PrefixList(notesPrefix, query(ctx, api.AllNamespacesNamespace))
	if err != nil {
		return nil // nothing depends on it: the next check will do
	}
	d.tidied = d.opt.Now()
	d.notes.only(list)
	return list
}

// only records which variables exist.
func (n *notes) only(list []*api.VariableMetadata) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.there = make(map[key]bool, len(list))
	for _, v := range list {
		n.there[key{v.Namespace, v.Path}] = true
	}
}

// tidy deletes the notes of jobs that are gone or run. Jobs that have failed for good keep theirs. A note that was
// written meanwhile stays, and so does one that may not be deleted.
func (d *Driver) tidy(ctx context.Context, notes []*api.VariableMetadata) {
	if len(notes) == 0 {
		return
	}
	there := make(map[key]bool, len(d.state.jobs))
	for _, j := range d.state.jobs {
		if !j.runs() || d.notes.has(j.note()) && d.over(j) {
			there[j.note()] = true
		}
	}
	var old []*api.VariableMetadata
	for _, n := range notes {
		if d.mine(n.Namespace) && !there[key{n.Namespace, n.Path}] {
			old = append(old, n)
		}
	}
	if len(old) > tidyMost {
		old, d.tidied = old[:tidyMost], time.Time{}
	}
	ctx, cancel := d.bound(ctx)
	defer cancel()
	_ = each(ctx, len(old), func(ctx context.Context, i int) error {
		_, err := d.client.Variables().CheckedDelete(old[i].Path, old[i].ModifyIndex, write(ctx, old[i].Namespace))
		var conflict api.ErrCASConflict
		if errors.As(err, &conflict) {
			return nil
		}
		if err == nil {
			d.notes.set(key{old[i].Namespace, old[i].Path}, false)
		}
		return err // the first error ends it: most often a right is missing
	})
}
