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

// work is what a checkpointing Job has done, as written on the Job. Since identifies the attempt for which it was
// written last: it is the time when all tasks of that attempt ran. That time outlives the pods, so an attempt that is
// told to stop more than once counts once.
type work struct {
	// the Job's UID, since a Job created from the printed form of this one has the annotation, too
	Job    types.UID       `json:"job"`
	Since  metav1.Time     `json:"since"`
	Before metav1.Duration `json:"before"` // done before that attempt
	Done   metav1.Duration `json:"done"`   // done including that attempt
}

// workOf reads what is written on a Job. Unreadable text counts as no work.
func workOf(text string, job types.UID) work {
	var w work
	if json.Unmarshal([]byte(text), &w) != nil || w.Job != job || w.Before.Duration < 0 ||
		w.Done.Duration < w.Before.Duration {
		return work{}
	}
	return w
}

// before is the work done before the attempt of these tasks.
func (w *work) before(tasks []adapters.Task) time.Duration {
	if since := wholeSince(tasks); !since.IsZero() && since.Equal(w.Since.Time) {
		return w.Before.Duration
	}
	return w.Done.Duration
}

// wholeSince is when the last of the tasks began to run. It is zero if not all have.
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

// keepWork writes the work of a checkpointing Job on the Job. It does so before the pods are stopped, as they may be
// gone afterwards. If the stop is refused, the next stop writes the same attempt again.
func (d *Driver) keepWork(ctx context.Context, id string, s *adapters.Stop, now time.Time) error {
	since := wholeSince(s.Job.Tasks)
	is := func(state adapters.TaskState) bool {
		return slices.ContainsFunc(s.Job.Tasks, func(t adapters.Task) bool { return t.State == state })
	}
	d.model.mu.Lock()
	b := d.model.batchOf(id)
	d.model.mu.Unlock()
	if b == nil || !s.Job.Spec.Checkpoint || since.IsZero() || len(s.Job.Tasks) < s.Job.Spec.Tasks || is(adapters.Lost) ||
		is(adapters.Stopping) && since.Equal(b.work.Since.Time) { // it was written when the pods were told to stop
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
		// The subresource status leaves the pod template alone.
		_, err = d.client.BatchV1().Jobs(b.namespace).Patch(ctx, b.name, types.MergePatchType, patch, metav1.PatchOptions{},
			"status")
	}
	if err != nil {
		return failed("job "+id, err)
	}
	return nil
}

// labelsOf are the labels of a node, nil if the node is unknown.
func (m *model) labelsOf(node string) map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.nodes[node]; n != nil {
		return n.labels
	}
	return nil
}
