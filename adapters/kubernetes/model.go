package kubernetes

import (
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hedgesched/hedge/sched"
)

// model is what the watches have reported, reduced to what is needed, and what the driver has done that the watches
// have not reported yet.
type model struct {
	opt      Options
	selector labels.Selector

	mu    sync.Mutex
	seen  [kinds]uint64 // the newest version of each kind
	floor [kinds]uint64 // the version of the last list of each kind
	pods  map[types.UID]*pod
	batch map[string]*batch // by job id
	// others are the Jobs whose templates name another scheduler, by job id. Only their existence and annotations are
	// stored.
	others  map[string]*batch
	nodes   map[string]*node
	gangs   map[string]*gang // by job id
	classes map[string]*class
	ports   map[string]bool     // host ports that jobs use
	removed map[string]struct{} // nodes that no longer exist but still have pods
	claims  map[string]*claim   // by namespace and name
	volumes map[string]*volume  // by name
	// claimants are the jobs that use a claim, or that are pods of a Job which is no gang. It may also have jobs that once
	// were.
	claimants map[string]map[string]struct{}
	on        map[string]map[types.UID]*pod // pods by node, whether the node is known or not
	ended     [kinds]map[types.UID]struct{} // deletions during a list; nil at other times

	dirtyGangs map[string]bool
	dirtyNodes map[string]bool
	allNodes   bool    // the labels of all nodes have changed
	ground     *ground // of the last view; nil until it is needed
}

// gang is a job's pods.
type gang struct {
	id       string
	pods     map[types.UID]*pod
	version  uint64
	shownUID string     // in the last view
	shown    *sched.Job // in the last view, if something controls the pods
	// mixed says that the pods have different demands of nodes. Whether they are alike depends on the nodes that exist.
	mixed bool
	note  *words // why it waits; nil if it does not
	// eventSum is the checksum of the note in the last event that this instance has written or found; 0 if there is none.
	eventSum uint64
}

func newModel(o Options, selector labels.Selector) *model {
	return &model{
		opt: o, selector: selector, pods: map[types.UID]*pod{}, batch: map[string]*batch{}, others: map[string]*batch{},
		nodes: map[string]*node{}, gangs: map[string]*gang{},
		classes: map[string]*class{}, ports: map[string]bool{}, removed: map[string]struct{}{}, claims: map[string]*claim{},
		volumes:   map[string]*volume{},
		claimants: map[string]map[string]struct{}{}, on: map[string]map[types.UID]*pod{}, dirtyGangs: map[string]bool{},
		dirtyNodes: map[string]bool{},
	}
}

// progress records the version up to which a kind is known.
func (m *model) progress(k kind, version uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen[k] = max(m.seen[k], version)
}

// change applies an event of a watch. Events older than what is known are ignored.
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

// listing begins a full list. It returns the version that is known now, which is the oldest that the list may show. The
// list may be older than what the watch reports meanwhile.
func (m *model) listing(k kind) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended[k] = map[types.UID]struct{}{}
	return m.seen[k]
}

// page applies a page of a list of that version and adds its objects to listed.
func (m *model) page(k kind, some []runtime.Object, listed map[types.UID]bool, version uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range some {
		x, err := meta.Accessor(o)
		if err != nil {
			continue // no object of these kinds does that
		}
		listed[x.GetUID()] = true
		if _, gone := m.ended[k][x.GetUID()]; gone {
			continue
		}
		if err := m.behind(o, x, version); err != nil {
			return err
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
	return nil
}

// behind returns an error if a list shows less than the server has reported before: an object in an old version
// although the list is newer, or a pod without the node to which it was bound.
func (m *model) behind(o runtime.Object, x metav1.Object, version uint64) error {
	var known uint64
	switch o := o.(type) {
	case *corev1.Pod:
		if p := m.pods[o.UID]; p != nil {
			if known = p.version; p.bound != "" && o.Spec.NodeName == "" {
				return wentBack("pod %s/%s is not on node %s, which it was bound to", o.Namespace, o.Name, p.bound)
			}
		}
	case *corev1.Node:
		if n := m.nodes[o.Name]; n != nil {
			known = n.version
		}
	case *batchv1.Job:
		for _, some := range []map[string]*batch{m.batch, m.others} {
			if b := some[o.Namespace+"/job/"+o.Name]; b != nil {
				known = max(known, b.version)
			}
		}
	case *corev1.PersistentVolumeClaim:
		if c := m.claims[o.Namespace+"/"+o.Name]; c != nil {
			known = c.version
		}
	case *corev1.PersistentVolume:
		if v := m.volumes[o.Name]; v != nil {
			known = v.version
		}
	}
	if now := number(x.GetResourceVersion()); now < known && known <= version {
		return wentBack("%s is of version %d in a list of version %d, and its version %d was known", x.GetName(), now,
			version, known)
	}
	return nil
}

// listed ends a list of that version. Objects that are not in it no longer exist.
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

func (m *model) gangOf(id string) *gang {
	g := m.gangs[id]
	if g == nil {
		g = &gang{id: id, pods: map[types.UID]*pod{}}
		m.gangs[id] = g
	}
	m.dirtyGangs[id] = true
	return g
}

// want makes nodes show the labels and ports that the shape needs.
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
