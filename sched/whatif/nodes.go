package whatif

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
)

// place is a node of the changed snapshot, and its origin.
type place struct {
	node sched.Node
	from int  // index in the snapshot's nodes, or -1
	held bool // cordoned: its free amounts fall by its former capacity
	gone bool
}

// begin lists the nodes before the first of them changes.
func (w *world) begin() {
	if w.places != nil {
		return
	}
	nodes := w.snap.Nodes
	w.places = make([]place, nodes.Len(), nodes.Len()+16)
	w.names = make(map[string]int, nodes.Len()+16)
	for i := range w.places {
		w.places[i] = place{node: *nodes.Node(i), from: i}
		w.names[nodes.Node(i).Name] = i
	}
}

// find returns the place of a node.
func (w *world) find(name string) (*place, error) {
	w.begin()
	if i, ok := w.names[name]; ok {
		return &w.places[i], nil
	}
	return nil, fmt.Errorf("no node %q", name)
}

// drain removes a node. The jobs that run there wait again, and release what they hold on other nodes.
func (w *world) drain(name string) error {
	p, err := w.find(name)
	if err != nil {
		return err
	}
	p.gone = true
	delete(w.names, name)
	for i := range w.snap.Running {
		r := &w.snap.Running[i]
		on := slices.ContainsFunc(r.Nodes, func(nt sched.NodeTasks) bool { return nt.Node == name })
		if _, ended := w.ended[r.Job.ID]; on && !ended {
			w.stop(r)
		}
	}
	return nil
}

// stop makes a running job pending again.
func (w *world) stop(r *sched.Running) {
	w.release(r)
	mark(&w.ended, r.Job.ID)
	w.own(&w.owned.pending)
	w.snap.Pending = append(w.snap.Pending, sched.Pending{Job: r.Job, Prediction: r.Prediction})
	if w.pending != nil {
		w.pending[r.Job.ID] = len(w.snap.Pending) - 1
	}
	w.moved = true
}

// cordon sets a node's capacity to nothing. Its running tasks then make the free amounts negative, as in a loop.
func (w *world) cordon(name string) error {
	p, err := w.find(name)
	if err != nil {
		return err
	}
	p.node.Capacity, p.held = sched.Resources{}, p.from >= 0
	return nil
}

// addNodes adds copies of a node. They are named NODE+1, NODE+2 and so on; names that are in use are skipped.
func (w *world) addNodes(c *Change) error {
	p, err := w.find(c.Name)
	if err != nil {
		return err
	}
	like := p.node
	if p.from >= 0 {
		like.Capacity = w.snap.Nodes.Node(p.from).Capacity // even if it is cordoned now
	}
	if len(c.Labels) > 0 {
		labels := maps.Clone(like.Labels)
		if labels == nil {
			labels = map[string]string{}
		}
		maps.Copy(labels, c.Labels)
		like.Labels = labels
	}
	if len(c.Resources) > 0 {
		capacity := maps.Clone(like.Capacity)
		maps.Copy(capacity, c.Resources)
		like.Capacity = capacity
	}
	for n, added := 1, 0; added < c.Count; n++ {
		like.Name = fmt.Sprintf("%s+%d", c.Name, n)
		if _, taken := w.names[like.Name]; taken {
			continue
		}
		w.names[like.Name] = len(w.places)
		w.places = append(w.places, place{node: like, from: -1})
		added++
	}
	return nil
}

// rebuild makes the new node set, and translates the free amounts to it.
func (w *world) rebuild() error {
	old, free := w.snap.Nodes, w.snap.Free
	w.places = slices.DeleteFunc(w.places, func(p place) bool { return p.gone })
	nodes := make([]sched.Node, len(w.places))
	for i := range w.places {
		nodes[i] = w.places[i].node
	}
	set, err := sched.NewNodeSet(nodes)
	if err != nil {
		return err
	}
	to := make([]int, len(old.Resources())) // by old resource: the new one, or -1
	for k, name := range old.Resources() {
		to[k] = slices.Index(set.Resources(), name)
	}
	width := len(set.Resources())
	w.snap.Free = slices.Clone(set.Capacity())
	if others := w.snap.Others; others != nil { // nothing was measured on added nodes
		w.snap.Others = make([]usage.Level, len(w.places))
		for i := range w.places {
			if from := w.places[i].from; from >= 0 {
				w.snap.Others[i] = others[from]
			}
		}
	}
	for i := range w.places {
		p := &w.places[i]
		if p.from < 0 {
			continue
		}
		for k, into := range to {
			if into < 0 {
				continue
			}
			at := p.from*len(to) + k
			w.snap.Free[i*width+into] = free[at]
			if p.held {
				w.snap.Free[i*width+into] -= old.Capacity()[at]
			}
		}
	}
	w.snap.Nodes = set
	for i := range w.snap.Running {
		r := &w.snap.Running[i]
		if speed := set.Speed(r.Job, r.Nodes); sched.Stretch(speed) != sched.Stretch(r.Speed) && w.all(r, set) {
			w.own(&w.owned.running)
			w.snap.Running[i].Speed = speed
		}
	}
	return nil
}

// all reports whether every node of a running job still exists.
func (*world) all(r *sched.Running, set *sched.NodeSet) bool {
	return !slices.ContainsFunc(r.Nodes, func(nt sched.NodeTasks) bool { _, ok := set.Index(nt.Node); return !ok })
}
