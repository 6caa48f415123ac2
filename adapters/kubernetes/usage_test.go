package kubernetes

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
)

// podMetricsCRD makes the API server serve the metrics API from its own store, where a cluster has a metrics server.
const podMetricsCRD = `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
"metadata": {"name": "pods.metrics.k8s.io", "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"}},
"spec": {"group": "metrics.k8s.io", "scope": "Namespaced", "names": {"plural": "pods", "kind": "PodMetrics"},
"versions": [{"name": "v1beta1", "served": true, "storage": true,
"schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}}`

const metricsPath = "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods"

// measured writes what a pod is measured to use.
func measured(t *testing.T, s *server, name string, at time.Time, containers string) {
	t.Helper()
	text := fmt.Sprintf(`{"apiVersion": "metrics.k8s.io/v1beta1", "kind": "PodMetrics", "metadata": {"name": %q},
"timestamp": %q, "window": "15s", "containers": %s}`, name, at.UTC().Format(time.RFC3339), containers)
	_, err := s.client.CoreV1().RESTClient().Post().AbsPath(metricsPath).SetHeader("Content-Type", "application/json").
		SetHeader("Accept", "application/json").Body([]byte(text)).DoRaw(t.Context())
	require.NoError(t, err)
}

// TestMeasure: what running pods use is read from the metrics API of a real API server.
func TestMeasure(t *testing.T) {
	s := ownPlane(t)
	ctx := t.Context()
	_, err := s.client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "measured"},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{"cpu": resource.MustParse("8")}}}, metav1.CreateOptions{})
	require.NoError(t, err)
	d, err := Open(ctx, s.client, Options{Namespace: "default"})
	require.NoError(t, err)
	defer d.Close()
	_, err = d.Measure(ctx)
	require.Error(t, err, "no metrics API")

	_, err = s.client.CoreV1().RESTClient().Post().AbsPath("/apis/apiextensions.k8s.io/v1/customresourcedefinitions").
		SetHeader("Content-Type", "application/json").SetHeader("Accept", "application/json").
		Body([]byte(podMetricsCRD)).DoRaw(ctx)
	require.NoError(t, err)
	defer func() {
		_, err := s.client.CoreV1().RESTClient().Delete().SetHeader("Accept", "application/json").
			AbsPath("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/pods.metrics.k8s.io").DoRaw(ctx)
		require.NoError(t, err)
	}()
	require.Eventually(t, func() bool { _, err := d.Measure(ctx); return err == nil }, patience, 100*time.Millisecond)

	var started time.Time // of used
	for _, name := range []string{"used", "waits", "stale", "empty"} {
		p, err := s.client.CoreV1().Pods("default").Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: corev1.PodSpec{SchedulerName: "hedge", Containers: []corev1.Container{{Name: "c", Image: "none"}}}},
			metav1.CreateOptions{})
		require.NoError(t, err)
		defer func() {
			require.NoError(t, s.client.CoreV1().Pods("default").Delete(ctx, name, *metav1.NewDeleteOptions(0)))
		}()
		if name != "waits" {
			v := viewOf(t, d, p.UID)
			require.NoError(t, d.Start(ctx, &adapters.Start{Job: v, Nodes: []sched.NodeTasks{{Node: "measured", Tasks: 1}}}))
			require.Eventually(t, func() bool { // kwok runs it
				v = viewOf(t, d, p.UID)
				return len(v.Tasks) == 1 && !v.Tasks[0].Started.IsZero()
			}, patience, 50*time.Millisecond)
			if name == "used" {
				started = v.Tasks[0].Started
			}
		}
	}
	at := started.Add(30 * time.Second)
	two := `[{"name": "c", "usage": {"cpu": "250m", "memory": "64Mi"}},
{"name": "d", "usage": {"cpu": "1500000n", "memory": "1Ki"}}]`
	measured(t, s, "used", at, two)
	measured(t, s, "waits", at, two)
	measured(t, s, "stale", started.Add(-time.Minute), two)
	measured(t, s, "empty", at, `[{"name": "c", "usage": {}}]`)
	measured(t, s, "nobody", at, two)
	var got []adapters.Sample
	require.Eventually(t, func() bool {
		got, err = d.Measure(ctx)
		return err == nil && len(got) > 0
	}, patience, 100*time.Millisecond)
	require.Len(t, got, 1)
	assert.Contains(t, got[0].Job, "used")
	assert.Equal(t, 1, got[0].Attempt)
	assert.Equal(t, "measured", got[0].Node)
	assert.True(t, started.Equal(got[0].Started) && at.Equal(got[0].At), "%v", got[0])
	assert.Equal(t, usage.Level{CPU: 0.2515, Memory: 64<<20 + 1024}, got[0].Use)
}

// viewOf is the job of a pod, once the driver has seen it.
func viewOf(t *testing.T, d *Driver, uid types.UID) (found *adapters.Job) {
	t.Helper()
	require.Eventually(t, func() bool {
		v, err := d.Observe(t.Context(), false)
		require.NoError(t, err)
		for i := range v.Jobs {
			if v.Jobs[i].UID == string(uid) {
				found = &v.Jobs[i]
			}
		}
		return found != nil
	}, patience, 50*time.Millisecond)
	return found
}
