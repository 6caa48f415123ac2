package kubernetes

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hedgesched/hedge/sched"
)

// node is what is known of a node.
type node struct {
	uid      types.UID
	name     string
	version  uint64
	labels   map[string]string
	taints   []corev1.Taint
	capacity sched.Resources
	closed   bool
	silent   time.Time // since when the node has been silent; zero if it is not
	chosen   bool      // by the node selector
	on       map[types.UID]*pod
	shown    bool // in the last view
}

// podsOn are the pods of a node. The node may be unknown.
func (m *model) podsOn(name string) map[types.UID]*pod {
	if m.on[name] == nil {
		m.on[name] = map[types.UID]*pod{}
	}
	return m.on[name]
}

func (m *model) changeNode(o *corev1.Node, deleted bool, floor uint64) {
	version := number(o.ResourceVersion)
	old := m.nodes[o.Name]
	if old == nil && version <= floor && floor > 0 || old != nil && version < old.version {
		return
	}
	if deleted {
		if old != nil {
			m.removeNode(old)
		}
		return
	}
	n := &node{uid: o.UID, name: o.Name, version: version, labels: o.Labels, taints: o.Spec.Taints,
		capacity: amounts(o.Status.Allocatable), chosen: m.selector.Matches(labels.Set(o.Labels))}
	ready := false
	for i := range o.Status.Conditions {
		if c := &o.Status.Conditions[i]; c.Type == corev1.NodeReady {
			ready = c.Status == corev1.ConditionTrue
			if c.Status == corev1.ConditionUnknown {
				n.silent = silentSince(c.LastTransitionTime.Time, time.Now())
			}
		}
	}
	n.closed = o.Spec.Unschedulable || !ready
	n.on = m.podsOn(n.name)
	if old != nil {
		n.shown = old.shown
		if !old.silent.IsZero() && !n.silent.IsZero() {
			n.silent = old.silent
		}
		if n.same(old) {
			old.version, old.uid = version, n.uid
			return // only a heartbeat
		}
	}
	delete(m.removed, n.name)
	m.nodes[n.name] = n
	m.touch(n)
}

// silentSince is the time since when a node has been silent, by the server's clock. If that clock is ahead, it is now.
func silentSince(then, now time.Time) time.Time {
	if then.IsZero() || then.After(now) {
		return now
	}
	return then
}

func (n *node) same(o *node) bool {
	return n.closed == o.closed && n.chosen == o.chosen && n.silent.Equal(o.silent) && maps.Equal(n.labels, o.labels) &&
		maps.Equal(n.capacity, o.capacity) &&
		slices.EqualFunc(n.taints, o.taints, func(a, b corev1.Taint) bool {
			return a.Key == b.Key && a.Value == b.Value && a.Effect == b.Effect
		})
}

// touch reports the node and its jobs again.
func (m *model) touch(n *node) {
	m.dirtyNodes[n.name] = true
	for _, p := range n.on {
		if p.gang != "" {
			m.dirtyGangs[p.gang] = true
		}
	}
}

func (m *model) removeNode(n *node) {
	m.touch(n)
	delete(m.nodes, n.name)
	if len(n.on) == 0 {
		delete(m.on, n.name)
	}
	m.removed[n.name] = struct{}{}
}
