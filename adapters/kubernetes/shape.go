package kubernetes

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/hedgesched/hedge/sched"
)

// groupLabels are the labels or annotations of other gang schedulers that assign pods to a gang.
func groupLabels() []string {
	return []string{"scheduling.x-k8s.io/pod-group", "pod-group.scheduling.sigs.k8s.io/name",
		"pod-group.scheduling.sigs.k8s.io"}
}

func sizeLabels() []string {
	return []string{"scheduling.x-k8s.io/min-available", "pod-group.scheduling.sigs.k8s.io/min-available"}
}

var errAffinity = errors.New("kubernetes: required affinity to other pods is not understood")
var errSpread = errors.New("kubernetes: topology spread with DoNotSchedule is not understood")

// shape is what a scheduler must know of an unbound pod, except its name. Pods of a gang share one.
type shape struct {
	request     sched.Resources
	class       *class
	priority    int
	annotations map[string]string // hedge's annotations
	attributes  map[string]string
	problem     error
	claims      []string   // names of volume claims
	main        *container // nil if the pod cannot be resized
	patience    int64      // seconds for which it tolerates a silent node; below 0 for ever, 0 if it does not say
}

// class is the set of nodes on which pods may run, as far as labels alone cannot express it.
type class struct {
	label       string // shown on the nodes that fit
	required    sched.EquivalenceSet
	affinity    nodeaffinity.RequiredNodeAffinity
	tolerations []corev1.Toleration
	wider       bool // the affinity says more than labels can
}

// fits is the prefix of the labels of classes.
const fits = prefix + "fits-"

// requestOf computes the request as Kubernetes' own scheduler does, in cores and bytes.
func requestOf(spec *corev1.PodSpec, status *corev1.PodStatus) sched.Resources {
	pod := corev1.Pod{Spec: *spec}
	opts := resource.PodResourcesOptions{}
	if status != nil {
		pod.Status, opts.UseStatusResources = *status, true
	}
	out := amounts(resource.PodRequests(&pod, opts))
	out[string(corev1.ResourcePods)] = 1
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			for _, p := range containers[i].Ports {
				if p.HostPort > 0 {
					out[hostPort(p.Protocol, p.HostPort)] = 1
				}
			}
		}
	}
	return out
}

const hostPorts = prefix + "host-port-"

func hostPort(protocol corev1.Protocol, port int32) string {
	if protocol == "" {
		protocol = corev1.ProtocolTCP
	}
	return hostPorts + string(protocol) + "-" + strconv.Itoa(int(port))
}

func amounts(list corev1.ResourceList) sched.Resources {
	out := make(sched.Resources, len(list)+1)
	for name, q := range list {
		if v := q.AsApproximateFloat64(); v > 0 {
			out[string(name)] = v
		}
	}
	return out
}

// shapeOf is the shape of a pod or a pod template.
func shapeOf(meta *metav1.ObjectMeta, spec *corev1.PodSpec) *shape {
	s := &shape{request: requestOf(spec, nil), annotations: own(meta.Annotations), class: classOf(spec),
		attributes: map[string]string{}}
	if spec.Priority != nil {
		s.priority = int(*spec.Priority)
	}
	if spec.PriorityClassName != "" {
		s.attributes["priority-class"] = spec.PriorityClassName
	}
	for _, name := range []string{"app", "app.kubernetes.io/name", "app.kubernetes.io/component"} {
		if v := meta.Labels[name]; v != "" {
			s.attributes[name] = v
		}
	}
	if len(spec.Containers) > 0 {
		s.attributes["image"] = spec.Containers[0].Image
	}
	s.problem, s.claims, s.main = misunderstood(spec), claimsOf(spec), mainOf(spec)
	for i := range spec.Tolerations {
		t := &spec.Tolerations[i]
		if t.ToleratesTaint(logr.Discard(),
			&corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute}, false) {
			s.patience = -1
			if t.TolerationSeconds != nil {
				s.patience = max(1, *t.TolerationSeconds)
			}
			break
		}
	}
	return s
}

// own are hedge's annotations that users set, including misspelt ones.
func own(all map[string]string) map[string]string {
	var out map[string]string
	for name, v := range all {
		if strings.HasPrefix(name, prefix) && !slices.Contains(kept(), name) {
			if out == nil {
				out = map[string]string{}
			}
			out[name] = v
		}
	}
	return out
}

// misunderstood is an error if the pod has a demand that hedge would violate.
func misunderstood(spec *corev1.PodSpec) error {
	if a := spec.Affinity; a != nil &&
		(a.PodAffinity != nil && len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 ||
			a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0) {
		return errAffinity
	}
	for i := range spec.TopologySpreadConstraints {
		if spec.TopologySpreadConstraints[i].WhenUnsatisfiable == corev1.DoNotSchedule {
			return errSpread
		}
	}
	if len(spec.ResourceClaims) > 0 {
		return errDevices
	}
	for i := range spec.Volumes {
		if spec.Volumes[i].Ephemeral != nil {
			return errEphemeral
		}
	}
	return nil
}

// classOf splits the pod's demands of nodes into a set of labels and the rest.
func classOf(spec *corev1.PodSpec) *class {
	c := &class{required: sched.AnyNode(), tolerations: spec.Tolerations}
	hash := fnv.New64a()
	for _, t := range spec.Tolerations {
		fmt.Fprintf(hash, "t%q%q%q%q", t.Key, t.Operator, t.Value, t.Effect)
	}
	rest := corev1.Pod{}
	for _, key := range slices.Sorted(maps.Keys(spec.NodeSelector)) {
		c.required = c.required.And(sched.NodesWith(key, spec.NodeSelector[key]))
	}
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil &&
		a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		selector := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		if set, ok := simple(selector); ok {
			c.required = c.required.And(set)
		} else {
			rest.Spec.Affinity = &corev1.Affinity{
				NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: selector}}
			c.wider = true
			fmt.Fprintf(hash, "a%s", selector.String())
		}
	}
	c.affinity = nodeaffinity.GetRequiredNodeAffinity(&rest)
	c.label = fits + strconv.FormatUint(hash.Sum64(), 36)
	c.required = c.required.And(sched.NodesWith(c.label))
	return c
}

// simple converts a selector of one term that only asks for labels and their values into a set.
func simple(selector *corev1.NodeSelector) (sched.EquivalenceSet, bool) {
	set := sched.AnyNode()
	if len(selector.NodeSelectorTerms) != 1 || len(selector.NodeSelectorTerms[0].MatchFields) > 0 ||
		len(selector.NodeSelectorTerms[0].MatchExpressions) == 0 {
		return set, false
	}
	for _, e := range selector.NodeSelectorTerms[0].MatchExpressions {
		switch {
		case e.Operator == corev1.NodeSelectorOpIn && len(e.Values) > 0:
			set = set.And(sched.NodesWith(e.Key, e.Values...))
		case e.Operator == corev1.NodeSelectorOpExists:
			set = set.And(sched.NodesWith(e.Key))
		default:
			return set, false
		}
	}
	return set, true
}

func (c *class) fits(n *node) bool { return c.likes(n) && c.tolerates(n) }

// hard reports whether a taint keeps pods away. The taint of a cordoned node does not count, since Cordoned says the
// same.
func hard(t *corev1.Taint) bool {
	return t.Effect != corev1.TaintEffectPreferNoSchedule && t.Key != corev1.TaintNodeUnschedulable
}

// same reports whether pods of both shapes can be tasks of one gang.
func (s *shape) same(o *shape) bool {
	return s == o || s.priority == o.priority && s.class.required.String() == o.class.required.String() &&
		maps.Equal(s.request, o.request)
}

// alike reports whether one shape may replace the other: they are the same in everything that matters.
func (s *shape) alike(o *shape) bool {
	return s.same(o) && s.patience == o.patience && slices.Equal(s.claims, o.claims) && errors.Is(s.problem, o.problem) &&
		maps.Equal(s.attributes, o.attributes) && maps.Equal(s.annotations, o.annotations) && s.main.same(o.main)
}
