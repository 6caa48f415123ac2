package kubernetes

import (
	"cmp"
	"maps"
	"math"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// pod is a pod of ours, or a pod that holds room of a node.
type pod struct {
	uid         types.UID
	namespace   string
	name        string
	version     uint64
	revision    string // the version as the server writes it
	gang        string // whose it is; "" of others
	owner       types.UID
	job         string // the id of the Job that controls it, if any
	group, size string
	label       string // the group's label, as a selector
	node        string
	phase       corev1.PodPhase
	deleting    bool
	gated       bool
	created     time.Time
	started     time.Time
	ended       time.Time
	failure     string
	index       int
	epoch       uint64
	attempt, of int // the start in which it was bound, and the gang's size in that start
	cleared     bool
	fence       string
	problem     error // why it cannot be bound
	request     sched.Resources
	shape       *shape // nil if the pod is not ours

	bound         string // the node to which the driver has bound it
	evicted       bool   // by the driver
	conditionNote *words // the note that this instance has written into its condition
	conditionSum  uint64 // a checksum of the reason in the pod's condition, 0 if it has none
}

func (p *pod) at() string {
	if p.node == "" {
		return p.bound
	}
	return p.node
}

func (p *pod) terminal() bool { return p.phase == corev1.PodSucceeded || p.phase == corev1.PodFailed }

// stopped reports whether the pod has ended because it was told to.
func (p *pod) stopped() bool { return p.phase == corev1.PodFailed && (p.deleting || p.evicted) }

// ready reports whether the pod can be bound.
func (p *pod) ready() bool {
	return p.at() == "" && !p.terminal() && !p.deleting && !p.evicted && !p.gated
}

func (m *model) changePod(o *corev1.Pod, deleted bool, floor uint64) {
	version := number(o.ResourceVersion)
	old := m.pods[o.UID]
	if old == nil && version <= floor && floor > 0 || old != nil && version < old.version {
		return
	}
	if deleted {
		if old != nil {
			m.removePod(old, version)
		}
		return
	}
	p := m.read(o, version, old)
	if old != nil {
		if p.like(old) { // heartbeats and conditions are no new version of the job
			old.version, old.revision, old.conditionSum = p.version, p.revision, p.conditionSum
			return
		}
		p.bound, p.evicted, p.conditionNote = old.bound, old.evicted, old.conditionNote
		m.detach(old)
	}
	if p.gang == "" && (p.node == "" || p.terminal()) {
		delete(m.pods, p.uid)
		return
	}
	m.pods[p.uid] = p
	m.attach(p)
}

// like reports whether nothing that matters has changed.
func (p *pod) like(o *pod) bool {
	return p.gang == o.gang && p.owner == o.owner && p.size == o.size && p.node == o.node && p.phase == o.phase &&
		p.deleting == o.deleting && p.gated == o.gated &&
		p.started.Equal(o.started) && p.ended.Equal(o.ended) && p.failure == o.failure && p.epoch == o.epoch &&
		p.attempt == o.attempt && p.of == o.of &&
		p.cleared == o.cleared && p.fence == o.fence && text(p.problem) == text(o.problem) && p.shape == o.shape &&
		maps.Equal(p.request, o.request)
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (m *model) removePod(p *pod, version uint64) {
	m.detach(p)
	delete(m.pods, p.uid)
	if g := m.gangs[p.gang]; g != nil {
		g.version = max(g.version, version)
	}
}

// detach removes the pod from its node and its gang.
func (m *model) detach(p *pod) {
	if at := p.at(); at != "" {
		delete(m.on[at], p.uid)
		if n := m.nodes[at]; n != nil {
			m.dirtyNodes[at] = true
		} else if len(m.on[at]) == 0 {
			delete(m.on, at)
		}
	}
	if g := m.gangs[p.gang]; g != nil {
		delete(g.pods, p.uid)
		m.dirtyGangs[g.id] = true
	}
}

func (m *model) attach(p *pod) {
	if at := p.at(); at != "" {
		m.podsOn(at)[p.uid] = p
		if m.nodes[at] != nil {
			m.dirtyNodes[at] = true
		} else if m.seen[nodes] >= p.version {
			m.removed[at] = struct{}{} // whatever becomes of the pod
		}
	}
	if p.gang == "" {
		return
	}
	g := m.gangOf(p.gang)
	g.pods[p.uid] = p
	g.version = max(g.version, p.version)
	m.want(p.shape)
	m.claiming(p)
}

// read converts a pod of the API. The result shares its shape with the pod's old version or with another pod of the
// gang.
func (m *model) read(o *corev1.Pod, version uint64, old *pod) *pod {
	p := &pod{
		uid: o.UID, namespace: o.Namespace, name: o.Name, version: version, revision: o.ResourceVersion,
		node: o.Spec.NodeName, phase: o.Status.Phase,
		deleting: o.DeletionTimestamp != nil, gated: len(o.Spec.SchedulingGates) > 0, created: o.CreationTimestamp.Time,
	}
	ours := o.Spec.SchedulerName == m.opt.SchedulerName && (m.opt.Namespace == "" || o.Namespace == m.opt.Namespace)
	if !ours {
		p.request = requestOf(&o.Spec, &o.Status)
		return p
	}
	p.times(o)
	p.conditioned(o)
	if c := metav1.GetControllerOf(o); c != nil {
		if p.owner = c.UID; isJob(c) {
			p.job = o.Namespace + "/job/" + c.Name
		}
	}
	p.marks(o)
	p.index = upTo(o.Annotations[batchv1.JobCompletionIndexAnnotation], math.MaxInt32)
	p.group, p.size = first(&o.ObjectMeta, groupLabels()), first(&o.ObjectMeta, sizeLabels())
	p.gang = m.gangID(o, p)
	for _, name := range groupLabels() {
		if o.Labels[name] == p.group && p.group != "" {
			p.label = name + "=" + p.group
			break
		}
	}
	p.shape = shapeOf(&o.ObjectMeta, &o.Spec)
	if old != nil && old.shape != nil && old.shape.alike(p.shape) {
		p.shape = old.shape
	} else if g := m.gangs[p.gang]; g != nil {
		for _, other := range g.pods {
			if other.shape.alike(p.shape) {
				p.shape = other.shape
			}
			break
		}
	}
	p.request = p.shape.request
	return p
}

// marks reads the driver's annotations on the pod. Anybody may have written them. They are trusted only on pods on
// which a driver writes them, and only if they make sense.
func (p *pod) marks(o *corev1.Pod) {
	p.fence = o.Annotations[fenceAnnotation]
	if p.node == "" {
		p.problem = reserved(o.Annotations)
		return
	}
	p.cleared = p.terminal() && o.Annotations[clearedAnnotation] != ""
	if p.epoch = number(o.Annotations[epochAnnotation]); p.epoch == 0 && o.Annotations[epochAnnotation] != "0" {
		return
	}
	p.attempt = upTo(o.Annotations[attemptAnnotation], math.MaxInt32)
	p.of = upTo(o.Annotations[sizeAnnotation], adapters.MaxTasks)
}

// upTo parses a number from 0 to most. Other texts give 0.
func upTo(text string, most int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most {
		return 0
	}
	return n
}

// first is the value of the first of these labels or annotations that is set.
func first(o *metav1.ObjectMeta, names []string) string {
	for _, name := range names {
		if v := cmp.Or(o.Labels[name], o.Annotations[name]); v != "" {
			return v
		}
	}
	return ""
}

// gangID is the id of the pod's job.
func (m *model) gangID(o *corev1.Pod, p *pod) string {
	c := metav1.GetControllerOf(o)
	switch {
	case p.group != "":
		return o.Namespace + "/group/" + p.group
	case c != nil && isJob(c) && o.Annotations[GangAnnotation] != "false" && m.isGang(o.Namespace+"/job/"+c.Name):
		return o.Namespace + "/job/" + c.Name
	}
	return o.Namespace + "/pod/" + o.Name
}

// isJob reports whether the owner is a Kubernetes Job. Other API groups have kinds of that name, too.
func isJob(c *metav1.OwnerReference) bool {
	return c.Kind == "Job" && strings.HasPrefix(c.APIVersion, batchv1.GroupName+"/")
}

// conditioned reads the reason in the pod's condition that says why it waits.
func (p *pod) conditioned(o *corev1.Pod) {
	for i := range o.Status.Conditions {
		c := &o.Status.Conditions[i]
		if p.node == "" && c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse &&
			c.Reason == corev1.PodReasonUnschedulable {
			p.conditionSum = checksum(c.Message)
		}
	}
}

// times reads when the pod ran, and why it failed.
func (p *pod) times(o *corev1.Pod) {
	running := len(o.Status.ContainerStatuses) > 0
	for i := range o.Status.ContainerStatuses {
		s := &o.Status.ContainerStatuses[i].State
		switch {
		case s.Terminated != nil:
			p.started, p.ended = later(p.started, s.Terminated.StartedAt.Time), later(p.ended, s.Terminated.FinishedAt.Time)
			if s.Terminated.ExitCode != 0 && p.failure == "" {
				p.failure = cmp.Or(s.Terminated.Reason, "Error") + ", exit code " + strconv.Itoa(int(s.Terminated.ExitCode))
			}
		case s.Running != nil:
			p.started = later(p.started, s.Running.StartedAt.Time)
		default:
			running = false
		}
	}
	if !running && o.Status.StartTime != nil && o.Status.Phase != corev1.PodPending {
		p.started = later(p.started, o.Status.StartTime.Time)
	}
	if p.phase == corev1.PodFailed && p.failure == "" {
		p.failure = cmp.Or(o.Status.Reason, o.Status.Message, "it failed")
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
