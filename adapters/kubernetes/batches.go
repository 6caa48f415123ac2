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

// batch is a Job of the cluster's whose pods are a gang.
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
	single    bool // its pods are jobs of their own
	// annotations are hedge's own on the Job itself.
	annotations map[string]string
}

// isGang tells whether the Job's pods are one. A Job that is not known yet counts as one, until it is.
func (m *model) isGang(id string) bool {
	b := m.batch[id]
	return b == nil || !b.single
}

// batchOf is the Job whose pods are the gang, nil if there is none.
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

// changeOther takes in a Job of another scheduler's, whose pods may name this one all the same.
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

// setOther keeps a Job of another scheduler's, or forgets it, and has its pods' jobs told again.
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

// controller is the Job that controls the pod, whosever it is, nil if none does or it is not known.
func (m *model) controller(p *pod) *batch {
	for _, some := range []map[string]*batch{m.batch, m.others} {
		if b := some[p.job]; b != nil && b.uid == p.owner {
			return b
		}
	}
	return nil
}

// like tells whether nothing has changed that counts, as opposed to how many pods the Job counts.
func (b *batch) like(o *batch) bool {
	return o != nil && !o.single && b.uid == o.uid && b.size == o.size && b.succeeded == o.succeeded && b.work == o.work &&
		b.over == o.over && b.suspended == o.suspended && b.failure == o.failure &&
		b.shape.alike(o.shape)
}

// merge is both, that of b where both have one.
func merge(a, b map[string]string) map[string]string {
	if len(a) == 0 {
		return b
	}
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// annotated has the jobs told again that have the hints of a Job beside those of their pods, if these have changed.
func (m *model) annotated(id string, old *batch) {
	b := m.batch[id]
	if old == nil || old.uid != b.uid || !maps.Equal(old.annotations, b.annotations) {
		m.retell(id, b.version)
	}
}

// retell has the jobs told again that wait for what is known of a Job, or have its hints.
func (m *model) retell(id string, version uint64) {
	for other := range m.claimants[id] {
		if g := m.gangs[other]; g != nil {
			g.version = max(g.version, version)
			m.dirtyGangs[other] = true
		}
	}
}

// hints are the annotations that count of a pod: those of the Job that controls it, or else its own.
func (m *model) hints(p *pod) map[string]string {
	if b := m.controller(p); b != nil {
		return merge(p.shape.annotations, b.annotations)
	}
	return p.shape.annotations
}

// single has each pod of a Job be a job of its own.
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
