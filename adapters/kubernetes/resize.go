package kubernetes

import (
	"context"
	"encoding/json"
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched/usage"
)

// container is the only container of a pod, as far as it can be resized. Amounts are in cores and bytes.
type container struct {
	name        string
	cpu, memory float64 // requests
	limit       float64 // of memory, 0 if there is none
}

// same reports whether both can be resized alike.
func (c *container) same(o *container) bool { return c == o || c != nil && o != nil && *c == *o }

// leastCPU is the least that a container may request, in cores.
const leastCPU = 0.001

// mainOf is the container of a pod that can be resized; nil if there is none. A pod whose requests are its limits would
// change its quality of service, which Kubernetes refuses.
func mainOf(spec *corev1.PodSpec) *container {
	if len(spec.Containers) != 1 || len(spec.InitContainers) > 0 || spec.Resources != nil {
		return nil
	}
	c := &spec.Containers[0]
	requests, limits := amounts(c.Resources.Requests), amounts(c.Resources.Limits)
	out := &container{c.Name, requests[usage.CPU], requests[usage.Memory], limits[usage.Memory]}
	guaranteed := limits[usage.CPU] > 0 && limits[usage.CPU] <= out.cpu && out.limit > 0 && out.limit <= out.memory
	if out.memory <= 0 || guaranteed {
		return nil
	}
	return out
}

// bounds are what the job's pod may be resized to when it is bound; nil if it may not. An error says why the pod of a
// job that allows it cannot be resized.
func (h *hints) bounds(s *shape, size, failures int) (*adapters.Bounds, error) {
	wrong := func(want string) error { return &HintError{Annotation: ResizeAnnotation, Value: "true", Want: want} }
	switch c := s.main; {
	case !h.resize && h.least > 0:
		return nil, &HintError{Annotation: ResizeAnnotation, Value: "", Want: `"true", with ` + ResizeLeastAnnotation}
	case !h.resize:
		return nil, nil
	case size != 1:
		return nil, wrong("a job of one pod")
	case c == nil:
		return nil, wrong("a pod of one container that requests memory and whose requests are not its limits")
	default:
		return &adapters.Bounds{
			Least: usage.Level{CPU: min(leastCPU, c.cpu), Memory: min(max(h.least, 1), c.memory)},
			Most:  usage.Level{CPU: c.cpu, Memory: c.memory}, Limit: max(c.memory, c.limit), Failures: failures,
		}, nil
	}
}

// failures is the number of starts in which a pod failed without being told to end, as far as the server still has
// these pods.
func failures(all []*pod) int {
	failed := map[int]struct{}{}
	for _, p := range all {
		if p.phase == corev1.PodFailed && p.at() != "" && !p.stopped() {
			failed[p.attempt] = struct{}{}
		}
	}
	return len(failed)
}

// sized is what the container requests and its limit at that size, as the server reads it. Rounding takes nothing above
// what the container requests now. The limit of memory stays above the request where it was, if only by a byte: a pod
// whose requests became its limits would change its quality of service.
func (c *container) sized(s *adapters.Size) (requests, limits map[string]string) {
	requests, limits = map[string]string{}, map[string]string{}
	if s.Reserve.CPU > 0 {
		const exact = 1 - 1e-12 // 9m is 9.000000000000002 when it is multiplied
		milli := int64(math.Ceil(s.Reserve.CPU * 1000 * exact))
		requests[usage.CPU] = resource.NewMilliQuantity(milli, resource.DecimalSI).String()
	}
	if s.Reserve.Memory > 0 {
		request, limit := int64(math.Ceil(s.Reserve.Memory)), int64(math.Ceil(s.Limit))
		requests[usage.Memory] = resource.NewQuantity(request, resource.BinarySI).String()
		if c.limit > c.memory {
			limit = max(limit, request+1)
		}
		if c.limit > 0 {
			limits[usage.Memory] = resource.NewQuantity(limit, resource.BinarySI).String()
		}
	}
	return requests, limits
}

// resize changes what a pod that is not bound yet requests, and its limit of memory if it has one, on condition that
// the pod is unchanged. The pod then is as the server has it.
func (d *Driver) resize(ctx context.Context, p *pod, revision string, s *adapters.Size) (string, error) {
	c := p.shape.main
	if s == nil || c == nil {
		return revision, nil
	}
	requests, limits := c.sized(s)
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": p.uid, "resourceVersion": revision},
		"spec": map[string]any{"containers": []any{map[string]any{"name": c.name,
			"resources": map[string]any{"requests": requests, "limits": limits}}}},
	})
	if err != nil {
		return revision, err
	}
	now, err := d.client.CoreV1().Pods(p.namespace).Patch(ctx, p.name, types.StrategicMergePatchType, patch,
		metav1.PatchOptions{}, "resize")
	if err != nil {
		return revision, err
	}
	p.shape = shapeOf(&now.ObjectMeta, &now.Spec)
	return now.ResourceVersion, nil
}
