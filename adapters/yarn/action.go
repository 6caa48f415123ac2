package yarn

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hedgesched/hedge/adapters"
)

// reference is the job as it was observed.
func reference(told *adapters.Job) (*ref, error) {
	r, ok := told.Ref.(*ref)
	if !ok || r == nil || r.entry == nil {
		return nil, fmt.Errorf("%w: job %q was not reported by this driver", adapters.ErrRefused, told.Spec.ID)
	}
	return r, nil
}

// Start records the attempt and submits its application. The record decides: if there is another one by now, nothing is
// submitted.
func (d *Driver) Start(ctx context.Context, s *adapters.Start) error {
	r, err := reference(s.Job)
	if err != nil {
		return err
	}
	if r.doc == nil || r.doc.problem != nil ||
		r.rec != nil && (r.rec.Open || r.rec.UID == r.uid && (r.rec.Finished || r.rec.Err != "")) {
		return fmt.Errorf("%w: job %q does not wait", adapters.ErrStale, s.Job.Spec.ID)
	}
	next, err := d.begun(r, s)
	if err != nil {
		return err
	}
	body, err := d.context(r.doc, next)
	if err != nil {
		return fmt.Errorf("%w: job %q: %w", adapters.ErrRefused, s.Job.Spec.ID, err)
	}
	name := s.Job.Spec.ID
	if err := d.spool.change(ctx, name, r.rec, next, s.Epoch, func() error { return d.spool.same(&r.at) }); err != nil {
		return err
	}
	err = d.rm.submit(ctx, next.App, body)
	if errors.Is(err, adapters.ErrRefused) {
		undone := *next
		undone.Open = false
		if undo := d.spool.change(ctx, name, next, &undone, s.Epoch, nil); undo != nil {
			return fmt.Errorf("%w: yarn: job %q: %w, after: %s", adapters.ErrUnavailable, name, undo, err.Error())
		}
		return err
	}
	d.spool.forget(name) // it no longer waits
	return err
}

// begun is the record of the next attempt.
func (d *Driver) begun(r *ref, s *adapters.Start) (*record, error) {
	id, err := rand.Int(rand.Reader, big.NewInt(1<<31-1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", adapters.ErrRefused, err)
	}
	next := &record{UID: r.uid, Submitted: r.when}
	if r.rec != nil {
		next.Seq = r.rec.Seq
		if r.rec.UID == r.uid {
			*next = *r.rec
		}
	}
	next.Attempt++
	next.Open, next.Gang, next.Stop, next.Done = true, r.doc.gang(), "", s.Job.Done
	next.App = fmt.Sprintf("application_%d_%04d", max(1, d.opt.Now().UnixMilli()), id)
	next.Plan, next.Demand = s.Nodes, r.doc.spec.Demand
	next.Started, next.Ended = time.Time{}, time.Time{}
	next.Epoch, next.Reason = s.Epoch, s.Reason.String()
	return next, nil
}

// same returns ErrStale if a job's file is gone or has changed.
func (s *spool) same(f *jobFile) error {
	info, err := os.Lstat(filepath.Join(s.dir, jobsDir, f.base))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: job %q was withdrawn", adapters.ErrStale, f.name)
	case err != nil:
		return s.fail(err)
	case info.Size() != f.size || !info.ModTime().Equal(f.modified) || inodeOf(info) != f.inode:
		return fmt.Errorf("%w: the file of job %q has changed", adapters.ErrStale, f.name)
	}
	return nil
}

// forget deletes the note of a job that is gone or no longer waits.
func (s *spool) forget(name string) { _ = os.Remove(NotePath(s.dir, name)) } // there may be none

// context is the submission context of an attempt.
func (d *Driver) context(doc *parsed, r *record) (map[string]any, error) {
	f := &doc.file
	out := map[string]any{}
	tags := []string{}
	if doc.gang() {
		body, err := d.master(doc, r)
		if err != nil {
			return nil, err
		}
		out = body
	} else {
		if err := json.Unmarshal(f.Application, &out); err != nil {
			return nil, err
		}
		var own struct {
			Tags object[struct {
				Tag list[string] `json:"tag"`
			}] `json:"application-tags"`
		}
		if err := json.Unmarshal(f.Application, &own); err != nil {
			return nil, err
		}
		tags = own.Tags.value.Tag
	}
	out["application-id"], out["queue"], out["priority"] = r.App, f.Queue, f.Priority
	if _, there := out["application-name"]; !there {
		out["application-name"] = doc.spec.ID
	}
	if f.Label != "" {
		out["app-node-label-expression"] = f.Label
	}
	tags = append(tags, d.opt.Instance, "hedge-job-"+r.UID[:min(16, len(r.UID))],
		fmt.Sprintf("hedge-attempt-%d", r.Attempt), fmt.Sprintf("hedge-epoch-%d", r.Epoch))
	out["application-tags"] = map[string]any{"tag": tags}
	return out, nil
}

// master is the part of a gang's submission context that runs its ApplicationMaster.
func (d *Driver) master(doc *parsed, r *record) (map[string]any, error) {
	if d.opt.AM.Classpath == "" {
		return nil,
			fmt.Errorf("%w: no class path of ApplicationMasters (AM.Classpath), so that no gang can start", ErrOptions)
	}
	told, err := d.packers.pack(gangOf(doc, r.Attempt, r.Plan, d.opt.GangTimeout))
	if err != nil {
		return nil, err
	}
	am := d.opt.AM
	label := am.Label
	if label == "" {
		label = doc.file.Label
	}
	out := map[string]any{
		"application-type": "HEDGE", "max-app-attempts": 1, "keep-containers-across-application-attempts": false,
		"resource": map[string]any{"memory": am.MemoryMB, "vCores": am.VCores},
		"am-container-spec": map[string]any{
			"commands": map[string]any{"command": am.command()},
			"environment": map[string]any{"entry": []map[string]string{
				{"key": "CLASSPATH", "value": am.Classpath}, {"key": "HEDGE_GANG", "value": told},
			}},
		},
	}
	if label != "" {
		out["am-container-node-label-expression"] = label
	}
	return out, nil
}

// Stop ends the attempt's application. It also ensures that an application that has not arrived yet never will.
func (d *Driver) Stop(ctx context.Context, s *adapters.Stop) error {
	r, err := reference(s.Job)
	if err != nil {
		return err
	}
	name := s.Job.Spec.ID
	why := string(s.Cause)
	if text := s.Reason.String(); s.Cause == adapters.CausePreempted && text != "" {
		why += ": " + text
	}
	if r.rec == nil || !r.rec.Open {
		return d.spool.change(ctx, name, r.rec, r.touched(s.Epoch, why), s.Epoch, nil)
	}
	a, err := d.rm.app(ctx, r.rec.App)
	odd := errors.Is(err, errOdd) // at least it exists
	if err != nil && !odd {
		return err
	}
	if a != nil && a.over() {
		e := *r.entry
		e.rec, e.doc, e.uid, e.app = r.rec, r.doc, r.uid, a
		next, decided := d.outcome(&e)
		if !decided {
			next = d.closed(&e)
		}
		next.Epoch, next.Reason = s.Epoch, why
		return d.spool.change(ctx, name, r.rec, next, s.Epoch, nil)
	}
	next := *r.rec
	next.Stop, next.Epoch, next.Reason = why, s.Epoch, why
	if since := d.state.starts[next.App]; !since.IsZero() {
		next.Started = since
	}
	if err := d.spool.change(ctx, name, r.rec, &next, s.Epoch, nil); err != nil {
		return err
	}
	if a == nil && !odd {
		if err := d.void(ctx, next.App); err != nil {
			return after(err)
		}
	}
	return after(d.rm.kill(ctx, next.App, "hedge: "+why))
}

// after is the error of a call that follows a successful change. It never says that nothing was done.
func after(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", adapters.ErrUnavailable, strings.TrimPrefix(err.Error(), "adapters: "))
}

// touched is the record of a waiting job with another number, so that no earlier start can take effect.
func (r *ref) touched(epoch uint64, why string) *record {
	next := record{UID: r.uid, Submitted: r.when}
	if r.rec != nil && r.rec.UID == r.uid {
		next = *r.rec
	}
	next.Epoch, next.Reason = epoch, why
	return &next
}

// nowhere is the name of a queue that does not exist.
const nowhere = "hedge-void-no-such-queue"

// void submits an application that YARN refuses, with the id of one that may still be on its way.
func (d *Driver) void(ctx context.Context, id string) error {
	return d.rm.submit(ctx, id, map[string]any{
		"application-id": id, "application-name": "hedge-void", "application-type": "HEDGE", "queue": nowhere,
		"max-app-attempts":  1,
		"resource":          map[string]any{"memory": 1, "vCores": 1},
		"am-container-spec": map[string]any{"commands": map[string]any{"command": "false"}},
		"application-tags":  map[string]any{"tag": []string{d.opt.Instance}},
	})
}

// Explain writes the note to the job's file in the folder notes, replacing the previous one. The job's start deletes
// it.
func (d *Driver) Explain(ctx context.Context, n *adapters.Note) error {
	if _, err := reference(n.Job); err != nil {
		return err
	}
	return d.spool.note(ctx, n.Job.Spec.ID, n.String(), n.Epoch)
}
