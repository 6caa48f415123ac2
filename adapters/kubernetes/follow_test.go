package kubernetes

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/adaptertest"
)

// bound is a pod that runs on the node.
func bound(name string, version int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: fmt.Sprint(version)},
		Spec:       corev1.PodSpec{SchedulerName: "hedge", NodeName: "n"},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// TestWorldFollows: the judge of the order of events sees what happens after its watch could not continue, and what
// happened in between.
func TestWorldFollows(t *testing.T) {
	w := &world{name: "w", shape: adaptertest.Shape{Slots: 1}, killed: map[string]bool{}, records: map[types.UID]*record{},
		repeats: map[string]int{}}
	expired := apierrors.NewResourceExpired("too old resource version").Status()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	watches := map[string][]watch.Event{
		"1": {{Type: watch.Added, Object: bound("a", 2)}},
		"2": {{Type: watch.Error, Object: &expired}}, // the server was started anew: a has gone and b has come since
		"9": {{Type: watch.Added, Object: bound("c", 10)}},
	}
	var asked []string
	f := &stream{from: "1",
		list: func(context.Context, metav1.ListOptions) (*corev1.PodList, error) {
			return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "9"}, Items: []corev1.Pod{*bound("b", 8)}}, nil
		},
		watch: func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
			asked = append(asked, o.ResourceVersion)
			told := watch.NewFakeWithChanSize(len(watches[o.ResourceVersion]), false)
			for _, e := range watches[o.ResourceVersion] {
				told.Action(e.Type, e.Object)
			}
			if told.Stop(); o.ResourceVersion == "10" || len(asked) == 10 {
				cancel()
			}
			return told, nil
		}}
	w.follow(ctx, f)
	assert.Equal(t, []string{"1", "2", "9", "10"}, asked)
	require.Contains(t, w.records, types.UID("a"))
	assert.Equal(t, adapters.Stopping, w.records["a"].State)
	assert.False(t, w.records["a"].Ended.IsZero())
	assert.True(t, w.records["b"].live)
	assert.Equal(t, []string{"w: node n holds 2 pods at version 10"}, w.faults, "b and c; a had made room for b")
}

// TestWorldDone: if all tasks of a job finish while they are told to stop, the job is done and gets no new pods. If
// only some finish, all get new pods.
func TestWorldDone(t *testing.T) {
	const finished, stopping, lost = adapters.Finished, adapters.Stopping, adapters.Lost
	type pod struct {
		task    string
		state   adapters.TaskState
		attempt int
	}
	for name, c := range map[string]struct {
		pods []pod
		done bool
	}{
		"none has a place yet":         {nil, false},
		"both finish":                  {[]pod{{"0", finished, 1}, {"1", finished, 1}}, true},
		"one finishes":                 {[]pod{{"0", finished, 1}, {"1", stopping, 1}}, false},
		"the other in a later attempt": {[]pod{{"0", finished, 1}, {"1", stopping, 1}, {"1", finished, 2}}, false},
		"both finish the second time": {
			[]pod{{"0", finished, 1}, {"1", stopping, 1}, {"0", finished, 2}, {"1", finished, 2}}, true},
		"one is lost the second time": {[]pod{{"0", finished, 1}, {"1", stopping, 1}, {"0", lost, 2}, {"1", finished, 2}},
			false},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{records: map[types.UID]*record{}, repeats: map[string]int{}}
			for i, p := range c.pods {
				uid := types.UID(fmt.Sprint(i))
				w.placed = append(w.placed, uid)
				w.records[uid] = &record{Record: adaptertest.Record{UID: "u", Task: p.task, State: p.state, Attempt: p.attempt}}
			}
			s := &submitted{uid: "u"}
			s.Spec.Tasks = 2
			assert.Equal(t, c.done, w.done(s))
			s.uid = "other"
			assert.False(t, w.done(s))
		})
	}
}

// TestWorldRevoked: a pod that is reported as succeeded and then as failed has failed, but not the other way round.
func TestWorldRevoked(t *testing.T) {
	w := &world{name: "w", killed: map[string]bool{}, records: map[types.UID]*record{}, repeats: map[string]int{}}
	see := func(version int, phase corev1.PodPhase) adapters.TaskState {
		p := bound("a", version)
		p.Status.Phase = phase
		w.see(p, false)
		return w.records["a"].State
	}
	assert.Equal(t, adapters.Running, see(1, corev1.PodRunning))
	w.records["a"].Started = w.records["a"].Placed
	end := metav1.Now()
	p := bound("a", 3)
	p.Status.Phase = corev1.PodSucceeded
	p.Status.ContainerStatuses = []corev1.ContainerStatus{
		{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: end}}}}
	w.see(p, false)
	assert.Equal(t, adapters.Finished, w.records["a"].State)
	assert.Equal(t, adapters.Finished, see(2, corev1.PodFailed), "of before")
	assert.Equal(t, adapters.Failed, see(4, corev1.PodFailed))
	assert.Equal(t, adapters.Failed, see(5, corev1.PodSucceeded))
	assert.False(t, w.records["a"].Ended.IsZero())
}

// TestWorldAttempts: the scheduler gives two starts the same number if nothing was left of the first. Here they have
// two numbers.
func TestWorldAttempts(t *testing.T) {
	w := &world{name: "w", killed: map[string]bool{}, records: map[types.UID]*record{}, repeats: map[string]int{}}
	yes := true
	place := func(name, task, attempt string) int {
		p := bound(name, 1)
		p.Labels, p.Annotations = map[string]string{taskLabel: task}, map[string]string{attemptAnnotation: attempt}
		p.OwnerReferences = []metav1.OwnerReference{{UID: "u", Controller: &yes}}
		w.see(p, false)
		return w.records[p.UID].Attempt
	}
	assert.Equal(t, 1, place("a", "0", "1"))
	assert.Equal(t, 1, place("b", "1", "1"))
	assert.Equal(t, 2, place("c", "0", "2"))
	assert.Equal(t, 3, place("d", "0", "1"), "all were gone")
	assert.Equal(t, 3, place("e", "1", "1"))
	assert.Equal(t, 4, place("f", "0", "2"))
}

// TestWorldLearns: what is gone before the test looks counts as known, too.
func TestWorldLearns(t *testing.T) {
	d := &Driver{model: newModel(Options{SchedulerName: "hedge"}, labels.Everything())}
	for k := range kind(kinds) {
		d.feeds = append(d.feeds, &feed{kind: k, from: "1"})
	}
	f := d.feeds[pods]
	require.NoError(t, f.take(d.model, watch.Event{Type: watch.Added, Object: bound("a", 4)}))
	// and the version 5 was never looked at
	require.NoError(t, f.take(d.model, watch.Event{Type: watch.Deleted, Object: bound("a", 6)}))
	assert.Empty(t, d.model.pods)
	d.learns(t, pods, 5)
}
