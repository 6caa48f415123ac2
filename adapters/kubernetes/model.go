package kubernetes

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// model is what the watches have told, no more of each object than is needed, and what the driver has done that they have not told yet.
type model struct {
	opt      Options
	selector labels.Selector

	mu      sync.Mutex
	seen    [kinds]uint64 // the newest version of each kind
	floor   [kinds]uint64 // the version of the last list
	pods    map[types.UID]*pod
	batch   map[string]*batch // by job id
	others  map[string]*batch // Jobs whose templates name another scheduler, by id: no more than that they are there, and their annotations
	nodes   map[string]*node
	gangs   map[string]*gang // by job id
	classes map[string]*class
	ports   map[string]bool     // host ports that jobs ask for
	removed map[string]struct{} // nodes that are no more, while pods are on them
	claims  map[string]*claim   // by namespace and name
	volumes map[string]*volume  // by name
	// claimants are the jobs whose pods name a claim, or are those of a Job that is no gang, and perhaps some whose pods did or were.
	claimants map[string]map[string]struct{}
	on        map[string]map[types.UID]*pod // pods by node, known or not
	ended     [kinds]map[types.UID]struct{} // what was deleted while a list was under way; nil while none is

	dirtyGangs map[string]bool
	dirtyNodes map[string]bool
	allNodes   bool    // what all nodes show has changed
	ground     *ground // of the last view; nil until somebody asks for it
}

// pod is a pod: one of ours, or one that holds room of a node.
type pod struct {
	uid         types.UID
	namespace   string
	name        string
	version     uint64
	revision    string // the version as the server writes it
	gang        string // whose it is; "" of others
	owner       types.UID
	job         string // the id of the Job that controls it, if one does
	group, size string
	label       string // that names the group, as a selector
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
	attempt, of int // the start it was bound in, and the size that the gang had
	cleared     bool
	fence       string
	problem     error // what keeps it from being bound
	request     sched.Resources
	shape       *shape // of ours

	bound   string // where the driver has bound it
	evicted bool   // by the driver
	noted   *words // what stands in its condition
	says    uint64 // a checksum of what the condition says of why it waits, 0 if it says nothing
}

func (p *pod) at() string {
	if p.node == "" {
		return p.bound
	}
	return p.node
}

func (p *pod) terminal() bool { return p.phase == corev1.PodSucceeded || p.phase == corev1.PodFailed }

// stopped tells whether it has ended because it was told to.
func (p *pod) stopped() bool { return p.phase == corev1.PodFailed && (p.deleting || p.evicted) }

// ready tells whether it can be bound.
func (p *pod) ready() bool {
	return p.at() == "" && !p.terminal() && !p.deleting && !p.evicted && !p.gated
}

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

// node is a node.
type node struct {
	uid      types.UID
	name     string
	version  uint64
	labels   map[string]string
	taints   []corev1.Taint
	capacity sched.Resources
	closed   bool
	silent   time.Time // since when; zero if it is not
	chosen   bool      // by the selector
	on       map[types.UID]*pod
	told     bool
}

// gang is the pods of a job.
type gang struct {
	id      string
	pods    map[types.UID]*pod
	version uint64
	told    string     // the UID that was told
	last    *sched.Job // what was told of pods that something controls
	note    *words     // why it waits
	said    uint64     // a checksum of the note that this instance has told last, or found told; 0 if there is none
}

func newModel(o Options, selector labels.Selector) *model {
	return &model{
		opt: o, selector: selector, pods: map[types.UID]*pod{}, batch: map[string]*batch{}, others: map[string]*batch{}, nodes: map[string]*node{}, gangs: map[string]*gang{},
		classes: map[string]*class{}, ports: map[string]bool{}, removed: map[string]struct{}{}, claims: map[string]*claim{}, volumes: map[string]*volume{},
		claimants: map[string]map[string]struct{}{}, on: map[string]map[types.UID]*pod{}, dirtyGangs: map[string]bool{}, dirtyNodes: map[string]bool{},
	}
}

// progress notes how far a kind is known.
func (m *model) progress(k kind, version uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen[k] = max(m.seen[k], version)
}

// change takes in what a watch tells. What is older than what is known is ignored.
func (m *model) change(k kind, o runtime.Object, deleted bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if x, err := meta.Accessor(o); err == nil && deleted && m.ended[k] != nil {
		m.ended[k][x.GetUID()] = struct{}{}
	}
	switch o := o.(type) {
	case *corev1.Pod:
		m.changePod(o, deleted, m.floor[k])
	case *corev1.Node:
		m.changeNode(o, deleted, m.floor[k])
	case *batchv1.Job:
		m.changeBatch(o, deleted, m.floor[k])
	case *corev1.PersistentVolumeClaim:
		m.changeClaim(o, deleted, m.floor[k])
	case *corev1.PersistentVolume:
		m.changeVolume(o, deleted, m.floor[k])
	}
}

// listing says that a list of all there is begins. What it shows may be older than what the watch tells meanwhile.
func (m *model) listing(k kind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended[k] = map[types.UID]struct{}{}
}

// page takes in a part of a list and notes what it has shown.
func (m *model) page(k kind, some []runtime.Object, listed map[types.UID]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range some {
		x, err := meta.Accessor(o)
		if err != nil {
			continue // which no object of these kinds gives
		}
		listed[x.GetUID()] = true
		if _, gone := m.ended[k][x.GetUID()]; gone {
			continue
		}
		switch o := o.(type) {
		case *corev1.Pod:
			m.changePod(o, false, 0)
		case *corev1.Node:
			m.changeNode(o, false, 0)
		case *batchv1.Job:
			m.changeBatch(o, false, 0)
		case *corev1.PersistentVolumeClaim:
			m.changeClaim(o, false, 0)
		case *corev1.PersistentVolume:
			m.changeVolume(o, false, 0)
		}
	}
}

// listed ends a list of that version: what it did not show is no more.
func (m *model) listed(k kind, listed map[types.UID]bool, version uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.floor[k], m.seen[k], m.ended[k] = version, max(m.seen[k], version), nil
	switch k {
	case pods:
		for uid, p := range m.pods {
			if !listed[uid] && p.version <= version {
				m.removePod(p, version)
			}
		}
	case nodes:
		for _, n := range m.nodes {
			if !listed[n.uid] && n.version <= version {
				m.removeNode(n)
			}
		}
	case batchJobs:
		for id, b := range m.batch {
			if !listed[b.uid] && b.version <= version {
				m.removeBatch(id, version)
			}
		}
		for id, b := range m.others {
			if !listed[b.uid] && b.version <= version {
				m.setOther(id, nil, version)
			}
		}
	case claims:
		for key, c := range m.claims {
			if !listed[c.uid] && c.version <= version {
				delete(m.claims, key)
				m.touchClaimants(key)
			}
		}
	case volumes:
		for name, v := range m.volumes {
			if !listed[v.uid] && v.version <= version {
				delete(m.volumes, name)
			}
		}
	}
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
		if p.like(old) { // heartbeats and conditions make no other version of the job
			old.version, old.revision, old.says = p.version, p.revision, p.says
			return
		}
		p.bound, p.evicted, p.noted = old.bound, old.evicted, old.noted
		m.detach(old)
	}
	if p.gang == "" && (p.node == "" || p.terminal()) {
		delete(m.pods, p.uid)
		return
	}
	m.pods[p.uid] = p
	m.attach(p)
}

// like tells whether nothing has changed that counts.
func (p *pod) like(o *pod) bool {
	return p.gang == o.gang && p.owner == o.owner && p.size == o.size && p.node == o.node && p.phase == o.phase && p.deleting == o.deleting && p.gated == o.gated &&
		p.started.Equal(o.started) && p.ended.Equal(o.ended) && p.failure == o.failure && p.epoch == o.epoch && p.attempt == o.attempt && p.of == o.of &&
		p.cleared == o.cleared && p.fence == o.fence && text(p.problem) == text(o.problem) && p.shape == o.shape && maps.Equal(p.request, o.request)
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

// detach takes the pod off its node and gang.
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

// podsOn are the pods of a node, which may not be known.
func (m *model) podsOn(name string) map[types.UID]*pod {
	if m.on[name] == nil {
		m.on[name] = map[types.UID]*pod{}
	}
	return m.on[name]
}

func (m *model) gangOf(id string) *gang {
	g := m.gangs[id]
	if g == nil {
		g = &gang{id: id, pods: map[types.UID]*pod{}}
		m.gangs[id] = g
	}
	m.dirtyGangs[id] = true
	return g
}

// want has nodes show what the shape asks for.
func (m *model) want(s *shape) {
	if m.classes[s.class.label] == nil {
		m.classes[s.class.label] = s.class
		m.allNodes = true
	}
	for name := range s.request {
		if len(name) > len(hostPorts) && name[:len(hostPorts)] == hostPorts && !m.ports[name] {
			m.ports[name] = true
			m.allNodes = true
		}
	}
}

// read makes a pod of the API's. It shares the shape with the one before, or with another of its gang.
func (m *model) read(o *corev1.Pod, version uint64, old *pod) *pod {
	p := &pod{
		uid: o.UID, namespace: o.Namespace, name: o.Name, version: version, revision: o.ResourceVersion, node: o.Spec.NodeName, phase: o.Status.Phase,
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

// marks reads what drivers have written on the pod. Anybody may have written it: it is believed only where a driver writes it, and only as far as it makes sense.
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

// upTo is a number from 0 to a most, and 0 where the text is none.
func upTo(text string, most int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most {
		return 0
	}
	return n
}

// first is what the first of these labels, or annotations, says.
func first(o *metav1.ObjectMeta, names []string) string {
	for _, name := range names {
		if v := cmp.Or(o.Labels[name], o.Annotations[name]); v != "" {
			return v
		}
	}
	return ""
}

// gangID is the job that the pod is of.
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

// isJob tells whether the owner is a Job of Kubernetes' own. Others have kinds of that name, too.
func isJob(c *metav1.OwnerReference) bool {
	return c.Kind == "Job" && strings.HasPrefix(c.APIVersion, batchv1.GroupName+"/")
}

// conditioned reads why the pod waits, as a scheduler has it.
func (p *pod) conditioned(o *corev1.Pod) {
	for i := range o.Status.Conditions {
		c := &o.Status.Conditions[i]
		if p.node == "" && c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			p.says = checksum(c.Message)
		}
	}
}

// times reads when the pod ran and why it failed.
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
	n := &node{uid: o.UID, name: o.Name, version: version, labels: o.Labels, taints: o.Spec.Taints, capacity: amounts(o.Status.Allocatable), chosen: m.selector.Matches(labels.Set(o.Labels))}
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
		n.told = old.told
		if !old.silent.IsZero() && !n.silent.IsZero() {
			n.silent = old.silent
		}
		if n.same(old) {
			old.version, old.uid = version, n.uid
			return // a heartbeat
		}
	}
	delete(m.removed, n.name)
	m.nodes[n.name] = n
	m.touch(n)
}

// silentSince is since when a node is silent that is said to be so since then, by the server's clock; no longer than that if the server's clock is ahead.
func silentSince(then, now time.Time) time.Time {
	if then.IsZero() || then.After(now) {
		return now
	}
	return then
}

func (n *node) same(o *node) bool {
	return n.closed == o.closed && n.chosen == o.chosen && n.silent.Equal(o.silent) && maps.Equal(n.labels, o.labels) && maps.Equal(n.capacity, o.capacity) &&
		slices.EqualFunc(n.taints, o.taints, func(a, b corev1.Taint) bool { return a.Key == b.Key && a.Value == b.Value && a.Effect == b.Effect })
}

// touch has the node, and the jobs on it, told again.
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
	if completions > parallel && parallel > 0 || o.Annotations[GangAnnotation] == "false" || template.Annotations[GangAnnotation] == "false" || first(&template.ObjectMeta, groupLabels()) != "" {
		m.batch[id] = &batch{uid: o.UID, version: version, created: o.CreationTimestamp.Time, single: true, annotations: own(o.Annotations)}
		m.single(id)
		m.annotated(id, old)
		return
	}
	b := &batch{annotations: own(o.Annotations), uid: o.UID, namespace: o.Namespace, name: o.Name, version: version, created: o.CreationTimestamp.Time, size: completions, succeeded: int(o.Status.Succeeded)}
	b.shape = shapeOf(&template.ObjectMeta, &template.Spec)
	b.shape.annotations = merge(b.shape.annotations, b.annotations)
	b.work = workOf(o.Annotations[doneAnnotation], o.UID)
	for _, c := range o.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed || c.Type == batchv1.JobFailureTarget) {
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
	b := &batch{uid: o.UID, version: version, created: o.CreationTimestamp.Time, single: true, annotations: own(o.Annotations)}
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
	return o != nil && !o.single && b.uid == o.uid && b.size == o.size && b.succeeded == o.succeeded && b.work == o.work && b.over == o.over && b.suspended == o.suspended && b.failure == o.failure &&
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
