package kubernetes

import (
	"context"
	"errors"
	"sync/atomic"
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
	"github.com/hedgesched/hedge/sched"
)

// condition is the reason in the pod's condition.
func condition(t *testing.T, c *fake.Clientset, pod string) string {
	t.Helper()
	p, err := c.CoreV1().Pods("ns").Get(t.Context(), pod, metav1.GetOptions{})
	require.NoError(t, err)
	for _, x := range p.Status.Conditions {
		if x.Type == corev1.PodScheduled {
			return x.Message
		}
	}
	return ""
}

// TestNotesAreWritten: a failed event and a conflicting condition are written later. Pods that are created later get
// the condition, too.
func TestNotesAreWritten(t *testing.T) {
	c := fake.NewClientset(machine(), jobOf(2, nil), podOf("j-0", "", corev1.PodPending, nil),
		podOf("j-1", "", corev1.PodPending, nil))
	var events, patches atomic.Int64
	c.PrependReactor("create", "events", func(clienttesting.Action) (bool, runtime.Object, error) {
		return events.Add(1) == 1, nil, apierrors.NewInternalError(errors.New("busy"))
	})
	c.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return patches.Add(1) == 1, nil, apierrors.NewConflict(corev1.Resource("pods"), "j-0", errors.New("it has changed"))
	})
	d, err := Open(t.Context(), c, Options{})
	require.NoError(t, err)
	defer d.Close()
	v, err := d.Observe(t.Context(), true)
	require.NoError(t, err)
	require.Len(t, v.Jobs, 1)
	require.NoError(t, d.Explain(t.Context(), &adapters.Note{Job: &v.Jobs[0], Reason: sched.Reason{Code: "no-room"}}))
	written := func(pod string) func() bool {
		return func() bool { _, err := d.Observe(t.Context(), false); return err == nil && condition(t, c, pod) != "" }
	}
	require.Eventually(t, written("j-0"), time.Minute, 10*time.Millisecond)
	require.Eventually(t, written("j-1"), time.Minute, 10*time.Millisecond)
	list, err := c.CoreV1().Events("ns").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	assert.Equal(t, "NoRoom", list.Items[0].Reason)

	require.NoError(t, c.CoreV1().Pods("ns").Delete(t.Context(), "j-0", metav1.DeleteOptions{}))
	later := podOf("j-2", "", corev1.PodPending, nil)
	later.ResourceVersion = "9"
	_, err = c.CoreV1().Pods("ns").Create(t.Context(), later, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Eventually(t, written("j-2"), time.Minute, 10*time.Millisecond)
	assert.Equal(t, condition(t, c, "j-1"), condition(t, c, "j-2"))
	list, err = c.CoreV1().Events("ns").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Len(t, list.Items, 1, "it is the same note")
	assert.Zero(t, d.Dropped())
}

// TestNotesTooMany: a note without room is refused. A note of a job that was started meanwhile is not written.
func TestNotesTooMany(t *testing.T) {
	c := fake.NewClientset()
	x := newTester(t)
	x.node("n")
	p := x.pod("a")
	d := &Driver{client: c, model: x.model, opt: x.opt}
	d.opt.Events = 1
	d.writer = newWriter(c, d.opt, x.model)
	j := x.only()
	note := &adapters.Note{Job: &j, Reason: sched.Reason{Code: "no-room"}}
	require.NoError(t, d.Explain(t.Context(), note))
	require.ErrorIs(t, d.Explain(t.Context(), note), errFull)
	x.bound("ns/pod/a", []binding{{pod: *x.pods[p.UID], node: "n"}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	assert.True(t, d.writer.write(ctx, <-d.writer.queue))
	assert.Empty(t, c.Actions())
}
