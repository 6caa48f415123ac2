package kubernetes

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttest "k8s.io/client-go/testing"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// TestPodsMadeWhileAllIsListed has pods listed at version 100 and nodes at 105. The watch then brings a pod of version
// 103.
func TestPodsMadeWhileAllIsListed(t *testing.T) {
	client := fake.NewClientset()
	lists := func(resource string, list runtime.Object) {
		client.PrependReactor("list", resource, func(clienttest.Action) (bool, runtime.Object, error) {
			return true, list, nil
		})
	}
	lists("pods", &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "100"}})
	lists("jobs", &batchv1.JobList{ListMeta: metav1.ListMeta{ResourceVersion: "102"}})
	lists("nodes", &corev1.NodeList{ListMeta: metav1.ListMeta{ResourceVersion: "105"}})
	events := watch.NewFake()
	client.PrependWatchReactor("pods", func(clienttest.Action) (bool, watch.Interface, error) { return true, events, nil })
	d, err := Open(t.Context(), client, Options{})
	require.NoError(t, err)
	defer d.Close()
	c, err := adapters.New(d, adapters.Options{Epoch: 1})
	require.NoError(t, err)
	told, err := c.Events(t.Context())
	require.NoError(t, err)
	require.Empty(t, told)
	events.Add(
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "late", UID: "uid", ResourceVersion: "103"},
			Spec: corev1.PodSpec{SchedulerName: "hedge"}, Status: corev1.PodStatus{Phase: corev1.PodPending}})
	for end := time.Now().Add(5 * time.Minute); len(told) == 0 &&
		time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		told, err = c.Events(t.Context())
		require.NoError(t, err)
	}
	require.Len(t, told, 1)
	assert.Equal(t, []any{sched.Submitted, "ns/pod/late"}, []any{told[0].Kind, told[0].ID})
}
