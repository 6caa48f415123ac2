package nomad

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/hedgesched/hedge/adapters"
)

// key identifies a job.
type key struct{ namespace, id string }

// String is the job's id in loops. A namespace has no slash.
func (k key) String() string { return k.namespace + "/" + k.id }

// state is Nomad's state as it was read.
type state struct {
	nodes  map[string]*api.Node // by id
	jobs   map[key]*job
	allocs map[string]*alloc          // by id: those of hedge's jobs, and others that hold something
	of     map[key]map[string]*alloc  // by job
	on     map[string]map[string]bool // ids by node
	listed map[api.Topic]uint64       // the index of the last listing
	firsts map[key]map[string]*alloc  // by job and name, as far as computed; see [Driver.firstOf]

	names    map[string]string    // of nodes, by id
	live     map[string]bool      // nodes that were not down when they got their names
	toldUIDs map[key]string       // under which jobs were reported
	preds    map[string]*demanded // by label

	dirtyJobs  map[key]bool
	dirtyNodes map[string]bool
	ask        map[key]bool // jobs that may have been purged
	wake       time.Time    // when something changes without an event; zero if nothing does
}

// job is one of hedge's jobs.
type job struct {
	*api.Job
	*hints
}

// alloc is an allocation: the fields that listings and events share.
type alloc struct {
	ID, Name, Namespace, NodeID, JobID, TaskGroup string
	DesiredStatus, DesiredDescription             string
	ClientStatus, ClientDescription               string
	AllocatedResources                            *api.AllocatedResources
	TaskStates                                    map[string]*api.TaskState
	CreateIndex, ModifyIndex                      uint64
	CreateTime, ModifyTime                        int64
}

func newState() *state {
	return &state{
		nodes: map[string]*api.Node{}, jobs: map[key]*job{}, allocs: map[string]*alloc{}, of: map[key]map[string]*alloc{},
		on:     map[string]map[string]bool{},
		listed: map[api.Topic]uint64{}, firsts: map[key]map[string]*alloc{}, names: map[string]string{},
		preds: map[string]*demanded{}, live: map[string]bool{}, toldUIDs: map[key]string{},
		dirtyJobs: map[key]bool{}, dirtyNodes: map[string]bool{}, ask: map[key]bool{},
	}
}

func (a *alloc) key() key { return key{a.Namespace, a.JobID} }

// ended reports whether the client says that the allocation has ended.
func (a *alloc) ended() bool {
	return a.ClientStatus == api.AllocClientStatusComplete || a.ClientStatus == api.AllocClientStatusFailed
}

func (a *alloc) lost() bool {
	return a.ClientStatus == api.AllocClientStatusLost || a.ClientStatus == api.AllocClientStatusUnknown
}

// put adds or updates an allocation.
func (s *state) put(a *alloc) {
	k := a.key()
	s.dirtyNodes[a.NodeID] = true
	if s.jobs[k] != nil {
		s.dirtyJobs[k] = true
	} else if a.ended() || a.lost() {
		s.drop(a.ID)
		return
	}
	s.allocs[a.ID] = a
	delete(s.firsts, k)
	if s.of[k] == nil {
		s.of[k] = map[string]*alloc{}
	}
	s.of[k][a.ID] = a
	if s.on[a.NodeID] == nil {
		s.on[a.NodeID] = map[string]bool{}
	}
	s.on[a.NodeID][a.ID] = true
}

func (s *state) drop(id string) {
	a := s.allocs[id]
	if a == nil {
		return
	}
	delete(s.allocs, id)
	delete(s.firsts, a.key())
	if on := s.on[a.NodeID]; on != nil {
		if delete(on, id); len(on) == 0 {
			delete(s.on, a.NodeID)
		}
	}
	if of := s.of[a.key()]; of != nil {
		if delete(of, id); len(of) == 0 {
			delete(s.of, a.key())
		}
	}
}

// putJob adds or updates a job, or forgets one that is no longer hedge's.
func (s *state) putJob(j *api.Job, mine bool) {
	k := key{deref(j.Namespace), deref(j.ID)}
	have := s.jobs[k]
	if have != nil && deref(have.ModifyIndex) > deref(j.ModifyIndex) {
		return
	}
	if !mine || !marked(j.Meta) || parent(j) {
		s.forget(k)
		return
	}
	if have != nil && deref(have.JobModifyIndex) == deref(j.JobModifyIndex) {
		s.jobs[k] = &job{j, have.hints} // only its status has changed
		s.dirtyJobs[k] = true
		return
	}
	next := &job{j, read(j)}
	s.demand(next.predicate)
	if have != nil {
		s.release(have.predicate)
	}
	s.jobs[k] = next
	delete(s.firsts, k)
	s.dirty(k)
}

// demanded is a predicate with the number of jobs that use it.
type demanded struct {
	predicate
	jobs int
}

// demand adds a job's predicates. Nodes that meet a new one get another label.
func (s *state) demand(predicates []predicate) {
	for _, p := range predicates {
		label := p.label()
		if s.preds[label] == nil {
			s.preds[label] = &demanded{predicate: p}
			for id := range s.nodes {
				s.dirtyNodes[id] = true
			}
		}
		s.preds[label].jobs++
	}
}

// release forgets predicates that no job uses any more. Nodes lose those labels with their next report; nobody looks at
// them before.
func (s *state) release(predicates []predicate) {
	for _, p := range predicates {
		label := p.label()
		if s.preds[label].jobs--; s.preds[label].jobs == 0 {
			delete(s.preds, label)
		}
	}
}

// forget removes a job. What still runs of it is foreign from now on.
func (s *state) forget(k key) {
	if s.jobs[k] == nil {
		return
	}
	s.dirty(k)
	s.release(s.jobs[k].predicate)
	delete(s.jobs, k)
	for id, a := range s.of[k] {
		if a.ended() || a.lost() {
			s.drop(id)
		}
	}
}

// dirty marks a job as changed, and the nodes on which it has allocations.
func (s *state) dirty(k key) {
	s.dirtyJobs[k] = true
	for _, a := range s.of[k] {
		s.dirtyNodes[a.NodeID] = true
	}
}

// apply applies an event that is newer than the listings.
func (s *state) apply(e *event, mine func(string) bool) error {
	if e.Index <= s.listed[e.Topic] {
		return nil
	}
	var p struct {
		Job        *api.Job
		Allocation *alloc
		Node       *api.Node
		Evaluation *struct{ Namespace, JobID, TriggeredBy string }
	}
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		return fmt.Errorf("event %s %s: %w", e.Topic, e.Type, err)
	}
	switch {
	case p.Job != nil:
		s.putJob(p.Job, mine(deref(p.Job.Namespace)))
	case p.Allocation != nil:
		s.put(p.Allocation)
	case p.Node != nil:
		s.putNode(p.Node, e.Type == "NodeDeregistration")
	case p.Evaluation != nil:
		if k := (key{p.Evaluation.Namespace, p.Evaluation.JobID}); s.jobs[k] != nil {
			s.dirtyJobs[k] = true // a task may have no place
			if p.Evaluation.TriggeredBy == "job-deregister" {
				s.ask[k] = true // the job may have been purged, which no event reports
			}
		}
	}
	return nil
}

func (s *state) putNode(n *api.Node, gone bool) {
	if have := s.nodes[n.ID]; have != nil && have.ModifyIndex > n.ModifyIndex {
		return
	}
	s.dirtyNodes[n.ID] = true
	if gone {
		gone := *n
		gone.Status = api.NodeStatusDown
		n = &gone
	}
	s.nodes[n.ID] = n
	for id := range s.on[n.ID] { // what a lost task holds depends on its node
		if a := s.allocs[id]; a.lost() && s.jobs[a.key()] != nil {
			s.dirtyJobs[a.key()] = true
		}
	}
}

// newest is the index up to which a kind of objects is known.
func newest[K comparable, V any](listed uint64, known map[K]V, index func(V) uint64) uint64 {
	for _, v := range known {
		listed = max(listed, index(v))
	}
	return listed
}

// older returns an error if a listing has a lower index than was known before the request. Only a restored store causes
// that. 0 is no index.
func (d *Driver) older(what string, now, before uint64) error {
	if now == 0 || now >= before {
		return nil
	}
	d.restored = fmt.Errorf("%w: nomad: %s is of index %d, and was of %d", adapters.ErrRestored, what, now, before)
	return d.restored
}

// list reads everything.
func (d *Driver) list(ctx context.Context) error {
	for _, part := range []func(context.Context) error{d.listNodes, d.listJobs, d.listAllocs} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	clear(d.state.ask)
	return nil
}

// query are the options of a call that reads.
func query(ctx context.Context, namespace string) *api.QueryOptions {
	return (&api.QueryOptions{Namespace: namespace}).WithContext(ctx)
}

func (d *Driver) listNodes(ctx context.Context) error {
	call, cancel := d.bound(ctx)
	defer cancel()
	stubs, meta, err := d.client.Nodes().List(query(call, ""))
	if err != nil {
		return failRead("list nodes", err)
	}
	known := newest(d.state.listed[api.TopicNode], d.state.nodes, func(n *api.Node) uint64 { return n.ModifyIndex })
	if err := d.older("the list of nodes", meta.LastIndex, known); err != nil {
		return err
	}
	there := make(map[string]bool, len(stubs))
	var changed []string
	for _, stub := range stubs {
		there[stub.ID] = true
		have := d.state.nodes[stub.ID]
		if have == nil || have.ModifyIndex < stub.ModifyIndex {
			changed = append(changed, stub.ID)
		} else if err := d.older("node "+stub.ID, stub.ModifyIndex, have.ModifyIndex); err != nil {
			return err
		}
	}
	if err := d.readNodes(ctx, changed); err != nil {
		return err
	}
	for id, n := range d.state.nodes {
		if !there[id] && n.ModifyIndex <= meta.LastIndex { // true unless the list has no index
			delete(d.state.nodes, id)
			d.state.dirtyNodes[id] = true
		}
	}
	d.state.listed[api.TopicNode] = meta.LastIndex
	return nil
}

// readNodes reads nodes by id. If a read fails, the nodes read before it are kept.
func (d *Driver) readNodes(ctx context.Context, ids []string) error {
	nodes := make([]*api.Node, len(ids))
	err := each(ctx, len(ids), func(ctx context.Context, i int) error {
		ctx, cancel := d.bound(ctx)
		defer cancel()
		n, _, err := d.client.Nodes().Info(ids[i], query(ctx, ""))
		if missing(err) {
			return nil
		}
		nodes[i] = n
		return failRead("node "+ids[i], err)
	})
	for _, n := range nodes {
		if n != nil {
			d.state.putNode(n, false)
		}
	}
	return err
}

func (d *Driver) listJobs(ctx context.Context) error {
	call, cancel := d.bound(ctx)
	defer cancel()
	stubs, meta, err := d.client.Jobs().ListOptions(&api.JobListOptions{Fields: &api.JobListFields{Meta: true}},
		query(call, api.AllNamespacesNamespace))
	if err != nil {
		return failRead("list jobs", err)
	}
	known := newest(d.state.listed[api.TopicJob], d.state.jobs, func(j *job) uint64 { return deref(j.ModifyIndex) })
	if err := d.older("the list of jobs", meta.LastIndex, known); err != nil {
		return err
	}
	there := make(map[key]bool)
	var changed []key
	for _, stub := range stubs {
		k := key{stub.Namespace, stub.ID}
		if isParent := (stub.Periodic || stub.ParameterizedJob) && stub.ParentID == ""; isParent || !marked(stub.Meta) ||
			!d.mine(stub.Namespace) {
			continue
		}
		there[k] = true
		have := d.state.jobs[k]
		if have == nil || deref(have.ModifyIndex) < stub.ModifyIndex {
			changed = append(changed, k)
		} else if err := d.older("job "+k.String(), stub.ModifyIndex, deref(have.ModifyIndex)); err != nil {
			return err
		}
	}
	if err := d.readJobs(ctx, changed); err != nil {
		return err
	}
	for k, j := range d.state.jobs {
		if !there[k] && deref(j.ModifyIndex) <= meta.LastIndex {
			d.state.forget(k)
		}
	}
	d.state.listed[api.TopicJob] = meta.LastIndex
	return nil
}

// readJobs reads jobs, and forgets those that do not exist. If a read fails, the jobs read before it are kept.
func (d *Driver) readJobs(ctx context.Context, keys []key) error {
	jobs, gone := make([]*api.Job, len(keys)), make([]bool, len(keys))
	err := each(ctx, len(keys), func(ctx context.Context, i int) error {
		ctx, cancel := d.bound(ctx)
		defer cancel()
		j, _, err := d.client.Jobs().Info(keys[i].id, query(ctx, keys[i].namespace))
		if gone[i] = missing(err); gone[i] {
			return nil
		}
		jobs[i] = j
		return failRead("job "+keys[i].String(), err)
	})
	for i, k := range keys {
		if gone[i] {
			d.state.forget(k)
		} else if jobs[i] != nil {
			d.state.putJob(jobs[i], d.mine(k.namespace))
		}
	}
	return err
}

func (d *Driver) listAllocs(ctx context.Context) error {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	q := query(ctx, api.AllNamespacesNamespace)
	var list []*alloc
	meta, err := d.client.Raw().Query("/v1/allocations?resources=true", &list, q)
	if err != nil {
		return failRead("list allocations", err)
	}
	known := newest(d.state.listed[api.TopicAllocation], d.state.allocs, func(a *alloc) uint64 { return a.ModifyIndex })
	if err := d.older("the list of allocations", meta.LastIndex, known); err != nil {
		return err
	}
	there := make(map[string]bool, len(list))
	for _, a := range list {
		there[a.ID] = true
		have := d.state.allocs[a.ID]
		if have == nil || have.ModifyIndex < a.ModifyIndex {
			d.state.put(a)
		} else if err := d.older("allocation "+a.ID, a.ModifyIndex, have.ModifyIndex); err != nil {
			return err
		}
	}
	for id, a := range d.state.allocs {
		if !there[id] && a.ModifyIndex <= meta.LastIndex {
			d.state.dirtyNodes[a.NodeID] = true
			d.state.dirtyJobs[a.key()] = true
			d.state.drop(id)
		}
	}
	d.state.listed[api.TopicAllocation] = meta.LastIndex
	return nil
}
