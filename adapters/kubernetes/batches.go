package kubernetes

import (
	"cmp"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// batch is a Kubernetes Job of this scheduler. Its pods are a gang unless single is set.
type batch struct {
	uid       types.UID
	namespace string
	name      string
	version   uint64
	created   time.Time
	size      int
	succeeded int
	shape     *shape
	work      work
	over      bool
	failure   string
	suspended bool
	single    bool // each pod is a job of its own
	// annotations are hedge's annotations on the Job itself.
	annotations map[string]string
}

// isGang reports whether the Job's pods are a gang. While a Job is unknown, they count as one.
func (m *model) isGang(id string) bool {
	b := m.batch[id]
	return b == nil || !b.single
}

// batchOf is the Job whose pods are the gang, or nil.
func (m *model) batchOf(id string) *batch {
	if b := m.batch[id]; b != nil && !b.single {
		return b
	}
	return nil
}

func (m *model) changeBatch(o *batchv1.Job, deleted bool, floor uint64) {
	id := o.Namespace + "/job/" + o.Name
	version := number(o.ResourceVersion)
	old := m.batch[id]
	template := &o.Spec.Template
	switch {
	case template.Spec.SchedulerName != m.opt.SchedulerName:
		m.changeOther(id, o, deleted, floor)
		return
	case old == nil && version <= floor && floor > 0, old != nil && version < old.version:
		return
	case deleted:
		m.removeBatch(id, version)
		return
	}
	parallel, completions := 1, 0
	if o.Spec.Parallelism != nil {
		parallel = int(*o.Spec.Parallelism)
	}
	if completions = parallel; o.Spec.Completions != nil {
		completions = int(*o.Spec.Completions)
	}
	if completions > parallel && parallel > 0 || o.Annotations[GangAnnotation] == "false" ||
		template.Annotations[GangAnnotation] == "false" || first(&template.ObjectMeta, groupLabels()) != "" {
		m.batch[id] = &batch{uid: o.UID, version: version, created: o.CreationTimestamp.Time, single: true,
			annotations: own(o.Annotations)}
		m.single(id)
		m.annotated(id, old)
		return
	}
	b := &batch{annotations: own(o.Annotations), uid: o.UID, namespace: o.Namespace, name: o.Name, version: version,
		created: o.CreationTimestamp.Time, size: completions, succeeded: int(o.Status.Succeeded)}
	b.shape = shapeOf(&template.ObjectMeta, &template.Spec)
	b.shape.annotations = merge(b.shape.annotations, b.annotations)
	b.work = workOf(o.Annotations[doneAnnotation], o.UID)
	for _, c := range o.Status.Conditions {
		if c.Status == corev1.ConditionTrue &&
			(c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed || c.Type == batchv1.JobFailureTarget) {
			b.over = true
			if c.Type != batchv1.JobComplete {
				b.failure = cmp.Or(c.Message, c.Reason)
			}
		}
	}
	b.over = b.over || o.DeletionTimestamp != nil
	b.suspended = o.Spec.Suspend != nil && *o.Spec.Suspend
	m.batch[id] = b
	m.annotated(id, old)
	if b.like(old) {
		return
	}
	g := m.gangOf(id)
	g.version = max(g.version, version)
	m.want(b.shape)
}

// changeOther handles a Job whose template names another scheduler. Its pods may name this one all the same.
func (m *model) changeOther(id string, o *batchv1.Job, deleted bool, floor uint64) {
	version, old := number(o.ResourceVersion), m.others[id]
	b := &batch{uid: o.UID, version: version, created: o.CreationTimestamp.Time, single: true,
		annotations: own(o.Annotations)}
	switch {
	case old == nil && version <= floor && floor > 0, old != nil && version < old.version:
	case deleted:
		m.setOther(id, nil, version)
	case old != nil && old.uid == b.uid && maps.Equal(old.annotations, b.annotations):
		old.version = version
	default:
		m.setOther(id, b, version)
	}
}

// setOther stores a Job of another scheduler, or deletes it if b is nil. The jobs of its pods are reported again.
func (m *model) setOther(id string, b *batch, version uint64) {
	if m.others[id] = b; b == nil {
		delete(m.others, id)
	}
	m.retell(id, version)
	if g := m.gangs[id]; g != nil {
		g.version = max(g.version, version)
		m.dirtyGangs[id] = true
	}
}

// controller is the Job that controls the pod, of this or another scheduler. It is nil if there is none or it is not
// known.
func (m *model) controller(p *pod) *batch {
	for _, some := range []map[string]*batch{m.batch, m.others} {
		if b := some[p.job]; b != nil && b.uid == p.owner {
			return b
		}
	}
	return nil
}

// like reports whether nothing that matters has changed. The number of active pods does not matter.
func (b *batch) like(o *batch) bool {
	return o != nil && !o.single && b.uid == o.uid && b.size == o.size && b.succeeded == o.succeeded && b.work == o.work &&
		b.over == o.over && b.suspended == o.suspended && b.failure == o.failure &&
		b.shape.alike(o.shape)
}

// merge is the union of both. If both have a key, b's value counts.
func merge(a, b map[string]string) map[string]string {
	if len(a) == 0 {
		return b
	}
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// annotated reports jobs again that use hints of a Job beside their pods' own, if the Job's annotations have changed.
func (m *model) annotated(id string, old *batch) {
	b := m.batch[id]
	if old == nil || old.uid != b.uid || !maps.Equal(old.annotations, b.annotations) {
		m.retell(id, b.version)
	}
}

// retell reports jobs again that wait for a Job to be known, or that use its hints.
func (m *model) retell(id string, version uint64) {
	for other := range m.claimants[id] {
		if g := m.gangs[other]; g != nil {
			g.version = max(g.version, version)
			m.dirtyGangs[other] = true
		}
	}
}

// hints are the annotations that count for a pod: its own and those of the Job that controls it. If both have a hint,
// the Job's counts.
func (m *model) hints(p *pod) map[string]string {
	if b := m.controller(p); b != nil {
		return merge(p.shape.annotations, b.annotations)
	}
	return p.shape.annotations
}

// single makes each pod of a Job a job of its own.
func (m *model) single(id string) {
	g := m.gangs[id]
	if g == nil {
		return
	}
	m.dirtyGangs[id] = true
	for _, p := range slices.Collect(maps.Values(g.pods)) {
		m.detach(p)
		p.gang = p.namespace + "/pod/" + p.name
		m.attach(p)
	}
}

func (m *model) removeBatch(id string, version uint64) {
	delete(m.batch, id)
	m.retell(id, version)
	if g := m.gangs[id]; g != nil {
		g.version = max(g.version, version)
		m.dirtyGangs[id] = true
	}
}
