package kubernetes

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/hedgesched/hedge/adapters"
)

// TestWorkOnce: an attempt whose stops are refused counts once, at full speed. The next attempt is added to it.
func TestWorkOnce(t *testing.T) {
	start := metav1.NewTime(time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC))
	running := func(since metav1.Time) *corev1.Pod {
		p := podOf("j-0", "n", corev1.PodRunning,
			map[string]string{epochAnnotation: "1", attemptAnnotation: "1", sizeAnnotation: "1"})
		p.Status.ContainerStatuses = []corev1.ContainerStatus{
			{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since}}}}
		return p
	}
	c := fake.NewClientset(machine(), running(start),
		jobOf(1, map[string]string{CheckpointAnnotation: "true", SpeedsAnnotation: "gpu=* 1; other 0.5"}))
	c.PrependReactor("create", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		refusal := apierrors.NewTooManyRequests("a budget is spent", 0)
		refusal.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: "DisruptionBudget"}}
		return a.GetSubresource() == "eviction", nil, refusal
	})
	d, err := Open(t.Context(), c, Options{})
	require.NoError(t, err)
	defer d.Close()
	stop := func(now time.Time) time.Duration {
		v, err := d.Observe(t.Context(), true)
		require.NoError(t, err)
		j := v.Jobs[0]
		s := &adapters.Stop{Job: &j, Cause: adapters.CausePreempted}
		require.NoError(t, d.keepWork(t.Context(), j.Spec.ID, s, now))
		require.ErrorIs(t, d.Stop(t.Context(), s), adapters.ErrRefused)
		require.NoError(t, d.keepWork(t.Context(), j.Spec.ID, s, now)) // the clock of Stop is another
		job, err := c.BatchV1().Jobs("ns").Get(t.Context(), "j", metav1.GetOptions{})
		require.NoError(t, err)
		w := workOf(job.Annotations[doneAnnotation], job.UID)
		assert.Zero(t, workOf(job.Annotations[doneAnnotation], "another's"))
		return w.Done.Duration
	}
	assert.Equal(t, 50*time.Second, stop(start.Add(100*time.Second)))
	assert.Equal(t, 60*time.Second, stop(start.Add(120*time.Second)), "the same attempt, at half its speed")
	assert.Equal(t, 60*time.Second, stop(start.Add(120*time.Second)))
	v, err := d.Observe(t.Context(), true)
	require.NoError(t, err)
	assert.Zero(t, v.Jobs[0].Done, "no attempt before this one")
	again := metav1.NewTime(start.Add(time.Hour))
	_, err = c.CoreV1().Pods("ns").Update(t.Context(), running(again), metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, 65*time.Second, stop(again.Add(10*time.Second)))
	assert.Equal(t, 65*time.Second, stop(again.Add(10*time.Second)))
}

// TestWorkUnread: text on a Job that makes no sense is no work.
func TestWorkUnread(t *testing.T) {
	const job = "uid-j"
	for _, text := range []string{"", "100h", "{}",
		`{"job":"uid-j","since":"2026-01-02T15:04:05Z","before":"2m","done":"1m"}`,
		`{"job":"uid-j","since":"2026-01-02T15:04:05Z","before":"-2m","done":"1m"}`,
		`{"job":"uid-j","since":"then","before":"1m","done":"1m"}`} {
		w := workOf(text, job)
		assert.Zero(t, w.before(nil), text)
	}
	w := workOf(`{"job":"uid-j","since":"2026-01-02T15:04:05Z","before":"1m0s","done":"2m0s"}`, job)
	assert.Equal(t, 2*time.Minute, w.before(nil))
	assert.Equal(t, time.Minute, w.before([]adapters.Task{{Started: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)}}))
}
