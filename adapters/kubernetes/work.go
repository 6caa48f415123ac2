package kubernetes

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hedgesched/hedge/adapters"
)

// work is what a Job with checkpoints has done, as it stands on the Job. The attempt that it was written of last is
// known by when all of it ran, which outlives its pods, so that an attempt that is told to stop more than once is
// counted once.
type work struct {
	Job    types.UID       `json:"job"` // whose it is: not that of a Job made from what this one was printed as
	Since  metav1.Time     `json:"since"`
	Before metav1.Duration `json:"before"` // done in the attempts before that one
	Done   metav1.Duration `json:"done"`   // and with it
}

// workOf reads what stands on a Job. What cannot be read is no work.
func workOf(text string, job types.UID) work {
	var w work
	if json.Unmarshal([]byte(text), &w) != nil || w.Job != job || w.Before.Duration < 0 ||
		w.Done.Duration < w.Before.Duration {
		return work{}
	}
	return w
}

// before is what was done before the attempt that these tasks are of.
func (w *work) before(tasks []adapters.Task) time.Duration {
	if since := wholeSince(tasks); !since.IsZero() && since.Equal(w.Since.Time) {
		return w.Before.Duration
	}
	return w.Done.Duration
}

// wholeSince is when the last of the tasks began to run, zero if not all have.
func wholeSince(tasks []adapters.Task) time.Time {
	var since time.Time
	for i := range tasks {
		if tasks[i].Started.IsZero() {
			return time.Time{}
		}
		since = later(since, tasks[i].Started)
	}
	return since
}

// keepWork writes on the Job what it has done, if it goes on where it was. It does so before its pods are stopped, as
// they may be gone afterwards; where that is refused, the next order to stop writes the same attempt's anew.
func (d *Driver) keepWork(ctx context.Context, id string, s *adapters.Stop, now time.Time) error {
	since := wholeSince(s.Job.Tasks)
	is := func(state adapters.TaskState) bool {
		return slices.ContainsFunc(s.Job.Tasks, func(t adapters.Task) bool { return t.State == state })
	}
	d.model.mu.Lock()
	b := d.model.batchOf(id)
	d.model.mu.Unlock()
	if b == nil || !s.Job.Spec.Checkpoint || since.IsZero() || len(s.Job.Tasks) < s.Job.Spec.Tasks || is(adapters.Lost) ||
		is(adapters.Stopping) && since.Equal(b.work.Since.Time) { // it stands there from when they were told to
		return nil
	}
	before := b.work.before(s.Job.Tasks)
	done := before + adapters.Progress(s.Job.Spec, s.Job.Tasks, now, d.model.labelsOf).Round(time.Millisecond)
	text, err := json.Marshal(work{Job: b.uid, Since: metav1.NewTime(since), Before: metav1.Duration{Duration: before},
		Done: metav1.Duration{Duration: done}})
	if err != nil {
		return failed("job "+id, err)
	}
	ctx, cancel := context.WithTimeout(ctx, d.opt.Timeout)
	defer cancel()
	patch, err := annotate(b.uid, "", map[string]string{doneAnnotation: string(text)})
	if err == nil {
		// which leaves the template alone
		_, err = d.client.BatchV1().Jobs(b.namespace).Patch(ctx, b.name, types.MergePatchType, patch, metav1.PatchOptions{},
			"status")
	}
	if err != nil {
		return failed("job "+id, err)
	}
	return nil
}

// labelsOf are a node's labels, none where it is not known.
func (m *model) labelsOf(node string) map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.nodes[node]; n != nil {
		return n.labels
	}
	return nil
}
