package nomad

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/hedgesched/hedge/adapters"
)

// notesPrefix begins the paths of variables with notes.
const notesPrefix = "hedge/jobs/"

// longest is how long the paths of variables may be.
const longest = 128

// NotePath is the path of the variable with the reason why a job waits, in the job's namespace: hedge/jobs/ID, where characters that paths
// cannot have are written as ~ and their bytes in hexadecimal digits. Paths of more than 128 characters, which Nomad does not take, end in a
// checksum instead.
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

// Explain writes the note to the job's variable, in place of the one before. Its items are reason and code.
func (d *Driver) Explain(ctx context.Context, n *adapters.Note) error {
	j, ok := n.Job.Ref.(*job)
	if !ok || j == nil {
		return fmt.Errorf("%w: job %q was not told by this driver", adapters.ErrRefused, n.Job.Spec.ID)
	}
	if err := d.fence(ctx, n.Epoch); err != nil {
		return err
	}
	v := api.NewVariable(NotePath(deref(j.ID)))
	v.Namespace = deref(j.Namespace)
	v.Items = api.VariableItems{"reason": n.String(), "code": string(n.Reason.Code)}
	ctx, cancel := d.bound(ctx)
	defer cancel()
	_, _, err := d.client.Variables().Update(v, write(ctx, v.Namespace))
	return fail("variable "+v.Path, err)
}

const (
	// tidyEvery is how often notes are looked through, at most: when all is listed.
	tidyEvery = 5 * time.Minute
	// tidyMost is how many are taken away at once, so that what is observed does not wait for long.
	tidyMost = 500
)

// listNotes are the notes there are, nil unless it is time to look them through, or where they may not be listed. They are listed before the jobs: of what has a note then
// and is not there afterwards, there is no job.
func (d *Driver) listNotes(ctx context.Context) []*api.VariableMetadata {
	if now := d.opt.Now(); !d.tidied.IsZero() && now.Sub(d.tidied) < tidyEvery {
		return nil
	}
	ctx, cancel := d.bound(ctx)
	defer cancel()
	list, _, err := d.client.Variables().PrefixList(notesPrefix, query(ctx, api.AllNamespacesNamespace))
	if err != nil {
		return nil // nothing depends on it: they are looked through another time
	}
	d.tidied = d.opt.Now()
	return list
}

// tidy takes away the notes of jobs that are gone. One that was written meanwhile stays, and so does one that may not be taken away.
func (d *Driver) tidy(ctx context.Context, notes []*api.VariableMetadata) {
	if len(notes) == 0 {
		return
	}
	there := make(map[key]*job, len(d.state.jobs))
	for k, j := range d.state.jobs {
		there[key{k.namespace, NotePath(k.id)}] = j
	}
	var old []*api.VariableMetadata
	for _, n := range notes {
		if d.mine(n.Namespace) && there[key{n.Namespace, n.Path}] == nil {
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
		return err // the first ends it: most often it is a right that is missing
	})
}
