package kubernetes

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched/usage"
)

var _ adapters.Meter = (*Driver)(nil)

// measureWithin limits the call of a measurement: the cycle waits for it.
const measureWithin = 2 * time.Second

// podMetrics is a PodMetrics of the API group metrics.k8s.io, version v1beta1, as far as it is read.
type podMetrics struct {
	Metadata   struct{ Name, Namespace string }
	Timestamp  metav1.Time
	Containers []struct {
		Usage struct{ CPU, Memory *resource.Quantity }
	}
}

// Measure reads what the running pods of jobs use from the metrics API, metrics.k8s.io/v1beta1, in one call. CPU is in
// cores and memory in bytes. A pod counts with the sum of its containers. A cluster without that API answers with an
// error.
func (d *Driver) Measure(ctx context.Context) ([]adapters.Sample, error) {
	ctx, cancel := context.WithTimeout(ctx, min(measureWithin, d.opt.Timeout))
	defer cancel()
	path := "/apis/metrics.k8s.io/v1beta1/pods"
	if d.opt.Namespace != "" {
		path = "/apis/metrics.k8s.io/v1beta1/namespaces/" + d.opt.Namespace + "/pods"
	}
	text, err := d.client.CoreV1().RESTClient().Get().AbsPath(path).SetHeader("Accept", "application/json").DoRaw(ctx)
	if err != nil {
		return nil, failed("metrics", err)
	}
	var list struct{ Items []podMetrics }
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, failed("metrics", err)
	}
	return d.model.samples(list.Items), nil
}

// samples are the measurements of running pods of jobs, in order of the pods' UIDs.
func (m *model) samples(list []podMetrics) []adapters.Sample {
	m.mu.Lock()
	defer m.mu.Unlock()
	of := make(map[types.NamespacedName]*podMetrics, len(list))
	for i := range list {
		of[types.NamespacedName{Namespace: list[i].Metadata.Namespace, Name: list[i].Metadata.Name}] = &list[i]
	}
	var out []adapters.Sample
	for _, uid := range slices.Sorted(maps.Keys(m.pods)) {
		p := m.pods[uid]
		found := of[types.NamespacedName{Namespace: p.namespace, Name: p.name}]
		if g := m.gangs[p.gang]; g != nil && found != nil && p.phase == corev1.PodRunning && !p.deleting {
			if s, ok := found.sample(p, g); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// sample converts what was measured of a pod. Another pod may have had the name before: what was measured before the
// pod started is not the pod's.
func (f *podMetrics) sample(p *pod, g *gang) (adapters.Sample, bool) {
	s := adapters.Sample{Job: g.id, UID: g.shownUID, Attempt: p.attempt, Task: string(p.uid), Node: p.at(),
		Started: p.started, At: f.Timestamp.Time}
	if s.At.Before(s.Started) || len(f.Containers) == 0 {
		return s, false
	}
	for _, c := range f.Containers {
		if c.Usage.CPU == nil || c.Usage.Memory == nil {
			return s, false // not measured yet
		}
		use := usage.Level{CPU: c.Usage.CPU.AsApproximateFloat64(), Memory: c.Usage.Memory.AsApproximateFloat64()}
		s.Use = usage.Level{CPU: s.Use.CPU + use.CPU, Memory: s.Use.Memory + use.Memory}
	}
	return s, true
}
