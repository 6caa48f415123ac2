package kubernetes

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
)

// list is an amount of CPU and memory; an empty text is none.
func list(cpu, memory string) corev1.ResourceList {
	out := corev1.ResourceList{}
	if cpu != "" {
		out[corev1.ResourceCPU] = resource.MustParse(cpu)
	}
	if memory != "" {
		out[corev1.ResourceMemory] = resource.MustParse(memory)
	}
	return out
}

func containers(n int, requests, limits corev1.ResourceList) *corev1.PodSpec {
	spec := &corev1.PodSpec{}
	for range n {
		spec.Containers = append(spec.Containers, corev1.Container{Name: "c",
			Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits}})
	}
	return spec
}

// TestBounds: a pod may become smaller than it asks for, if its job allows it and Kubernetes does.
func TestBounds(t *testing.T) {
	const mib = 1 << 20
	allowed := map[string]string{ResizeAnnotation: "true"}
	for name, tt := range map[string]struct {
		annotations map[string]string
		spec        *corev1.PodSpec
		size        int
		want        *adapters.Bounds
		says        string
	}{
		"not allowed": {nil, containers(1, list("2", "256Mi"), nil), 1, nil, ""},
		"refused":     {map[string]string{ResizeAnnotation: "false"}, containers(1, list("2", "256Mi"), nil), 1, nil, ""},
		"no limit": {allowed, containers(1, list("2", "256Mi"), nil), 1, &adapters.Bounds{
			Least: usage.Level{CPU: 0.001, Memory: 1}, Most: usage.Level{CPU: 2, Memory: 256 * mib}, Limit: 256 * mib,
			Failures: 3}, ""},
		"limit": {map[string]string{ResizeAnnotation: "true", ResizeLeastAnnotation: "64Mi"},
			containers(1, list("2", "256Mi"), list("2", "512Mi")), 1, &adapters.Bounds{
				Least: usage.Level{CPU: 0.001, Memory: 64 * mib}, Most: usage.Level{CPU: 2, Memory: 256 * mib},
				Limit: 512 * mib, Failures: 3}, ""},
		"memory alone": {allowed, containers(1, list("", "256Mi"), nil), 1, &adapters.Bounds{
			Least: usage.Level{Memory: 1}, Most: usage.Level{Memory: 256 * mib}, Limit: 256 * mib, Failures: 3}, ""},
		"gang":           {allowed, containers(1, list("2", "256Mi"), nil), 2, nil, "a job of one pod"},
		"two containers": {allowed, containers(2, list("2", "256Mi"), nil), 1, nil, "one container"},
		"no memory":      {allowed, containers(1, list("2", ""), nil), 1, nil, "requests memory"},
		"guaranteed":     {allowed, containers(1, list("2", "256Mi"), list("2", "256Mi")), 1, nil, "are not its limits"},
		"least alone": {map[string]string{ResizeLeastAnnotation: "64Mi"}, containers(1, list("2", "256Mi"), nil), 1, nil,
			"with " + ResizeLeastAnnotation},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := parseHints(tt.annotations)
			require.NoError(t, err)
			got, err := h.bounds(shapeOf(&metav1.ObjectMeta{}, tt.spec), tt.size, 3)
			assert.Equal(t, tt.want, got)
			if tt.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorAs(t, err, new(*HintError))
			require.ErrorContains(t, err, tt.says)
		})
	}
	for name, value := range map[string]string{ResizeAnnotation: "yes", ResizeLeastAnnotation: "-1Mi"} {
		_, err := parseHints(map[string]string{name: value})
		require.ErrorAs(t, err, new(*HintError))
	}
}

// TestFailures: a start counts as failed if a pod failed by itself.
func TestFailures(t *testing.T) {
	on := func(attempt int, phase corev1.PodPhase, change func(*pod)) *pod {
		p := &pod{bound: "n", attempt: attempt, phase: phase}
		change(p)
		return p
	}
	same := func(*pod) {}
	assert.Equal(t, 2, failures([]*pod{
		on(1, corev1.PodFailed, same), on(1, corev1.PodFailed, func(p *pod) { p.cleared = true }),
		on(2, corev1.PodFailed, func(p *pod) { p.evicted = true }),
		on(3, corev1.PodFailed, func(p *pod) { p.deleting = true }),
		on(4, corev1.PodSucceeded, same), on(5, corev1.PodFailed, same), on(6, corev1.PodRunning, same),
		on(7, corev1.PodFailed, func(p *pod) { p.bound = "" }),
	}))
}

// TestResizeAndBind: a real API server takes smaller requests of a pod that is not bound yet, and the driver reports
// what it asks for from then on.
func TestResizeAndBind(t *testing.T) {
	s := ownPlane(t)
	ctx := t.Context()
	nodes := s.client.CoreV1().Nodes()
	_, err := nodes.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "resizes"},
		Status: corev1.NodeStatus{Allocatable: list("8", "8Gi")}}, metav1.CreateOptions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, nodes.Delete(ctx, "resizes", metav1.DeleteOptions{})) }()
	d, err := Open(ctx, s.client, Options{Namespace: "default"})
	require.NoError(t, err)
	defer d.Close()
	pods := s.client.CoreV1().Pods("default")
	spec := containers(1, list("2", "256Mi"), list("", "512Mi"))
	spec.SchedulerName, spec.Containers[0].Image = "hedge", "none"
	p, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "resized",
		Annotations: map[string]string{ResizeAnnotation: "true"}}, Spec: *spec}, metav1.CreateOptions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, pods.Delete(ctx, "resized", *metav1.NewDeleteOptions(0))) }()
	j := viewOf(t, d, p.UID)
	require.NotNil(t, j.Resize)
	require.NoError(t, j.Problem)
	require.NoError(t, d.Start(ctx, &adapters.Start{Job: j, Nodes: []sched.NodeTasks{{Node: "resizes", Tasks: 1}},
		Size: &adapters.Size{Reserve: usage.Level{CPU: 0.2501, Memory: 64 << 20}, Limit: 128<<20 - 0.5}}))
	now, err := pods.Get(ctx, "resized", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, "resizes", now.Spec.NodeName)
	r := now.Spec.Containers[0].Resources
	assert.Equal(t, []string{"251m", "64Mi", "128Mi"},
		[]string{r.Requests.Cpu().String(), r.Requests.Memory().String(), r.Limits.Memory().String()})
	require.Eventually(t, func() bool {
		v, err := d.Observe(ctx, true)
		require.NoError(t, err)
		for i := range v.Jobs {
			if v.Jobs[i].UID == j.UID {
				j = &v.Jobs[i]
			}
		}
		return len(j.Tasks) == 1 && j.Spec.Demand[usage.Memory] == 64<<20
	}, patience, 100*time.Millisecond)
	assert.InDelta(t, 0.251, j.Spec.Demand[usage.CPU], 1e-9)
}

// TestSized: what the server is asked for never exceeds what the pod asks for, and the request and the limit of memory
// stay apart where they were.
func TestSized(t *testing.T) {
	const mib = 1 << 20
	at := func(cpu, memory, limit float64) *adapters.Size {
		return &adapters.Size{Reserve: usage.Level{CPU: cpu, Memory: memory}, Limit: limit}
	}
	for name, tt := range map[string]struct {
		spec             *corev1.PodSpec
		size             *adapters.Size
		requests, limits corev1.ResourceList
	}{
		"rounded up": {containers(1, list("2", "64Mi"), list("2", "128Mi")), at(0.5004, 32*mib-0.5, 64*mib-0.5),
			list("501m", "32Mi"), list("", "64Mi")},
		"no limit": {containers(1, list("2", "64Mi"), nil), at(0, 32*mib, 64*mib), list("", "32Mi"), list("", "")},
		"one limit for both": {containers(1, list("2", "64Mi"), list("2", "128Mi")), at(0, 32*mib, 32*mib),
			list("", "32Mi"), list("", "33554433")},
		"they were the same": {containers(1, list("2", "64Mi"), list("", "64Mi")), at(1, 32*mib, 32*mib),
			list("1", "32Mi"), list("", "32Mi")},
	} {
		t.Run(name, func(t *testing.T) {
			requests, limits := mainOf(tt.spec).sized(tt.size)
			parsed := func(of map[string]string) corev1.ResourceList { return list(of[usage.CPU], of[usage.Memory]) }
			assert.True(t, equality.Semantic.DeepEqual(tt.requests, parsed(requests)), "%v", requests)
			assert.True(t, equality.Semantic.DeepEqual(tt.limits, parsed(limits)), "%v", limits)
		})
	}
	for milli := int64(1); milli <= 10_000; milli++ { // 9m and others are not what they were when multiplied
		asks := resource.NewMilliQuantity(milli, resource.DecimalSI)
		c := mainOf(containers(1, list(asks.String(), "64Mi"), list(asks.String(), "128Mi")))
		requests, _ := c.sized(at(c.cpu, 0, 0))
		require.Equal(t, asks.String(), requests[usage.CPU])
	}
}
